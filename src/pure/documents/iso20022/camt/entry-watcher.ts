/** Rules on one entry: amount, status, dates, bank transaction code. */
import { dayNumber } from '../dates.ts'
import { decimalText } from '../decimal.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { bankCodeTexts, directionByCode, directionOf, isReturned, isTrue } from './codes.ts'
import { clearEntry, type Entry } from './entry.ts'
import type { Statement } from './statement.ts'
import type { Summary } from './summary.ts'
import { signed } from './tally.ts'

const CODE = 'Stmt/Ntry/BkTxCd'

export function entryWatcher(context: RuleContext, statement: Statement, entry: Entry, summary: Summary): Watcher {
  const status = (text: string) => {
    entry.status = text
    if (text !== 'BOOK') context.report('S_STS_PENDING', { found: text, expected: 'BOOK' })
  }
  const booked = (text: string) => checkBooked(context, statement, entry, text)
  return {
    open: {
      'Stmt/Ntry': () => {
        context.totals.transactions++
        clearEntry(entry)
      },
    },
    text: {
      'Stmt/Ntry/Amt': () => takeAmount(context, statement, entry),
      'Stmt/Ntry/CdtDbtInd': (text) => void (entry.direction = directionOf(text)),
      'Stmt/Ntry/RvslInd': (text) => {
        entry.reversal = isTrue(text)
        if (entry.reversal) context.report('S_RVSL', { found: entry.direction })
      },
      'Stmt/Ntry/Sts': status,
      'Stmt/Ntry/Sts/Cd': status,
      'Stmt/Ntry/Sts/Prtry': (text) => context.report('S_STS_PRTRY', { found: text }),
      'Stmt/Ntry/BookgDt/Dt': booked,
      'Stmt/Ntry/BookgDt/DtTm': booked,
      ...bankCodeTexts(CODE, entry.code),
    },
    close: {
      [CODE]: () => {
        if (!context.has('Domn') && !context.has('Prtry')) context.report('S_BKTXCD_MISSING', { expected: 'Domn or Prtry' })
      },
      'Stmt/Ntry': () => {
        checkDates(context, entry)
        checkCode(context, entry)
        checkDetails(context, entry)
        count(context, statement, entry, summary)
      },
    },
  }
}

function takeAmount(context: RuleContext, statement: Statement, entry: Entry): void {
  const { amount, currency, totals } = context
  entry.amount = amount.total()
  entry.currency = currency
  totals.sum.add(amount)
  if (currency !== '') totals.currencies.add(currency)
  if (amount.isZero()) context.report('S_ENTRY_ZERO', { found: '0' })
  if (statement.currency !== '' && currency !== '' && currency !== statement.currency) {
    context.report('S_ENTRY_CCY', { found: currency, expected: statement.currency })
  }
}

function checkBooked(context: RuleContext, { from_day, to_day }: Statement, { status }: Entry, text: string): void {
  const day = dayNumber(text)
  if (day === null || status !== 'BOOK') return
  const outside = (from_day !== null && day < from_day) || (to_day !== null && day > to_day)
  if (outside) context.report('S_BOOKDT_RANGE', { found: text.trim(), expected: 'a day of FrToDt' })
}

function checkDates(context: RuleContext, { status }: Entry): void {
  if (status === 'BOOK' && !context.has('BookgDt')) context.report('S_BOOKDT_MISSING', { expected: 'BookgDt' })
}

function checkCode(context: RuleContext, { code, direction, reversal, returns }: Entry): void {
  if (!context.has('BkTxCd')) context.report('S_BKTXCD_MISSING', { expected: 'BkTxCd' })
  const expected = directionByCode(code)
  if (expected !== '' && direction !== '' && direction !== expected && !reversal) {
    context.report('S_BKTXCD_DIR', { found: `${code.family} ${direction}`, expected })
  }
  if (isReturned(code) && returns === 0) context.report('S_RTR_REASON', { found: code.sub_family, expected: 'RtrInf' })
}

function checkDetails(context: RuleContext, entry: Entry): void {
  const { amount, direction, charges, detail_charges, unclear, transactions, sum, groups, batch_sum, reversal } = entry
  if (amount === null || direction === '' || unclear) return
  const expected = signed(direction, amount)
  const between = [0n, charges, detail_charges, charges + detail_charges]
  const differs = (found: bigint) => {
    // Banks differ in the direction that they write at the transactions of a reversal.
    const own = reversal ? [found, -found] : [found]
    return !own.some((one) => between.some((charged) => one - charged === expected))
  }
  if (transactions > 0 && sum !== null && differs(sum)) context.report('S_ENTRY_SUM', compared(sum, expected))
  if (groups > 0 && batch_sum !== null && differs(batch_sum)) context.report('S_BTCH_TOTAL', compared(batch_sum, expected))
}

function compared(found: bigint, expected: bigint): { found: string; expected: string } {
  return { found: decimalText(found, 2), expected: decimalText(expected, 2) }
}

/** Adds the entry to what its statement makes. */
function count(context: RuleContext, statement: Statement, entry: Entry, summary: Summary): void {
  const { amount, currency, direction, status, reversal } = entry
  if (amount === null) context.totals.unreadable = true
  statement.entry_currency ||= currency
  if (amount === null || direction === '' || status === '' || currency !== statement.entry_currency) statement.undecided = true
  const booked = status === 'BOOK'
  const known = amount ?? 0n
  statement.all.add(direction, known)
  if (booked) statement.booked.add(direction, known)
  if (booked && reversal) statement.reversed.add(direction, known)
  summary.add(entry.code, direction, known, booked)
}
