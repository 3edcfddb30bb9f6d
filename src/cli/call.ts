import type { CallRequest, Outcome } from '../service/calls/outcome.ts'
import { type ReadBounds, type Tool, SourceDown, type Sources } from '../service/catalogue/define.ts'
import { printable, remark, say, wantsJson, problemExit, shownProblem, progressLine } from './terminal.ts'
import { call, type CallDeps } from '../service/calls/call.ts'
import { answerText, inputHash, prepare, type ReceiptIssuer } from '../service/calls/answer.ts'
import { type Catalogue, loadCatalogue } from '../service/catalogue/load.ts'
import type { Settings } from '../service/config.ts'
import type { Allowance } from '../service/payments/allowance.ts'
import { problem, type Problem } from '../service/problems.ts'
import { readJsonBody } from '../surfaces/http/body.ts'
import type { Invocation } from './commands.ts'
import { localSources, markMode, readEnvironment, orConfig } from './deployment.ts'
import { CliError, type Exit, EXIT_CODES, unknownName } from './errors.ts'
import { exampleCall } from './tools.ts'
import { readBounded } from '../pure/read-bounded.ts'
import { readChunks, LineSplitter, type InputLine, type LineFault } from './input.ts'
import { readStrictJson } from '../pure/documents/strict-json.ts'
import { problemForError } from '../service/calls/refusals.ts'
import { decodeInput } from '../service/catalogue/decode.ts'
import { limits, REGISTER_IDS } from '../service/limits.ts'
import { withRegisters, createRegisters, type Registers } from '../service/registers.ts'
import { LineWriter } from './line-writer.ts'
import { renderAnswer, renderBrief } from './render-answer.ts'
import { isObject } from '../pure/is-object.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { createNonceSource } from '../adapters/random/system.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import { activeKey } from '../adapters/signer/keyring.ts'
import { registerReaders } from '../assembly/reference-tables.ts'
import { identityOf, localOrigin, ringOf } from '../assembly/identity.ts'
import { fstatSync } from 'node:fs'

/**
 * `assay call <tool> <input>`: runs the tool in this process, without a server or an allowance; tools with sources query them. With --url the
 * service there runs it.
 */
export async function run(invocation: Invocation): Promise<Exit> {
  const url = invocation.text('url')
  if (url !== null) return callRemote(url, invocation)
  const { refuseWallet } = await import('./remote.ts')
  refuseWallet(invocation)
  const [id, given] = invocation.words
  if (id === undefined)
    throw new CliError('usage', 'Give a tool and its input: assay call <tool> <input>. Run "assay tools" to list the tools.')
  const settings = readEnvironment()
  // Lines are checked offline only.
  const registers = invocation.flag('jsonl') ? [] : settings.ASSAY_REGISTERS
  const catalogue = withRegisters(await loadCatalogue(), registers)
  const tool = findTool(catalogue, id)
  if (invocation.flag('jsonl')) return callLines(tool, catalogue, settings, invocation)
  if (invocation.flag('no-receipt')) throw new CliError('usage', '--no-receipt needs --jsonl.')
  if (given === undefined) throw new CliError('usage', `Give the input of ${tool.id}, for example:  ${exampleCall(tool)}`)
  markMode(settings)
  const outcome = await call(await localCallDeps(catalogue, settings), requestOf(tool, given, invocation.text('prev-receipt-hash')))
  return show(tool, outcome, { json: wantsJson(invocation), brief: invocation.flag('brief') })
}

/** Finds a tool by id, with hyphens or underscores; throws a CliError with the most similar id. */
function findTool(catalogue: Catalogue, id: string): Tool {
  const tool = catalogue.find(id)
  if (tool !== undefined) return tool
  const ids = catalogue.tools.map((known) => known.id)
  throw unknownName('tool', id.replaceAll('_', '-'), ids, 'Run "assay tools" to list the tools.')
}

async function callRemote(url: string, invocation: Invocation): Promise<Exit> {
  const { callService } = await import('./remote.ts')
  if (invocation.flag('jsonl')) throw new CliError('usage', '--jsonl runs tools on this machine; it cannot be combined with --url.')
  const catalogue = withRegisters(await loadCatalogue(), REGISTER_IDS)
  const resume = invocation.text('resume')
  if (resume !== null) {
    if (invocation.words.length > 0) throw new CliError('usage', '--resume takes tool and input from the file; remove the arguments.')
    return callService(url, invocation, catalogue, { resume })
  }
  const [tool, given] = invocation.words
  if (tool === undefined || given === undefined)
    throw new CliError('usage', 'Give a tool and its input: assay call <tool> <input> --url <service>.')
  // The service may have tools that this version does not know.
  const bounds = catalogue.find(tool)?.bounds ?? REMOTE_BOUNDS
  const read = await readInput(given, bounds, tool)
  if (!read.ok) return showProblem(read.problem, wantsJson(invocation))
  return callService(url, invocation, catalogue, { tool, input: read.input, previous_receipt: invocation.text('prev-receipt-hash') })
}

const REMOTE_BOUNDS: ReadBounds = {
  body_bytes: limits.document_body_bytes,
  depth: limits.json_depth,
  nodes: limits.document_body_bytes,
  unsafe_numbers: 'refuse',
}

/** Signing key and identity of this deployment, read from its settings without opening a store, a port or a connection. */
async function localStamp(settings: Settings): Promise<ReceiptIssuer> {
  const signing = await chooseSigning()
  const identity = orConfig(() => identityOf(settings, signing))
  const active = activeKey(orConfig(() => ringOf(settings, identity)))
  if (active === undefined) throw new CliError('config', 'No receipt key is active; "assay keys rotate" makes one.')
  return {
    signer: signing.signer(active.private_key),
    queue: null,
    log: null,
    crypto: signing.crypto,
    clock: systemClock,
    recipient: identity.pay_to,
    origins: { site_url: settings.ASSAY_SITE_URL || localOrigin(settings.ASSAY_HOST, settings.ASSAY_PORT) },
    randomNonce: createNonceSource(),
  }
}

/** Live registers that the settings name. The command line has no budget of free calls. */
function localRegisters(settings: Settings): { registers?: Registers } {
  if (settings.ASSAY_REGISTERS.length === 0) return {}
  const readers = orConfig(() => registerReaders(settings))
  const onFault = (error: unknown) => remark(`assay: ${error instanceof Error ? error.message : 'unknown fault'}`)
  return { registers: createRegisters({ readers, clock: systemClock, sources: null, onFault }) }
}

async function callLines(tool: Tool, catalogue: Catalogue, settings: Settings, invocation: Invocation): Promise<Exit> {
  if (invocation.words.length > 1)
    throw new CliError('usage', 'With --jsonl the inputs are read from standard input, one per line; remove the input argument.')
  if (invocation.text('prev-receipt-hash') !== null)
    throw new CliError('usage', '--prev-receipt-hash cannot be combined with --jsonl: it links the receipt of a single call.')
  if (invocation.flag('brief')) throw new CliError('usage', '--brief cannot be combined with --jsonl.')
  if (!invocation.flag('no-receipt')) markMode(settings)
  return callStream(tool, localSources(catalogue, settings), invocation.flag('no-receipt') ? null : await localStamp(settings))
}

/** Dependencies of a call in this process. */
export async function localCallDeps(catalogue: Catalogue, settings: Settings): Promise<CallDeps> {
  return {
    catalogue,
    sources: localSources(catalogue, settings),
    probes: {},
    allowance: UNLIMITED_ALLOWANCE,
    payments: null,
    heavy: null,
    issuer: await localStamp(settings),
    ...localRegisters(settings),
    onFault: (error) => remark(`assay: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown fault'}`),
  }
}

const LIMITLESS = { limit: 0, remaining: Number.MAX_SAFE_INTEGER, resets_at: '', resets_in_s: 0 }

/** Allowance without a limit; it does not appear in the answer. */
const UNLIMITED_ALLOWANCE: Allowance = {
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
    read: (bounds) => readInput(given, bounds, tool.id),
  }
}

async function readInput(given: string, bounds: ReadBounds, tool: string) {
  const bytes = await readBounded(inputChunks(given), bounds.body_bytes)
  if (bytes === null) return { ok: false as const, problem: tooLarge(tool, bounds) }
  const json = readJsonBody(bytes, bounds)
  return json.ok ? inputObject(json.value) : json
}

/** Checks that the input is an object, without the wrapper `input` of REST. */
function inputObject(value: unknown): { ok: true; input: object } | { ok: false; problem: Problem } {
  if (isObject(value)) return { ok: true, input: value }
  const message = 'An input is one JSON object with the fields of the tool.'
  return { ok: false, problem: problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '', code: 'wrong_type', message }] }) }
}

function tooLarge(tool: string, { body_bytes }: ReadBounds): Problem {
  return problem('PAYLOAD_TOO_LARGE', `${printable(tool)} reads inputs of at most ${body_bytes} bytes.`)
}

/** `-` reads standard input, `@name` a file; other arguments are the input itself. */
async function* inputChunks(given: string): AsyncGenerator<Uint8Array> {
  if (given === '-') yield* readChunks('-')
  else if (given.startsWith('@')) yield* readChunks(given.slice(1))
  else yield Buffer.from(given)
}

function show(tool: Tool, outcome: Outcome, { json, brief }: { json: boolean; brief: boolean }): Exit {
  if (outcome.kind === 'answered') {
    const answer = { ...outcome.answer, allowance: null }
    if (brief) say(renderBrief(tool, { ...answer, settlement: null }, json))
    else say(json ? answerText(answer) : renderAnswer(tool, answer))
    return 'ok'
  }
  if (outcome.kind === 'paid') throw new Error('a call that brings no payment was paid')
  return showProblem(outcome.problem, json)
}

function showProblem(found: Problem, json: boolean): Exit {
  const shown = shownProblem(found)
  if (json) say(JSON.stringify({ problem: shown }))
  const pointed = shown.errors.filter(({ pointer }) => pointer !== '').map(({ pointer, message }) => `  ${pointer}  ${message}`)
  remark(`assay: ${[pointed.length === 0 ? shown.detail : shown.title, ...pointed].join('\n')}`)
  return problemExit(found)
}

/** `assay call <tool> --jsonl`: one input per line in, one answer per line out, in order. The most severe problem decides the exit code. */
async function callStream(tool: Tool, sources: Sources, stamp: ReceiptIssuer | null): Promise<Exit> {
  const writer = new LineWriter([tool.scope])
  const caller = new LineCaller(tool, sources, stamp, writer)
  const splitter = new LineSplitter(lineChars(tool))
  const progress = createProgress()
  const answerAll = async (lines: readonly InputLine[]) => {
    for (const line of lines) {
      // Most tools finish synchronously, so a promise is awaited only if there is one.
      const waiting = caller.answer(line)
      if (waiting !== null) await waiting
    }
    await writer.flush()
  }
  for await (const chunk of readChunks('-')) {
    await answerAll(splitter.push(chunk))
    progress.passed(caller.count, chunk.length)
  }
  await answerAll(splitter.end())
  progress.end(caller.count)
  return caller.worst
}

/** Answers line after line. A null result means that nothing needs to be awaited. */
class LineCaller {
  readonly #tool: Tool
  readonly #sources: Sources
  /** Null if receipts are not signed. */
  readonly #stamp: ReceiptIssuer | null
  readonly #writer: LineWriter
  #failures = 0
  count = 0
  worst: Exit = 'ok'

  constructor(tool: Tool, sources: Sources, stamp: ReceiptIssuer | null, writer: LineWriter) {
    this.#tool = tool
    this.#sources = sources
    this.#stamp = stamp
    this.#writer = writer
  }

  answer(line: InputLine): Promise<void> | null {
    const number = ++this.count
    const read = readLine(this.#tool, line)
    if (!read.ok) return this.#refused(number, read.problem)
    try {
      const ran = this.#tool.execute(read.input, this.#sources)
      if (!(ran instanceof Promise)) return this.#answered(read.input, ran)
      return this.#waitFor(number, read.input, ran)
    } catch (error) {
      return this.#failed(number, error)
    }
  }

  async #waitFor(line: number, input: Record<string, unknown>, running: Promise<Record<string, unknown>>): Promise<void> {
    try {
      await this.#answered(input, await running)
    } catch (error) {
      await this.#failed(line, error)
    }
  }

  #answered(input: Record<string, unknown>, result: Record<string, unknown>): Promise<void> | null {
    if (this.#stamp === null) return this.#writer.writeResult(result)
    const asked = { tool: this.#tool, input_hash: inputHash(this.#stamp, input), previous: null }
    const { result_text, receipt_text } = prepare(this.#stamp, asked, result, null)
    return this.#writer.write(`{"result":${result_text},"receipt":${receipt_text}}`)
  }

  #refused(line: number, found: Problem): Promise<void> | null {
    const exit = problemExit(found)
    if (EXIT_CODES[exit].code > EXIT_CODES[this.worst].code) this.worst = exit
    return this.#writer.write(JSON.stringify({ problem: { line, ...shownProblem(found) } }))
  }

  #failed(line: number, error: unknown): Promise<void> | null {
    if (error instanceof SourceDown) return this.#refused(line, problemForError(this.#tool, error))
    // Reported once, because the tool may fail on every line.
    if (this.#failures++ === 0) remark(`assay: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown fault'}`)
    return this.#refused(line, problem('INTERNAL_ERROR', `${this.#tool.id} failed with an internal error.`))
  }
}

function readLine(tool: Tool, line: InputLine): ReturnType<typeof decodeInput> {
  if (typeof line !== 'string') return { ok: false, problem: unreadable(tool, line) }
  const json = readStrictJson(line, tool.bounds, tool.bounds)
  if (!json.ok) return { ok: false, problem: notJson(tool, line) }
  const given = inputObject(json.value)
  return given.ok ? decodeInput(tool, given.input) : given
}

/** A line may be as long as the body of a call to the tool. */
function lineChars({ bounds }: Tool): number {
  return Math.max(limits.jsonl_line_chars, bounds.body_bytes)
}

function unreadable(tool: Tool, line: LineFault): Problem {
  return line.code === 'not_utf8'
    ? problem('NOT_UTF8', 'The line is not UTF-8.')
    : problem('PAYLOAD_TOO_LARGE', `A line for ${tool.id} has at most ${lineChars(tool)} characters.`)
}

/** Describes a JSON fault of a line; its position is the column. */
function notJson(tool: Tool, line: string): Problem {
  if (line.trim() === '') return problem('PARSE_ERROR', 'The line is empty.')
  const read = readJsonBody(Buffer.from(line), tool.bounds)
  // The strict reader rejects a second byte order mark, which the body reader accepts.
  if (read.ok) return problem('PARSE_ERROR', 'The line is not JSON.')
  const errors = read.problem.errors.map(({ line: _line, ...error }) => error)
  const [first] = errors
  return { ...read.problem, errors, detail: first === undefined ? read.problem.detail : `${first.message} (column ${first.column ?? 1})` }
}

/** Progress of a long stream. */
interface Progress {
  /** `lines` is the total so far; `bytes` were read since the last call. */
  passed(lines: number, bytes: number): void
  end(lines: number): void
}

/** Shorter streams show no progress. */
const QUIET_MS = 1_000
const EVERY_MS = 250

const CLEAR_LINE = '\r\u001b[K'

/** Progress line on standard error; nothing if it is not a terminal or if answers appear on the same terminal. */
function createProgress(): Progress {
  if (!process.stderr.isTTY || process.stdout.isTTY) return { passed: () => undefined, end: () => undefined }
  const total_bytes = stdinBytes()
  const started_ms = performance.now()
  let drawn_ms = started_ms + QUIET_MS - EVERY_MS
  let bytes = 0
  let shown = false
  const draw = (lines: number, elapsed_ms: number, end: string) => {
    process.stderr.write(`${CLEAR_LINE}${progressLine({ lines, elapsed_ms, bytes, total_bytes })}${end}`)
    shown = true
  }
  return {
    passed(lines, more) {
      bytes += more
      const now_ms = performance.now()
      if (now_ms - drawn_ms < EVERY_MS) return
      drawn_ms = now_ms
      draw(lines, now_ms - started_ms, '')
    },
    end(lines) {
      if (shown) draw(lines, performance.now() - started_ms, '\n')
    },
  }
}

/** Length of a regular file on standard input; null for pipes and terminals. */
function stdinBytes(): number | null {
  try {
    const found = fstatSync(0)
    return found.isFile() ? found.size : null
  } catch {
    return null
  }
}
