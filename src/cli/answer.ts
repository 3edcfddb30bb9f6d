import { isObject } from '../pure/is-object.ts'
import { cutText } from '../pure/cut-text.ts'
import { checkHeadline } from '../service/catalogue/headlines.ts'
import { receiptDigest } from '../pure/receipts/receipt.ts'
import { toHex } from '../pure/receipts/crypto.ts'
import type { Answer } from '../service/calls/outcome.ts'
import type { Tool } from '../service/catalogue/define.ts'
import { headlineMark, paint, printable, table, terminalWidth, wrap } from './terminal.ts'

/** An answer for people: the decision, its sentence, the identifier in its parts, facts, scope, proof. */
export function renderAnswer(tool: Tool, answer: Answer): string {
  const { result, receipt, chain } = answer
  const { tone, word, sentence } = tool.headline(result)
  const said = sentence === '' ? [] : wrap(printable(sentence), terminalWidth())
  const proof = [
    ['Checked', tool.scope.checked.join('; ')],
    ['Not checked', tool.scope.not_checked.join('; ')],
    ['Receipt', toHex(receiptDigest(receipt))],
    ['Signed by', receipt.signer],
    ...(chain === null ? [] : [['Follows', chain.prev_receipt_hash]]),
  ]
  const blocks = [
    [`${headlineMark(tone, word)}  ${paint('muted', `${tool.id} ${tool.version}`)}`, ...said],
    identifierLines(result),
    table(factRows(result, sentence), terminalWidth(), ['muted']),
    table(proof, terminalWidth(), ['muted']),
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

/** The checked value, set apart: with each finding under the characters that it is about, or else in its parts with their names. */
function identifierLines(result: Record<string, unknown>): string[] {
  const value = result['normalized']
  if (typeof value !== 'string' || value === '') return []
  const findings = [...objects(result['findings']), ...objects(result['warnings'])]
  const parts = objects(record(result['facts'])['parts'])
  if (findings.length > 0 || parts.length === 0)
    return [paint('strong', printable(value)), ...findings.flatMap((one) => findingLines(one, result['reason']))]
  const cells = parts.map(({ label, start, end }) => [printable(value.slice(Number(start), Number(end))), String(label)] as const)
  const widths = cells.map(([text, label]) => Math.max(text.length, label.length))
  const row = (column: 0 | 1) =>
    cells
      .map((cell, index) => cell[column].padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  return [paint('strong', row(0)), paint('muted', row(1))]
}

/** The sentence of the finding that gave the reason stands above already. */
function findingLines({ position, message, expected }: Record<string, unknown>, reason: unknown): string[] {
  const [start, end] = Array.isArray(position) ? position.map(Number) : []
  const marks = start === undefined || end === undefined ? [] : [paint('invalid', ' '.repeat(start) + '^'.repeat(Math.max(1, end - start)))]
  const hope = typeof expected === 'string' ? [`Expected: ${expected}.`] : []
  const words = [...(typeof message === 'string' && message !== reason ? [message] : []), ...hope]
  return words.length === 0 ? marks : [...marks, ...wrap(printable(words.join(' ')), terminalWidth())]
}

/** Shown elsewhere in the answer, or of use to machines only. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  'verdict',
  'valid',
  'reason',
  'reason_code',
  'normalized',
  'findings',
  'warnings',
  'scope',
  'tool',
  'parts',
])

/** Rows beyond these, and characters of one value, are left to --json. */
const ROWS_MAX = 60
const VALUE_CHARS = 400

/** The sentence of the headline stands above, so its member is not shown again. */
function factRows(result: Record<string, unknown>, sentence: string): string[][] {
  const { facts, ...rest } = result
  const shown = [...Object.entries(record(facts)), ...Object.entries(rest)].filter(
    ([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null && (sentence === '' || value !== sentence),
  )
  const rows = shown.flatMap(([name, value]) => flatten(name, value))
  return rows.length > ROWS_MAX ? [...rows.slice(0, ROWS_MAX), ['…', `${rows.length - ROWS_MAX} more with --json`]] : rows
}

/** Nested values by their dotted names; batch items by the verdict of each. */
function flatten(name: string, value: unknown): string[][] {
  if (Array.isArray(value) && !value.some(isObject)) return value.length === 0 ? [] : [[name, cut(value.map(String).join(', '))]]
  if (Array.isArray(value)) return value.flatMap((item, index) => flatten(`${name}.${index}`, item))
  if (!isObject(value)) return value === null ? [] : [[name, cut(typeof value === 'string' ? value : JSON.stringify(value))]]
  if (value['reason_code'] !== undefined && value['verdict'] !== undefined) {
    const { word, sentence } = checkHeadline(value)
    return [[name, cut(`${word}: ${sentence}`)]]
  }
  return Object.entries(value).flatMap(([inner, one]) => flatten(`${name}.${inner}`, one))
}

function cut(text: string): string {
  return printable(cutText(text, VALUE_CHARS + 1))
}

function objects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function record(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}
