import type { CallCount, CallCountStore } from '../../ports/call-counts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Telemetry } from '../../ports/telemetry.ts'

export const DAY_MS = 86_400_000
const WRITE_MS = 60_000

interface CallCountParts {
  telemetry: Pick<Telemetry, 'snapshot'>
  counts: Pick<CallCountStore, 'add'>
  clock: Clock
  log: Log
}

/**
 * Adds the calls that this process counted to the stored counts of the day, every minute and at the stop. What a killed process had not
 * written, at most a minute, is missing from the counts; payments are never counted by these. Returns the function that writes the rest and
 * ends it.
 */
export function keepCallCounts(parts: CallCountParts): () => Promise<void> {
  const written = new Map<string, number>()
  let last = Promise.resolve()
  const write = () => {
    last = last.then(() => writeCounts(parts, written))
    return last
  }
  const timer = setInterval(() => void write(), WRITE_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    return write()
  }
}

/** A failed write is logged, and its calls are part of the next one. */
async function writeCounts({ telemetry, counts, clock, log }: CallCountParts, written: Map<string, number>): Promise<void> {
  try {
    const { calls } = await telemetry.snapshot()
    const day = Math.floor(clock.now_ms() / DAY_MS)
    const added = calls.flatMap(({ tool, outcome, count }): CallCount[] => {
      const more = count - (written.get(`${tool} ${outcome}`) ?? 0)
      return more > 0 ? [{ day, tool, outcome, calls: more }] : []
    })
    if (added.length > 0) await counts.add(added)
    for (const { tool, outcome, count } of calls) written.set(`${tool} ${outcome}`, count)
  } catch (error) {
    log.warn({ error: String(error) }, 'call counts were not stored; they are added to the next write')
  }
}
