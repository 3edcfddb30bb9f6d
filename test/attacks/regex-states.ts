/** Reads a regular expression into the states of an automaton, for those who judge it. */

export interface State {
  /** Where to without reading. */
  free: number[]
  /** What is read here, and where to; null where nothing is. */
  reads: { fits: (character: string) => boolean; to: number } | null
}

/** Counts beyond this are taken for it. */
const UNROLLED = 3

interface Piece {
  begin: number
  end: number
}

/** Reads an expression into states. Classes are left to the engine: each is asked about single characters. */
export class Parser {
  readonly #source: string
  readonly #flags: string
  readonly #states: State[]
  #at = 0
  /** Something must hold where the match ends: an end of text or line, a word boundary, a look-around. */
  ends_bound = false

  constructor(source: string, flags: string, states: State[]) {
    this.#source = source
    this.#flags = flags.replace(/[gy]/g, '')
    this.#states = states
  }

  whole(): Piece & { anchored: boolean } {
    const anchored = !this.#flags.includes('m') && this.#alternatives().every((one) => one.startsWith('^'))
    const piece = this.#either()
    if (this.#at < this.#source.length) throw new Error(`unread: ${this.#source.slice(this.#at)}`)
    return { ...piece, anchored }
  }

  /** What stands between the bars outside of all groups. */
  #alternatives(): string[] {
    const found: string[] = []
    let [depth, inside, from] = [0, false, 0]
    for (let at = 0; at < this.#source.length; at++) {
      const character = this.#source[at]
      if (character === '\\') at++
      else if (character === '[') inside = true
      else if (character === ']') inside = false
      else if (inside) continue
      else if (character === '(') depth++
      else if (character === ')') depth--
      else if (character === '|' && depth === 0) {
        found.push(this.#source.slice(from, at))
        from = at + 1
      }
    }
    return [...found, this.#source.slice(from)]
  }

  #state(free: number[] = []): number {
    return this.#states.push({ free, reads: null }) - 1
  }

  #join(from: number, to: number): void {
    this.#states[from]?.free.push(to)
  }

  #either(): Piece {
    const [begin, end] = [this.#state(), this.#state()]
    for (;;) {
      const one = this.#sequence()
      this.#join(begin, one.begin)
      this.#join(one.end, end)
      if (this.#source[this.#at] !== '|') return { begin, end }
      this.#at++
    }
  }

  #sequence(): Piece {
    const begin = this.#state()
    let end = begin
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? '')) {
      const from = this.#at
      const piece = this.#repeated(from)
      this.#join(end, piece.begin)
      end = piece.end
    }
    return { begin, end }
  }

  #repeated(from: number): Piece {
    const piece = this.#single()
    const found = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(this.#source.slice(this.#at))
    if (found === null) return piece
    const after = this.#at + found[0].length
    const sign = found[0][0] ?? ''
    const least = sign === '+' ? 1 : sign === '{' ? Math.min(Number(found[1]), UNROLLED) : 0
    const open = sign === '*' || sign === '+' || found[3] === ''
    const most = sign === '?' ? 1 : sign === '{' ? Math.min(Number(found[3] ?? found[1]), UNROLLED) : Math.max(1, least)
    const again = () => {
      this.#at = from
      return this.#single()
    }
    const pieces = [piece, ...Array.from({ length: Math.max(open ? Math.max(1, least) : most, 1) - 1 }, again)]
    const [begin, end] = [this.#state(), this.#state()]
    let last = begin
    for (const [index, one] of pieces.entries()) {
      if (index >= least) this.#join(last, end)
      this.#join(last, one.begin)
      last = one.end
      if (open && index === pieces.length - 1) this.#join(last, one.begin)
    }
    this.#join(most === 0 && !open ? begin : last, end)
    this.#at = after
    return { begin, end }
  }

  #single(): Piece {
    const rest = this.#source.slice(this.#at)
    const group = /^\((?:\?(?::|<?[=!]|<[^>]+>))?/.exec(rest)
    if (group !== null) {
      this.#at += group[0].length
      const aside = /^\(\?<?[=!]/.test(group[0])
      const inner = this.#either()
      this.#at++
      if (!aside) return inner
      this.ends_bound = true
      const state = this.#state()
      return { begin: state, end: state }
    }
    const assertion = /^(?:[\^$]|\\[bB])/.exec(rest)
    if (assertion !== null) {
      this.#at += assertion[0].length
      if (assertion[0] !== '^') this.ends_bound = true
      const state = this.#state()
      return { begin: state, end: state }
    }
    return this.#atom(rest)
  }

  #atom(rest: string): Piece {
    const set = this.#flags.includes('v') ? classOf(rest) : (/^\[\^?\]?(?:\\.|[^\]\\])*\]/.exec(rest)?.[0] ?? null)
    const text = set ?? /^(?:\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<[^>]*>|c[A-Z]|.)|[^])/u.exec(rest)?.[0] ?? ''
    this.#at += text.length
    const one = new RegExp(`^(?:${/^\\(?:\d|k<)/.test(text) ? '[^]' : text})$`, this.#flags.replace('m', ''))
    const [begin, end] = [this.#state(), this.#state()]
    this.#states[begin] = { free: [], reads: { fits: (character) => one.test(character), to: end } }
    return { begin, end }
  }
}

/** A class that may hold classes. */
function classOf(rest: string): string | null {
  if (!rest.startsWith('[')) return null
  let depth = 0
  for (let at = 0; at < rest.length; at++) {
    if (rest[at] === '\\') at++
    else if (rest[at] === '[') depth++
    else if (rest[at] === ']' && --depth === 0) return rest.slice(0, at + 1)
  }
  return null
}
