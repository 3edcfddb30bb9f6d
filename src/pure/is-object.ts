/** True for a JSON object; false for null and arrays. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Members of a JSON object. */
export type Members = Record<string, unknown>

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Objects in a list; empty if the value is not a list. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Value of a JSON text; undefined if the text is none. Documents of callers are read by the strict reader instead. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Object of a JSON text; null if the text is none. */
export function jsonObject(text: string): Members | null {
  const value = jsonValue(text)
  return isObject(value) ? value : null
}
