import { editDistance } from '../pure/documents/edit-distance.ts'

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
