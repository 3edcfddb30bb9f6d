/**
 * JSONPath (RFC 9535) in its plain form: `$.line_items[0].quantity`, names and indices only. Works in proportion to the path, whatever the
 * size of the document.
 */
export type PathOutcome = 'found' | 'nothing' | 'not_plain' | 'malformed'

const STEP = /\.([A-Za-z_][\w-]*)|\[([0-9]{1,9})\]|\['([^'\\]*)'\]|\["([^"\\]*)"\]/y
const MOST_CHARS = 512

export function follow(path: string, root: unknown): PathOutcome {
  if (!path.startsWith('$')) return 'malformed'
  if (path.length > MOST_CHARS) return 'not_plain'
  let value = root
  let position = 1
  while (position < path.length) {
    STEP.lastIndex = position
    const step = STEP.exec(path)
    if (step === null) return /[*?:,]|\.\./.test(path) ? 'not_plain' : 'malformed'
    position = STEP.lastIndex
    value = inside(value, step[1] ?? step[2] ?? step[3] ?? step[4] ?? '', step[2] !== undefined)
  }
  return value === undefined ? 'nothing' : 'found'
}

function inside(holder: unknown, key: string, isIndex: boolean): unknown {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder) !== isIndex) return undefined
  return Object.hasOwn(holder, key) ? (holder as Record<string, unknown>)[key] : undefined
}
