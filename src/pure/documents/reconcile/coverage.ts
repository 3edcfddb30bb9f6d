import type { BankStatement } from './records.ts'
import { accountKey, formatMinorUnits, currencyDigits, printableText, type BookingWindow } from './values.ts'

/** Booked amounts of one statement in one currency, and those that change if reversals are meant with the other sign. */
export interface BookedSum {
  total_minor: bigint
  reversed_minor: bigint
}

/** Facts of a statement that coverage depends on. */
export interface ReadStatement extends BankStatement {
  booked: ReadonlyMap<string, BookedSum>
  number: number
  /** Number of entries of any status. */
  all_entries: number
  /** First and last booking day of its entries; 0 without one. */
  first_entry_day: number
  last_entry_day: number
}

/** Days, inclusive, on which entries may be missing; infinite if unknown. */
interface CoverageHole {
  from: number
  to: number
}

interface CoveredAccount {
  /** As written; null if the statement names no account. */
  account: string | null
  file: number
  from: number
  to: number
  /** Last day by stated periods and balances alone; infinite without one. */
  stated_to: number
  holes: CoverageHole[]
}

/** Finding that a statement is incomplete. */
export interface CoverageRemark {
  file: number
  missing: string
}

/** Accounts and remarks listed at most. */
const LISTED = 20

/**
 * Accounts and days that the statements cover. An absent entry says something only there: a payment from an account without a statement, due
 * outside the days, or close to missing pages, numbers or amounts may have been made.
 */
export class StatementCoverage {
  private readonly accounts: CoveredAccount[]
  private readonly incomplete: CoverageRemark[] = []
  private readonly uncovered = new Map<string, { file: number; missing: string; count: number }>()

  constructor(statements: readonly ReadStatement[]) {
    const complete = statements.filter(({ partial }) => partial !== true)
    const groups = Map.groupBy(complete, ({ account }) => accountKey(account)?.text ?? '')
    const of_messages = new Set(complete.filter(({ message_page }) => message_page === true).map(({ page }) => sequenceNumber(page)))
    this.accounts = Array.from(groups.values(), (group) => coveredAccount(group, of_messages, this.incomplete))
  }

  /**
   * Checks whether the statements would show the payment; if not, the reason is kept for `remarks`. Day 0 is unknown. The last entry ends a
   * statement without a period, unless `by_statement` asks for stated days only.
   */
  covers(accounts: readonly (string | null)[], day: number, window: BookingWindow, by_statement = false): boolean {
    const named = accounts.filter((one) => one !== null)
    const found = this.accounts.filter((one) => named.length === 0 || named.some((account) => mayBeSameAccount(one.account, account)))
    const [first] = found
    if (first === undefined) {
      const [account] = named
      const which = account === undefined ? 'any account' : `account ${printableText(account) ?? ''}`
      this.note(0, `account ${account ?? ''}`, `a statement of ${which}`)
      return false
    }
    const known = by_statement ? found.map((one) => ({ ...one, to: one.stated_to })) : found
    if (known.some((one) => coversDay(one, day, window))) return true
    const { from, to } = first
    if (day !== 0 && (day < from || day > to))
      this.note(
        first.file,
        `days ${first.account ?? ''}`,
        `the days outside ${dayText(from)} to ${dayText(to)} of account ${nameOf(first)}`,
      )
    return false
  }

  /** Statements that are incomplete, and what is missing for payments that were asked about. */
  remarks(): CoverageRemark[] {
    const asked = Array.from(this.uncovered.values(), ({ file, missing, count }) => ({
      file,
      missing: `${missing}, which ${count === 1 ? '1 payment needs' : `${count} payments need`}`,
    }))
    return [...this.incomplete.slice(0, LISTED), ...asked]
  }

  private note(file: number, key: string, missing: string): void {
    const known = this.uncovered.get(key)
    if (known !== undefined) known.count++
    else if (this.uncovered.size < LISTED) this.uncovered.set(key, { file, missing, count: 1 })
  }
}

function coversDay({ from, to, holes }: CoveredAccount, day: number, { days_before, days_after }: BookingWindow): boolean {
  if (day === 0) return holes.length === 0
  return day >= from && day <= to && !holes.some((hole) => hole.to >= day - days_before && hole.from <= day + days_after)
}

function nameOf({ account }: { account: string | null }): string {
  return account === null ? 'without a number' : (printableText(account) ?? '')
}

const DAY_MS = 86_400_000

function dayText(day: number): string {
  return Number.isFinite(day) ? new Date(day * DAY_MS).toISOString().slice(0, 10) : day < 0 ? 'the start' : 'an unknown day'
}

/** One statement, its pages together. */
interface WholeStatement {
  first: ReadStatement
  sequence: number | null
  from: number
  to: number
  stated_to: number
  /** Lowest day known of it, to sort by. */
  order: number
  pages: ReadStatement[]
}

/** Larger numbers are dates, not a sequence. */
const SEQUENCE_DIGITS = 6

function coveredAccount(
  group: readonly ReadStatement[],
  of_messages: ReadonlySet<number | null>,
  remarks: CoverageRemark[],
): CoveredAccount {
  const holes: CoverageHole[] = []
  const miss = (file: number, missing: string, hole: CoverageHole) => {
    remarks.push({ file, missing })
    holes.push(hole)
  }
  const wholes = Array.from(
    Map.groupBy(group, ({ id, sequence, page, number }) => statementGroup({ id, sequence, page, number })).values(),
    wholeStatement,
  ).toSorted((one, other) => one.order - other.order || (one.sequence ?? 0) - (other.sequence ?? 0))
  for (const whole of wholes) {
    const missing = missingInside(whole, of_messages)
    if (missing !== null) miss(whole.first.file, `${missing} of ${statementName(whole)}`, { from: whole.from, to: whole.to })
  }
  for (const [index, next] of wholes.entries()) {
    const before = wholes[index - 1]
    const missing = before === undefined ? null : missingBetween(before, next)
    if (before !== undefined && missing !== null)
      miss(next.first.file, `${missing} of account ${nameOf(next.first)}`, { from: before.to, to: next.from })
  }
  const days = wholes.map(({ to }) => to).filter(Number.isFinite)
  const file = group[0]?.file ?? 0
  const from = Math.min(...wholes.map((one) => one.from))
  return {
    account: group[0]?.account ?? null,
    file,
    from,
    to: days.length === 0 ? Infinity : Math.max(...days),
    stated_to: Math.max(...wholes.map((one) => one.stated_to)),
    holes,
  }
}

/** Pages of one statement have its number; banks may give each page another id. */
function statementGroup({ id, sequence, page, number }: Pick<ReadStatement, 'id' | 'sequence' | 'page' | 'number'>): string {
  if (id === null && sequence === null) return JSON.stringify(number)
  return JSON.stringify(page !== null && sequence !== null ? [sequence] : [id, sequence])
}

function wholeStatement(pages: ReadStatement[]): WholeStatement {
  const [first] = pages as [ReadStatement]
  const least = (days: (number | null | undefined)[]) => Math.min(...days.map((day) => day || Infinity))
  const most = (days: (number | null | undefined)[]) => Math.max(...days.map((day) => day || -Infinity))
  const stated_from = least(pages.map(({ from_day, opening }) => from_day ?? opening?.day))
  const stated_to = most(pages.map(({ to_day, closing }) => to_day ?? closing?.day))
  const entries_to = most(pages.map(({ last_entry_day, created_day }) => last_entry_day || created_day))
  const to = Number.isFinite(stated_to) ? Math.max(stated_to, most(pages.map((page) => page.last_entry_day))) : entries_to
  const order = least([...pages.map(({ first_entry_day, created_day }) => first_entry_day || created_day), finite(stated_from), finite(to)])
  return {
    first,
    sequence: sequenceNumber(first.sequence),
    from: Number.isFinite(stated_from) ? Math.min(stated_from, least(pages.map((page) => page.first_entry_day))) : -Infinity,
    to: Number.isFinite(to) ? to : Infinity,
    stated_to: Number.isFinite(stated_to) ? to : Infinity,
    order: Number.isFinite(order) ? order : 0,
    pages,
  }
}

function finite(day: number): number | null {
  return Number.isFinite(day) ? day : null
}

function sequenceNumber(text: string | null): number | null {
  const trimmed = text?.trim() ?? ''
  return /^[0-9]{1,18}$/.test(trimmed) && trimmed.replace(/^0+/, '').length <= SEQUENCE_DIGITS ? Number.parseInt(trimmed, 10) : null
}

function statementName({ first: { id, sequence, account } }: WholeStatement): string {
  const name = printableText(sequence ?? id)
  return `statement ${name === null ? '' : `${name} `}of account ${nameOf({ account })}`
}

/** Pages, entries or amounts that the statement itself says are missing; null if it is complete as far as it says. */
function missingInside({ pages }: WholeStatement, of_messages: ReadonlySet<number | null>): string | null {
  const stated = pages.find(({ incomplete }) => incomplete !== undefined)?.incomplete
  return stated ?? missingPages(pages, of_messages) ?? missingEntries(pages) ?? missingAmount(pages)
}

function missingPages(pages: readonly ReadStatement[], of_messages: ReadonlySet<number | null>): string | null {
  const numbers = pages.map(({ page }) => sequenceNumber(page)).filter((number) => number !== null)
  if (numbers.length === 0) return null
  const last = Math.max(...numbers)
  const found = new Set<number | null>(pages.some(({ message_page }) => message_page === true) ? [...numbers, ...of_messages] : numbers)
  for (let number = found.has(0) ? 0 : 1; number < last; number++) if (!found.has(number)) return `page ${number}`
  const goes_on = pages.some(({ page, last_page }) => sequenceNumber(page) === last && last_page === false)
  return goes_on && !found.has(last + 1) ? `page ${last + 1}` : null
}

function missingEntries(pages: readonly ReadStatement[]): string | null {
  const [stated] = pages.flatMap(({ stated_entries }) => (typeof stated_entries === 'number' ? [stated_entries] : []))
  const read = pages.reduce((sum, { all_entries }) => sum + all_entries, 0)
  return stated === undefined || stated <= read ? null : `${stated - read} of the ${stated} entries`
}

/** Opening balance plus booked entries must be the closing balance; with reversals meant either way. */
function missingAmount(pages: readonly ReadStatement[]): string | null {
  const opening = pages.find((page) => page.opening !== undefined)?.opening
  const closing = pages.findLast((page) => page.closing !== undefined)?.closing
  if (opening === undefined || closing === undefined || opening.currency !== closing.currency) return null
  let [total, reversed] = [0n, 0n]
  for (const { booked } of pages) {
    for (const [currency, sum] of booked) {
      if (currency !== opening.currency) return null
      total += sum.total_minor
      reversed += sum.reversed_minor
    }
  }
  const rest = closing.amount_minor - opening.amount_minor - total
  if (rest === 0n || rest === -2n * reversed) return null
  return `entries of ${formatMinorUnits(rest, currencyDigits(opening.currency))} ${printableText(opening.currency) ?? ''} between the balances`
}

/** Returns a description of the gap between two successive statements of an account, or null. */
function missingBetween(before: WholeStatement, next: WholeStatement): string | null {
  const [one, other] = [before.sequence, next.sequence]
  if (one !== null && other !== null && other > one + 1)
    return other === one + 2 ? `statement ${one + 1}` : `statements ${one + 1} to ${other - 1}`
  const closing = before.pages.findLast((page) => page.closing !== undefined)?.closing
  const opening = next.pages.find((page) => page.opening !== undefined)?.opening
  const apart = before.to < next.from
  if (closing !== undefined && opening !== undefined && apart && closing.currency === opening.currency) {
    const difference = opening.amount_minor - closing.amount_minor
    if (difference === 0n) return null
    const money = `${formatMinorUnits(difference, currencyDigits(opening.currency))} ${printableText(opening.currency) ?? ''}`
    return `entries of ${money} between the closing balance of one statement and the opening balance of the next`
  }
  if (one !== null && other === one + 1) return null
  return apart && hasWorkingDay(before.to + 1, next.from - 1) ? `the days ${dayText(before.to + 1)} to ${dayText(next.from - 1)}` : null
}

/** 1970-01-01 was a Thursday. */
function hasWorkingDay(from: number, to: number): boolean {
  if (!Number.isFinite(from) || !Number.isFinite(to)) return false
  if (to - from > 2) return true
  for (let day = from; day <= to; day++) if ((day + 4) % 7 !== 0 && (day + 4) % 7 !== 6) return true
  return false
}

const MASK = /[*X#]{3}/

/**
 * Compares the account of a statement with that of a payment. Statements also name accounts by bank code and number, which an IBAN contains,
 * and some mask digits.
 */
function mayBeSameAccount(stated: string | null, account: string): boolean {
  if (stated === null) return true
  const [one, other] = [accountKey(stated), accountKey(account)]
  if (one === null || other === null || one.text === other.text) return true
  if (one.iban && other.iban) return false
  if (MASK.test(one.text) || MASK.test(other.text)) return true
  return isContained(one.text, other.text) || isContained(other.text, one.text)
}

/** All groups of the account number occur in the other text. */
function isContained(text: string, inside: string): boolean {
  const groups = text
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .map((group) => group.replace(/^0+/, ''))
    .filter((group) => group !== '')
  const whole = inside.toUpperCase().replace(/[^A-Z0-9]/g, '')
  const isCurrency = (group: string) => /^[A-Z]{3}$/.test(group)
  const wanted = groups.map((group) => group.replace(/[A-Z]{3}$/, '')).filter((group) => group !== '' && !isCurrency(group))
  return wanted.length > 0 && wanted.join('').length >= 4 && wanted.every((group) => whole.includes(group))
}
