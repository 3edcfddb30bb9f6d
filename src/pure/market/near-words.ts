const WORD_CHARS = 32
const SHORT_CHARS = 4

/** The known words that a mistyped one most likely means: same beginning, or few edits away; nearest first, at most three. */
export function nearWords(text: string, known: readonly string[]): string[] {
  const asked = text.toLowerCase()
  if (asked === '' || asked.length > WORD_CHARS) return []
  const judged = known.map((word) => ({ word, edits: word.toLowerCase().startsWith(asked) ? 1 : edits(asked, word.toLowerCase()) }))
  const near = judged.filter((one) => one.edits <= (asked.length > SHORT_CHARS ? 2 : 1))
  return near
    .toSorted((one, other) => one.edits - other.edits)
    .slice(0, 3)
    .map(({ word }) => word)
}

/** Levenshtein distance. */
function edits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? one.length
}
