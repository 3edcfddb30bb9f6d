/**
 * Rules of SEPA orders that customers send to banks: pain.001 and pain.008. Sources: EPC implementation guidelines for customers and banks,
 * and the schemas of Deutsche Kreditwirtschaft, by which banks reject a whole file; read in November 2026.
 */
import type { RuleContext, Watcher } from './engine.ts'

const NAME_CHARS = 70
const ADDRESS_LINES = 2

/** Paths of a customer order: its transactions, and the agents that may be NOTPROVIDED. */
interface OrderPaths {
  readonly transaction: string
  readonly method: string
  /** Agent of the sender of the order, which may be NOTPROVIDED. */
  readonly own_agent: string
  readonly other_agent: string
  /** The other agent may be NOTPROVIDED too. */
  readonly other_not_provided: boolean
  readonly accounts: readonly string[]
  readonly names: readonly string[]
  readonly unused: readonly string[]
}

const TRANSFER = 'PmtInf/CdtTrfTxInf'
const DEBIT = 'PmtInf/DrctDbtTxInf'
const below = (path: string, names: string) => names.split(' ').map((name) => `${path}/${name}`)

const ORDERS: Readonly<Record<'pain.001' | 'pain.008', OrderPaths>> = {
  'pain.001': {
    transaction: TRANSFER,
    method: 'TRF',
    own_agent: 'PmtInf/DbtrAgt',
    other_agent: `${TRANSFER}/CdtrAgt`,
    other_not_provided: false,
    accounts: ['PmtInf/DbtrAcct', `${TRANSFER}/CdtrAcct`],
    names: ['PmtInf/Dbtr', `${TRANSFER}/Cdtr`],
    unused: [
      ...below('PmtInf', 'PoolgAdjstmntDt DbtrAgtAcct ChrgsAcct ChrgsAcctAgt'),
      ...below(TRANSFER, 'XchgRateInf ChqInstr IntrmyAgt1 IntrmyAgt2 IntrmyAgt3 CdtrAgtAcct InstrForCdtrAgt RgltryRptg Tax RltdRmtInf'),
      `${TRANSFER}/Amt/EqvtAmt`,
    ],
  },
  'pain.008': {
    transaction: DEBIT,
    method: 'DD',
    own_agent: 'PmtInf/CdtrAgt',
    other_agent: `${DEBIT}/DbtrAgt`,
    other_not_provided: true,
    accounts: ['PmtInf/CdtrAcct', `${DEBIT}/DbtrAcct`],
    names: ['PmtInf/Cdtr', `${DEBIT}/Dbtr`],
    unused: [
      ...below('PmtInf', 'CdtrAgtAcct ChrgsAcct ChrgsAcctAgt'),
      ...below(DEBIT, 'DbtrAgtAcct InstrForCdtrAgt RgltryRptg Tax RltdRmtInf'),
    ],
  },
}

/** The rules of SEPA for a customer order. */
export function sepaWatchers(context: RuleContext, kind: 'pain.001' | 'pain.008'): readonly Watcher[] {
  const order = ORDERS[kind]
  const report = (found: string) => () => context.report('SEPA_UNUSED', { found })
  const onProprietary = () => context.report('SEPA_CODE', { found: 'Prtry', expected: 'Cd' })
  const unused = Object.fromEntries(order.unused.map((path) => [path, report(path.slice(path.lastIndexOf('/') + 1))]))
  return [
    partyWatcher(context, order),
    agentWatcher(context, order.own_agent, true),
    agentWatcher(context, order.other_agent, order.other_not_provided),
    {
      open: {
        ...unused,
        ':PartyIdentification/CtctDtls': report('CtctDtls'),
        ':PartyIdentification/CtryOfRes': report('CtryOfRes'),
        '**/Purp/Prtry': onProprietary,
        '**/PmtTpInf/CtgyPurp/Prtry': onProprietary,
        ...Object.fromEntries(
          order.accounts.map((path) => [`${path}/Id/Othr`, () => context.report('SEPA_ACCT', { found: 'Othr', expected: 'IBAN' })]),
        ),
      },
      text: {
        'PmtInf/PmtMtd': (text) => {
          if (text !== order.method) context.report('SEPA_PMTMTD', { found: text, expected: order.method })
        },
      },
    },
  ]
}

function partyWatcher(context: RuleContext, { names }: OrderPaths): Watcher {
  let lines = 0
  const onName = () => {
    if (!context.has('Nm')) context.report('SEPA_NAME_MISSING', { expected: 'Nm' })
  }
  return {
    open: {
      ':PostalAddress': () => void (lines = 0),
      ':PostalAddress/AdrLine': () => void lines++,
    },
    text: {
      ':PartyIdentification/Nm': (text) => {
        if (text.length <= NAME_CHARS) return
        const { length } = Array.from(text)
        if (length > NAME_CHARS)
          context.report('SEPA_NAME', { found: `${length} characters`, expected: `at most ${NAME_CHARS} characters` })
      },
    },
    close: {
      ':PostalAddress': () => {
        // A third line next to town and country has a rule of all profiles.
        if (lines <= ADDRESS_LINES || context.has('TwnNm')) return
        context.report('SEPA_ADDR_LINES', { found: `${lines} lines`, expected: `at most ${ADDRESS_LINES}` })
      },
      ...Object.fromEntries(names.map((path) => [path, onName])),
    },
  }
}

/** A bank is identified by its BIC alone. */
function agentWatcher(context: RuleContext, agent: string, may_be_absent: boolean): Watcher {
  const institution = `${agent}/FinInstnId`
  const expected = may_be_absent ? 'a BIC, or Othr/Id NOTPROVIDED' : 'a BIC, or no agent'
  let other: string | null = null
  return {
    open: { [institution]: () => void (other = null) },
    text: { [`${institution}/Othr/Id`]: (text) => void (other = text) },
    close: {
      [institution]: () => {
        if (context.has('BIC') || context.has('BICFI')) return
        if (other === 'NOTPROVIDED' && may_be_absent) return
        context.report('SEPA_AGENT', { found: other, expected })
      },
    },
  }
}
