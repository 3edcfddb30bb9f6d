import { TICKS, type Budget } from './budget.ts'

/** One instruction of a compiled program of RE2 (Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009). */
export interface Instruction {
  op: number
  out: number
  arg: number
  runes: ArrayLike<number>
  matchRune(rune: number): boolean
}

const OP = { alternative: 1, alternative_match: 2, capture: 3, empty_width: 4, fail: 5, match: 6, nothing: 7 } as const

const BEGIN_TEXT = 4
const END_TEXT = 8
const WORD_BOUNDARY = 16
const NO_WORD_BOUNDARY = 32

/** The text before a position, as far as conditions of no width ask for it. */
type Before = 'begin' | 'word' | 'other'

/** Instructions that may run next. Their closure depends on the character that follows, so it is made with each transition. */
interface State {
  pcs: readonly number[]
  before: Before
  /** By class of the next character; null where the pattern has matched. */
  next: (State | null | undefined)[]
}

/** Characters that no instruction tells apart. */
interface CharacterClass {
  index: number
  word: boolean
  /** By set of characters: whether it holds this class. */
  inside: readonly boolean[]
}

/** States that are kept; beyond them the automaton starts again from none. */
const STATES = 1_000

/** Work on one instruction for one transition, in ticks. */
export const INSTRUCTION_TICKS = 8

/**
 * Deterministic automaton of a program, made while it reads. Reading by known transitions takes a fixed time a character; every new
 * transition is paid for by the instructions that it visits, so that the cost of a pattern that makes a state for nearly every character is
 * counted as it arises.
 */
export class Automaton {
  readonly #program: readonly Instruction[]
  readonly #start: number
  /** The pattern matches at the beginning of the text only. */
  readonly #anchored: boolean
  /** Index of the set of characters of each instruction, and one instruction for each set. */
  readonly #sets: number[] = []
  readonly #samples: Instruction[] = []
  readonly #classes = new Map<string, CharacterClass>()
  readonly #ascii: (CharacterClass | undefined)[] = []
  readonly #others = new Map<number, CharacterClass>()
  readonly #states = new Map<string, State>()
  readonly #visited: Uint32Array
  #visit = 0

  constructor(program: readonly Instruction[], start: number, anchored: boolean) {
    this.#program = program
    this.#start = start
    this.#anchored = anchored
    this.#visited = new Uint32Array(program.length)
    const known = new Map<unknown, number>()
    for (const instruction of program) {
      // Copies that a repetition makes share their list of ranges, and short lists are compared.
      const { arg, runes } = instruction
      const name = instruction.op <= OP.nothing ? '' : runes.length > COMPARED_RUNES ? runes : `${arg}:${Array.from(runes).join()}`
      const set = known.get(name) ?? known.size
      if (set === known.size) this.#samples.push(instruction)
      known.set(name, set)
      this.#sets.push(set)
    }
  }

  /** Returns whether the pattern matches anywhere in the text; null when there is no work left for it. */
  test(text: string, budget: Budget): boolean | null {
    if (!budget.spend(text.length / TICKS.chars)) return null
    let state: State = this.#stateOf([this.#start], 'begin')
    for (let at = 0; at <= text.length;) {
      const rune = at === text.length ? END : (text.codePointAt(at) ?? END)
      const one = (rune >= 0 && rune < 128 ? this.#ascii[rune] : this.#others.get(rune)) ?? this.#classOf(rune, budget)
      let next = state.next[one.index]
      if (next === undefined) {
        next = this.#transition(state, one, rune === END, budget)
        if (budget.exhausted) return null
        state.next[one.index] = next
      }
      if (next === null) return true
      if (next.pcs.length === 0) return false
      state = next
      at += rune > 0xffff ? 2 : 1
    }
    return false
  }

  #classOf(rune: number, budget: Budget): CharacterClass {
    budget.spend(this.#samples.length * TICKS.turn + TICKS.name)
    const inside = this.#samples.map((one) => rune !== END && one.op > OP.nothing && one.matchRune(rune))
    const word = (rune >= 48 && rune <= 57) || (rune >= 65 && rune <= 90) || rune === 95 || (rune >= 97 && rune <= 122)
    const name = `${rune === END ? 'end' : word ? 'word' : 'other'}${inside.map(Number).join('')}`
    const known = this.#classes.get(name) ?? { index: this.#classes.size, word, inside }
    this.#classes.set(name, known)
    if (rune >= 0 && rune < 128) this.#ascii[rune] = known
    else this.#others.set(rune, known)
    return known
  }

  #transition(state: State, { word, inside }: CharacterClass, end: boolean, budget: Budget): State | null {
    const boundary = (state.before === 'word') === word ? NO_WORD_BOUNDARY : WORD_BOUNDARY
    const flags = (state.before === 'begin' ? BEGIN_TEXT : 0) | (end ? END_TEXT : 0) | boundary
    const visit = ++this.#visit
    const stack = [...state.pcs]
    const outs = new Set<number>(this.#anchored ? [] : [this.#start])
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      const instruction = this.#program[pc]
      if (instruction === undefined || this.#visited[pc] === visit) continue
      this.#visited[pc] = visit
      if (!budget.spend(INSTRUCTION_TICKS)) return null
      switch (instruction.op) {
        case OP.match:
          return null
        case OP.fail:
          break
        case OP.alternative:
        case OP.alternative_match:
          stack.push(instruction.arg, instruction.out)
          break
        case OP.empty_width:
          if ((instruction.arg & ~flags) === 0) stack.push(instruction.out)
          break
        case OP.capture:
        case OP.nothing:
          stack.push(instruction.out)
          break
        default:
          if (inside[this.#sets[pc] ?? 0] === true) outs.add(instruction.out)
      }
    }
    return this.#stateOf(
      [...outs].sort((a, b) => a - b),
      word ? 'word' : 'other',
    )
  }

  #stateOf(pcs: readonly number[], before: Before): State {
    const name = `${before} ${pcs.join()}`
    const known = this.#states.get(name)
    if (known !== undefined) return known
    if (this.#states.size >= STATES) this.#states.clear()
    const made: State = { pcs, before, next: [] }
    this.#states.set(name, made)
    return made
  }
}

/** Ends of ranges of a set of characters that is compared by its content. */
const COMPARED_RUNES = 32

/** Stands for the end of the text. */
const END = -1
