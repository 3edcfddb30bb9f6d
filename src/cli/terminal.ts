import { styleText } from 'node:util'
import type { BadgeVerdict, HeadlineTone } from '../pure/headline.ts'
import { markOf } from '../pure/headline.ts'
import type { Invocation } from './commands.ts'
import { printable, type Exit } from './errors.ts'
import { PROBLEMS, type Problem, type ProblemError } from '../service/problems.ts'

export { printable }

/** Output for people. Colours are used only if the terminal supports them and NO_COLOR is not set. */

export type Tone = 'valid' | 'unverifiable' | 'invalid' | 'muted' | 'strong'

const STYLES = { valid: 'green', unverifiable: 'yellow', invalid: 'red', muted: 'dim', strong: 'bold' } as const

/** Shape of each verdict; colour alone never carries the meaning. */
const SHAPES: Record<BadgeVerdict, string> = { valid: '●', unverifiable: '◐', invalid: '○', done: '◆' }

/** Minimum width of tables, also on narrower terminals. */
const WIDTH_MIN = 40
/** Minimum width of the last column. */
const COLUMN_MIN = 16
const WIDTH_MAX = 120
const WIDTH_ELSEWHERE = 100

/** JSON if requested, or if standard output is not a terminal and --text is absent. */
export function wantsJson(invocation: Invocation): boolean {
  return invocation.flag('json') || (!process.stdout.isTTY && !invocation.flag('text'))
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Messages go to standard error, so that standard output contains only the answer. */
export function remark(text: string): void {
  process.stderr.write(`${text}\n`)
}

export function paint(tone: Tone, text: string): string {
  return styleText(STYLES[tone], text, { stream: process.stdout })
}

export function headlineMark(tone: HeadlineTone, word: string): string {
  const mark = markOf(tone)
  return paint(mark === 'done' ? 'strong' : mark, `${SHAPES[mark]} ${printable(word)}`)
}

/** Success or failure other than a verdict, with the same shapes. */
export function outcomeMark(good: boolean, text: string): string {
  return headlineMark(good ? 'good' : 'bad', text)
}

export function terminalWidth(): number {
  return Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, process.stdout.columns ?? WIDTH_ELSEWHERE))
}

/** Breaks at spaces; a word longer than a line is split. */
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

/** Formats rows as columns; the last column takes the remaining width and wraps. */
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

/** Last second that RFC 3339 can represent. */
const LAST_TS = 253_402_300_799

/** Seconds since 1970 as RFC 3339; null for times outside its range. */
export function dateText(ts: number): string | null {
  return ts >= 0 && ts <= LAST_TS ? new Date(ts * 1000).toISOString().replace('.000Z', 'Z') : null
}

interface ProgressState {
  lines: number
  elapsed_ms: number
  bytes: number
  /** Null if the length of the stream is unknown. */
  total_bytes: number | null
}
const BAR_CHARS = 20

export function progressLine({ lines, elapsed_ms, bytes, total_bytes }: ProgressState): string {
  const rate = Math.round((lines * 1000) / Math.max(1, elapsed_ms))
  const counted = `${grouped(lines)} lines  ${grouped(rate)}/s  ${duration(elapsed_ms)}`
  if (total_bytes === null || total_bytes === 0) return counted
  const share = Math.min(1, bytes / total_bytes)
  const filled = Math.round(share * BAR_CHARS)
  const left = share > 0 ? `  ${duration((elapsed_ms * (1 - share)) / share)} left` : ''
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CHARS - filled)} ${Math.floor(share * 100)} %  ${counted}${share < 1 ? left : ''}`
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${String(seconds % 60).padStart(2, '0')}`
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`
}

/** Problem as JSON. Pointers are relative to the input, without the wrapper `input` of REST. */
export function shownProblem(found: Problem) {
  const { title, retryable } = PROBLEMS[found.code]
  return { code: found.code, title, detail: found.detail, retryable, errors: found.errors.map(unwrapped) }
}

function unwrapped(error: ProblemError): ProblemError {
  return { ...error, pointer: error.pointer.replace(/^\/input(?=\/|$)/, '') }
}

/** Exit code of a problem. */
export function problemExit(found: Problem): Exit {
  switch (PROBLEMS[found.code].fault) {
    case 'caller':
      return 'data'
    case 'source':
      return 'unavailable'
    case 'service':
      return 'internal'
  }
}
