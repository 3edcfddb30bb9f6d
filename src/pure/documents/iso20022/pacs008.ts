import { AMOUNT_SCALE, type AmountText, decimalText, ExactSum, scaled, TextSet } from './accumulators.ts'
import type { MessageDefinition, RuleContext, Watcher } from './engine.ts'
import { agentNameWatcher, headerWatcher, instructionWatcher, type StatedFigure, StatedTotals } from './shared-rules.ts'
import { currencyInfo } from './values.ts'

/** FI to FI customer credit transfer. */
export const PACS: MessageDefinition = {
  kind: 'pacs.008',
  overrides: { absent: { 'CdtTrfTxInf/PmtId/TxId': 'C_TXID_MISSING' }, empty: { 'CdtTrfTxInf/PmtId/EndToEndId': 'C_E2E_EMPTY' } },
  watch(context) {
    const group: GroupHeader = { has_settlement_date: false, total_currency: '' }
    return [
      headerWatcher(context, {
        kind: 'pacs.008',
        definition: 'C_HDR_MSGDEF',
        message_id: 'C_HDR_BIZMSG',
        service: 'C_HDR_BIZSVC',
        services: /^swift\.cbprplus(?:\.stp)?\.\d\d$/,
      }),
      priorityWatcher(context),
      agentNameWatcher(context, 'C_AGENT_NAME_ADDR'),
      groupWatcher(context, group),
      singleTransactionWatcher(context),
      settlementWatcher(context),
      idWatcher(context, group),
      amountWatcher(context, group),
      agentWatcher(context),
      debtorWatcher(context),
      instructionWatcher(context, TX, 'C_INSTR_CODES'),
      remittanceWatcher(context),
    ]
  },
}

const TX = 'CdtTrfTxInf'

/** Fields of the group header that the rules of a transaction use. */
interface GroupHeader {
  has_settlement_date: boolean
  /** Currency of the total; '' when there is none. */
  total_currency: string
}

function groupWatcher(context: RuleContext, group: GroupHeader): Watcher {
  const stated = new StatedTotals(context)
  /** The stated total, its amount in 10^-5. */
  let total: (StatedFigure & { amount: bigint }) | null = null
  const onExpiry = (text: string) => checkExpiry(context, text)
  return {
    text: {
      ...stated.texts('GrpHdr'),
      'GrpHdr/TtlIntrBkSttlmAmt': (text) => {
        total = { text, position: context.position(), amount: context.amount.total() }
        group.total_currency = context.currency
      },
      'GrpHdr/XpryDtTm': onExpiry,
      'CdtTrfTxInf/AddtlDtTm/XpryDtTm': onExpiry,
    },
    close: {
      GrpHdr: () => void (group.has_settlement_date = context.has('IntrBkSttlmDt')),
      '': () => {
        const { transactions, unreadable, currencies } = context.totals
        const sum = unreadable ? null : context.totals.sum.total()
        stated.check({ count: 'C_NBTX', sum: 'C_CTRLSUM', amounts: 'of the settlement amounts' }, transactions, sum)
        // Across currencies the total has no meaning; that was reported already.
        if (total === null || sum === null || currencies.size > 1 || total.amount === sum) return
        context.reportAt(total.position, 'C_TTLAMT', { found: total.text, expected: decimalText(sum, 2) })
      },
    },
  }
}

function singleTransactionWatcher(context: RuleContext): Watcher {
  return {
    text: {
      'GrpHdr/NbOfTxs': (text) => {
        if (BigInt(text) !== 1n) context.report('C_SINGLE_TX', { found: text, expected: '1' })
      },
    },
  }
}

const TIME = /^\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,12})?(Z|[+-]\d\d:\d\d)?\s*$/
/** The largest offset from UTC. */
const MAX_OFFSET_MS = 14 * 3_600_000

/** Reads a time in whole seconds; without an offset as if in UTC. */
function readTime(text: string): { time_ms: number; has_offset: boolean } | null {
  const [, clock, offset] = TIME.exec(text) ?? []
  if (clock === undefined) return null
  const time_ms = Date.parse(`${clock}${offset ?? 'Z'}`)
  return Number.isNaN(time_ms) ? null : { time_ms, has_offset: offset !== undefined }
}

/**
 * Compares the expiry with the creation time of the message itself, so that the same message always gets the same answer. When only one of
 * them has an offset, they must be more than 14 hours apart to be reported.
 */
function checkExpiry(context: RuleContext, text: string): void {
  const created = context.totals.created === null ? null : readTime(context.totals.created)
  const expiry = readTime(text)
  if (created === null || expiry === null) return
  const slack_ms = created.has_offset === expiry.has_offset ? 0 : MAX_OFFSET_MS
  if (expiry.time_ms + slack_ms >= created.time_ms) return
  context.report('C_XPRY', { found: text.trim(), expected: `after ${context.totals.created?.trim() ?? ''}` })
}

/** Compares the settlement method with the elements that it requires or excludes. */
function settlementWatcher(context: RuleContext): Watcher {
  let method = ''
  return {
    text: { 'GrpHdr/SttlmInf/SttlmMtd': (text) => void (method = text) },
    close: {
      'GrpHdr/SttlmInf': () => {
        const has_agent = context.has('InstgRmbrsmntAgt') || context.has('InstdRmbrsmntAgt')
        const reimbursed = has_agent || context.has('ThrdRmbrsmntAgt')
        if (method === 'CLRG' && !context.has('ClrSys')) context.report('C_STTLMMTD_CLRG', { found: method, expected: 'ClrSys' })
        if (method === 'COVE' && !has_agent) {
          context.report('C_STTLMMTD_COVE', { found: method, expected: 'InstgRmbrsmntAgt or InstdRmbrsmntAgt' })
        }
        if ((method === 'INDA' || method === 'INGA') && reimbursed) context.report('C_STTLMMTD_REIMB', { found: method })
      },
    },
  }
}

/** Rules for IDs and service levels of transactions. */
function idWatcher(context: RuleContext, group: GroupHeader): Watcher {
  const unique = (code: 'C_E2E_DUPLICATE' | 'C_INSTRID_DUPLICATE' | 'C_TXID_DUPLICATE') => {
    const ids = new TextSet()
    return (text: string) => {
      if (code === 'C_E2E_DUPLICATE' && text === 'NOTPROVIDED') return
      if (ids.push(text).add() === 'same') context.report(code, { found: text })
    }
  }
  const onServiceLevel = (text: string) => {
    if (/^G0\d\d$/.test(text) && text !== 'G001') context.report('C_GPI_SVCLVL', { found: text, expected: 'G001' })
  }
  return {
    text: {
      [`${TX}/PmtId/EndToEndId`]: unique('C_E2E_DUPLICATE'),
      [`${TX}/PmtId/InstrId`]: unique('C_INSTRID_DUPLICATE'),
      [`${TX}/PmtId/TxId`]: unique('C_TXID_DUPLICATE'),
      '**/PmtTpInf/SvcLvl/Cd': onServiceLevel,
      '**/PmtTpInf/SvcLvl/Prtry': onServiceLevel,
    },
    close: {
      [`${TX}/PmtId`]: () => {
        if (context.mayLack('UETR') && !context.has('UETR')) context.report('C_UETR_MISSING', { expected: 'UETR' })
      },
      [TX]: () => {
        const has_date = context.has('IntrBkSttlmDt')
        if (has_date !== group.has_settlement_date) return
        const found = has_date ? 'on both levels' : 'on neither level'
        context.report('C_STTLMDT_LEVEL', { found, expected: 'IntrBkSttlmDt on one level' })
      },
    },
  }
}

/** State of one of the two agents that pass the message on. */
interface AgentState {
  readonly element: 'InstgAgt' | 'InstdAgt'
  /** The field of the header that must name the same bank. */
  readonly header: 'from_bic' | 'to_bic'
  in_group: boolean
  bic_in_group: boolean
  bic_in_transaction: boolean
}

/** Version 02 has BIC, later versions have BICFI. */
const BIC_ELEMENTS = ['BIC', 'BICFI'] as const

/** Rules for instructing and instructed agent: on one level, with a BIC, as the header states them; and for the order of other agents. */
function agentWatcher(context: RuleContext): Watcher {
  const absent = { in_group: false, bic_in_group: false, bic_in_transaction: false }
  const agents: AgentState[] = [
    { element: 'InstgAgt', header: 'from_bic', ...absent },
    { element: 'InstdAgt', header: 'to_bic', ...absent },
  ]
  const open: Record<string, () => void> = {
    [TX]: () => {
      for (const agent of agents) agent.bic_in_transaction = false
    },
  }
  const text: Record<string, (text: string) => void> = {}
  for (const agent of agents) {
    for (const bic of BIC_ELEMENTS) {
      const path = `${agent.element}/FinInstnId/${bic}`
      open[`GrpHdr/${path}`] = () => void (agent.bic_in_group = true)
      open[`${TX}/${path}`] = () => void (agent.bic_in_transaction = true)
      text[`GrpHdr/${path}`] = text[`${TX}/${path}`] = (code) => compareWithHeader(context, agent, code)
    }
  }
  return {
    open,
    text,
    close: {
      GrpHdr: () => {
        for (const agent of agents) agent.in_group = context.has(agent.element)
      },
      [TX]: () => {
        for (const { element, in_group, bic_in_group, bic_in_transaction } of agents) {
          if (in_group && context.has(element)) context.report('C_AGENT_LEVEL', { found: element })
          if (!bic_in_group && !bic_in_transaction) context.report('C_INSTGAGT', { expected: `${element} with its BIC` })
        }
        for (const [later, earlier] of AGENT_ORDER) {
          if (context.has(later) && !context.has(earlier)) context.report('C_PREV_AGENT_ORDER', { found: later, expected: earlier })
        }
      },
    },
  }
}

/** Each agent and the one that it requires. */
const AGENT_ORDER = [
  ['PrvsInstgAgt2', 'PrvsInstgAgt1'],
  ['PrvsInstgAgt3', 'PrvsInstgAgt2'],
  ['IntrmyAgt2', 'IntrmyAgt1'],
  ['IntrmyAgt3', 'IntrmyAgt2'],
] as const

function compareWithHeader(context: RuleContext, { header: field }: AgentState, bic: string): void {
  const { header } = context
  const stated = header[field]
  if (header.copy || stated === null || withBranch(stated) === withBranch(bic)) return
  context.report('C_HDR_BIC', { found: bic, expected: stated })
}

/** A BIC of eight characters names the head office, branch code XXX. */
function withBranch(bic: string): string {
  return bic.length === 8 ? `${bic}${'X'.repeat(3)}` : bic
}

function debtorWatcher(context: RuleContext): Watcher {
  let known = false
  const setKnown = () => void (known = true)
  return {
    open: {
      [TX]: () => void (known = false),
      [`${TX}/Dbtr/Nm`]: setKnown,
      [`${TX}/Dbtr/Id`]: setKnown,
      [`${TX}/DbtrAcct/Id`]: setKnown,
      [`${TX}/DbtrAcct/Prxy`]: setKnown,
    },
    close: {
      [TX]: () => {
        if (!known && context.has('Dbtr')) context.report('C_DBTR_ID', { expected: 'Dbtr/Nm, Dbtr/Id or DbtrAcct' })
      },
    },
  }
}

/** Compares the priority of the header with that of the payment. */
function priorityWatcher(context: RuleContext): Watcher {
  const { priority } = context.header
  const compare = (text: string) => {
    if (priority !== null && priority !== text) context.report('C_HDR_PRTY', { found: text, expected: priority })
  }
  return { text: { 'GrpHdr/PmtTpInf/InstrPrty': compare, [`${TX}/PmtTpInf/InstrPrty`]: compare } }
}

/** An amount as read; its bigint is made only when a rule needs it. */
class StoredAmount {
  known = false
  currency = ''
  private units = 0
  private wide: bigint | null = null

  store({ units, wide }: AmountText, currency: string): void {
    this.known = true
    this.currency = currency
    this.units = units
    this.wide = wide
  }

  /** In 10^-5. */
  total(): bigint {
    return this.wide ?? BigInt(this.units)
  }
}

const NEW_AMOUNTS = {
  rate: '',
  bearer: '',
  charges: 0,
  charges_read: 0,
  /** A charge in a third currency: the charges cannot be added. */
  charged_elsewhere: false,
}

/** Amounts of the open transaction. Charges are added by currency: that of the settlement, and another one of the instruction. */
type TransferAmounts = typeof NEW_AMOUNTS &
  Readonly<Record<'settled' | 'instructed', StoredAmount>> &
  Readonly<Record<'charged_settled' | 'charged_instructed', ExactSum>>

/** Rules for the settlement amount, the instructed amount, and the charges and rate that explain the difference. */
function amountWatcher(context: RuleContext, group: GroupHeader): Watcher {
  const { totals } = context
  const settled = new StoredAmount()
  const instructed = new StoredAmount()
  const amounts: TransferAmounts = {
    ...NEW_AMOUNTS,
    settled,
    instructed,
    charged_settled: new ExactSum(),
    charged_instructed: new ExactSum(),
  }
  return {
    open: {
      [TX]: () => {
        totals.transactions++
        Object.assign(amounts, NEW_AMOUNTS)
        settled.known = false
        instructed.known = false
        amounts.charged_settled.clear()
        amounts.charged_instructed.clear()
      },
      [`${TX}/ChrgsInf`]: () => void amounts.charges++,
    },
    text: {
      [`${TX}/IntrBkSttlmAmt`]: (text) => {
        const { amount, currency } = context
        settled.store(amount, currency)
        totals.sum.add(amount)
        totals.currencies.add(currency)
        if (amount.isZero()) context.report('C_AMT_ZERO', { found: text })
        const expected = group.total_currency
        if (expected !== '' && currency !== expected) context.report('C_TTLAMT_CCY', { found: currency, expected })
      },
      [`${TX}/InstdAmt`]: () => instructed.store(context.amount, context.currency),
      [`${TX}/XchgRate`]: (text) => {
        amounts.rate = text
        if (!instructed.known || !settled.known || instructed.currency !== settled.currency) return
        context.report('C_XCHGRATE_SAMECCY', { found: text, expected: `no rate within ${settled.currency}` })
      },
      [`${TX}/ChrgBr`]: (text) => {
        amounts.bearer = text
        if (text !== 'SLEV') context.report('C_SLEV', { found: text, expected: 'SLEV' })
      },
      [`${TX}/ChrgsInf/Amt`]: () => addCharge(context, amounts),
    },
    close: {
      [TX]: () => {
        const { bearer, charges } = amounts
        if (bearer === 'CRED' && charges === 0) context.report('C_CHRG_CRED', { expected: 'ChrgsInf' })
        if (bearer === 'DEBT' && charges > 1) context.report('C_CHRG_DEBT', { found: `${charges} ChrgsInf`, expected: 'at most one' })
        if (!settled.known) totals.unreadable = true
        else if (instructed.known && instructed.currency === settled.currency) checkCharges(context, amounts)
        else if (instructed.known) checkRate(context, amounts)
      },
    },
  }
}

function addCharge({ amount, currency }: RuleContext, amounts: TransferAmounts): void {
  const { settled, instructed } = amounts
  amounts.charges_read++
  if (currency === settled.currency) amounts.charged_settled.add(amount)
  else if (instructed.known && currency === instructed.currency) amounts.charged_instructed.add(amount)
  else if (!amount.isZero()) amounts.charged_elsewhere = true
}

/** Charges of the debtor are added to the settlement amount, all others are deducted from the instructed one. */
function checkCharges(context: RuleContext, amounts: TransferAmounts): void {
  const settled = amounts.settled.total()
  const instructed = amounts.instructed.total()
  if (amounts.charges === 0) {
    if (settled !== instructed) context.report('C_CHRG_DIFF', { found: decimalText(settled, 2), expected: decimalText(instructed, 2) })
    return
  }
  if (amounts.charged_elsewhere || amounts.charges_read < amounts.charges) return
  const charged = amounts.charged_settled.total()
  if (settled === instructed - charged || (amounts.bearer === 'DEBT' && settled === instructed + charged)) return
  const expected = decimalText(amounts.bearer === 'DEBT' ? instructed + charged : instructed - charged, 2)
  context.report('C_CHRG_SUM', { found: decimalText(settled, 2), expected })
}

function checkRate(context: RuleContext, amounts: TransferAmounts): void {
  const { rate, settled, instructed } = amounts
  if (!context.has('XchgRate')) {
    if (context.has('AgrdRate')) return
    context.report('C_XCHGRATE_MISSING', { found: `${instructed.currency} and ${settled.currency}`, expected: 'XchgRate' })
    return
  }
  if (rate === '' || amounts.charged_elsewhere || amounts.charges_read < amounts.charges) return
  const from = { units: instructed.total(), currency: instructed.currency }
  const to = { units: settled.total(), currency: settled.currency }
  const from_net = { ...from, units: from.units - amounts.charged_instructed.total() }
  const to_gross = { ...to, units: to.units + amounts.charged_settled.total() }
  if (isConverted(from, to, rate) || isConverted(from_net, to_gross, rate)) return
  context.report('C_XCHG_INCONSISTENT', { found: `${decimalText(from.units, 2)}, ${rate.trim()}, ${decimalText(to.units, 2)}` })
}

interface MoneyAmount {
  /** In 10^-5. */
  units: bigint
  currency: string
}

/** One digit more than a rate has, so that half of its last digit is whole. */
const RATE_SCALE = 11
const ONE = 10n ** BigInt(RATE_SCALE)

/**
 * Returns whether `from` times or divided by the rate gives `to`: rates are quoted from either side. Tolerance: one smallest unit of each
 * amount and half of the last digit of the rate. In doubt true; an unreadable rate is taken as right.
 */
function isConverted(from: MoneyAmount, to: MoneyAmount, rate: string): boolean {
  const text = rate.trim()
  const value = scaled(text, RATE_SCALE)
  if (value === null) return true
  const digits = Math.min(text.length - (text + '.').indexOf('.') - 1, RATE_SCALE - 1)
  const slack = 5n * 10n ** BigInt(RATE_SCALE - 1 - Math.max(0, digits))
  return isProduct(from, to, value, slack) || isProduct(to, from, value, slack)
}

/** Returns whether one amount times the rate is the other. */
function isProduct(one: MoneyAmount, other: MoneyAmount, rate: bigint, slack: bigint): boolean {
  const difference = one.units * rate - other.units * ONE
  const allowed = smallestUnit(other.currency) * ONE + smallestUnit(one.currency) * rate + absolute(one.units) * slack
  return absolute(difference) <= allowed
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value
}

/** The smallest unit of a currency, in 10^-5; two decimals where ISO 4217 states none. */
function smallestUnit(currency: string): bigint {
  const digits = currencyInfo(currency).minor_units ?? 2
  return 10n ** BigInt(Math.max(0, AMOUNT_SCALE - digits))
}

const MAX_STRUCTURED_CHARS = 9_000

/** Rules for remittance information. Of structured remittance the values count, not the tags. */
function remittanceWatcher(context: RuleContext): Watcher {
  let inside = false
  let characters = 0
  return {
    open: {
      [`${TX}/RmtInf`]: () => void (characters = 0),
      [`${TX}/RmtInf/Strd`]: () => void (inside = true),
    },
    text: {
      '**': (text) => {
        if (inside) characters += countCharacters(text)
      },
    },
    close: {
      [`${TX}/RmtInf/Strd`]: () => void (inside = false),
      [`${TX}/RmtInf`]: () => {
        if (context.has('Strd') && context.has('Ustrd')) context.report('C_RMT_BOTH', { found: 'Ustrd and Strd' })
        if (characters > MAX_STRUCTURED_CHARS) {
          context.report('C_STRD_9000', { found: `${characters} characters`, expected: `at most ${MAX_STRUCTURED_CHARS}` })
        }
      },
      [TX]: () => {
        if (context.has('RltdRmtInf') && context.has('RmtInf')) context.report('C_RMT_RLTD', { found: 'RltdRmtInf and RmtInf' })
      },
    },
  }
}

/** The second half of a surrogate pair does not count. */
function countCharacters(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) count--
  }
  return count
}
