import { RE2JS } from 're2js'
import { type Budget, TICKS } from './schema-model.ts'

/**
 * Translates the escapes of an ECMA-262 pattern (June 2025) to RE2 syntax, outside and inside a class; null if RE2 has no equivalent or
 * engines differ.
 */

/** `\s` of ECMA-262: Unicode white space and line ends; in RE2 it is five ASCII characters. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

const NOT_SPACE =
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}` +
  String.raw`\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`

interface TranslatedEscape {
  text: string
  /** Pattern characters consumed after the backslash. */
  taken: number
}

const CONTROLS: Readonly<Record<string, string>> = { t: '\\t', n: '\\n', v: '\\v', f: '\\f', r: '\\r' }

/** Reads the escape whose first character after the backslash is at `at`. */
function readEscape(pattern: string, at: number, inClass: boolean): TranslatedEscape | null {
  const letter = pattern.charAt(at)
  const control = CONTROLS[letter]
  if (control !== undefined) return { text: control, taken: 1 }
  switch (letter) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
      return { text: `\\${letter}`, taken: 1 }
    case 's':
      return { text: inClass ? SPACE : `[${SPACE}]`, taken: 1 }
    case 'S':
      return { text: inClass ? NOT_SPACE : `[${NOT_SPACE}]`, taken: 1 }
    case 'b':
      return { text: inClass ? '\\x{8}' : '\\b', taken: 1 }
    case 'B':
      return inClass ? null : { text: '\\B', taken: 1 }
    case 'p':
    case 'P':
      return readProperty(pattern, at)
    default:
      return readCharacter(pattern, at)
  }
}

/** Reads an escape for one character. */
function readCharacter(pattern: string, at: number): TranslatedEscape | null {
  const letter = pattern.charAt(at)
  if (letter === 'u' || letter === 'x') return readHex(pattern, at)
  if (letter === '0') return /[0-9]/.test(pattern.charAt(at + 1)) ? null : { text: '\\x{0}', taken: 1 }
  if (letter === 'c') {
    const named = pattern.charAt(at + 1)
    return /[A-Za-z]/.test(named) ? { text: codePoint(named.charCodeAt(0) % 32), taken: 2 } : null
  }
  // Other letters and digits: back references, and escapes that engines read differently.
  if (letter === '' || /[A-Za-z0-9]/.test(letter)) return null
  const point = pattern.codePointAt(at) ?? 0
  return { text: codePoint(point), taken: point > 0xffff ? 2 : 1 }
}

function codePoint(point: number): string {
  return `\\x{${point.toString(16)}}`
}

const HEX = /x([0-9A-Fa-f]{2})|u\{0*([0-9A-Fa-f]{1,6})\}|u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})/y

function readHex(pattern: string, at: number): TranslatedEscape | null {
  HEX.lastIndex = at
  const found = HEX.exec(pattern)
  if (found === null) return null
  const [whole, two, braced, high, low, four] = found
  if (high !== undefined && low !== undefined) {
    const point = 0x10000 + ((parseHex(high) - 0xd800) << 10) + (parseHex(low) - 0xdc00)
    return { text: codePoint(point), taken: whole.length }
  }
  const point = parseHex(two ?? braced ?? four ?? '')
  // A lone surrogate: strict JSON has none, and RE2 cannot name it.
  return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? null : { text: codePoint(point), taken: whole.length }
}

function parseHex(digits: string): number {
  return Number.parseInt(digits, 16)
}

/** Short names of general categories by their long names (Unicode Standard, PropertyValueAliases). */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  (
    'Letter L,Uppercase_Letter Lu,Lowercase_Letter Ll,Titlecase_Letter Lt,Modifier_Letter Lm,Other_Letter Lo,Mark M,Nonspacing_Mark Mn,' +
    'Spacing_Mark Mc,Enclosing_Mark Me,Number N,Decimal_Number Nd,digit Nd,Letter_Number Nl,Other_Number No,Punctuation P,punct P,' +
    'Symbol S,Math_Symbol Sm,Currency_Symbol Sc,Separator Z,Space_Separator Zs'
  )
    .split(',')
    .map((names) => names.split(' ') as [string, string]),
)

const SHORT_CATEGORIES = new Set(CATEGORIES.values())

const PROPERTY = /[pP]\{(?:(General_Category|gc|Script|sc)=)?([A-Za-z_]{1,40})\}/y

function readProperty(pattern: string, at: number): TranslatedEscape | null {
  PROPERTY.lastIndex = at
  const found = PROPERTY.exec(pattern)
  if (found === null) return null
  const [whole, kind, name = ''] = found
  const sign = whole.charAt(0)
  if (kind === 'Script' || kind === 'sc') return { text: `\\${sign}{${name}}`, taken: whole.length }
  const short = SHORT_CATEGORIES.has(name) ? name : CATEGORIES.get(name)
  return short === undefined ? null : { text: `\\${sign}{${short}}`, taken: whole.length }
}

/**
 * Runs ECMA-262 patterns on RE2, so that matching takes linear time for every pattern. Patterns that RE2 cannot express are `unsupported`:
 * look-around, back references, inline modifiers, repetitions beyond 1,000, and property names other than general categories and scripts.
 * Texts are read by code points, as with the flag `u`; `.` and `\s` follow ECMA-262; `\d`, `\w` and `\b` are ASCII in both. Unicode tables
 * are those of the installed RE2 port, which may be older than an engine's.
 */

export type SchemaPattern =
  | { state: 'ready'; test(text: string, budget: Budget): boolean | null }
  | { state: 'unsupported' }
  | { state: 'broken' }

const PATTERN_CHARS = 4_096

/** Flag of a program that matches only at the beginning of the text. */
const PROGRAM_BEGIN_TEXT = 4

/** Characters times instructions up to which the first text is matched without an automaton. */
const FIRST_SIZE = 2_000

/** Maximum instructions of a program. */
const PROGRAM_SIZE = 4_000

/** Maximum instructions after writing out repetitions, before simplification. */
const EXPANDED_SIZE = 100_000

/** Ticks of compiling: per pattern, character, instruction, and property (which has hundreds of ranges). */
const COMPILE = { pattern: 3_000, character: 100, instruction: 250, property: 50_000 }

/** Compiles a pattern; null if the budget is used up. */
export function compilePattern(pattern: string, budget: Budget): SchemaPattern | null {
  if (pattern.length > PATTERN_CHARS) return { state: 'unsupported' }
  const properties = pattern.match(/\\[pP]/g)?.length ?? 0
  if (!budget.spend(COMPILE.pattern + pattern.length * COMPILE.character + properties * COMPILE.property)) return null
  const modern = isPattern(pattern, 'u')
  if (!modern && !isPattern(pattern, '')) return { state: 'broken' }
  // In a pattern that only the legacy syntax accepts, these escapes mean their letters.
  if (!modern && /\\(?:[pPk]|u\{)/.test(pattern)) return { state: 'unsupported' }
  const translated = translateToRe2(pattern)
  if (translated === null || translated.expanded > EXPANDED_SIZE) return { state: 'unsupported' }
  const { text, expanded } = translated
  return budget.spend(expanded * COMPILE.instruction) ? compileProgram(text) : null
}

function compileProgram(text: string): SchemaPattern {
  try {
    const program = RE2JS.compile(text)
    if (program.programSize() > PROGRAM_SIZE) return { state: 'unsupported' }
    const { prog, cond } = program.re2() as { prog: { inst: ProgramInstruction[]; start: number }; cond: number }
    let automaton: Automaton | null = null
    let fresh = true
    const test = (one: string, budget: Budget) => {
      // An automaton does not pay off for a single short text.
      const worst = fresh ? (one.length + 1) * program.programSize() : Infinity
      fresh = false
      if (worst <= FIRST_SIZE) return budget.spend(worst * INSTRUCTION_TICKS) ? program.test(one) : null
      automaton ??= new Automaton(prog.inst, prog.start, (cond & PROGRAM_BEGIN_TEXT) !== 0)
      return automaton.test(one, budget)
    }
    return { state: 'ready', test }
  } catch {
    return { state: 'unsupported' }
  }
}

/** Checks whether the engine accepts the pattern, with the flag `u` or in legacy syntax. The engine never runs it. */
function isPattern(pattern: string, flags: 'u' | ''): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp
  } catch {
    return false
  }
}

interface TranslatedPiece {
  text: string
  taken: number
}

interface Translated {
  text: string
  /** Upper bound of program instructions before simplification. */
  expanded: number
}

/** Translates a well-formed pattern to RE2 syntax; null if RE2 has no equivalent. */
function translateToRe2(pattern: string): Translated | null {
  let text = ''
  // Instructions of the open groups, and of the preceding piece, which a repetition multiplies.
  const groups: number[] = []
  let [sum, last] = [0, 0]
  for (let at = 0; at < pattern.length;) {
    const piece = readPiece(pattern, at)
    if (piece === null) return null
    text += piece.text
    at += piece.taken
    if (piece.text === ')') [sum, last] = [groups.pop() ?? 0, sum + last + 1]
    else if (piece.text.startsWith('{')) last *= Math.max(...piece.text.slice(1, -1).split(',').map(Number), 1) + 1
    else if (piece.text === '*' || piece.text === '+' || piece.text === '?') last++
    else [sum, last] = [sum + last, 1]
    if (piece.text !== '(?:') continue
    groups.push(sum)
    ;[sum, last] = [0, 0]
  }
  return { text, expanded: sum + last }
}

function readPiece(pattern: string, at: number): TranslatedPiece | null {
  const sign = pattern.charAt(at)
  switch (sign) {
    case '\\': {
      const escape = readEscape(pattern, at + 1, false)
      return escape === null ? null : { text: escape.text, taken: escape.taken + 1 }
    }
    case '[':
      return readClass(pattern, at)
    case '(':
      return readGroup(pattern, at)
    case '{':
      return readBraces(pattern, at)
    case '.':
      return { text: String.raw`[^\n\r\x{2028}\x{2029}]`, taken: 1 }
    case '^':
      return { text: '\\A', taken: 1 }
    case '$':
      return { text: '\\z', taken: 1 }
    case ')':
    case '|':
    case '*':
    case '+':
    case '?':
      return { text: sign, taken: 1 }
    default:
      return readLiteral(pattern, at)
  }
}

function readLiteral(pattern: string, at: number): TranslatedPiece | null {
  const point = pattern.codePointAt(at) ?? 0
  if (point >= 0xd800 && point <= 0xdfff) return null
  return { text: codePoint(point), taken: point > 0xffff ? 2 : 1 }
}

/** Groups are not captured: names and numbers matter only to unsupported back references. */
function readGroup(pattern: string, at: number): TranslatedPiece | null {
  if (pattern.charAt(at + 1) !== '?') return { text: '(?:', taken: 1 }
  if (pattern.charAt(at + 2) === ':') return { text: '(?:', taken: 3 }
  const named = /^\(\?<[^=!>][^>]*>/.exec(pattern.slice(at, at + 200))
  return named === null ? null : { text: '(?:', taken: named[0].length }
}

const BRACES = /\{[0-9]+(?:,[0-9]*)?\}/y

/** A repetition, or in legacy syntax a literal brace. */
function readBraces(pattern: string, at: number): TranslatedPiece {
  BRACES.lastIndex = at
  const found = BRACES.exec(pattern)
  return found === null ? { text: '\\{', taken: 1 } : { text: found[0], taken: found[0].length }
}

function readClass(pattern: string, at: number): TranslatedPiece | null {
  const negated = pattern.charAt(at + 1) === '^'
  const start = at + (negated ? 2 : 1)
  let text = ''
  let index = start
  while (pattern.charAt(index) !== ']') {
    const piece = readMember(pattern, index)
    if (piece === null) return null
    text += piece.text
    index += piece.taken
  }
  const taken = index + 1 - at
  if (text === '') return { text: negated ? EVERYTHING : NOTHING, taken }
  return { text: `[${negated ? '^' : ''}${text}]`, taken }
}

const EVERYTHING = String.raw`[\x{0}-\x{10ffff}]`
const NOTHING = String.raw`[^\x{0}-\x{10ffff}]`

/** A member of a class. Next to a set such as \w, legacy syntax takes the hyphen literally. */
function readMember(pattern: string, at: number): TranslatedPiece | null {
  const first = readOne(pattern, at)
  if (first === null) return null
  const hyphen = at + first.taken
  if (pattern.charAt(hyphen) !== '-' || pattern.charAt(hyphen + 1) === ']') return first
  const last = readOne(pattern, hyphen + 1)
  if (last === null) return null
  const taken = first.taken + 1 + last.taken
  const range = isCharacter(first.text) && isCharacter(last.text)
  return { text: range ? `${first.text}-${last.text}` : `${first.text}\\-${last.text}`, taken }
}

function readOne(pattern: string, at: number): TranslatedPiece | null {
  if (at >= pattern.length) return null
  if (pattern.charAt(at) !== '\\') return readLiteral(pattern, at)
  const escape = readEscape(pattern, at + 1, true)
  return escape === null ? null : { text: escape.text, taken: escape.taken + 1 }
}

function isCharacter(text: string): boolean {
  return /^\\(?:x\{[0-9a-f]+\}|[tnvfr])$/.test(text)
}

/** Instruction of a compiled RE2 program (Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009). */
interface ProgramInstruction {
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

/** Character before a position, as far as zero-width assertions depend on it. */
type PrecedingCharacter = 'begin' | 'word' | 'other'

/** Instructions that may run next. Their closure depends on the next character, so it is computed with each transition. */
interface AutomatonState {
  pcs: readonly number[]
  before: PrecedingCharacter
  /** By class of the next character; null if the pattern has matched. */
  next: (AutomatonState | null | undefined)[]
}

/** Characters that no instruction distinguishes. */
interface CharacterClass {
  index: number
  word: boolean
  /** By character set: whether it contains this class. */
  inside: readonly boolean[]
}

/** Maximum number of cached states; beyond it the cache is cleared. */
const STATES = 1_000

/** Ticks per instruction and transition. */
const INSTRUCTION_TICKS = 8

/**
 * Deterministic automaton built lazily while it reads. A known transition takes constant time; a new one is paid for by the instructions it
 * visits, so that patterns which create a state for nearly every character are counted as they run.
 */
class Automaton {
  readonly #program: readonly ProgramInstruction[]
  readonly #start: number
  /** The pattern matches only at the beginning of the text. */
  readonly #anchored: boolean
  /** Character set of each instruction, and one sample instruction per set. */
  readonly #sets: number[] = []
  readonly #samples: ProgramInstruction[] = []
  readonly #classes = new Map<string, CharacterClass>()
  readonly #ascii: (CharacterClass | undefined)[] = []
  readonly #others = new Map<number, CharacterClass>()
  readonly #states = new Map<string, AutomatonState>()
  readonly #visited: Uint32Array
  #visit = 0

  constructor(program: readonly ProgramInstruction[], start: number, anchored: boolean) {
    this.#program = program
    this.#start = start
    this.#anchored = anchored
    this.#visited = new Uint32Array(program.length)
    const known = new Map<unknown, number>()
    for (const instruction of program) {
      // Copies from a repetition share their list of ranges; short lists are compared by content.
      const { arg, runes } = instruction
      const name = instruction.op <= OP.nothing ? '' : runes.length > COMPARED_RUNES ? runes : `${arg}:${Array.from(runes).join()}`
      const set = known.get(name) ?? known.size
      if (set === known.size) this.#samples.push(instruction)
      known.set(name, set)
      this.#sets.push(set)
    }
  }

  /** Returns whether the pattern matches anywhere in the text; null if the budget is used up. */
  test(text: string, budget: Budget): boolean | null {
    if (!budget.spend(text.length / TICKS.chars)) return null
    let state: AutomatonState = this.#stateOf([this.#start], 'begin')
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

  #transition(state: AutomatonState, { word, inside }: CharacterClass, end: boolean, budget: Budget): AutomatonState | null {
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

  #stateOf(pcs: readonly number[], before: PrecedingCharacter): AutomatonState {
    const name = `${before} ${pcs.join()}`
    const known = this.#states.get(name)
    if (known !== undefined) return known
    if (this.#states.size >= STATES) this.#states.clear()
    const made: AutomatonState = { pcs, before, next: [] }
    this.#states.set(name, made)
    return made
  }
}

/** Range ends up to which character sets are compared by content. */
const COMPARED_RUNES = 32

/** Rune that represents the end of the text. */
const END = -1
