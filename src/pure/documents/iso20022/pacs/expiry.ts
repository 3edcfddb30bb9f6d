/** Until when a message lives, against when it was made. Both times are the message's own, so that the answer never changes. */
import type { RuleContext } from '../rule-engine.ts'

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
export function checkExpiry(context: RuleContext, text: string): void {
  const created = context.totals.created === null ? null : momentOf(context.totals.created)
  const expiry = momentOf(text)
  if (created === null || expiry === null) return
  const slack_ms = created.has_offset === expiry.has_offset ? 0 : OFFSET_MOST_MS
  if (expiry.time_ms + slack_ms >= created.time_ms) return
  context.report('C_XPRY', { found: text.trim(), expected: `after ${context.totals.created?.trim() ?? ''}` })
}
