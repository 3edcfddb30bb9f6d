/** The balance equation: of a statement, of a page that has balances at its cuts, of all pages together. */
import { decimalText } from '../decimal.ts'
import type { Details } from '../findings.ts'
import type { RuleContext } from '../rule-engine.ts'
import type { Balance, Page, Statement } from './statement.ts'
import { Tally } from './tally.ts'

/** Whether the statement goes on before or after what is here. */
export function cuts({ page }: Statement): { start: boolean; end: boolean } {
  return { start: page !== null && page.number > 1, end: page !== null && !page.last }
}

/** What the whole statement opens with. */
export function openingOf({ balances }: Statement): Balance | null {
  return balances.opening ?? balances.previous
}

/** Checks what stands between an opening and a closing balance. */
function checkEquation(context: RuleContext, opening: Balance, closing: Balance, booked: Tally, reversed: Tally): void {
  if (opening.currency !== closing.currency) return
  const made = opening.amount + booked.net()
  if (made === closing.amount) return
  const flipped = made - 2n * reversed.net() === closing.amount
  context.reportAt(closing.place, 'S_BAL_EQ', described(made, closing.amount, flipped))
}

function described(made: bigint, stated: bigint, flipped: boolean): Details {
  const difference = decimalText(stated - made, 2)
  const hint = flipped ? ' It holds if reversals are taken in the other direction than they are marked.' : ''
  return {
    found: decimalText(stated, 2),
    expected: decimalText(made, 2),
    message: `Opening balance and booked entries do not make the closing balance: it differs by ${difference}.${hint}`,
  }
}

/** The pages of a statement so far. */
interface Run {
  id: string
  next: number
  ended: boolean
  /** Null when the first page is not here. */
  opening: Balance | null
  /** Sums of a page say nothing. */
  undecided: boolean
  /** Each page was checked by itself. */
  checked: boolean
}

export class Equations {
  private readonly context: RuleContext
  private readonly booked = new Tally()
  private readonly reversed = new Tally()
  private run: Run | null = null

  constructor(context: RuleContext) {
    this.context = context
  }

  /** A statement, or a page of one, is over. */
  close(statement: Statement): void {
    const { page, own_page } = statement
    const checked = this.checkItself(statement)
    if (page === null || !own_page) this.run = null
    else this.follow(statement, page, checked)
  }

  /** Whether the balances at hand allow it. */
  private checkItself(statement: Statement): boolean {
    const { balances, booked, reversed, undecided } = statement
    const { start, end } = cuts(statement)
    const opening = start ? balances.interim_first : openingOf(statement)
    const closing = end ? balances.interim_last : balances.closing
    if (opening === null || closing === null || opening === closing) return false
    if (!undecided && isOf(statement, opening)) checkEquation(this.context, opening, closing, booked, reversed)
    return true
  }

  private follow(statement: Statement, page: Page, checked: boolean): void {
    const run = this.continued(statement, page) ?? this.begun(statement, page)
    run.next = page.number + 1
    run.ended = page.last
    run.undecided ||= statement.undecided
    run.checked &&= checked
    this.run = run
    this.booked.addAll(statement.booked)
    this.reversed.addAll(statement.reversed)
    if (page.last) this.checkRun(statement, run)
  }

  /** Null when the page begins a statement, or is the first one here. */
  private continued({ id }: Statement, page: Page): Run | null {
    const { run } = this
    if (run === null || run.id !== id || page.number === 1) return null
    if (!run.ended && page.number === run.next) return run
    run.opening = null
    const message = run.ended ? 'A page follows the one that was marked as the last.' : 'A page is missing, or they are out of order.'
    const expected = run.ended ? null : `page ${run.next}`
    this.context.reportAt(page.place, 'S_PAGINATION', { found: `page ${page.number}`, expected, message })
    return run
  }

  private begun(statement: Statement, page: Page): Run {
    this.booked.clear()
    this.reversed.clear()
    const opening = page.number === 1 ? openingOf(statement) : null
    return { id: statement.id, next: 0, ended: false, opening, undecided: false, checked: true }
  }

  private checkRun(statement: Statement, { opening, undecided, checked }: Run): void {
    const { closing } = statement.balances
    if (undecided || checked || opening === null || closing === null || !isOf(statement, opening)) return
    checkEquation(this.context, opening, closing, this.booked, this.reversed)
  }
}

/** Whether the entries are in the currency of the balance. */
function isOf({ entry_currency }: Statement, { currency }: Balance): boolean {
  return entry_currency === '' || entry_currency === currency
}
