/** Rules on the balances of a statement, one by one. */
import { dayNumber } from '../dates.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { TextSet } from '../text-set.ts'
import { type Direction, directionOf } from './codes.ts'
import type { Balance, Statement } from './statement.ts'
import { signed } from './tally.ts'

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
