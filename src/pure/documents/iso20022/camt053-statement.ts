import { decimalText, equalsSum } from './accumulators.ts'
import type { RuleContext, Watcher } from './engine.ts'
import type { MessagePosition, RuleCode } from './rules.ts'
import type { StatedFigure } from './shared-rules.ts'

/** State of the open statement of camt.053: its codes, balances and totals, and the rules for the totals that it states. */

/** '' while unknown. */
export type CreditDebit = 'CRDT' | 'DBIT' | ''

export function readDirection(text: string): CreditDebit {
  return text === 'CRDT' || text === 'DBIT' ? text : ''
}

export function isTrue(text: string): boolean {
  const value = text.trim()
  return value === 'true' || value === '1'
}

/** Gives an amount the sign of its direction: negative for a debit. */
export function signedAmount(direction: CreditDebit, amount: bigint): bigint {
  return direction === 'DBIT' ? -amount : amount
}

export const NO_BANK_CODE = { domain: '', family: '', sub_family: '', proprietary: '', issuer: '' }

export type BankCode = typeof NO_BANK_CODE

/** Calls that fill a bank transaction code from the element at this path. */
export function bankCodeTexts(path: string, code: BankCode): Record<string, (text: string) => void> {
  return {
    [`${path}/Domn/Cd`]: (text) => void (code.domain = text),
    [`${path}/Domn/Fmly/Cd`]: (text) => void (code.family = text),
    [`${path}/Domn/Fmly/SubFmlyCd`]: (text) => void (code.sub_family = text),
    [`${path}/Prtry/Cd`]: (text) => void (code.proprietary = text),
    [`${path}/Prtry/Issr`]: (text) => void (code.issuer = text),
  }
}

/** The keys under which stated totals may include an entry: by domain, by the proprietary code, by both. */
function bankCodeKeys({ domain, family, sub_family, proprietary, issuer }: BankCode): readonly string[] {
  const by_domain = domain === '' ? '' : `${domain}/${family}/${sub_family}`
  const by_bank = proprietary === '' ? '' : `${proprietary} ${issuer}`
  if (by_domain === '') return [`|${by_bank}`]
  return by_bank === '' ? [`${by_domain}|`] : [`${by_domain}|${by_bank}`, `${by_domain}|`, `|${by_bank}`]
}

// The code lists below are from the bank transaction codes and external code sets of ISO 20022, read in November 2026. They change, so reasons
// of reversals and cancellations are also accepted for returns.

/** Exact numbers and sums of credits and debits, in 10^-5. */
export class Tally {
  credits = 0
  debits = 0
  credit = 0n
  debit = 0n

  add(direction: CreditDebit, amount: bigint): void {
    if (direction === 'DBIT') {
      this.debits++
      this.debit += amount
    } else {
      this.credits++
      this.credit += amount
    }
  }

  addAll(other: Tally): void {
    this.credits += other.credits
    this.debits += other.debits
    this.credit += other.credit
    this.debit += other.debit
  }

  /** Credits less debits. */
  net(): bigint {
    return this.credit - this.debit
  }
}

export interface StatedBalance {
  /** In 10^-5, negative for a debit. */
  amount: bigint
  currency: string
  /** Days since 1970-01-01; null when unreadable. */
  day: number | null
  position: MessagePosition
}

export interface StatementPage {
  number: number
  last: boolean
  position: MessagePosition
}

/** The balances of a statement, or of a page of one. */
class Balances {
  opening: StatedBalance | null = null
  /** Closing balance of the previous period, which is also an opening balance. */
  previous: StatedBalance | null = null
  closing: StatedBalance | null = null
  /** First and last interim balance, which are at the boundaries of pages. */
  interim_first: StatedBalance | null = null
  interim_last: StatedBalance | null = null
  /** The statement has balances of these kinds, readable or not. */
  has_opening = false
  has_closing = false
  has_interim = false
}

export class StatementState {
  /** Number of the statement in the message, from 1. */
  ordinal = 0
  id = ''
  id_position: MessagePosition | null = null
  page: StatementPage | null = null
  /** The page is that of the statement, not of the whole message. */
  own_page = false
  sequence: bigint | null = null
  sequence_position: MessagePosition | null = null
  /** IBAN or other ID; '' when none could be read. */
  account = ''
  /** Currency of the account; '' when it is not stated. */
  currency = ''
  /** Currency of all entries; '' without entries. */
  entry_currency = ''
  from_day: number | null = null
  to_day: number | null = null
  balances = new Balances()
  all = new Tally()
  booked = new Tally()
  /** Booked reversals, which are also in `booked`. */
  reversed = new Tally()
  /** An amount, direction or status could not be read, or entries have several currencies: sums are unknown. */
  undecided = false
}

const SUMMARY = 'Stmt/TxsSummry'
const PER_CODE = `${SUMMARY}/TtlNtriesPerBkTxCd`
/** Maximum number of codes per statement whose totals are checked. */
const MAX_CODES = 1_000

interface StatedEntries {
  count: StatedFigure | null
  sum: StatedFigure | null
}

interface StatedSummary {
  readonly all: StatedEntries
  readonly credit: StatedEntries
  readonly debit: StatedEntries
  net: StatedFigure | null
  net_direction: CreditDebit
}

function emptySummary(): StatedSummary {
  const none = (): StatedEntries => ({ count: null, sum: null })
  return { all: none(), credit: none(), debit: none(), net: null, net_direction: '' }
}

/** Totals of the entries: of all, and of the booked ones. Banks differ in which of the two they state. */
interface EntryTallies {
  readonly all: Tally
  readonly booked: Tally
}

interface CodeTotals extends EntryTallies {
  readonly stated: StatedSummary
}

type ReportFigure = (stated: StatedFigure, code: RuleCode, expected: string) => void
type TextCalls = Record<string, (text: string) => void>

/** Reads the totals that a statement states and compares them with its entries. */
export class StatementSummary {
  private stated = emptySummary()
  /** By key of the bank transaction code; null for a code that is stated twice. */
  private readonly codes = new Map<string, CodeTotals | null>()

  addEntry(code: BankCode, direction: CreditDebit, amount: bigint, booked: boolean): void {
    if (this.codes.size === 0) return
    for (const key of bankCodeKeys(code)) {
      const totals = this.codes.get(key) ?? null
      totals?.all.add(direction, amount)
      if (booked) totals?.booked.add(direction, amount)
    }
  }

  watcher(context: RuleContext, statement: StatementState): Watcher {
    const per_code = this.codeWatcher(context)
    return {
      open: {
        Stmt: () => {
          this.stated = emptySummary()
          this.codes.clear()
        },
        ...per_code.open,
      },
      text: {
        ...countAndSumTexts(context, `${SUMMARY}/TtlNtries`, () => this.stated.all),
        ...countAndSumTexts(context, `${SUMMARY}/TtlCdtNtries`, () => this.stated.credit),
        ...countAndSumTexts(context, `${SUMMARY}/TtlDbtNtries`, () => this.stated.debit),
        ...netTexts(context, `${SUMMARY}/TtlNtries`, () => this.stated),
        ...per_code.text,
      },
      close: { ...per_code.close, Stmt: () => this.check(context, statement) },
    }
  }

  private codeWatcher(context: RuleContext): Watcher {
    const code: BankCode = { ...NO_BANK_CODE }
    let stated = emptySummary()
    let forecast = false
    return {
      open: {
        [PER_CODE]: () => {
          stated = emptySummary()
          forecast = false
          Object.assign(code, NO_BANK_CODE)
        },
      },
      text: {
        ...countAndSumTexts(context, PER_CODE, () => stated.all),
        ...countAndSumTexts(context, `${PER_CODE}/CdtNtries`, () => stated.credit),
        ...countAndSumTexts(context, `${PER_CODE}/DbtNtries`, () => stated.debit),
        ...netTexts(context, PER_CODE, () => stated),
        [`${PER_CODE}/FcstInd`]: (text) => void (forecast = isTrue(text)),
        ...bankCodeTexts(`${PER_CODE}/BkTxCd`, code),
      },
      close: {
        [PER_CODE]: () => {
          const [key = '|'] = bankCodeKeys(code)
          // Forecast entries are not in the statement.
          if (forecast || key === '|' || this.codes.size >= MAX_CODES) return
          this.codes.set(key, this.codes.has(key) ? null : { stated, all: new Tally(), booked: new Tally() })
        },
      },
    }
  }

  private check(context: RuleContext, statement: StatementState): void {
    // Without all amounts, directions and statuses the sums are unknown.
    if (statement.undecided) return
    const report: ReportFigure = ({ text, position }, code, expected) => context.reportAt(position, code, { found: text, expected })
    compareSummary(this.stated, statement, report)
    for (const totals of this.codes.values()) {
      if (totals !== null) compareSummary(totals.stated, totals, (stated, _code, expected) => report(stated, 'S_SUM_BKTXCD', expected))
    }
  }
}

function countAndSumTexts(context: RuleContext, path: string, target: () => StatedEntries): TextCalls {
  return {
    [`${path}/NbOfNtries`]: (text) => void (target().count = { text, position: context.position() }),
    [`${path}/Sum`]: (text) => void (target().sum = { text, position: context.position() }),
  }
}

/** In version 02 amount and direction are next to the other totals, later in an element around them. */
function netTexts(context: RuleContext, path: string, target: () => StatedSummary): TextCalls {
  const onAmount = (text: string) => void (target().net = { text, position: context.position() })
  const onDirection = (text: string) => void (target().net_direction = readDirection(text))
  return {
    [`${path}/TtlNetNtryAmt`]: onAmount,
    [`${path}/CdtDbtInd`]: onDirection,
    [`${path}/TtlNetNtry/Amt`]: onAmount,
    [`${path}/TtlNetNtry/CdtDbtInd`]: onDirection,
  }
}

function compareSummary(stated: StatedSummary, { all, booked }: EntryTallies, report: ReportFigure): void {
  const compare = ({ count, sum }: StatedEntries, code: RuleCode, measure: (tally: Tally) => readonly [count: number, sum: bigint]) => {
    const [all_count, all_sum] = measure(all)
    const [booked_count, booked_sum] = measure(booked)
    if (count !== null && ![all_count, booked_count].some((number) => BigInt(count.text) === BigInt(number))) {
      report(count, code, String(all_count))
    }
    if (sum !== null && ![all_sum, booked_sum].some((total) => equalsSum(sum.text, total))) report(sum, code, decimalText(all_sum, 2))
  }
  compare(stated.all, 'S_SUM_TTL', ({ credits, debits, credit, debit }) => [credits + debits, credit + debit])
  compare(stated.credit, 'S_SUM_CDT', ({ credits, credit }) => [credits, credit])
  compare(stated.debit, 'S_SUM_DBT', ({ debits, debit }) => [debits, debit])
  const { net, net_direction } = stated
  if (net === null || [all, booked].some((tally) => isNet(net.text, net_direction, tally.net()))) return
  const total = all.net()
  const expected = total < 0n ? `${decimalText(-total, 2)} DBIT` : `${decimalText(total, 2)} CRDT`
  report({ text: `${net.text.trim()} ${net_direction}`.trimEnd(), position: net.position }, 'S_SUM_NET', expected)
}

/** Without a direction, an amount may have a sign or none. */
function isNet(text: string, direction: CreditDebit, net: bigint): boolean {
  switch (direction) {
    case 'CRDT':
      return equalsSum(text, net)
    case 'DBIT':
      return equalsSum(text, -net) || (net < 0n && equalsSum(text, net))
    case '':
      return equalsSum(text, net) || equalsSum(text, -net)
  }
}
