/** JSONPath (RFC 9535) with names and indices only: `$.line_items[0].quantity`. The time depends on the length of the path alone. */
type JsonPathOutcome = 'found' | 'nothing' | 'not_plain' | 'malformed'

const STEP = /\.([A-Za-z_][\w-]*)|\[([0-9]{1,9})\]|\['([^'\\]*)'\]|\["([^"\\]*)"\]/y
const MOST_CHARS = 512

export function followJsonPath(path: string, root: unknown): JsonPathOutcome {
  if (!path.startsWith('$')) return 'malformed'
  if (path.length > MOST_CHARS) return 'not_plain'
  let value = root
  let position = 1
  while (position < path.length) {
    STEP.lastIndex = position
    const step = STEP.exec(path)
    if (step === null) return /[*?:,]|\.\./.test(path) ? 'not_plain' : 'malformed'
    position = STEP.lastIndex
    value = readStep(value, step[1] ?? step[2] ?? step[3] ?? step[4] ?? '', step[2] !== undefined)
  }
  return value === undefined ? 'nothing' : 'found'
}

function readStep(holder: unknown, key: string, isIndex: boolean): unknown {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder) !== isIndex) return undefined
  return Object.hasOwn(holder, key) ? (holder as Record<string, unknown>)[key] : undefined
}
