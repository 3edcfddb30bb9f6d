/** The known name that a mistyped one is most likely to mean; null when none is within two edits. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > 64) return null
  let best: string | null = null
  let bestEdits = 3
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (edits < bestEdits) [best, bestEdits] = [candidate, edits]
  }
  return best
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? a.length
}
