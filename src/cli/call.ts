import { isObject } from '../pure/is-object.ts'
import { cutText } from '../pure/cut-text.ts'
import { checkHeadline } from '../service/catalogue/headlines.ts'
import { receiptDigest } from '../pure/receipts/receipt.ts'
import { toHex } from '../pure/receipts/crypto.ts'
import type { Answer, CallRequest, Outcome } from '../service/calls/outcome.ts'
import type { Tool } from '../service/catalogue/define.ts'
import { headlineMark, paint, printable, remark, say, table, terminalWidth, wantsJson, wrap } from './terminal.ts'
import { call, type CallDeps } from '../service/calls/call.ts'
import { answerText } from '../service/calls/answer-text.ts'
import { type Catalogue, loadCatalogue } from '../service/catalogue/load.ts'
import type { Settings } from '../service/config.ts'
import type { Allowance } from '../service/payments/allowance.ts'
import { problem, type Problem } from '../service/problems.ts'
import { readJsonBody } from '../surfaces/http/json-body.ts'
import type { Invocation } from './arguments.ts'
import { sourcesHere, stampHere } from './deployment.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { exampleCall, findTool } from './find-tool.ts'
import { readBounded } from '../pure/read-bounded.ts'
import { chunksOf, inputObject } from './input.ts'
import { markMode, settingsHere } from './settings.ts'
import { problemExit, shownProblem } from './shown-problem.ts'

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

/** `assay call <tool> <input>`: the same call as over REST, on the operator's own machine: no server and no allowance; tools with sources ask them. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [id, given] = invocation.words
  if (id === undefined)
    throw new CliError('usage', 'Give a tool and its input: assay call <tool> <input>. Run "assay tools" to list the tools.')
  const settings = settingsHere()
  const catalogue = await loadCatalogue()
  const tool = findTool(catalogue, id)
  if (invocation.flag('jsonl')) return callLines(tool, catalogue, settings, invocation)
  if (invocation.flag('no-receipt')) throw new CliError('usage', '--no-receipt needs --jsonl.')
  if (given === undefined) throw new CliError('usage', `Give the input of ${tool.id}, for example:  ${exampleCall(tool)}`)
  markMode(settings)
  const outcome = await call(await depsHere(catalogue, settings), requestOf(tool, given, invocation.text('prev-receipt-hash')))
  return show(tool, outcome, wantsJson(invocation))
}

async function callLines(tool: Tool, catalogue: Catalogue, settings: Settings, invocation: Invocation): Promise<Exit> {
  if (invocation.words.length > 1)
    throw new CliError('usage', 'With --jsonl the inputs are read from standard input, one per line; remove the input argument.')
  if (invocation.text('prev-receipt-hash') !== null)
    throw new CliError('usage', '--prev-receipt-hash cannot be combined with --jsonl: it links the receipt of a single call.')
  if (!invocation.flag('no-receipt')) markMode(settings)
  const { callStream } = await import('./call-stream.ts')
  return callStream(tool, sourcesHere(catalogue, settings), invocation.flag('no-receipt') ? null : await stampHere(settings))
}

/** What calls need on the operator's own machine. */
export async function depsHere(catalogue: Catalogue, settings: Settings): Promise<CallDeps> {
  return {
    catalogue,
    sources: sourcesHere(catalogue, settings),
    probes: {},
    allowance: UNCOUNTED,
    payments: null,
    heavy: null,
    stamp: await stampHere(settings),
    onFault: (error) => remark(`assay: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown fault'}`),
  }
}

const LIMITLESS = { limit: 0, remaining: Number.MAX_SAFE_INTEGER, resets_at: '', resets_in_s: 0 }

/** Grants everything and counts nothing; what it says of itself is left out of the answer. */
const UNCOUNTED: Allowance = {
  take: () => Promise.resolve({ granted: true, spent: null, state: LIMITLESS, give_back: () => Promise.resolve() }),
  peek: () => Promise.resolve(LIMITLESS),
}

function requestOf(tool: Tool, given: string, prev_receipt_hash: string | null): CallRequest {
  return {
    tool: tool.id,
    address: '127.0.0.1',
    payments: [],
    credit: null,
    prev_receipt_hash,
    read: async (bounds) => {
      const bytes = await readBounded(inputChunks(given), bounds.body_bytes)
      if (bytes === null) return { ok: false, problem: tooLarge(tool) }
      const json = readJsonBody(bytes, bounds)
      return json.ok ? inputObject(json.value) : json
    },
  }
}

function tooLarge({ id, bounds }: Tool): Problem {
  return problem('PAYLOAD_TOO_LARGE', `${id} reads inputs of at most ${bounds.body_bytes} bytes.`)
}

/** `-` is standard input, `@name` a file, anything else the input itself. */
async function* inputChunks(given: string): AsyncGenerator<Uint8Array> {
  if (given === '-') yield* chunksOf('-')
  else if (given.startsWith('@')) yield* chunksOf(given.slice(1))
  else yield Buffer.from(given)
}

function show(tool: Tool, outcome: Outcome, json: boolean): Exit {
  if (outcome.kind === 'answered') {
    const answer = { ...outcome.answer, allowance: null }
    say(json ? answerText(answer) : renderAnswer(tool, answer))
    return 'ok'
  }
  if (outcome.kind === 'paid') throw new Error('a call that brings no payment was paid')
  const shown = shownProblem(outcome.problem)
  if (json) say(JSON.stringify({ problem: shown }))
  const pointed = shown.errors.filter(({ pointer }) => pointer !== '').map(({ pointer, message }) => `  ${pointer}  ${message}`)
  remark(`assay: ${[pointed.length === 0 ? shown.detail : shown.title, ...pointed].join('\n')}`)
  return problemExit(outcome.problem)
}
