import { banksWith } from '../../checks/same-country.ts'
import { dayNumber } from './dates.ts'
import type { MessageKind } from './rule.ts'
import type { RuleContext, Watcher } from './rule-engine.ts'
import type { RuleCode } from './rule-table.ts'

/** Watchers that every message has: its name and time, addresses, parties, and whether account and bank agree on their country. */

export function sharedWatchers(context: RuleContext, kind: MessageKind): readonly Watcher[] {
  const countries = countryWatcher(context)
  return kind === 'camt.053'
    ? [headWatcher(context), countries]
    : [headWatcher(context), levelWatcher(context), countries, addressWatcher(context), partyWatcher(context)]
}

function headWatcher({ totals }: RuleContext): Watcher {
  return {
    text: {
      'GrpHdr/MsgId': (text) => void (totals.message_id ??= text),
      'GrpHdr/CreDtTm': (text) => void (totals.created ??= text),
    },
  }
}

/** Not for statements: the service level of one entry is not that of the statement. */
function levelWatcher({ totals }: RuleContext): Watcher {
  return { text: { '**/PmtTpInf/SvcLvl/Cd': (text) => void (totals.service_level ??= text) } }
}

const CUT_OVER_CBPR = dayNumber('2026-11-14') ?? 0
/** Elements of an address beside its lines; the country alone does not make it structured. */
const STRUCTURED = [
  'CareOf',
  'Dept',
  'SubDept',
  'StrtNm',
  'BldgNb',
  'BldgNm',
  'Flr',
  'UnitNb',
  'PstBx',
  'Room',
  'PstCd',
  'TwnNm',
  'TwnLctnNm',
  'DstrctNm',
  'CtrySubDvsn',
]
/** Of lines and of values: more than an address may have. */
const KEPT = 16
/** Shorter values stand in lines by chance. */
const REPEATED_CHARS = 3

function addressWatcher(context: RuleContext): Watcher {
  const lines: string[] = []
  const values: string[] = []
  const keep = (text: string) => {
    if (values.length < KEPT) values.push(text)
  }
  return {
    open: {
      ':Address': () => {
        lines.length = 0
        values.length = 0
      },
    },
    text: {
      ':Address/AdrLine': (text) => {
        if (lines.length < KEPT) lines.push(text)
      },
      ':Address/StrtNm': keep,
      ':Address/PstCd': keep,
      ':Address/TwnNm': keep,
    },
    close: { ':Address': () => checkAddress(context, lines, values) },
  }
}

function checkAddress(context: RuleContext, lines: readonly string[], values: readonly string[]): void {
  const phase = phaseOf(context)
  const located = context.has('TwnNm') && context.has('Ctry')
  const structured = STRUCTURED.some((name) => context.has(name))
  const in_lines = context.has('AdrLine')
  if (located) {
    if (lines.length > 2) context.report(ADDRESS_RULES[phase].hybrid, { found: `${lines.length} lines`, expected: 'at most 2' })
  } else if (structured) context.report(ADDRESS_RULES[phase].least, { expected: 'TwnNm and Ctry' })
  else if (in_lines || context.has('Ctry')) context.report(ADDRESS_RULES[phase].unstructured, { expected: 'TwnNm and Ctry' })
  const repeated = values.find((value) => value.length >= REPEATED_CHARS && lines.some((line) => holds(line, value)))
  if (repeated !== undefined) context.report('ADDR_DUPLICATED', { found: repeated })
}

function holds(line: string, value: string): boolean {
  return line.toLowerCase().includes(value.toLowerCase())
}

type Phase = 'before' | 'on_14' | 'after'

const ADDRESS_RULES = {
  before: { unstructured: 'ADDR_UNSTRUCTURED_BEFORE', hybrid: 'ADDR_HYBRID_LINES_BEFORE', least: 'ADDR_MIN_BEFORE' },
  on_14: { unstructured: 'ADDR_UNSTRUCTURED_ON_14', hybrid: 'ADDR_HYBRID_LINES_ON_14', least: 'ADDR_MIN_ON_14' },
  after: { unstructured: 'ADDR_UNSTRUCTURED', hybrid: 'ADDR_HYBRID_LINES', least: 'ADDR_MIN' },
} as const satisfies Record<Phase, Record<string, RuleCode>>

/** By the date in the message: what was made before the cut-over was right then. */
function phaseOf({ totals }: RuleContext): Phase {
  const day = totals.created === null ? null : dayNumber(totals.created)
  if (day === null || day > CUT_OVER_CBPR) return 'after'
  return day === CUT_OVER_CBPR ? 'on_14' : 'before'
}

function partyWatcher(context: RuleContext): Watcher {
  let by_bic = false
  const bic = () => void (by_bic = true)
  return {
    open: { ':Party': () => void (by_bic = false) },
    text: { ':Organisation/AnyBIC': bic, ':Organisation/BICOrBEI': bic },
    close: {
      ':Party': () => {
        const named = context.has('Nm')
        const addressed = context.has('PstlAdr')
        if (addressed && !named) context.report('PARTY_NAME_WITH_ADDR', { expected: 'Nm' })
        if (by_bic && named && addressed) context.report('PARTY_BIC_EXCLUSIVE', { found: 'BIC, name and address' })
      },
    },
  }
}

/** Whether a BIC and an IBAN carry the same country, without making texts. */
function sameCode(bic: string, iban: string): boolean {
  return bic.charCodeAt(4) === iban.charCodeAt(0) && bic.charCodeAt(5) === iban.charCodeAt(1)
}

interface Side {
  account: string
  agent: string
}

function countryWatcher(context: RuleContext): Watcher {
  const debtor: Side = { account: '', agent: '' }
  const creditor: Side = { account: '', agent: '' }
  const own: Side = { account: '', agent: '' }
  const clear = (side: Side) => {
    side.account = ''
    side.agent = ''
  }
  const compare = ({ account, agent }: Side) => {
    if (account === '' || agent === '' || sameCode(agent, account) || banksWith(agent.slice(4, 6), account.slice(0, 2))) return
    context.report('IBAN_BIC_COUNTRY', { found: `${account.slice(0, 2)} and ${agent.slice(4, 6)}` })
  }
  const account = (side: Side) => (text: string) => {
    side.account = text
    compare(side)
  }
  const agent = (side: Side) => (text: string) => {
    side.agent = text
    compare(side)
  }
  return {
    open: {
      PmtInf: () => clear(debtor),
      'PmtInf/CdtTrfTxInf': () => clear(creditor),
      CdtTrfTxInf: () => {
        clear(debtor)
        clear(creditor)
      },
      Stmt: () => clear(own),
    },
    text: {
      '**/CdtTrfTxInf/CdtrAcct/Id/IBAN': account(creditor),
      '**/CdtTrfTxInf/CdtrAgt/FinInstnId/BIC': agent(creditor),
      '**/CdtTrfTxInf/CdtrAgt/FinInstnId/BICFI': agent(creditor),
      '**/PmtInf/DbtrAcct/Id/IBAN': account(debtor),
      '**/PmtInf/DbtrAgt/FinInstnId/BIC': agent(debtor),
      '**/PmtInf/DbtrAgt/FinInstnId/BICFI': agent(debtor),
      'CdtTrfTxInf/DbtrAcct/Id/IBAN': account(debtor),
      'CdtTrfTxInf/DbtrAgt/FinInstnId/BIC': agent(debtor),
      'CdtTrfTxInf/DbtrAgt/FinInstnId/BICFI': agent(debtor),
      'Stmt/Acct/Id/IBAN': account(own),
      'Stmt/Acct/Svcr/FinInstnId/BIC': agent(own),
      'Stmt/Acct/Svcr/FinInstnId/BICFI': agent(own),
    },
  }
}

/** Rules that pain.001 and pacs.008 share, each under its own codes: the header around the message, instructions, names of agents. */

export interface HeaderRules {
  kind: MessageKind
  /** The header announces another message definition. */
  definition: RuleCode
  /** BizMsgIdr and MsgId differ. */
  message_id: RuleCode
  /** The business service is none that carries this message under CBPR+. */
  service: RuleCode
  /** Business services of CBPR+ that carry this message. */
  services: RegExp
}

/** Whether the header announces this very message. */
export function headerWatcher(context: RuleContext, rules: HeaderRules): Watcher {
  const { header } = context
  return {
    open: {
      '': () => {
        checkDefinition(context, rules)
        const service = header.business_service
        if (service === null || rules.services.test(service)) return
        context.report(rules.service, { found: service, expected: 'swift.cbprplus and two digits, such as swift.cbprplus.04' })
      },
    },
    text: {
      'GrpHdr/MsgId': (text) => {
        const stated = header.message_id
        if (stated !== null && stated !== text.trim()) context.report(rules.message_id, { found: text, expected: stated })
      },
    },
  }
}

function checkDefinition(context: RuleContext, { kind, definition }: HeaderRules): void {
  const stated = context.header.message_definition
  const expected = `${kind}.001.${String(context.version).padStart(2, '0')}`
  if (stated === null || stated === expected) return
  // Communities have numbers of their own in the third place.
  const community = stated.length === expected.length && stated.startsWith(`${kind}.`) && stated.endsWith(expected.slice(-3))
  if (!community) context.report(definition, { found: stated, expected })
}

/** More than any bank would send; what follows is not remembered. */
const CODES_REMEMBERED = 64
const CONTRADICTIONS: ReadonlyMap<string, string> = new Map([
  ['HOLD', 'CHQB'],
  ['CHQB', 'HOLD'],
  ['TELB', 'PHOB'],
  ['PHOB', 'TELB'],
])

/** Instructions to the creditor agent that contradict or repeat each other, within one transaction. */
export function instructionWatcher(context: RuleContext, transaction: string, rule: RuleCode): Watcher {
  const codes = new Set<string>()
  return {
    open: {
      [transaction]: () => {
        if (codes.size > 0) codes.clear()
      },
    },
    text: {
      [`${transaction}/InstrForCdtrAgt/Cd`]: (text) => {
        const contrary = CONTRADICTIONS.get(text)
        if (codes.has(text)) context.report(rule, { found: text, message: 'An instruction to the creditor agent is repeated.' })
        else if (contrary !== undefined && codes.has(contrary)) context.report(rule, { found: `${contrary} and ${text}` })
        if (codes.size < CODES_REMEMBERED) codes.add(text)
      },
    },
  }
}

/** An agent with a name and no address, or the other way round. */
export function agentNameWatcher(context: RuleContext, rule: RuleCode): Watcher {
  return {
    close: {
      ':Institution': () => {
        const named = context.has('Nm')
        if (named === context.has('PstlAdr')) return
        context.report(rule, { found: named ? 'Nm' : 'PstlAdr', expected: 'Nm and PstlAdr' })
      },
    },
  }
}
