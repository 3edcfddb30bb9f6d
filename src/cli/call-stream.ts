import { once } from 'node:events'
import { readStrictJson } from '../pure/documents/strict-json.ts'
import { decodeInput, type Decoded } from '../service/catalogue/decode.ts'
import { prepare, type Stamp } from '../service/calls/prepare.ts'
import type { Sources, Tool } from '../service/catalogue/define.ts'
import { limits } from '../service/limits.ts'
import { problem, type Problem } from '../service/problems.ts'
import { readJsonBody } from '../surfaces/http/json-body.ts'
import { EXIT_CODES, type Exit } from './exit-codes.ts'
import { chunksOf, inputObject } from './input.ts'
import { LineSplitter, type Line, type LineFault } from './lines.ts'
import { createProgress } from './progress.ts'
import { problemExit, shownProblem } from './shown-problem.ts'
import { remark } from './terminal.ts'

type Answered = { ok: true; text: string } | { ok: false; problem: Problem }

/** Characters that are gathered before they are written. */
const BLOCK_CHARS = 262_144

/** `assay call <tool> --jsonl`: one input a line in, one answer a line out, in order. The worst problem on the way decides the exit. */
export async function callStream(tool: Tool, sources: Sources, stamp: Stamp | null): Promise<Exit> {
  const answer = answerer(tool, sources, stamp)
  const splitter = new LineSplitter()
  const progress = createProgress()
  let worst: Exit = 'ok'
  let count = 0
  let block = ''
  const take = async (lines: readonly Line[]) => {
    for (const line of lines) {
      const pending = answer(line)
      const answered = pending instanceof Promise ? await pending : pending
      count++
      block += answered.ok ? answered.text : problemLine(count, answered.problem)
      if (!answered.ok) worst = worse(worst, problemExit(answered.problem))
      if (block.length >= BLOCK_CHARS) await flush()
    }
  }
  const flush = async () => {
    const text = block
    block = ''
    if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
  }
  for await (const chunk of chunksOf('-')) {
    await take(splitter.push(chunk))
    await flush()
    progress.passed(count, chunk.length)
  }
  await take(splitter.end())
  await flush()
  progress.end(count)
  return worst
}

function answerer(tool: Tool, sources: Sources, stamp: Stamp | null): (line: Line) => Answered | Promise<Answered> {
  const shown = (input: Record<string, unknown>, result: Record<string, unknown>): Answered => {
    if (stamp === null) return { ok: true, text: `{"result":${JSON.stringify(result)}}\n` }
    const { result_text, receipt } = prepare(stamp, tool, input, result, null)
    return { ok: true, text: `{"result":${result_text},"receipt":${JSON.stringify(receipt)}}\n` }
  }
  let failures = 0
  const failed = (error: unknown): Answered => {
    // Once: a tool that fails may fail on every line.
    if (failures++ === 0) remark(`assay: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown fault'}`)
    return { ok: false, problem: problem('INTERNAL_ERROR', `${tool.id} failed by our fault.`) }
  }
  return (line) => {
    const read = readLine(tool, line)
    if (!read.ok) return read
    try {
      const ran = tool.execute(read.input, sources)
      return ran instanceof Promise ? ran.then((result) => shown(read.input, result)).catch(failed) : shown(read.input, ran)
    } catch (error) {
      return failed(error)
    }
  }
}

function readLine(tool: Tool, line: Line): Decoded {
  if (typeof line !== 'string') return { ok: false, problem: unreadable(line) }
  const json = readStrictJson(line, tool.bounds, tool.bounds)
  if (!json.ok) return { ok: false, problem: notJson(tool, line) }
  const given = inputObject(json.value)
  return given.ok ? decodeInput(tool, given.input) : given
}

function unreadable(line: LineFault): Problem {
  return line.code === 'not_utf8'
    ? problem('NOT_UTF8', 'The line is not UTF-8.')
    : problem('PAYLOAD_TOO_LARGE', `A line has at most ${limits.jsonl_line_chars} characters.`)
}

/** Said by the reader that has words for each fault; within a line only the column tells the place. */
function notJson(tool: Tool, line: string): Problem {
  if (line.trim() === '') return problem('PARSE_ERROR', 'The line is empty.')
  const read = readJsonBody(Buffer.from(line), tool.bounds)
  if (read.ok) throw new Error('two readers of JSON disagree')
  const errors = read.problem.errors.map(({ line: _, ...error }) => error)
  const [first] = errors
  return { ...read.problem, errors, detail: first === undefined ? read.problem.detail : `${first.message} (column ${first.column ?? 1})` }
}

function problemLine(line: number, found: Problem): string {
  return `${JSON.stringify({ problem: { line, ...shownProblem(found) } })}\n`
}

function worse(one: Exit, other: Exit): Exit {
  return EXIT_CODES[other].code > EXIT_CODES[one].code ? other : one
}
