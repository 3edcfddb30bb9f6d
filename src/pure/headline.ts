/**
 * Headline of a result: the decision in one word, its tone and one sentence. Each tool states its headlines as a table of rules, which is
 * data, so that the same table serves the answer, the badge, the command line and the pages in a browser.
 */

/** `good`, `bad`, `caution` (a person should look) or `neutral` (a fact, not a judgement). */
export type HeadlineTone = 'good' | 'bad' | 'caution' | 'neutral'

/** Shape and colour of a badge; `done` is for results without a verdict. */
export type BadgeVerdict = 'valid' | 'unverifiable' | 'invalid' | 'done'

export interface Headline {
  tone: HeadlineTone
  /** The decision, such as "BLOCK" or "3 of 50 invalid". */
  word: string
  /** One sentence for people; empty when the result holds none. */
  sentence: string
  /** Path segment of the badge, such as "block". */
  code: string
}

export type Scalar = string | number | boolean | null

/** Row of the table. The first row with matching conditions whose `word` can be filled gives the headline. */
export interface HeadlineRule {
  /** Members of the result by dotted path, each with the value or the values that it must have. */
  when?: Readonly<Record<string, Scalar | readonly Scalar[]>>
  tone: HeadlineTone
  /** Template: `{path}` is the member at that path, `{path|item|items}` a count with its noun. */
  word: string
  /** Template, filled like `word`; default is the member `reason`. */
  sentence?: string
  /** Fixed text for the badge, which is drawn from its address alone; required if `word` has a placeholder. */
  badge?: string
  /** Path segment of the badge; default is derived from the fixed text. */
  code?: string
}

const MARKS = { good: 'valid', caution: 'unverifiable', bad: 'invalid', neutral: 'done' } as const satisfies Record<
  HeadlineTone,
  BadgeVerdict
>

/** Returns the mark of a tone; a word always appears next to it, so that no meaning depends on colour alone. */
export function markOf(tone: HeadlineTone): BadgeVerdict {
  return MARKS[tone]
}
