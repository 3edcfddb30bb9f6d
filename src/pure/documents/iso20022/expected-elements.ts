/** Names of elements for findings: those that are allowed at a place, and the one that a writer probably meant. */
import { editDistance } from '../edit-distance.ts'
import type { TypeDefinition } from './structure.ts'

const LISTED = 12
const LONGEST_NAME = 40
/** Names of earlier versions, and what replaced them. */
const RENAMED: ReadonlyMap<string, readonly string[]> = new Map([
  ['BIC', ['BICFI', 'AnyBIC']],
  ['BICFI', ['BIC']],
  ['BICOrBEI', ['AnyBIC']],
  ['BEI', ['AnyBIC']],
  ['AnyBIC', ['BICOrBEI']],
  ['TtlNetNtryAmt', ['TtlNetNtry']],
])

/**
 * The elements that may follow the slot `last`, as a schema validator lists them: up to and including the next required one. `repeatable`
 * also lists those of the slot itself, if they may come again. Slots that `filled` has are left out.
 */
export function allowedNames(
  { members, required_low, required_high }: TypeDefinition,
  last: number,
  repeatable: boolean,
  filled: (slot: number) => boolean = () => false,
): string[] {
  const names: string[] = []
  let end = Infinity
  for (const { name, slot, max, low, high } of members.values()) {
    if (slot > end) break
    if (slot < last || (slot === last && !(repeatable && max > 1)) || (slot > last && filled(slot))) continue
    names.push(name)
    if (slot > last && ((required_low & low) !== 0 || (required_high & high) !== 0)) end = slot
  }
  return names
}

/** "Nm", "one of Nm, PstlAdr", or "no further element". */
export function oneOf(names: readonly string[]): string {
  const [only = 'no further element', another] = names
  if (another === undefined) return only
  return `one of ${names.slice(0, LISTED).join(', ')}${names.length > LISTED ? ', …' : ''}`
}

/** The element of a type that has nearly this name; null if none has. */
export function nearName({ members }: TypeDefinition, name: string): string | null {
  const renamed = RENAMED.get(name)?.find((other) => members.has(other))
  if (renamed !== undefined) return renamed
  if (name.length > LONGEST_NAME) return null
  const folded = name.toLowerCase()
  let best: string | null = null
  let distance = Math.min(3, Math.ceil(name.length / 3))
  for (const other of members.keys()) {
    const found = other.toLowerCase() === folded ? 0 : editDistance(name, other)
    if (found < distance) [best, distance] = [other, found]
  }
  return best
}
