/**
 * Whether a regular expression can take more than linear time by backtracking, decided on its automaton (Weideman and others, "Analyzing
 * matching time behavior of backtracking regular expression matchers", 2016): a state that reaches itself by one text in two ways costs
 * exponential time; one state that reaches itself and another, which reaches itself too, all by one text, costs at least squared time.
 * Look-around and anchors in the middle are taken for nothing, and counts beyond three for three. Errs towards calling an expression slow.
 */
import { parseSync, Visitor } from 'oxc-parser'
import { Parser, type State } from './regex-states.ts'

export type Growth = 'linear' | 'squared' | 'exponential'

/** Characters that stand for all: classes of what is written about in expressions of this project. */
const ALPHABET = Array.from('aAgGzZ059_-+.,:;/\\|"\'`<>()[]{}=?*#&@!$%^~ \t\n\r\u0000é\u0301一。»\u2028')
const STATES_MAX = 400

export function growthOf(source: string, flags: string): Growth {
  // Without a repetition that has no end, each attempt takes a bounded number of steps.
  if (!/[*+]|\{\d+,\}/.test(source.replace(/\\./g, ''))) return 'linear'
  const states: State[] = []
  const parser = new Parser(source, flags, states)
  const { begin, end, anchored } = parser.whole()
  if (states.length > STATES_MAX) return 'squared'
  const start = anchored || flags.includes('y') ? begin : anywhere(states, begin)
  return judge(states, source, start, end, parser.ends_bound)
}

/** A search begins anew at each character: a loop before the expression. */
function anywhere(states: State[], begin: number): number {
  const loop = states.push({ free: [begin], reads: { fits: () => true, to: 0 } }) - 1
  states[loop] = { free: [begin], reads: { fits: () => true, to: loop } }
  return loop
}

/** States that read, reached without reading. */
function closure(states: readonly State[], from: number): Set<number> {
  const seen = new Set<number>()
  const left = [from]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (seen.has(at)) continue
    seen.add(at)
    left.push(...(states[at]?.free ?? []))
  }
  return seen
}

/** Of characters that all states treat alike, one. */
function lettersOf(states: readonly State[], source: string): string[] {
  const known = new Map<string, string>()
  for (const character of new Set([...ALPHABET, ...Array.from(source)])) {
    known.set(states.map(({ reads }) => (reads?.fits(character) === true ? '1' : '0')).join(''), character)
  }
  return [...known.values()]
}

function judge(states: readonly State[], source: string, start: number, end: number, ends_bound: boolean): Growth {
  const closures = states.map((_, index) => closure(states, index))
  const steps = (from: number, character: string): number[] => {
    const reads = states[from]?.reads
    if (reads === null || reads === undefined || !reads.fits(character)) return []
    return [...(closures[reads.to] ?? [])].filter((at) => states[at]?.reads !== null)
  }
  const letters = lettersOf(states, source)
  const initial = [...(closures[start] ?? [])].filter((at) => states[at]?.reads !== null)
  const used = reachable(initial, (at) => letters.flatMap((character) => steps(at, character)))
  // Where the end is near and nothing may keep the match from being one, no attempt fails.
  const fails = (at: number) => ends_bound || !(states[at]?.reads !== null && closures[states[at]?.reads?.to ?? end]?.has(end))
  const table = new Map([...used].map((at) => [at, letters.map((character) => steps(at, character))]))
  const next: Next = { letters: letters.length, to: (at, letter) => table.get(at)?.[letter] ?? [] }
  for (const one of used) if (fails(one) && twice(states, one, next, closures)) return 'exponential'
  for (const one of used) for (const other of used) if (one !== other && fails(other) && together(one, other, next)) return 'squared'
  return 'linear'
}

function reachable(from: readonly number[], next: (at: number) => number[]): Set<number> {
  const seen = new Set<number>(from)
  const left = [...from]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const to of next(at)) if (!seen.has(to)) left.push((seen.add(to), to))
  }
  return seen
}

interface Next {
  letters: number
  to(at: number, letter: number): number[]
}

/** Two ways from a state to itself by one text: in the product of the automaton with itself, leaving the diagonal and coming back. */
function twice(states: readonly State[], state: number, next: Next, closures: readonly Set<number>[]): boolean {
  const size = states.length
  const seen = new Set<number>()
  const left = [state * size + state]
  for (let pair = left.pop(); pair !== undefined; pair = left.pop()) {
    const [one, other] = [Math.floor(pair / size), pair % size]
    for (let letter = 0; letter < next.letters; letter++) {
      for (const a of next.to(one, letter)) {
        for (const b of next.to(other, letter)) {
          const key = a * size + b
          if (one !== other && a === state && b === state) return true
          if (one === other && a === b && paths(states, one, a, closures) > 1 && a === state) return true
          if (!seen.has(key)) left.push((seen.add(key), key))
        }
      }
    }
  }
  return false
}

/** Ways without reading from behind a state to another, as far as two: `(a*)*` has more than one. */
function paths(states: readonly State[], from: number, to: number, closures: readonly Set<number>[]): number {
  const begin = states[from]?.reads?.to
  if (begin === undefined) return 0
  let found = 0
  const walk = (at: number, behind: ReadonlySet<number>): void => {
    if (at === to) found++
    if (found > 1 || behind.has(at)) return
    for (const one of states[at]?.free ?? []) if (closures[one]?.has(to)) walk(one, new Set([...behind, at]))
  }
  walk(begin, new Set())
  return found
}

/** One text leads from the first to itself, from the first to the second, and from the second to itself. */
function together(first: number, second: number, next: Next): boolean {
  const key = (triple: readonly number[]) => triple.join()
  const seen = new Set<string>()
  const left: [number, number, number][] = [[first, first, second]]
  const goal = key([first, second, second])
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (let letter = 0; letter < next.letters; letter++) {
      const [as, bs, cs] = [next.to(at[0], letter), next.to(at[1], letter), next.to(at[2], letter)]
      for (const a of as) {
        for (const b of bs) {
          for (const c of cs) {
            const name = key([a, b, c])
            if (name === goal) return true
            if (seen.size < 20_000 && !seen.has(name)) left.push((seen.add(name), [a, b, c]))
          }
        }
      }
    }
  }
  return false
}

interface Expression {
  file: string
  source: string
  flags: string
}

/** Every literal expression of a file. */
export function expressionsOf(path: string, text: string): Expression[] {
  const found: Expression[] = []
  const visitor = new Visitor({
    Literal(node) {
      if ('regex' in node) found.push({ file: path, source: node.regex.pattern, flags: node.regex.flags })
    },
  })
  visitor.visit(parseSync(path, text).program)
  return found
}
