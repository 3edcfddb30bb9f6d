import type { Step } from './nodes.ts'

type TextStep = Extract<Step, { step: 'text' }>

/** What needs no brackets: one run of letters and digits, with its sign. */
const SIMPLE = /^\s*[+\u2212-]?[\p{L}\p{N}]+\s*$/u
/** End of a script and beginning of what follows it, of one kind. */
const RUNS_ON = /\p{N}\n\p{N}|\p{L}\n\p{L}/u
/** What has some already, as marks of footnotes do. */
const BRACKETED = /^\s*(?:\[[^\]]*\]|\([^)]*\))\s*$/

/**
 * Superscripts and subscripts, which Markdown does not have: `10^6`, `H_2O`, `x^(n+1)`. Without a sign they would run into what they stand
 * at: 10 to the sixth would be read as 106.
 */
export class Scripts {
  readonly #steps: Step[]
  /** The last one that ended, as long as nothing came after it. */
  #ended: { sign: TextStep; end: TextStep; text: string } | null = null

  constructor(steps: Step[]) {
    this.#steps = steps
  }

  /** Where its sign stands. */
  open(sign: '^' | '_'): number {
    this.#ended = null
    return this.#steps.push({ step: 'text', text: sign, apart: true }) - 1
  }

  close(at: number): void {
    const sign = this.#steps[at]
    if (sign?.step !== 'text') return
    let text = ''
    let more = false
    for (let index = at + 1; index < this.#steps.length; index++) {
      const step = this.#steps[index]
      if (step?.step === 'text') text += step.text
      else if (step?.step === 'image' || step?.step === 'box') more = true
    }
    const end: TextStep = { step: 'text', text: '', apart: true }
    if (!more && text.trim() === '') sign.text = ''
    else if (!more && SIMPLE.test(text)) this.#ended = { sign, end, text }
    else if (more || !BRACKETED.test(text)) bracket(sign, end)
    this.#steps.push(end)
  }

  /** A digit right after a script that ends in one would be read as more of it, and a letter after a letter. */
  before(text: string): void {
    const ended = this.#ended
    if (ended !== null && this.#steps.at(-1) === ended.end && RUNS_ON.test(`${ended.text.slice(-2)}\n${text.slice(0, 2)}`)) {
      bracket(ended.sign, ended.end)
    }
    this.#ended = null
  }
}

function bracket(sign: TextStep, end: TextStep): void {
  sign.text += '('
  end.text = ')'
}
