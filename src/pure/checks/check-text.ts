import { conclude, type Judgement } from './check-result.ts'
import { normalize, type NormalizeOptions } from './normalize.ts'
import { repair } from './repair.ts'
import type { Check } from './verdict.ts'

/** What tells one identifier from another. */
interface Rule<Facts> {
  options: NormalizeOptions
  /** One sentence for a value without findings. */
  praise: string
  /** Whether a value passes; what suggestions are tried with. */
  passes(value: string): boolean
  /** Judges a normalized value, stage by stage. */
  judge(value: string): Judgement<Facts>
}

/** The frame of every check: normalize, judge what can be read, and propose the one repair that passes. */
export function checkText<Facts>(text: string, { options, praise, passes, judge }: Rule<Facts>): Check<Facts> {
  const read = normalize(text, options)
  if (read.finding !== null) {
    const suggestion = read.suggestion !== null && passes(read.suggestion) ? read.suggestion : null
    return conclude(read, { praise, findings: [read.finding], suggestion })
  }
  const judged = judge(read.value)
  const suggestion = judged.findings.length === 0 ? null : repair(read.value, passes)
  return conclude(read, { praise, ...judged, suggestion })
}
