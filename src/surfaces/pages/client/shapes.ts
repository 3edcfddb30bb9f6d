/** Narrowing what JSON can yield. */

export type Members = Record<string, unknown>

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The objects of a list; nothing for whatever is no list. */
export function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : []
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** A half-open range of characters. */
export interface Range {
  start: number
  end: number
}

export interface Part extends Range {
  label: string
}

/** The parts of an identifier, in order; what overlaps an earlier part is left out. */
export function partsOf(facts: unknown): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const { label, start, end } of isMembers(facts) ? listOf(facts['parts']) : []) {
    if (typeof label !== 'string' || typeof start !== 'number' || typeof end !== 'number' || start < from || end <= start) continue
    parts.push({ label, start, end })
    from = end
  }
  return parts
}

export interface Finding {
  field: string | null
  /** Null when the value as a whole is meant. */
  range: Range | null
  expected: string | null
  message: string
}

export function findingsOf(value: unknown): Finding[] {
  return listOf(value).map(({ field, position, expected, message }) => ({
    field: textOf(field),
    range: rangeOf(position),
    expected: textOf(expected),
    message: textOf(message) ?? '',
  }))
}

function rangeOf(position: unknown): Range | null {
  if (!Array.isArray(position)) return null
  const [start, end]: unknown[] = position
  return typeof start === 'number' && typeof end === 'number' && end > start ? { start, end } : null
}
