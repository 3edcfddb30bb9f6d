import { editDistance } from '../documents/edit-distance.ts'

const WORD_CHARS = 32
const SHORT_CHARS = 4

/** The known words that a mistyped one most likely means: the same but for capitals, same beginning, or few edits away; nearest first, at most three. */
export function nearWords(text: string, known: readonly string[]): string[] {
  const asked = text.toLowerCase()
  if (asked === '' || asked.length > WORD_CHARS) return []
  const judged = known.map((word) => ({ word, edits: editsOf(asked, word.toLowerCase()) }))
  const near = judged.filter((one) => one.edits <= (asked.length > SHORT_CHARS ? 2 : 1))
  return near
    .toSorted((one, other) => one.edits - other.edits)
    .slice(0, 3)
    .map(({ word }) => word)
}

/** A word that only goes on counts as one edit away. */
function editsOf(asked: string, word: string): number {
  if (word === asked) return 0
  return word.startsWith(asked) ? 1 : editDistance(asked, word)
}
