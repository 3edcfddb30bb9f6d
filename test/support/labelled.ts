import assert from 'node:assert/strict'
import type { Check } from '../../src/pure/checks/verdict.ts'

/** Spaces and signs as pages, invoices and spreadsheets have them between a word and its number. */
export const SIGNS = [
  ' ',
  ': ',
  '\u00a0',
  ':\u00a0',
  '\uff1a',
  '\n',
  ':\r\n',
  '\u3000',
  '\u202f',
  ' \u2013 ',
  ' \u2014 ',
  '=',
  '# ',
  '\u200b: ',
  '  :  ',
]

/** A check, a value that passes it, and words that people write in front. */
export interface Labelled {
  check(text: string): Check<unknown>
  passes(text: string): boolean
  value: string
  words: readonly string[]
}

/** Throws unless every word is taken off, whatever sets it off. */
export function assertTakenOff({ check, passes, value, words }: Labelled): void {
  for (const word of words)
    for (const sign of SIGNS) {
      const text = word + sign + value
      const { valid, normalized, changes } = check(text)
      assert.deepEqual([valid, normalized, changes.at(-1)], [true, value, 'removed_prefix'], JSON.stringify(text))
      assert.equal(passes(text), true, JSON.stringify(text))
    }
}
