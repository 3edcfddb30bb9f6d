import { decimalText, scaled, TextSet } from './accumulators.ts'
import { entryWatchers } from './camt053-entry.ts'
import {
  type CreditDebit,
  isTrue,
  readDirection,
  signedAmount,
  type StatedBalance,
  type StatementPage,
  StatementState,
  StatementSummary,
  Tally,
} from './camt053-statement.ts'
import type { MessageDefinition, RuleContext, Watcher } from './engine.ts'
import { dayNumber } from './values.ts'

const ACCOUNT = 'Stmt/Acct'
const STATUS = 'Stmt/Ntry/Sts'

/** Bank to customer statement. */
export const CAMT: MessageDefinition = {
  kind: 'camt.053',
  overrides: {
    absent: { 'Stmt/Ntry/BkTxCd': 'S_BKTXCD_MISSING' },
    missing: { [ACCOUNT]: 'S_ACCT_ID', [`${ACCOUNT}/Id`]: 'S_ACCT_ID', [`${ACCOUNT}/Id/Othr`]: 'S_ACCT_ID', [STATUS]: 'S_STS_SHAPE' },
    unexpected: { [STATUS]: 'S_STS_SHAPE' },
    empty: { [`${ACCOUNT}/Id/IBAN`]: 'S_ACCT_ID', [`${ACCOUNT}/Id/Othr/Id`]: 'S_ACCT_ID' },
  },
  watch(context) {
    const statement = new StatementState()
    const summary = new StatementSummary()
    return [
      statementWatcher(context, statement),
      balanceWatcher(context, statement),
      summary.watcher(context, statement),
      ...entryWatchers(context, statement, summary),
    ]
  },
}

/** Rules for a statement as a whole: account, period, pages, balances, order of statements. */
function statementWatcher(context: RuleContext, statement: StatementState): Watcher {
  const equation = new BalanceEquation(context)
  const order = new StatementOrder(context)
  let number: number | null = null
  let last: boolean | null = null
  let message_page: StatementPage | null = null
  const openPage = () => {
    number = null
    last = null
  }
  const onNumber = (text: string) => void (number = Number.parseInt(text, 10))
  const onLast = (text: string) => void (last = isTrue(text))
  const readPage = (): StatementPage | null => {
    if (number === null || last === null) return null
    if (number === 0) context.report('S_PAGINATION', { found: 'page 0', expected: 'page numbers from 1' })
    return { number: Math.max(1, number), last, position: context.position() }
  }
  const onAccount = (text: string) => void (statement.account = text)
  return {
    open: {
      'GrpHdr/MsgPgntn': openPage,
      'Stmt/StmtPgntn': openPage,
      Stmt: () => void Object.assign(statement, new StatementState(), { ordinal: statement.ordinal + 1, page: message_page }),
    },
    text: {
      'GrpHdr/MsgPgntn/PgNb': onNumber,
      'GrpHdr/MsgPgntn/LastPgInd': onLast,
      'Stmt/StmtPgntn/PgNb': onNumber,
      'Stmt/StmtPgntn/LastPgInd': onLast,
      'Stmt/Id': (text) => {
        statement.id = text
        statement.id_position = context.position()
      },
      'Stmt/ElctrncSeqNb': (text) => {
        statement.sequence = scaled(text.trim(), 0)
        statement.sequence_position = context.position()
      },
      'Stmt/FrToDt/FrDtTm': (text) => void (statement.from_day = dayNumber(text)),
      'Stmt/FrToDt/ToDtTm': (text) => void (statement.to_day = dayNumber(text)),
      'Stmt/CpyDplctInd': (text) => {
        if (text !== 'COPY') context.report('S_COPY_DUPL', { found: text })
      },
      'Stmt/Acct/Id/IBAN': onAccount,
      'Stmt/Acct/Id/Othr/Id': onAccount,
      'Stmt/Acct/Ccy': (text) => void (statement.currency = text),
    },
    close: {
      'GrpHdr/MsgPgntn': () => void (message_page = readPage()),
      'Stmt/StmtPgntn': () => {
        statement.page = readPage()
        statement.own_page = statement.page !== null
      },
      'Stmt/Acct': () => {
        if (context.mayLack('Id') && !context.has('Id')) context.report('S_ACCT_ID', { expected: 'IBAN or Othr' })
      },
      Stmt: () => {
        checkRequiredBalances(context, statement)
        equation.checkStatement(statement)
        order.checkStatement(statement)
      },
      '': () => checkLastPage(context, statement, message_page),
    },
  }
}

/** Returns whether the statement continues from another page, and on another page. */
function continuation({ page }: StatementState): { from_page: boolean; on_page: boolean } {
  return { from_page: page !== null && page.number > 1, on_page: page !== null && !page.last }
}

/** A page with a continuation may have an interim balance instead of the opening or closing one. */
function checkRequiredBalances(context: RuleContext, statement: StatementState): void {
  const { has_opening, has_closing, has_interim } = statement.balances
  const { from_page, on_page } = continuation(statement)
  if (!has_opening && !(from_page && has_interim)) context.report('S_BAL_OPEN', { expected: 'OPBD or PRCD' })
  if (!has_closing && !(on_page && has_interim)) context.report('S_BAL_CLOSE', { expected: 'CLBD' })
}

/** The last page of the message must end its statement. */
function checkLastPage(context: RuleContext, { page, own_page }: StatementState, message_page: StatementPage | null): void {
  if (page === null || !own_page || page.last || message_page === null || !message_page.last) return
  const message = 'The message is marked as the last page, but its last statement is not.'
  context.reportAt(page.position, 'S_PAGINATION', { found: 'LastPgInd false', expected: 'true', message })
}

function openingBalance({ balances }: StatementState): StatedBalance | null {
  return balances.opening ?? balances.previous
}

interface PagedStatement {
  id: string
  next: number
  ended: boolean
  /** Null when the first page is missing. */
  opening: StatedBalance | null
  /** The sums of a page are unknown. */
  undecided: boolean
  /** Each page was checked separately. */
  checked: boolean
}

/**
 * Checks opening balance plus booked entries against the closing balance: of a statement, of a page with interim balances, of all pages.
 */
class BalanceEquation {
  private readonly context: RuleContext
  private booked = new Tally()
  private reversed = new Tally()
  private pages: PagedStatement | null = null

  constructor(context: RuleContext) {
    this.context = context
  }

  /** Called at the end of a statement, or of a page of one. */
  checkStatement(statement: StatementState): void {
    const { page, own_page } = statement
    const checked = this.checkSingle(statement)
    if (page === null || !own_page) this.pages = null
    else this.addPage(statement, page, checked)
  }

  /** Returns whether the statement or page has the balances for a check. */
  private checkSingle(statement: StatementState): boolean {
    const { balances, booked, reversed, undecided } = statement
    const { from_page, on_page } = continuation(statement)
    const opening = from_page ? balances.interim_first : openingBalance(statement)
    const closing = on_page ? balances.interim_last : balances.closing
    if (opening === null || closing === null || opening === closing) return false
    if (!undecided) this.compare(statement, opening, closing, booked, reversed)
    return true
  }

  private addPage(statement: StatementState, page: StatementPage, checked: boolean): void {
    const pages = this.continuedPages(statement, page) ?? this.newPages(statement, page)
    pages.next = page.number + 1
    pages.ended = page.last
    pages.undecided ||= statement.undecided
    pages.checked &&= checked
    this.pages = pages
    this.booked.addAll(statement.booked)
    this.reversed.addAll(statement.reversed)
    const { closing } = statement.balances
    const { opening } = pages
    if (!page.last || pages.undecided || pages.checked || opening === null || closing === null) return
    this.compare(statement, opening, closing, this.booked, this.reversed)
  }

  /** Null when the page begins a statement, or is the first one in the message. */
  private continuedPages({ id }: StatementState, page: StatementPage): PagedStatement | null {
    const { pages } = this
    if (pages === null || pages.id !== id || page.number === 1) return null
    if (!pages.ended && page.number === pages.next) return pages
    pages.opening = null
    const message = pages.ended
      ? 'A page follows the one that was marked as the last.'
      : 'A page is missing, or the pages are out of order.'
    const expected = pages.ended ? null : `page ${pages.next}`
    this.context.reportAt(page.position, 'S_PAGINATION', { found: `page ${page.number}`, expected, message })
    return pages
  }

  private newPages(statement: StatementState, page: StatementPage): PagedStatement {
    this.booked = new Tally()
    this.reversed = new Tally()
    const opening = page.number === 1 ? openingBalance(statement) : null
    return { id: statement.id, next: 0, ended: false, opening, undecided: false, checked: true }
  }

  private compare(
    { entry_currency }: StatementState,
    opening: StatedBalance,
    closing: StatedBalance,
    booked: Tally,
    reversed: Tally,
  ): void {
    if ((entry_currency !== '' && entry_currency !== opening.currency) || opening.currency !== closing.currency) return
    const computed = opening.amount + booked.net()
    if (computed === closing.amount) return
    const difference = decimalText(closing.amount - computed, 2)
    const flipped = computed - 2n * reversed.net() === closing.amount
    const hint = flipped ? ' It agrees if reversals are read in the direction opposite to CdtDbtInd.' : ''
    this.context.reportAt(closing.position, 'S_BAL_EQ', {
      found: decimalText(closing.amount, 2),
      expected: decimalText(computed, 2),
      message: `Opening balance plus booked entries do not give the closing balance: it differs by ${difference}.${hint}`,
    })
  }
}

/** Maximum number of accounts whose statements are compared. */
const MAX_ACCOUNTS = 10_000

interface PreviousStatement {
  id: string
  sequence: bigint | null
  closing: StatedBalance | null
}

/** Checks the order of the statements of a message: IDs, electronic numbers, balances carried over. */
class StatementOrder {
  private readonly context: RuleContext
  private readonly ids = new TextSet()
  private readonly sequences = new TextSet()
  private readonly accounts = new Map<string, PreviousStatement>()

  constructor(context: RuleContext) {
    this.context = context
  }

  checkStatement(statement: StatementState): void {
    this.checkId(statement)
    const { account, currency } = statement
    if (account === '') return
    const key = `${account} ${currency}`
    const before = this.accounts.get(key) ?? null
    if (before === null && this.accounts.size >= MAX_ACCOUNTS) return
    this.checkSequence(statement, before)
    if (before !== null) this.checkCarriedBalance(statement, before)
    const closing = continuation(statement).on_page ? null : statement.balances.closing
    this.accounts.set(key, { id: statement.id, sequence: statement.sequence, closing })
  }

  private checkId({ id, id_position, page, own_page }: StatementState): void {
    if (id_position === null) return
    const number = page !== null && own_page ? page.number : 0
    if (this.ids.push(id).pushNumber(number).add() === 'same') this.context.reportAt(id_position, 'S_STMT_ID_DUP', { found: id })
  }

  /** Statements may be in ascending or descending order of their numbers; pages of one statement share a number. */
  private checkSequence(
    { id, own_page, sequence, sequence_position, account, currency }: StatementState,
    before: PreviousStatement | null,
  ): void {
    if (sequence === null || sequence_position === null || (own_page && before !== null && before.id === id)) return
    const found = sequence.toString()
    if (this.sequences.push(account).push(currency).push(found).add() === 'same') {
      this.context.reportAt(sequence_position, 'S_SEQ_GAP', { found, message: 'Two statements of the account have the same number.' })
      return
    }
    if (before === null || before.sequence === null) return
    const step = sequence - before.sequence
    if (step === 1n || step === -1n) return
    this.context.reportAt(sequence_position, 'S_SEQ_GAP', { found, expected: (before.sequence + 1n).toString() })
  }

  /** Only when one statement follows the other, by number or, without numbers, by date. */
  private checkCarriedBalance(statement: StatementState, { id, sequence, closing }: PreviousStatement): void {
    const opening = continuation(statement).from_page ? null : openingBalance(statement)
    if (opening === null || closing === null || opening.currency !== closing.currency || id === statement.id) return
    if (sequence !== null && statement.sequence !== null && statement.sequence !== sequence + 1n) return
    if (opening.day !== null && closing.day !== null && opening.day < closing.day) return
    if (opening.amount === closing.amount) return
    const details = { found: decimalText(opening.amount, 2), expected: decimalText(closing.amount, 2) }
    this.context.reportAt(opening.position, 'S_BAL_CHAIN', details)
  }
}

class OpenBalance {
  code = ''
  proprietary = ''
  sub_type = ''
  amount: bigint | null = null
  currency = ''
  direction: CreditDebit = ''
  date = ''

  /** Interim balances are at the boundaries of pages. */
  get is_interim(): boolean {
    return this.code === 'ITBD' || this.sub_type === 'INTM'
  }
}

const NEW_BALANCE: Readonly<OpenBalance> = new OpenBalance()

function balanceWatcher(context: RuleContext, statement: StatementState): Watcher {
  const seen = new TextSet()
  const balance = new OpenBalance()
  const onDate = (text: string) => void (balance.date = text.trim())
  const onSubType = (text: string) => void (balance.sub_type = text)
  return {
    open: { 'Stmt/Bal': () => void Object.assign(balance, NEW_BALANCE) },
    text: {
      'Stmt/Bal/Tp/CdOrPrtry/Cd': (text) => void (balance.code = text),
      'Stmt/Bal/Tp/CdOrPrtry/Prtry': (text) => void (balance.proprietary = text),
      'Stmt/Bal/Tp/SubTp/Cd': onSubType,
      'Stmt/Bal/Tp/SubTp/Prtry': onSubType,
      'Stmt/Bal/Amt': () => {
        balance.amount = context.amount.total()
        balance.currency = context.currency
        if (statement.currency !== '' && balance.currency !== '' && balance.currency !== statement.currency) {
          context.report('S_BAL_CCY', { found: balance.currency, expected: statement.currency })
        }
      },
      'Stmt/Bal/CdtDbtInd': (text) => {
        balance.direction = readDirection(text)
        if (text === 'DBIT' && balance.amount === 0n) context.report('S_BAL_SIGN', { found: text, expected: 'CRDT' })
      },
      'Stmt/Bal/Dt/Dt': onDate,
      'Stmt/Bal/Dt/DtTm': onDate,
    },
    close: {
      'Stmt/Bal': () => {
        storeBalance(context, statement, balance)
        const { code, proprietary, sub_type } = balance
        const found = `${code === '' ? proprietary : code}${sub_type === '' ? '' : ` ${sub_type}`}`
        if (isDuplicate(seen, statement, balance)) context.report('S_BAL_DUP', { found })
      },
    },
  }
}

/** A page may open and close with interim balances of one kind and day. */
function isDuplicate(seen: TextSet, { ordinal, page }: StatementState, balance: OpenBalance): boolean {
  if (page !== null && balance.is_interim) return false
  const { code, proprietary, sub_type, currency, date } = balance
  if (date === '' || code + proprietary === '') return false
  return seen.pushNumber(ordinal).push(code).push(proprietary).push(sub_type).push(currency).push(date).add() === 'same'
}

function storeBalance(context: RuleContext, { balances }: StatementState, open: OpenBalance): void {
  const { code, amount, direction, currency, date } = open
  if (code === 'OPBD' || code === 'PRCD') balances.has_opening = true
  if (code === 'CLBD') balances.has_closing = true
  if (open.is_interim) balances.has_interim = true
  if (amount === null || direction === '') return
  const balance: StatedBalance = { amount: signedAmount(direction, amount), currency, day: dayNumber(date), position: context.position() }
  if (open.is_interim) {
    balances.interim_first ??= balance
    balances.interim_last = balance
  }
  // A statement of several days may have the balances of each day: it opens with the first and closes with the last.
  if (code === 'OPBD' && isOlder(balance, balances.opening)) balances.opening = balance
  else if (code === 'PRCD' && isOlder(balance, balances.previous)) balances.previous = balance
  else if (code === 'CLBD' && (balances.closing === null || !isOlder(balance, balances.closing))) balances.closing = balance
}

/** Older than the other balance, or the first of its kind. */
function isOlder({ day }: StatedBalance, other: StatedBalance | null): boolean {
  return other === null || (day !== null && other.day !== null && day < other.day)
}
