import { call, type CallDeps } from '../service/calls/call.ts'
import { answerText } from '../service/calls/answer-text.ts'
import type { CallRequest, Outcome } from '../service/calls/outcome.ts'
import type { Tool } from '../service/catalogue/define.ts'
import { loadCatalogue, type Catalogue } from '../service/catalogue/load.ts'
import type { Settings } from '../service/config.ts'
import type { Allowance } from '../service/payments/allowance.ts'
import { problem, type Problem } from '../service/problems.ts'
import { readJsonBody } from '../surfaces/http/json-body.ts'
import { renderAnswer } from './answer.ts'
import type { Invocation } from './arguments.ts'
import { sourcesHere, stampHere } from './deployment.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { exampleCall, findTool } from './find-tool.ts'
import { readBounded } from '../pure/read-bounded.ts'
import { chunksOf, inputObject } from './input.ts'
import { markMode, settingsHere } from './settings.ts'
import { problemExit, shownProblem } from './shown-problem.ts'
import { remark, say, wantsJson } from './terminal.ts'

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
