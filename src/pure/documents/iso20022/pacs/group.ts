import type { RuleContext, Watcher } from '../rule-engine.ts'
import { decimalText, equalsSum } from '../decimal.ts'
import { compared, differs, type Stated } from '../pain/group.ts'

/** Until when a message lives, against when it was made. Both times are the message's own, so that the answer never changes. */

const TIME = /^\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,12})?(Z|[+-]\d\d:\d\d)?\s*$/
/** The farthest that a clock stands from UTC. */
const OFFSET_MOST_MS = 14 * 3_600_000

interface Moment {
  /** Since 1970, whole seconds; as if in UTC where no offset is said. */
  time_ms: number
  has_offset: boolean
}

function momentOf(text: string): Moment | null {
  const [, clock, offset] = TIME.exec(text) ?? []
  if (clock === undefined) return null
  const time_ms = Date.parse(`${clock}${offset ?? 'Z'}`)
  return Number.isNaN(time_ms) ? null : { time_ms, has_offset: offset !== undefined }
}

/** Where only one of the two times says its offset, they must lie more than 14 hours apart: errs towards valid. */
function checkExpiry(context: RuleContext, text: string): void {
  const created = context.totals.created === null ? null : momentOf(context.totals.created)
  const expiry = momentOf(text)
  if (created === null || expiry === null) return
  const slack_ms = created.has_offset === expiry.has_offset ? 0 : OFFSET_MOST_MS
  if (expiry.time_ms + slack_ms >= created.time_ms) return
  context.report('C_XPRY', { found: text.trim(), expected: `after ${context.totals.created?.trim() ?? ''}` })
}

/** What pacs.008 says once for the whole message: totals, settlement, expiry. */

/** What the rules of each transaction look at. */
export interface Group {
  has_settlement_date: boolean
  /** Currency of the total; '' when there is none. */
  total_currency: string
}

export function newGroup(): Group {
  return { has_settlement_date: false, total_currency: '' }
}

interface StatedTotal extends Stated {
  /** In 10^-5. */
  amount: bigint
}

export function groupWatcher(context: RuleContext, group: Group): Watcher {
  let count: Stated | null = null
  let sum: Stated | null = null
  let total: StatedTotal | null = null
  const expiry = (text: string) => checkExpiry(context, text)
  return {
    text: {
      'GrpHdr/NbOfTxs': (text) => {
        count = { text, place: context.place() }
        if (BigInt(text) !== 1n) context.report('C_SINGLE_TX', { found: text, expected: '1' })
      },
      'GrpHdr/CtrlSum': (text) => void (sum = { text, place: context.place() }),
      'GrpHdr/TtlIntrBkSttlmAmt': (text) => {
        total = { text, place: context.place(), amount: context.amount.total() }
        group.total_currency = context.currency
      },
      'GrpHdr/XpryDtTm': expiry,
      'CdtTrfTxInf/AddtlDtTm/XpryDtTm': expiry,
    },
    close: {
      GrpHdr: () => void (group.has_settlement_date = context.has('IntrBkSttlmDt')),
      '': () => checkTotals(context, count, sum, total),
    },
  }
}

function checkTotals(context: RuleContext, count: Stated | null, sum: Stated | null, total: StatedTotal | null): void {
  const { transactions, sum: settled, unreadable, currencies } = context.totals
  if (count !== null && differs(count, transactions)) {
    context.reportAt(count.place, 'C_NBTX', { found: count.text, expected: String(transactions) })
  }
  if (unreadable) return
  const expected = decimalText(settled.total(), 2)
  if (sum !== null && !equalsSum(sum.text, settled.total()))
    context.reportAt(sum.place, 'C_CTRLSUM', compared(sum.text, expected, 'of the settlement amounts'))
  // Over several currencies the total means nothing; that has been reported already.
  if (total !== null && currencies.size <= 1 && total.amount !== settled.total()) {
    context.reportAt(total.place, 'C_TTLAMT', { found: total.text, expected })
  }
}

/** Settlement method against what stands beside it. */
export function settlementWatcher(context: RuleContext): Watcher {
  let method = ''
  return {
    text: { 'GrpHdr/SttlmInf/SttlmMtd': (text) => void (method = text) },
    close: {
      'GrpHdr/SttlmInf': () => {
        const instructed_or_instructing = context.has('InstgRmbrsmntAgt') || context.has('InstdRmbrsmntAgt')
        const reimbursed = instructed_or_instructing || context.has('ThrdRmbrsmntAgt')
        if (method === 'CLRG' && !context.has('ClrSys')) context.report('C_STTLMMTD_CLRG', { found: method, expected: 'ClrSys' })
        if (method === 'COVE' && !instructed_or_instructing) {
          context.report('C_STTLMMTD_COVE', { found: method, expected: 'InstgRmbrsmntAgt or InstdRmbrsmntAgt' })
        }
        if ((method === 'INDA' || method === 'INGA') && reimbursed) context.report('C_STTLMMTD_REIMB', { found: method })
      },
    },
  }
}
