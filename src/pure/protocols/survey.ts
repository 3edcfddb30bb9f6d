import type { Place } from './place.ts'
import { secretAt, type Secret } from './secrets.ts'

/** Bounds that show only after parsing. */
export interface DocumentBounds {
  /** UTF-16 units of any text or key. */
  string_chars: number
  array_items: number
}

/** One look at every value of a document. */
export interface Survey {
  first_redacted: Place | null
  redacted_count: number
  secrets: Secret[]
  odd_numbers: Place[]
  exceeded: { bound: 'string_chars' | 'array_items'; place: Place } | null
}

/** Further ones of a kind are not kept; the findings are cut long before. */
const MOST_OF_A_KIND = 1_000

/** Walks the whole document without recursion, in its own order. Stops at the first value beyond a bound. */
export function survey(document: Place, bounds: DocumentBounds): Survey {
  const found: Survey = { first_redacted: null, redacted_count: 0, secrets: [], odd_numbers: [], exceeded: null }
  // Each place with the name that it goes by: items of an array go by the name of the array.
  const open: [Place, string][] = [[document, '']]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [place, name] = next
    look(place, name, bounds, found)
    if (found.exceeded !== null) return found
    const children = place.kind === 'array' ? place.items() : place.members()
    for (const child of children.toReversed()) open.push([child, place.kind === 'array' ? name : child.key])
  }
  return found
}

function look(place: Place, name: string, bounds: DocumentBounds, found: Survey): void {
  const { value } = place
  if (typeof value === 'string' ? value.length > bounds.string_chars : name.length > bounds.string_chars) {
    found.exceeded = { bound: 'string_chars', place }
  } else if (Array.isArray(value) && value.length > bounds.array_items) {
    found.exceeded = { bound: 'array_items', place }
  } else if (place.redacted) {
    found.first_redacted ??= place
    found.redacted_count++
  } else {
    if (isOdd(place) && found.odd_numbers.length < MOST_OF_A_KIND) found.odd_numbers.push(place)
    const kind = secretAt(place, name)
    if (kind !== null && found.secrets.length < MOST_OF_A_KIND) found.secrets.push({ place, kind })
  }
}

/** An ordinary fraction is fine: whether one may stand there is for the rules to say. */
function isOdd(place: Place): boolean {
  const { value } = place
  if (typeof value !== 'number') return false
  const literal = place.literal()
  return !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER || (literal !== null && /e/i.test(literal))
}
