import { outcomeMark, paint, say, wrap } from '../../src/cli/terminal.ts'

/** Terminal output of the tour. */

const WIDTH = 92

let chapter = 0

/** Begins a chapter, with a sentence on what is about to happen. */
export function begin(title: string, words: string): void {
  chapter += 1
  say(`\n${paint('strong', `${chapter}  ${title}`)}`)
  for (const line of wrap(words, WIDTH)) say(paint('muted', `   ${line}`))
}

/** A fact: its name, then its value. */
export function fact(name: string, value: string): void {
  say(`   ${paint('muted', name.padEnd(14))} ${value}`)
}

/** Something that was checked, and held. Throws when it did not, so that the tour never shows what is not so. */
export function holds(good: boolean, words: string): void {
  say(`   ${outcomeMark(good, words)}`)
  if (!good) throw new Error(`The demo expected otherwise: ${words}`)
}

export function short(hex: string): string {
  return `${hex.slice(0, 10)}…${hex.slice(-6)}`
}
