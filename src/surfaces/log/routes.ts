import type { Context, Hono } from 'hono'
import { bytesToHex, hexToBytes } from '../../pure/log/bytes.ts'
import { logEntry } from '../../pure/log/proof.ts'
import { readTilePath } from '../../pure/log/tiles.ts'
import { verifyReceipt } from '../../pure/receipts/verify.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import type { LogBook } from '../../service/log/book.ts'
import { limits } from '../../service/limits.ts'
import { LOG_RULES } from '../../service/log/rules.ts'
import type { ReceiptsLog } from '../../service/log/receipts-log.ts'
import type { Witness, WitnessEnd } from '../../service/log/witness.ts'
import { createRateGuard } from '../../service/admission/rate.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { readBody } from '../http/body.ts'
import type { Env } from '../http/env.ts'
import { bodyOfRequest } from '../http/fetch-body.ts'
import { readJsonBody } from '../http/json-body.ts'
import { jsonReply, problemReply, response } from '../http/reply.ts'

const TEXT = 'text/plain; charset=utf-8'
const BYTES = 'application/octet-stream'
const SHORT = 'public, max-age=2'
/** A tile never changes, whatever its width. */
const FOR_GOOD = 'public, max-age=31536000, immutable'
/** Whole answers are handed in too. */
const BOUNDS: Omit<ReadBounds, 'body_bytes'> = { depth: limits.json_depth, nodes: limits.json_nodes, unsafe_numbers: 'refuse' }

type Caller = (context: Context<Env>) => string

/** `/log/…`: the public log of receipts as tiles (C2SP tlog-tiles), proofs, and the service as a witness of other logs. All of it is free. */
export function logRoutes(app: Hono<Env>, deps: AppDeps, caller: Caller): void {
  const { log } = deps
  if (log === null) return
  const { book } = log
  const refuse = (context: Context<Env>, found: Problem) => response(problemReply(found, context.env.request_id, deps.origins))
  const admit = createRateGuard(deps.call.sources.clock, LOG_RULES.per_minute)
  const admitted = (context: Context<Env>) => {
    const end = admit(caller(context))
    const detail = `A client may send ${LOG_RULES.per_minute} such requests a minute.`
    return end.ok ? null : problem('LOG_RATE_LIMITED', detail, { retry_after_s: end.retry_after_s })
  }
  app.get('/log/checkpoint', async (context) => {
    const text = await book.checkpoint()
    return text === null ? refuse(context, notYet()) : context.body(text, 200, { 'content-type': TEXT, 'cache-control': SHORT })
  })
  app.get('/log/key', (context) => context.body(`${log.verifier_key}\n`, 200, { 'content-type': TEXT, 'cache-control': SHORT }))
  app.get('/log/witness-key', (context) => context.body(`${log.witness_key}\n`, 200, { 'content-type': TEXT, 'cache-control': SHORT }))
  app.get('/log/tile/:path{.+}', async (context) => {
    const request = readTilePath(context.req.param('path'))
    const bytes = request === null ? null : await book.tile(request)
    if (bytes === null) return refuse(context, problem('NOT_FOUND', 'The log has no such tile; its checkpoint says how large it is.'))
    return context.body(bytes, 200, { 'content-type': BYTES, 'cache-control': FOR_GOOD })
  })
  app.get('/log/proof/:entry', async (context) => proof(context, book, refuse))
  app.get('/log/consistency/:size', async (context) => {
    const size = context.req.param('size')
    const text = /^(?:0|[1-9]\d{0,15})$/.test(size) ? await book.consistency(Number(size)) : null
    if (text === null) return refuse(context, problem('NOT_FOUND', 'The log never had, or does not yet have, so many entries.'))
    return context.body(text, 200, { 'content-type': TEXT, 'cache-control': SHORT })
  })
  app.post('/log/entries', async (context) => {
    const limited = admitted(context)
    return limited === null ? handIn(context, deps, log, refuse) : refuse(context, limited)
  })
  app.post('/log/add-checkpoint', async (context) => {
    const limited = admitted(context)
    return limited === null ? addCheckpoint(context, log.witness, refuse) : refuse(context, limited)
  })
}

type Refuse = (context: Context<Env>, found: Problem) => Response

function notYet(): Problem {
  return problem('LOG_ENTRY_WAITING', 'The log signs its first checkpoint a moment after the start.', { retry_after_s: 5 })
}

async function proof(context: Context<Env>, book: LogBook, refuse: Refuse): Promise<Response> {
  const given = (context.req.param('entry') ?? '').replace(/^0x/, '')
  if (!/^[0-9a-f]{64}$/.test(given)) {
    const detail = 'An entry is 64 lower-case hexadecimal digits: SHA-256 over the 32 bytes of the digest and the 65 of the signature.'
    return refuse(context, problem('LOG_ENTRY_UNKNOWN', detail))
  }
  const end = await book.proof(hexToBytes(given))
  switch (end.kind) {
    case 'included':
      return context.body(end.text, 200, { 'content-type': TEXT, 'cache-control': 'no-cache' })
    case 'waiting':
      return refuse(context, problem('LOG_ENTRY_WAITING', 'It is appended within a minute.', { retry_after_s: 10 }))
    case 'unknown':
      return refuse(context, problem('LOG_ENTRY_UNKNOWN', 'Hand the receipt in at /log/entries to have it appended.'))
  }
}

async function handIn(context: Context<Env>, { keys, call }: AppDeps, log: ReceiptsLog, refuse: Refuse): Promise<Response> {
  const body = await readBody(bodyOfRequest(context), LOG_RULES.body_bytes, () => Promise.resolve(true))
  if (!body.ok) return refuse(context, body.problem)
  const json = readJsonBody(body.bytes, BOUNDS)
  if (!json.ok) return refuse(context, json.problem)
  const receipt = receiptIn(json.value)
  const verdict = verifyReceipt(receipt, keys)
  if (!verdict.valid || verdict.signer_published !== true || verdict.signer_valid_at_ts !== true) {
    const why = verdict.valid ? 'Its signer is no key of this service, or was none at that time.' : verdict.reason
    return refuse(context, problem('LOG_RECEIPT_REFUSED', why))
  }
  const { tool, signature } = receipt as { tool: string; signature: string }
  // What is not logged when it is called is not logged by this door either: anybody could fill the log with it.
  if (call.catalogue.find(tool)?.price === 'free')
    return refuse(context, problem('LOG_RECEIPT_REFUSED', 'Calls of a tool that is free without limit are not logged.'))
  const entry = logEntry(verdict.digest ?? '', signature)
  if (entry === null) return refuse(context, problem('LOG_RECEIPT_REFUSED', 'Its signature cannot be read.'))
  const hex = bytesToHex(entry)
  await log.handIn(hex)
  return response(jsonReply(202, JSON.stringify({ entry: hex, merge_delay_s: LOG_RULES.merge_s, proof: `/log/proof/${hex}` })))
}

function receiptIn(value: unknown): unknown {
  const inside = typeof value === 'object' && value !== null && Object.hasOwn(value, 'receipt')
  return inside ? (value as { receipt: unknown }).receipt : value
}

async function addCheckpoint(context: Context<Env>, witness: Witness, refuse: Refuse): Promise<Response> {
  const body = await readBody(bodyOfRequest(context), LOG_RULES.body_bytes, () => Promise.resolve(true))
  if (!body.ok) return refuse(context, body.problem)
  return witnessed(context, await witness.addCheckpoint(new TextDecoder().decode(body.bytes)))
}

/** In the words of tlog-witness, which knows no problem documents. */
function witnessed(context: Context<Env>, end: WitnessEnd): Response {
  const say = (status: 200 | 400 | 403 | 404 | 409 | 422, text: string, type = TEXT) =>
    context.body(text, status, { 'content-type': type, 'cache-control': 'no-store' })
  switch (end.kind) {
    case 'signed':
      return say(200, end.lines)
    case 'malformed':
      return say(400, `${end.why}\n`)
    case 'unknown_log':
      return say(404, 'This witness does not watch a log of that origin.\n')
    case 'not_signed':
      return say(403, 'The checkpoint is not signed by the key of that log.\n')
    case 'conflict':
      return say(409, `${end.size}\n`, 'text/x.tlog.size')
    case 'inconsistent':
      return say(422, 'The proof does not lead from the older checkpoint to this one.\n')
  }
}
