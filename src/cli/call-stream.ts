import { readStrictJson } from '../pure/documents/strict-json.ts'
import { inputHash, prepare, type Stamp } from '../service/calls/prepare.ts'
import { brokenOff } from '../service/calls/refusals.ts'
import { decodeInput, type Decoded } from '../service/catalogue/decode.ts'
import { SourceDown, type Sources, type Tool } from '../service/catalogue/define.ts'
import { limits } from '../service/limits.ts'
import { problem, type Problem } from '../service/problems.ts'
import { readJsonBody } from '../surfaces/http/json-body.ts'
import { EXIT_CODES, type Exit } from './exit-codes.ts'
import { chunksOf, inputObject } from './input.ts'
import { LineWriter } from './line-writer.ts'
import { LineSplitter, type Line, type LineFault } from './lines.ts'
import { createProgress } from './progress.ts'
import { problemExit, shownProblem } from './shown-problem.ts'
import { remark } from './terminal.ts'

/** `assay call <tool> --jsonl`: one input a line in, one answer a line out, in order. The worst problem on the way decides the exit. */
export async function callStream(tool: Tool, sources: Sources, stamp: Stamp | null): Promise<Exit> {
  const writer = new LineWriter([tool.scope])
  const caller = new LineCaller(tool, sources, stamp, writer)
  const splitter = new LineSplitter(lineChars(tool))
  const progress = createProgress()
  const answerAll = async (lines: readonly Line[]) => {
    for (const line of lines) {
      // Promises only where there is something to wait for: most tools are done at once.
      const waiting = caller.answer(line)
      if (waiting !== null) await waiting
    }
    await writer.flush()
  }
  for await (const chunk of chunksOf('-')) {
    await answerAll(splitter.push(chunk))
    progress.passed(caller.count, chunk.length)
  }
  await answerAll(splitter.end())
  progress.end(caller.count)
  return caller.worst
}

/** Answers line after line and keeps count. Null instead of a promise says that there is nothing to wait for. */
class LineCaller {
  readonly #tool: Tool
  readonly #sources: Sources
  /** Null when nothing is to be signed. */
  readonly #stamp: Stamp | null
  readonly #writer: LineWriter
  #failures = 0
  count = 0
  worst: Exit = 'ok'

  constructor(tool: Tool, sources: Sources, stamp: Stamp | null, writer: LineWriter) {
    this.#tool = tool
    this.#sources = sources
    this.#stamp = stamp
    this.#writer = writer
  }

  answer(line: Line): Promise<void> | null {
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
    if (error instanceof SourceDown) return this.#refused(line, brokenOff(this.#tool, error))
    // Told once: a tool that fails may fail on every line.
    if (this.#failures++ === 0) remark(`assay: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown fault'}`)
    return this.#refused(line, problem('INTERNAL_ERROR', `${this.#tool.id} failed by our fault.`))
  }
}

function readLine(tool: Tool, line: Line): Decoded {
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

/** Said by the reader that has words for each fault; within a line only the column tells the place. */
function notJson(tool: Tool, line: string): Problem {
  if (line.trim() === '') return problem('PARSE_ERROR', 'The line is empty.')
  const read = readJsonBody(Buffer.from(line), tool.bounds)
  // A second byte order mark is nothing to that reader and no JSON to this one.
  if (read.ok) return problem('PARSE_ERROR', 'The line is not JSON.')
  const errors = read.problem.errors.map(({ line: _line, ...error }) => error)
  const [first] = errors
  return { ...read.problem, errors, detail: first === undefined ? read.problem.detail : `${first.message} (column ${first.column ?? 1})` }
}
