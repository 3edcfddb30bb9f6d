import type { JsonCursor } from '../json-cursor.ts'

/** Members whose names differ from the right ones by case, separators, a plural or one letter. */

/** Members of one object that are compared. */
const MOST_COMPARED = 200
const NAME_CHARS = 64

/** A member, and the name that it may have been meant to have. */
export interface NearName {
  found: string
  wanted: string
}

/** The first member of an object whose name is near one of these names and is none of them; null if there is none. */
export function findNearName(holder: JsonCursor, names: readonly string[]): NearName | null {
  const exact = new Set(names)
  for (const { key } of holder.members().slice(0, MOST_COMPARED)) {
    if (exact.has(key) || !/^[\w$-]{1,64}$/.test(key)) continue
    const wanted = names.find((name) => !holder.has(name) && isNear(key, name))
    if (wanted !== undefined) return { found: key, wanted }
  }
  return null
}

function isNear(one: string, other: string): boolean {
  const [short, long] = [foldName(one), foldName(other)].toSorted((left, right) => left.length - right.length)
  if (short === undefined || long === undefined || short === '') return false
  if (short === long) return true
  return long.length >= 5 && long.length <= NAME_CHARS && long.length - short.length <= 1 && differByOneLetter(short, long)
}

function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[_$-]/g, '').replace(/s$/, '')
}

/** One letter is changed or added, or two neighbours are swapped. */
function differByOneLetter(short: string, long: string): boolean {
  let start = 0
  while (start < short.length && short.charAt(start) === long.charAt(start)) start++
  if (short.length < long.length) return short.slice(start) === long.slice(start + 1)
  if (short.slice(start + 1) === long.slice(start + 1)) return true
  const isSwap = short.charAt(start) === long.charAt(start + 1) && short.charAt(start + 1) === long.charAt(start)
  return isSwap && short.slice(start + 2) === long.slice(start + 2)
}
