/** Totals of the whole message: count, control sum, currencies. */
import { cutText } from '../../../cut-text.ts'
import { decimalText, equalsSum } from '../decimal.ts'
import type { Place } from '../findings.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'

/** A stated figure and where it stands. */
export interface Stated {
  text: string
  place: Place
}

export function groupWatcher(context: RuleContext): Watcher {
  let count: Stated | null = null
  let sum: Stated | null = null
  return {
    text: {
      'GrpHdr/NbOfTxs': (text) => void (count = { text, place: context.place() }),
      'GrpHdr/CtrlSum': (text) => void (sum = { text, place: context.place() }),
    },
    close: {
      GrpHdr: () => {
        if (!context.has('CtrlSum')) context.report('P_CTRLSUM_MISSING', { expected: 'CtrlSum' })
      },
      '': () => {
        const { transactions, sum: total, unreadable, currencies } = context.totals
        if (count !== null && differs(count, transactions)) {
          context.reportAt(count.place, 'P_NBTX_GROUP', { found: count.text, expected: String(transactions) })
        }
        if (sum === null) return
        if (!unreadable && !equalsSum(sum.text, total.total())) {
          context.reportAt(sum.place, 'P_CTRLSUM_GROUP', compared(sum.text, decimalText(total.total(), 2), 'of all amounts'))
        }
        if (currencies.size > 1) context.reportAt(sum.place, 'P_CCY_MIXED', { found: [...currencies].slice(0, 8).join(', ') })
      },
    },
  }
}

/** A control sum that differs from the exact sum of the amounts. */
export function compared(found: string, expected: string, which: string): { found: string; expected: string; message: string } {
  const message = `CtrlSum is ${cutText(found.trim(), SUM_CHARS)}, but the exact sum ${which} is ${expected}.`
  return { found, expected, message }
}

/** Longest sum that a message names: 18 digits, a point and a sign. */
const SUM_CHARS = 20

/** Leading zeros do not matter. */
export function differs({ text }: Stated, count: number): boolean {
  return BigInt(text) !== BigInt(count)
}
