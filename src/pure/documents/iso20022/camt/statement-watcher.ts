import { decimalText, scaled } from '../decimal.ts'
import type { Details } from '../findings.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { type Balance, clearStatement, type Page, signed, type Statement, Tally } from './statement.ts'
import { TextSet } from '../text-set.ts'
import { dayNumber } from '../dates.ts'
import { type Direction, directionOf, isTrue } from './codes.ts'

/** The balance equation: of a statement, of a page that has balances at its cuts, of all pages together. */

/** Whether the statement goes on before or after what is here. */
function cuts({ page }: Statement): { start: boolean; end: boolean } {
  return { start: page !== null && page.number > 1, end: page !== null && !page.last }
}

/** What the whole statement opens with. */
function openingOf({ balances }: Statement): Balance | null {
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

class Equations {
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

/** How the statements of a message follow each other: identifications, electronic numbers, balances that carry over. */

/** Accounts that are followed; a message with more is checked for the first ones only. */
const ACCOUNTS = 10_000

/** The latest statement of an account. */
interface Latest {
  id: string
  sequence: bigint | null
  closing: Balance | null
}

class Chain {
  private readonly context: RuleContext
  private readonly ids = new TextSet()
  private readonly sequences = new TextSet()
  private readonly accounts = new Map<string, Latest>()

  constructor(context: RuleContext) {
    this.context = context
  }

  close(statement: Statement): void {
    this.checkId(statement)
    const { account, currency } = statement
    if (account === '') return
    const key = `${account} ${currency}`
    const before = this.accounts.get(key) ?? null
    if (before === null && this.accounts.size >= ACCOUNTS) return
    this.checkSequence(statement, before)
    if (before !== null) this.checkCarried(statement, before)
    const closing = cuts(statement).end ? null : statement.balances.closing
    this.accounts.set(key, { id: statement.id, sequence: statement.sequence, closing })
  }

  private checkId({ id, id_place, page, own_page }: Statement): void {
    if (id_place === null) return
    const number = page !== null && own_page ? page.number : 0
    if (this.ids.push(id).pushNumber(number).add() === 'same') this.context.reportAt(id_place, 'S_STMT_ID_DUP', { found: id })
  }

  /** Statements may stand in the order of their numbers or against it. */
  private checkSequence(statement: Statement, before: Latest | null): void {
    const { sequence, sequence_place, account, currency } = statement
    if (sequence === null || sequence_place === null || isSamePaged(statement, before)) return
    const found = sequence.toString()
    if (this.sequences.push(account).push(currency).push(found).add() === 'same') {
      this.context.reportAt(sequence_place, 'S_SEQ_GAP', { found, message: 'Two statements of the account have one number.' })
      return
    }
    if (before === null || before.sequence === null) return
    const step = sequence - before.sequence
    if (step !== 1n && step !== -1n)
      this.context.reportAt(sequence_place, 'S_SEQ_GAP', { found, expected: (before.sequence + 1n).toString() })
  }

  /** Only where the one follows the other, by number or, without numbers, by date. */
  private checkCarried(statement: Statement, { id, sequence, closing }: Latest): void {
    const opening = cuts(statement).start ? null : openingOf(statement)
    if (opening === null || closing === null || opening.currency !== closing.currency || id === statement.id) return
    if (sequence !== null && statement.sequence !== null && statement.sequence !== sequence + 1n) return
    if (opening.day !== null && closing.day !== null && opening.day < closing.day) return
    if (opening.amount === closing.amount) return
    this.context.reportAt(opening.place, 'S_BAL_CHAIN', { found: decimalText(opening.amount, 2), expected: decimalText(closing.amount, 2) })
  }
}

/** Another page of the same statement keeps its number. */
function isSamePaged({ id, own_page }: Statement, before: Latest | null): boolean {
  return own_page && before !== null && before.id === id
}

/** Rules on a statement as a whole: account, period, pages, and what its balances and entries make together. */

/** A page as it is being read. */
interface OpenPage {
  number: number | null
  last: boolean | null
}

export function statementWatcher(context: RuleContext, statement: Statement): Watcher {
  const equations = new Equations(context)
  const chain = new Chain(context)
  const open: OpenPage = { number: null, last: null }
  const openPage = () => void Object.assign(open, { number: null, last: null })
  const numbered = (text: string) => void (open.number = Number.parseInt(text, 10))
  const lasting = (text: string) => void (open.last = isTrue(text))
  const identified = (text: string) => void (statement.account = text)
  let message_page: Page | null = null
  return {
    open: {
      'GrpHdr/MsgPgntn': openPage,
      'Stmt/StmtPgntn': openPage,
      Stmt: () => clearStatement(statement, message_page),
    },
    text: {
      'GrpHdr/MsgPgntn/PgNb': numbered,
      'GrpHdr/MsgPgntn/LastPgInd': lasting,
      'Stmt/StmtPgntn/PgNb': numbered,
      'Stmt/StmtPgntn/LastPgInd': lasting,
      'Stmt/Id': (text) => {
        statement.id = text
        statement.id_place = context.place()
      },
      'Stmt/ElctrncSeqNb': (text) => {
        statement.sequence = scaled(text.trim(), 0)
        statement.sequence_place = context.place()
      },
      'Stmt/FrToDt/FrDtTm': (text) => void (statement.from_day = dayNumber(text)),
      'Stmt/FrToDt/ToDtTm': (text) => void (statement.to_day = dayNumber(text)),
      'Stmt/CpyDplctInd': (text) => {
        if (text !== 'COPY') context.report('S_COPY_DUPL', { found: text })
      },
      'Stmt/Acct/Id/IBAN': identified,
      'Stmt/Acct/Id/Othr/Id': identified,
      'Stmt/Acct/Ccy': (text) => void (statement.currency = text),
    },
    close: {
      'GrpHdr/MsgPgntn': () => void (message_page = pageOf(context, open)),
      'Stmt/StmtPgntn': () => {
        statement.page = pageOf(context, open)
        statement.own_page = statement.page !== null
      },
      'Stmt/Acct': () => {
        // Where the structure demands it, its absence has been told.
        if (context.version >= 8 && !context.has('Id')) context.report('S_ACCT_ID', { expected: 'IBAN or Othr' })
      },
      Stmt: () => {
        checkEnds(context, statement)
        equations.close(statement)
        chain.close(statement)
      },
      '': () => checkLastPage(context, statement, message_page),
    },
  }
}

function pageOf(context: RuleContext, { number, last }: OpenPage): Page | null {
  if (number === null || last === null) return null
  if (number === 0) context.report('S_PAGINATION', { found: 'page 0', expected: 'pages are counted from 1' })
  return { number: Math.max(1, number), last, place: context.place() }
}

/** A page that goes on elsewhere may carry a balance in between in place of the statement's own. */
function checkEnds(context: RuleContext, statement: Statement): void {
  const { has_opening, has_closing, has_interim } = statement.balances
  const { start, end } = cuts(statement)
  if (!has_opening && !(start && has_interim)) context.report('S_BAL_OPEN', { expected: 'OPBD or PRCD' })
  if (!has_closing && !(end && has_interim)) context.report('S_BAL_CLOSE', { expected: 'CLBD' })
}

/** The last page of the message cannot leave a statement open. */
function checkLastPage(context: RuleContext, { page, own_page }: Statement, message_page: Page | null): void {
  if (page === null || !own_page || page.last || message_page === null || !message_page.last) return
  context.reportAt(page.place, 'S_PAGINATION', {
    found: 'LastPgInd false',
    expected: 'true',
    message: 'The message says that it is the last page, its last statement says that more follow.',
  })
}

/** Rules on the balances of a statement, one by one. */

/** The balance that is open. */
interface Open {
  code: string
  proprietary: string
  sub_type: string
  amount: bigint | null
  currency: string
  direction: Direction
  date: string
}

const CLEAR: Open = { code: '', proprietary: '', sub_type: '', amount: null, currency: '', direction: '', date: '' }
/** Subtype of balances at the cuts between pages. */
const INTERMEDIATE = 'INTM'

export function balanceWatcher(context: RuleContext, statement: Statement): Watcher {
  const seen = new TextSet()
  const open: Open = { ...CLEAR }
  const dated = (text: string) => void (open.date = text.trim())
  const subType = (text: string) => void (open.sub_type = text)
  return {
    open: { 'Stmt/Bal': () => void Object.assign(open, CLEAR) },
    text: {
      'Stmt/Bal/Tp/CdOrPrtry/Cd': (text) => void (open.code = text),
      'Stmt/Bal/Tp/CdOrPrtry/Prtry': (text) => void (open.proprietary = text),
      'Stmt/Bal/Tp/SubTp/Cd': subType,
      'Stmt/Bal/Tp/SubTp/Prtry': subType,
      'Stmt/Bal/Amt': () => {
        open.amount = context.amount.total()
        open.currency = context.currency
        if (statement.currency !== '' && open.currency !== '' && open.currency !== statement.currency) {
          context.report('S_BAL_CCY', { found: open.currency, expected: statement.currency })
        }
      },
      'Stmt/Bal/CdtDbtInd': (text) => {
        open.direction = directionOf(text)
        if (text === 'DBIT' && open.amount === 0n) context.report('S_BAL_SIGN', { found: text, expected: 'CRDT' })
      },
      'Stmt/Bal/Dt/Dt': dated,
      'Stmt/Bal/Dt/DtTm': dated,
    },
    close: {
      'Stmt/Bal': () => {
        keepBalance(context, statement, open)
        if (isRepeated(seen, statement, open)) context.report('S_BAL_DUP', { found: kindOf(open) })
      },
    },
  }
}

function kindOf({ code, proprietary, sub_type }: Open): string {
  return `${code === '' ? proprietary : code}${sub_type === '' ? '' : ` ${sub_type}`}`
}

/** Pages may open and close with a balance of one kind and day. */
function isRepeated(seen: TextSet, { ordinal, page }: Statement, open: Open): boolean {
  if (page !== null && isInterim(open)) return false
  const { code, proprietary, sub_type, currency, date } = open
  if (date === '' || code + proprietary === '') return false
  return seen.pushNumber(ordinal).push(code).push(proprietary).push(sub_type).push(currency).push(date).add() === 'same'
}

function isInterim({ code, sub_type }: Open): boolean {
  return code === 'ITBD' || sub_type === INTERMEDIATE
}

function keepBalance(context: RuleContext, { balances }: Statement, open: Open): void {
  const { code, amount, direction, currency, date } = open
  if (code === 'OPBD' || code === 'PRCD') balances.has_opening = true
  if (code === 'CLBD') balances.has_closing = true
  if (isInterim(open)) balances.has_interim = true
  if (amount === null || direction === '') return
  const balance: Balance = { amount: signed(direction, amount), currency, day: dayNumber(date), place: context.place() }
  if (isInterim(open)) {
    balances.interim_first ??= balance
    balances.interim_last = balance
  }
  // A statement of several days may tell each day's balances: it opens with the first and closes with the last.
  if (code === 'OPBD' && isOlder(balance, balances.opening)) balances.opening = balance
  else if (code === 'PRCD' && isOlder(balance, balances.previous)) balances.previous = balance
  else if (code === 'CLBD' && (balances.closing === null || !isOlder(balance, balances.closing))) balances.closing = balance
}

/** Older than the other, or the first of its kind. */
function isOlder({ day }: Balance, other: Balance | null): boolean {
  return other === null || (day !== null && other.day !== null && day < other.day)
}
