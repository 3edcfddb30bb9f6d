import { cutText } from '../../cut-text.ts'
import { banksWith } from '../../checks/same-country.ts'
import { AmountText, decimalText, equalsSum, ExactSum, scaled, TextSet } from './accumulators.ts'
import type { RuleContext, Watcher } from './engine.ts'
import type { FindingDetails, MessageFindings, MessageKind, MessagePosition, RuleCode } from './rules.ts'
import { bicFault, currencyInfo, dayNumber, decimalsText, ibanFault, isExactLei } from './values.ts'

/** Rules of several messages: ID and time, addresses, parties, country of account and bank, header, instructions; and of a bare list. */

export function sharedWatchers(context: RuleContext, kind: MessageKind): readonly Watcher[] {
  const { totals } = context
  const group_header: Watcher = {
    text: {
      'GrpHdr/MsgId': (text) => void (totals.message_id ??= text),
      'GrpHdr/CreDtTm': (text) => void (totals.created ??= text),
    },
  }
  const countries = countryWatcher(context)
  // Statements and reports repeat addresses and service levels of others.
  if (!ORDERS.has(kind)) return [group_header, countries]
  const service_level: Watcher = { text: { '**/PmtTpInf/SvcLvl/Cd': (text) => void (totals.service_level ??= text) } }
  return [group_header, service_level, countries, addressWatcher(context), partyWatcher(context)]
}

/** Messages that order or carry a payment. */
const ORDERS: ReadonlySet<MessageKind> = new Set<MessageKind>([
  ...(['pain.001', 'pain.008', 'pain.013'] as const),
  ...(['pacs.003', 'pacs.008', 'pacs.009'] as const),
])

const CBPR_CUT_OVER = dayNumber('2026-11-14') ?? 0
/** Elements that make an address structured; the country alone does not. */
const STRUCTURED = 'CareOf Dept SubDept StrtNm BldgNb BldgNm Flr UnitNb PstBx Room PstCd TwnNm TwnLctnNm DstrctNm CtrySubDvsn'.split(' ')
const REPEATABLE = 'Dept SubDept StrtNm BldgNm PstBx PstCd TwnNm TwnLctnNm DstrctNm CtrySubDvsn'.split(' ')
/** More lines and values than an address may have. */
const MAX_VALUES = 16
/** Shorter values may be part of a line by chance. */
const MIN_REPEATED_CHARS = 3

function addressWatcher(context: RuleContext): Watcher {
  const lines: string[] = []
  const values: string[] = []
  const addTo = (list: string[]) => (text: string) => {
    if (list.length < MAX_VALUES) list.push(text)
  }
  return {
    open: {
      ':PostalAddress': () => {
        lines.length = 0
        values.length = 0
      },
    },
    text: {
      ':PostalAddress/AdrLine': addTo(lines),
      ...Object.fromEntries(REPEATABLE.map((name) => [`:PostalAddress/${name}`, addTo(values)])),
    },
    close: { ':PostalAddress': () => checkAddress(context, lines, values) },
  }
}

const ADDRESS_RULES = {
  before: { unstructured: 'ADDR_UNSTRUCTURED_BEFORE', hybrid: 'ADDR_HYBRID_LINES_BEFORE', minimum: 'ADDR_MIN_BEFORE' },
  on_14: { unstructured: 'ADDR_UNSTRUCTURED_ON_14', hybrid: 'ADDR_HYBRID_LINES_ON_14', minimum: 'ADDR_MIN_ON_14' },
  after: { unstructured: 'ADDR_UNSTRUCTURED', hybrid: 'ADDR_HYBRID_LINES', minimum: 'ADDR_MIN' },
} as const satisfies Record<string, Record<string, RuleCode>>

function checkAddress(context: RuleContext, lines: readonly string[], values: readonly string[]): void {
  const rules = ADDRESS_RULES[cutOverPhase(context)]
  const structured = STRUCTURED.some((name) => context.has(name))
  if (context.has('TwnNm') && context.has('Ctry')) {
    if (lines.length > 2) context.report(rules.hybrid, { found: `${lines.length} lines`, expected: 'at most 2' })
  } else if (structured) context.report(rules.minimum, { expected: 'TwnNm and Ctry' })
  else if (context.has('AdrLine') || context.has('Ctry')) context.report(rules.unstructured, { expected: 'TwnNm and Ctry' })
  const worded = lines.map(inWords)
  const in_lines = (value: string) => worded.some((line) => line.includes(inWords(value)))
  const repeated = values.find((value) => value.length >= MIN_REPEATED_CHARS && in_lines(value))
  if (repeated !== undefined) context.report('ADDR_DUPLICATED', { found: repeated })
}

/** Words in lower case between single spaces, so that a town is not found inside the name of a street. */
function inWords(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `
}

/** By the creation date of the message: a message created before the cut-over was valid then. */
function cutOverPhase({ totals }: RuleContext): keyof typeof ADDRESS_RULES {
  const day = totals.created === null ? null : dayNumber(totals.created)
  if (day === null || day > CBPR_CUT_OVER) return 'after'
  return day === CBPR_CUT_OVER ? 'on_14' : 'before'
}

function partyWatcher(context: RuleContext): Watcher {
  let has_bic = false
  const onBic = () => void (has_bic = true)
  return {
    open: { ':PartyIdentification': () => void (has_bic = false) },
    text: { ':OrganisationIdentification/AnyBIC': onBic, ':OrganisationIdentification/BICOrBEI': onBic },
    close: {
      ':PartyIdentification': () => {
        const named = context.has('Nm')
        const addressed = context.has('PstlAdr')
        if (addressed && !named) context.report('PARTY_NAME_WITH_ADDR', { expected: 'Nm' })
        if (!has_bic || !named || !addressed) return
        const is_main = /\/(?:Dbtr|Cdtr)$/.test(context.position().path)
        context.report(is_main ? 'PARTY_BIC_EXCLUSIVE_CBPR' : 'PARTY_BIC_EXCLUSIVE', { found: 'BIC, name and address' })
      },
    },
  }
}

class AccountAndBank {
  private readonly context: RuleContext
  private account = ''
  private bank = ''

  constructor(context: RuleContext) {
    this.context = context
  }

  clear(): void {
    this.account = ''
    this.bank = ''
  }

  texts(account_path: string, bank_path: string): NonNullable<Watcher['text']> {
    const onBank = (text: string) => {
      this.bank = text
      this.compare()
    }
    return {
      [`${account_path}/Id/IBAN`]: (text) => {
        this.account = text
        this.compare()
      },
      [`${bank_path}/FinInstnId/BIC`]: onBank,
      [`${bank_path}/FinInstnId/BICFI`]: onBank,
    }
  }

  private compare(): void {
    const { account, bank } = this
    if (account === '' || bank === '') return
    // Compares the country codes without allocating.
    if (bank.charCodeAt(4) === account.charCodeAt(0) && bank.charCodeAt(5) === account.charCodeAt(1)) return
    const [bank_country, account_country] = [bank.slice(4, 6), account.slice(0, 2)]
    if (!banksWith(bank_country, account_country))
      this.context.report('IBAN_BIC_COUNTRY', { found: `${account_country} and ${bank_country}` })
  }
}

function countryWatcher(context: RuleContext): Watcher {
  const debtor = new AccountAndBank(context)
  const creditor = new AccountAndBank(context)
  const owner = new AccountAndBank(context)
  return {
    open: {
      PmtInf: () => debtor.clear(),
      'PmtInf/CdtTrfTxInf': () => creditor.clear(),
      CdtTrfTxInf: () => {
        debtor.clear()
        creditor.clear()
      },
      Stmt: () => owner.clear(),
    },
    text: {
      ...creditor.texts('**/CdtTrfTxInf/CdtrAcct', '**/CdtTrfTxInf/CdtrAgt'),
      ...debtor.texts('**/PmtInf/DbtrAcct', '**/PmtInf/DbtrAgt'),
      ...debtor.texts('CdtTrfTxInf/DbtrAcct', 'CdtTrfTxInf/DbtrAgt'),
      ...owner.texts('Stmt/Acct', 'Stmt/Acct/Svcr'),
    },
  }
}

export interface StatedFigure {
  text: string
  position: MessagePosition
}

interface TotalRules {
  count: RuleCode
  sum: RuleCode
  /** The amounts that the control sum adds, for its message. */
  amounts: string
}

/** The number of transactions and the control sum that a group header or a payment states. */
export class StatedTotals {
  private readonly context: RuleContext
  private count: StatedFigure | null = null
  private sum: StatedFigure | null = null

  constructor(context: RuleContext) {
    this.context = context
  }

  clear(): void {
    this.count = null
    this.sum = null
  }

  texts(path: string): NonNullable<Watcher['text']> {
    return {
      [`${path}/NbOfTxs`]: (text) => void (this.count = { text, position: this.context.position() }),
      [`${path}/CtrlSum`]: (text) => void (this.sum = { text, position: this.context.position() }),
    }
  }

  get sum_position(): MessagePosition | null {
    return this.sum?.position ?? null
  }

  /** `sum` is the exact sum in 10^-5; null when an amount could not be read. Leading zeros of the count do not matter. */
  check(rules: TotalRules, count: number, sum: bigint | null): void {
    if (this.count !== null && BigInt(this.count.text) !== BigInt(count)) {
      this.context.reportAt(this.count.position, rules.count, { found: this.count.text, expected: String(count) })
    }
    if (this.sum === null || sum === null || equalsSum(this.sum.text, sum)) return
    const expected = decimalText(sum, 2)
    const message = `CtrlSum is ${cutText(this.sum.text.trim(), MAX_SUM_CHARS)}, but the exact sum ${rules.amounts} is ${expected}.`
    this.context.reportAt(this.sum.position, rules.sum, { found: this.sum.text, expected, message })
  }
}

/** A control sum has at most 18 digits, a point and a sign. */
const MAX_SUM_CHARS = 20

interface HeaderRules {
  kind: MessageKind
  definition: RuleCode
  message_id: RuleCode
  /** The business service does not carry this message under CBPR+. */
  service: RuleCode
  /** Business services of CBPR+ that carry this message. */
  services: RegExp
}

/** Compares the business application header with the message. */
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
  // Communities use other numbers in the third part.
  const community = stated.length === expected.length && stated.startsWith(`${kind}.`) && stated.endsWith(expected.slice(-3))
  if (!community) context.report(definition, { found: stated, expected })
}

/** More codes than any bank sends; further ones are not stored. */
const MAX_CODES = 64
const CONTRADICTIONS: ReadonlyMap<string, string> = new Map([
  ['HOLD', 'CHQB'],
  ['CHQB', 'HOLD'],
  ['TELB', 'PHOB'],
  ['PHOB', 'TELB'],
])

/** Reports instructions to the creditor agent that contradict or repeat each other within one transaction. */
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
        if (codes.size < MAX_CODES) codes.add(text)
      },
    },
  }
}

/** Reports an agent with a name and no address, or an address and no name. */
export function agentNameWatcher(context: RuleContext, rule: RuleCode): Watcher {
  return {
    close: {
      ':FinancialInstitutionIdentification': () => {
        const named = context.has('Nm')
        if (named === context.has('PstlAdr')) return
        context.report(rule, { found: named ? 'Nm' : 'PstlAdr', expected: 'Nm and PstlAdr' })
      },
    },
  }
}

interface ListedParty {
  iban?: string | undefined
  bic?: string | undefined
  lei?: string | undefined
}

/** A transaction of the list that is checked in addition to a message, or instead of one. */
export interface ListedTransaction extends ListedParty {
  end_to_end_id?: string | undefined
  /** Decimal text; of a number only the value is known, not its digits. */
  amount?: string | number | undefined
  currency?: string | undefined
  debtor?: ListedParty | undefined
  creditor?: ListedParty | undefined
}

/** Totals that the payload states; null where it does not. */
export interface StatedListTotals {
  count: string | null
  sum: string | null
}

interface ListTotals {
  count: number
  /** In 10^-5; null when an amount is missing or unreadable. */
  sum: bigint | null
  currencies: string[]
}

type ReportInList = (pointer: string, code: RuleCode, details: FindingDetails) => void

/** Checks a list and compares its totals with the stated ones. */
export function checkTransactionList(list: readonly ListedTransaction[], stated: StatedListTotals, findings: MessageFindings): ListTotals {
  const ids = new TextSet()
  const sum = new ExactSum()
  const currencies = new Set<string>()
  let readable = true
  if (list.length === 0) findings.add('T_EMPTY', { path: '/transactions', line: null }, { expected: 'at least one transaction' })
  list.forEach((transaction, index) => {
    const report: ReportInList = (pointer, code, details) =>
      findings.add(code, { path: `/transactions/${index}${pointer}`, line: null }, details)
    if (isEmpty(transaction)) report('', 'T_EMPTY', { expected: 'an ID, an amount or a party' })
    checkListedId(transaction.end_to_end_id, ids, report)
    checkListedParty(transaction, '', report)
    checkListedParty(transaction.debtor, '/debtor', report)
    checkListedParty(transaction.creditor, '/creditor', report)
    const amount = readListedAmount(transaction, report)
    if (amount === null) readable = false
    else sum.add(amount)
    if (transaction.currency !== undefined) currencies.add(transaction.currency)
  })
  const totals = { count: list.length, sum: readable ? sum.total() : null, currencies: [...currencies] }
  compareListTotals(totals, stated, findings)
  return totals
}

function isEmpty({ debtor = {}, creditor = {}, ...own }: ListedTransaction): boolean {
  return [own, debtor, creditor].every((part) => Object.values(part).every((value) => value === undefined))
}

function checkListedId(id: string | undefined, ids: TextSet, report: ReportInList): void {
  if (id === undefined) return
  if (id.trim() !== id || id.includes('  ')) report('/end_to_end_id', 'ID_WHITESPACE', { found: id })
  if (id.startsWith('/') || id.endsWith('/') || id.includes('//')) report('/end_to_end_id', 'ID_SLASH', { found: id })
  if (id !== 'NOTPROVIDED' && ids.push(id).add() === 'same') report('/end_to_end_id', 'T_E2E_DUPLICATE', { found: id })
}

function checkListedParty(party: ListedParty | undefined, pointer: string, report: ReportInList): void {
  const { iban, bic, lei } = party ?? {}
  const iban_fault = iban === undefined ? null : ibanFault(iban)
  if (iban !== undefined && iban_fault !== null) report(`${pointer}/iban`, iban_fault.code, { found: iban, ...iban_fault.details })
  const bic_fault = bic === undefined ? null : bicFault(bic, 2014)
  if (bic !== undefined && bic_fault !== null) report(`${pointer}/bic`, bic_fault, { found: bic })
  if (lei !== undefined && !isExactLei(lei)) report(`${pointer}/lei`, 'LEI_CHECK', { found: lei })
}

function readListedAmount({ amount, currency }: ListedTransaction, report: ReportInList): AmountText | null {
  const info = currency === undefined ? null : currencyInfo(currency)
  if (info !== null && info.fault !== null) report('/currency', info.fault, { found: currency ?? null })
  if (amount === undefined) return null
  const text = String(amount)
  const read = new AmountText()
  const fault = read.read(text)
  if (fault === 'digits') report('/amount', 'AMT_DIGITS', { found: text })
  else if (fault !== null) report('/amount', 'AMT_LEXICAL', { found: text, expected: 'a decimal such as 1234.56' })
  if (fault !== null) return null
  const digits = info?.minor_units ?? null
  if (digits !== null && read.fraction > digits)
    report('/amount', 'AMT_FRACTION', { found: text, expected: decimalsText(digits, currency ?? '') })
  return read
}

function compareListTotals({ count, sum }: ListTotals, stated: StatedListTotals, findings: MessageFindings): void {
  const position = { path: '/transactions', line: null }
  if (stated.count !== null && scaled(stated.count, 0) !== BigInt(count)) {
    findings.add('T_COUNT', position, { found: String(count), expected: cutText(stated.count, 64) })
  }
  if (stated.sum !== null && sum !== null && !equalsSum(stated.sum, sum)) {
    findings.add('T_CTRLSUM', position, { found: decimalText(sum, 2), expected: cutText(stated.sum, 64) })
  }
}
