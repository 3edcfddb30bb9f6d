import { cutText } from '../pure/cut-text.ts'
import { isObject } from '../pure/is-object.ts'
import { toHex } from '../pure/receipts/crypto.ts'
import { receiptDigest } from '../pure/receipts/receipt.ts'
import type { Answer } from '../service/calls/outcome.ts'
import { viewAnswer, type AnswerView, type ItemView, type ShownFinding } from '../service/catalogue/answer-view.ts'
import { briefJson, type BriefParts, briefText } from '../service/catalogue/brief.ts'
import type { Tool } from '../service/catalogue/define.ts'
import { checkHeadline } from '../service/catalogue/headlines.ts'
import { toolSchemas } from '../service/catalogue/wire-schemas.ts'
import { headlineMark, paint, printable, table, terminalWidth, wrap } from './terminal.ts'

/** Answer for people: headline, identifier with its findings or parts, facts, scope and proof. */
export function renderAnswer(tool: Tool, answer: Pick<Answer, 'result' | 'receipt' | 'chain'>): string {
  const { result, receipt, chain } = answer
  const view = viewAnswer(result, headlineReaderOf(tool, result))
  const { tone, word, sentence } = view.headline
  const said = sentence === '' ? [] : wrap(printable(sentence), terminalWidth())
  const proof = [
    ['Checked', (view.scope ?? tool.scope).checked.join('; ')],
    ['Not checked', (view.scope ?? tool.scope).not_checked.join('; ')],
    ['Receipt', toHex(receiptDigest(receipt))],
    ['Signed by', receipt.signer],
    ...(chain === null ? [] : [['Follows', chain.prev_receipt_hash]]),
  ]
  const blocks = [
    [`${headlineMark(tone, word)}  ${paint('muted', `${tool.id} ${tool.version}`)}`, ...said],
    identifierLines(view),
    remarkLines(view),
    table(view.items.map(itemRow), terminalWidth(), ['muted']),
    table(factRows(view), terminalWidth(), ['muted']),
    table(proof, terminalWidth(), ['muted']),
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

/** The brief form that models read, as text or as JSON. */
export function renderBrief(tool: Tool, parts: BriefParts, json: boolean): string {
  const { output } = toolSchemas(tool)
  return json ? briefJson(tool, output, parts, null) : briefText(tool, output, parts).split('\n').map(printable).join('\n')
}

/** The result is read by its tool; the items of a batch are single checks. */
function headlineReaderOf(tool: Tool, result: unknown) {
  return (one: Readonly<Record<string, unknown>>) => (one === result ? tool.headline(one) : checkHeadline(one))
}

/** The checked value with findings under the characters that they concern, or divided into its named parts. */
function identifierLines({ value, parts, findings, headline }: AnswerView): string[] {
  if (value === null) return []
  if (findings.length > 0 || parts.length === 0)
    return [paint('strong', printable(value)), ...findings.flatMap((one) => findingLines(one, headline.sentence))]
  const cells = parts.map(({ label, start, end }) => [printable(value.slice(start, end)), label] as const)
  const widths = cells.map(([text, label]) => Math.max(text.length, label.length))
  const row = (column: 0 | 1) =>
    cells
      .map((cell, index) => cell[column].padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  return [paint('strong', row(0)), paint('muted', row(1))]
}

/** A finding whose message is the sentence of the headline is not repeated. */
function findingLines({ range, message, expected }: ShownFinding, sentence: string): string[] {
  const marks = range === null ? [] : [paint('invalid', ' '.repeat(range.start) + '^'.repeat(range.end - range.start))]
  const hope = expected === null ? [] : [`Expected: ${expected}.`]
  const words = [...(message === '' || message === sentence ? [] : [message]), ...hope]
  return words.length === 0 ? marks : [...marks, ...wrap(printable(words.join(' ')), terminalWidth())]
}

/** Findings without a checked value, warnings, and the suggested correction. */
function remarkLines({ value, findings, warnings, suggestion }: AnswerView): string[] {
  const lines = [...(value === null ? findings : []), ...warnings].map(({ field, message }) =>
    field === null ? message : `${field}: ${message}`,
  )
  if (suggestion !== null) lines.push(`Possible correction: ${suggestion}. Ask the sender before you use it for a payment.`)
  return lines.flatMap((line) => wrap(cut(line), terminalWidth()))
}

function itemRow({ index, tool, headline, value, sentence }: ItemView): string[] {
  return [index, tool, headline?.word ?? 'not checked', cut(value), cut(sentence)]
}

/** Further rows and longer values are shown only with --json. */
const ROWS_MAX = 60
const VALUE_CHARS = 400

function factRows({ facts }: AnswerView): string[][] {
  const rows = Object.entries(facts).flatMap(([name, value]) => flatten(name, value))
  return rows.length > ROWS_MAX ? [...rows.slice(0, ROWS_MAX), ['…', `${rows.length - ROWS_MAX} more with --json`]] : rows
}

/** Nested values by their dotted path; a nested check by its headline. */
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
