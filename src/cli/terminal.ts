import { styleText } from 'node:util'
import type { BadgeVerdict, HeadlineTone } from '../pure/headline.ts'
import { markOf } from '../service/catalogue/headlines.ts'
import type { Invocation } from './arguments.ts'
import { printable } from './printable.ts'

export { printable }

/** What the command line shows to people. Colours appear only where the terminal has them and NO_COLOR is not set. */

export type Tone = 'valid' | 'unverifiable' | 'invalid' | 'muted' | 'strong'

const STYLES = { valid: 'green', unverifiable: 'yellow', invalid: 'red', muted: 'dim', strong: 'bold' } as const

/** A verdict is a shape, a word and a colour, never a colour alone. */
const SHAPES: Record<BadgeVerdict, string> = { valid: '●', unverifiable: '◐', invalid: '○', done: '◆' }

/** Narrower terminals get the tables of this width all the same. */
const WIDTH_MIN = 40
/** The last column of a table keeps so much, however wide the others are. */
const COLUMN_MIN = 16
const WIDTH_MAX = 120
const WIDTH_ELSEWHERE = 100

/** Machines get JSON: when asked for, and whenever standard output is no terminal, unless --text says otherwise. */
export function wantsJson(invocation: Invocation): boolean {
  return invocation.flag('json') || (!process.stdout.isTTY && !invocation.flag('text'))
}

export const JSON_OPTIONS = {
  json: { type: 'boolean', meaning: 'Write JSON; this is what a pipe or a file gets anyway.' },
  text: { type: 'boolean', meaning: 'Write for people even into a pipe or a file.' },
} as const

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Remarks go to standard error, so that standard output holds nothing but the answer. */
export function remark(text: string): void {
  process.stderr.write(`${text}\n`)
}

export function paint(tone: Tone, text: string): string {
  return styleText(STYLES[tone], text, { stream: process.stdout })
}

/** A decision with the shape and colour of its tone. */
export function headlineMark(tone: HeadlineTone, word: string): string {
  const mark = markOf(tone)
  return paint(mark === 'done' ? 'strong' : mark, `${SHAPES[mark]} ${printable(word)}`)
}

/** A good or bad end of something that is no verdict on an identifier, with the same shapes. */
export function outcomeMark(good: boolean, text: string): string {
  return headlineMark(good ? 'good' : 'bad', text)
}

export function terminalWidth(): number {
  return Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, process.stdout.columns ?? WIDTH_ELSEWHERE))
}

/** Breaks at spaces; a word that is longer than a line is cut. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
    for (; line.length > width; line = line.slice(width)) lines.push(line.slice(0, width))
  }
  return [...lines, line]
}

/** Rows of cells as lines that fit the width: the last column takes what is left and wraps under itself. */
export function table(rows: readonly (readonly string[])[], width = terminalWidth(), tones: readonly (Tone | null)[] = []): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns - 1 }, (_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const indent = widths.reduce((sum, one) => sum + one + 2, 0)
  return rows.flatMap((row) => {
    const head = widths.map((one, column) => toned(tones[column], (row[column] ?? '').padEnd(one)))
    const [first = '', ...rest] = wrap(row[columns - 1] ?? '', Math.max(COLUMN_MIN, width - indent))
    return [[...head, first].join('  ').trimEnd(), ...rest.map((line) => ' '.repeat(indent) + line)]
  })
}

function toned(tone: Tone | null | undefined, text: string): string {
  return tone === null || tone === undefined ? text : paint(tone, text)
}

/** The last second that RFC 3339 can write. */
const LAST_TS = 253_402_300_799

/** Seconds since 1970 as RFC 3339; null for times that it cannot write. */
export function dateText(ts: number): string | null {
  return ts >= 0 && ts <= LAST_TS ? new Date(ts * 1000).toISOString().replace('.000Z', 'Z') : null
}
