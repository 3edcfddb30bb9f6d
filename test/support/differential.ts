import assert from 'node:assert/strict'
import { seeded, type Random } from '../fuzz/random.ts'
import { runs, SEED } from './counts.ts'

/** Compares a check with judges that others wrote, on values that are right by construction and on values near them. */

type Judge = (text: string) => boolean

/** A kind of disagreement that is known and meant. One that no value shows any more must go. */
interface Allowed {
  name: string
  /** What we say where it applies; the oracle says the opposite. */
  ours: boolean
  holds(compact: string): boolean
}

interface Oracle {
  judge: Judge
  allowed: readonly Allowed[]
}

export interface Kind {
  name: string
  ours: Judge
  /** A value that its standard calls right, made apart from our code. */
  make(random: Random): string
  /** A value on which no standard was asked beforehand, where mutations alone would not lead: one in ten is such a one. */
  near?(random: Random): string
  /** Characters that mutations put in. */
  alphabet: string
  /** What `compact` takes out; written forms are compared by what is left. */
  separators: RegExp
  oracles: Readonly<Record<string, Oracle>>
}

export const DIGITS = '0123456789'
export const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
export const ALNUM = DIGITS + LETTERS

export function draw(random: Random, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(random.below(alphabet.length))).join('')
}

const MUTATIONS: readonly ((random: Random, text: string, alphabet: string) => string)[] = [
  (_random, text) => text,
  (random, text, alphabet) => splice(text, random.below(text.length), 1, draw(random, alphabet, 1)),
  (random, text, alphabet) => splice(text, random.below(text.length), 1, draw(random, alphabet, 1)),
  (random, text) => splice(text, random.below(text.length), 1, ''),
  (random, text, alphabet) => splice(text, random.below(text.length + 1), 0, draw(random, alphabet, 1)),
  (random, text) => {
    const at = random.below(text.length - 1)
    return splice(text, at, 2, text.charAt(at + 1) + text.charAt(at))
  },
  (random, text) => (random.chance(0.5) ? text.toLowerCase() : splice(text, random.below(text.length), 1, text.toLowerCase().slice(-1))),
  (random, text) => splice(text, random.below(text.length + 1), 0, random.pick([' ', '-', '.', '/'])),
  (_random, text) => text.replace(/(.{4})(?=.)/g, '$1 '),
  (random, text, alphabet) =>
    MUTATIONS[1 + random.below(5)]?.(random, splice(text, random.below(text.length), 1, draw(random, alphabet, 1)), alphabet) ?? text,
]

function splice(text: string, at: number, count: number, put: string): string {
  return text.slice(0, at) + put + text.slice(at + count)
}

/**
 * Twenty thousand values in the full run. Values that were not touched must pass; each difference must be of an allowed class; in the full
 * run each class must be met.
 */
export function compare(kind: Kind): void {
  const count = runs(600, 20_000)
  const met = new Set<string>()
  const faults: string[] = []
  for (let index = 0; index < count && faults.length < 10; index++) {
    const random = seeded(SEED, index)
    const made = kind.make(random)
    if (!kind.ours(made)) faults.push(`${made} is right by construction and is refused`)
    const mutate = MUTATIONS[index % MUTATIONS.length]
    const near = index % 10 === 9 ? kind.near?.(random) : undefined
    faults.push(...differences(kind, near ?? mutate?.(random, made, kind.alphabet) ?? made, met))
  }
  assert.deepEqual(faults, [])
  if (runs(0, 1) === 1)
    assert.deepEqual(
      classesOf(kind).filter((name) => !met.has(name)),
      [],
      'classes that no value shows any more',
    )
}

function classesOf({ oracles }: Kind): string[] {
  return Object.entries(oracles).flatMap(([oracle, { allowed }]) => allowed.map(({ name }) => `${oracle}: ${name}`))
}

function differences({ ours, separators, oracles }: Kind, text: string, met: Set<string>): string[] {
  // How much may stand between characters is a matter of taste; what is left without it must be judged alike.
  const compact = text.replace(separators, '').toUpperCase()
  const mine = ours(compact)
  const found: string[] = []
  for (const [name, { judge, allowed }] of Object.entries(oracles)) {
    if (judge(compact) === mine) continue
    const known = allowed.filter((one) => one.ours === mine && one.holds(compact))
    for (const one of known) met.add(`${name}: ${one.name}`)
    if (known.length === 0) found.push(`${compact}: we say ${mine}, ${name} does not`)
  }
  // A written form may be refused, never accepted where the compact form is not.
  if (ours(text) && !mine) found.push(`${text}: accepted, but not as ${compact}`)
  return found
}
