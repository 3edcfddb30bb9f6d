import type { NachaReference } from './types.ts'

/** An entry with more references than this keeps the first ones; 9999 addenda have room for many more. */
const MAX_REFERENCES = 10_000

/**
 * The identifiers in payment information that is written in ANSI X12 segments: TRN02, RMR02 and REF02. `texts` are the fields of an
 * entry's addenda, 80 columns each with their blanks, since a segment may run on from one addenda to the next. Segments end with `\` or
 * `~`, their elements are parted by `*`. Other text yields none.
 */
export function referencesIn(texts: readonly string[]): NachaReference[] {
  if (texts.length === 0) return []
  const references: NachaReference[] = []
  for (const segment of texts.join('').split(/[\\~]/)) {
    if (references.length === MAX_REFERENCES) break
    const [name, qualifier, id] = segment.trimStart().split('*', 3)
    if (id === undefined || id.trim() === '') continue
    if (name === 'TRN' || name === 'RMR' || name === 'REF') references.push({ segment: name, qualifier: qualifier ?? '', id: id.trim() })
  }
  return references
}
