import type { Context } from 'hono'
import { z } from 'zod'
import { bytesToHex, hexToBytes, logEntry } from '../../pure/log/checkpoint.ts'
import { readTilePath } from '../../pure/log/tree.ts'
import { verifyReceipt } from '../../pure/receipts/verify.ts'
import { limits, LOG_RULES } from '../../service/limits.ts'
import { lostEntries, stopWords, type StopRecord } from '../../service/log/log-history.ts'
import { LogStoppedError, type ReceiptsLog, type WitnessEnd } from '../../service/log/receipts-log.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { anyObject, endpointsOf, type EndpointResult, type Rate } from '../endpoint.ts'
import { type Env, jsonReply } from '../http/reply.ts'

/** Public log of receipts, and the service as a witness of other logs. Not served by a deployment without a log. */
interface LogRoom {
  log: ReceiptsLog
  deps: Pick<AppDeps, 'keys' | 'call'>
}

const defineEndpoint = endpointsOf<LogRoom>()

const TEXT = 'text/plain; charset=utf-8'
const SHORT = 'public, max-age=2'
/** Tiles never change. */
const FOR_GOOD = 'public, max-age=31536000, immutable'
const RATE: Rate = { code: 'LOG_RATE_LIMITED', per_minute: LOG_RULES.per_minute }
const ENTRY = z.string().regex(/^(?:0x)?[0-9a-f]{64}$/)

/** Answers that need the entries of the published head; a problem while the log is stopped. */
async function unlessStopped(answer: () => Promise<EndpointResult>): Promise<EndpointResult> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof LogStoppedError) return stoppedProblem(error.message)
    throw error
  }
}

function stoppedProblem(why: string): Problem {
  return problem('LOG_STOPPED', `${why} The receipt is valid without the log; ask again when the operator has resumed it.`, {
    retry_after_s: limits.log_retry_s,
  })
}

function plain(context: Context<Env>, text: string, cache: string): Response {
  return context.body(text, 200, { 'content-type': TEXT, 'cache-control': cache })
}

const readCheckpoint = defineEndpoint({
  id: 'log-checkpoint',
  method: 'get',
  path: '/log/checkpoint',
  summary: 'The newest signed checkpoint (C2SP tlog-checkpoint).',
  answers: { 200: { description: 'The checkpoint.', media: ['text/plain'] } },
  problems: ['LOG_ENTRY_WAITING', 'NOT_FOUND'],
  async run({ context }, { log }) {
    const text = await log.book.checkpoint()
    if (text !== null) return plain(context, text, SHORT)
    return problem('LOG_ENTRY_WAITING', 'The log signs its first checkpoint a moment after the start.', { retry_after_s: 5 })
  },
})

const readKey = defineEndpoint({
  id: 'log-key',
  method: 'get',
  path: '/log/key',
  summary: 'The key that signs checkpoints, as a verifier key.',
  answers: { 200: { description: 'The key.', media: ['text/plain'] } },
  problems: ['NOT_FOUND'],
  run: ({ context }, { log }) => plain(context, `${log.verifier_key}\n`, SHORT),
})

const readWitnessKey = defineEndpoint({
  id: 'log-witness-key',
  method: 'get',
  path: '/log/witness-key',
  summary: 'The key by which this service signs checkpoints of other logs.',
  answers: { 200: { description: 'The key.', media: ['text/plain'] } },
  problems: ['NOT_FOUND'],
  run: ({ context }, { log }) => plain(context, `${log.witness_key}\n`, SHORT),
})

const noTile = () => problem('NOT_FOUND', 'The log has no such tile; its checkpoint says how large it is.')

const readTile = defineEndpoint({
  id: 'log-tile',
  method: 'get',
  path: '/log/tile/{path}',
  summary: 'A tile of the log (C2SP tlog-tiles).',
  parts: {
    path: z
      .string()
      .regex(/^(entries|0|[1-9]\d?)\/(x\d{3}\/)*\d{3}(\.p\/[1-9]\d{0,2})?$/)
      .describe('Level and place of the tile; it holds slashes.'),
  },
  unfit_path: noTile,
  answers: { 200: { description: 'The tile.', media: ['application/octet-stream'] } },
  problems: ['LOG_STOPPED'],
  run: ({ parts, context }, { log }) =>
    unlessStopped(async () => {
      const request = readTilePath(parts.path)
      const bytes = request === null ? null : await log.book.tile(request)
      return bytes === null ? noTile() : context.body(bytes, 200, { 'content-type': 'application/octet-stream', 'cache-control': FOR_GOOD })
    }),
})

const readProof = defineEndpoint({
  id: 'log-proof',
  method: 'get',
  path: '/log/proof/{entry}',
  summary: 'The proof that a receipt is in the log (C2SP tlog-proof); it verifies offline.',
  parts: { entry: ENTRY.describe('The entry of the receipt: SHA-256 over the 32 bytes of the digest and the 65 of the signature.') },
  unfit_path: () =>
    problem(
      'LOG_ENTRY_UNKNOWN',
      'An entry is 64 lower-case hexadecimal digits: SHA-256 over the 32 bytes of the digest and the 65 of the signature.',
    ),
  answers: { 200: { description: 'The proof.', media: ['text/plain'] } },
  problems: ['LOG_ENTRY_WAITING', 'LOG_ENTRY_UNKNOWN', 'LOG_STOPPED'],
  run: ({ parts, context }, { log }) =>
    unlessStopped(async () => {
      const end = await log.book.proof(hexToBytes(parts.entry.replace(/^0x/, '')))
      switch (end.kind) {
        case 'included':
          return plain(context, end.text, 'no-cache')
        case 'waiting':
          return problem('LOG_ENTRY_WAITING', 'It is appended within a minute.', { retry_after_s: 10 })
        case 'unknown':
          return problem('LOG_ENTRY_UNKNOWN', 'Hand the receipt in at /log/entries to have it appended.')
      }
    }),
})

const noSize = () => problem('NOT_FOUND', 'The log never had, or does not yet have, so many entries.')

const readConsistency = defineEndpoint({
  id: 'log-consistency',
  method: 'get',
  path: '/log/consistency/{size}',
  summary: 'The newest checkpoint with the proof that it continues the log of an earlier size.',
  parts: {
    size: z
      .string()
      .regex(/^(0|[1-9]\d{0,15})$/)
      .describe('The earlier size.'),
  },
  unfit_path: noSize,
  answers: { 200: { description: 'The checkpoint and the proof.', media: ['text/plain'] } },
  problems: ['LOG_STOPPED'],
  run: ({ parts, context }, { log }) =>
    unlessStopped(async () => {
      const text = await log.book.consistency(Number(parts.size))
      return text === null ? noSize() : plain(context, text, SHORT)
    }),
})

const HEAD = z.strictObject({
  size: z.int().describe('Number of entries.'),
  root: z.string().nullable().describe('Root of the tree in hex.'),
})

const readHistory = defineEndpoint({
  id: 'log-history',
  method: 'get',
  path: '/log/history',
  summary: 'Every stop of the log after a loss of published entries, and how the operator resumed it.',
  description:
    'A log that was cut is retired at the published head; its successor has another origin and key id. Proofs of the retired log still verify with its key.',
  answers: {
    200: {
      description: 'The history; without stops the log has grown since its beginning without a break.',
      json: z.strictObject({
        verifier_key: z.string().describe('Key of the log that is served now.'),
        state: z.enum(['running', 'stopped']),
        stops: z.array(
          z.strictObject({
            verifier_key: z.string().describe('Key of the log that was stopped.'),
            reason: z.enum(['behind', 'inconsistent', 'witness']),
            detail: z.string(),
            stopped_at: z.string(),
            published: HEAD.extend({ checkpoint: z.string().nullable().describe('The signed checkpoint.') }),
            store: HEAD,
            lost: z
              .strictObject({ first: z.int(), last: z.int() })
              .nullable()
              .describe('Positions of published entries that the store lost; null where they cannot be counted.'),
            resumption: z
              .strictObject({
                how: z.enum(['proved', 'cut']),
                resumed_at: z.string(),
                accepted: HEAD,
                why: z.string(),
                verifier_key: z.string().describe('Key of the log from then on.'),
              })
              .nullable(),
          }),
        ),
      }),
    },
  },
  problems: ['NOT_FOUND'],
  run: (_, { log }) => {
    const { stopped, history, verifierKeyOf } = log.state()
    const stops = history.records.map((record) => stopEntry(record, verifierKeyOf))
    return jsonReply(200, JSON.stringify({ verifier_key: log.verifier_key, state: stopped === null ? 'running' : 'stopped', stops }), {
      'cache-control': 'no-cache',
    })
  },
})

function stopEntry({ stop, resumption, epoch, next_epoch }: StopRecord, verifierKeyOf: (epoch: number) => string) {
  const { reason, published, store } = stop
  return {
    verifier_key: verifierKeyOf(epoch),
    reason,
    detail: stopWords(stop),
    stopped_at: new Date(stop.stopped_ms).toISOString(),
    published,
    store,
    lost: lostEntries(stop),
    resumption: resumption && {
      how: resumption.how,
      resumed_at: new Date(resumption.resumed_ms).toISOString(),
      accepted: resumption.accepted,
      why: resumption.why,
      verifier_key: verifierKeyOf(next_epoch),
    },
  }
}

const handIn = defineEndpoint({
  id: 'log-hand-in',
  method: 'post',
  path: '/log/entries',
  summary: 'Hand in a receipt of this service that the log lacks.',
  description: `Free; ${LOG_RULES.per_minute} a minute for one client. A receipt that is there already stays where it is.`,
  rate: RATE,
  body: {
    schema: z.looseObject({ receipt: anyObject('A receipt of this service; it may also be the body itself.').optional() }),
    // Whole answers are accepted too.
    bounds: { body_bytes: LOG_RULES.body_bytes, depth: limits.json_depth, nodes: limits.json_nodes, unsafe_numbers: 'refuse' },
  },
  answers: {
    202: {
      description: 'It is written down and will be appended.',
      json: z.strictObject({
        entry: ENTRY.describe('SHA-256 over the 32 bytes of the digest and the 65 of the signature.'),
        merge_delay_s: z.int().describe('Within so many seconds it is in the log.'),
        proof: z.string().describe('Where its proof is to be had then.'),
      }),
    },
  },
  unfit: 'LOG_RECEIPT_REFUSED',
  problems: ['LOG_RECEIPT_REFUSED', 'LOG_STOPPED', 'NOT_FOUND'],
  run: async ({ body }, room) => addReceipt(body.receipt ?? body, room),
})

async function addReceipt(receipt: Record<string, unknown>, { log, deps: { keys, call } }: LogRoom): Promise<EndpointResult> {
  const refused = (why: string) => problem('LOG_RECEIPT_REFUSED', why)
  const verdict = verifyReceipt(receipt, keys)
  if (!verdict.valid || verdict.signer_published !== true || verdict.signer_valid_at_ts !== true) {
    return refused(verdict.valid ? 'The receipt was not signed by a key of this service that was valid at its date.' : verdict.reason)
  }
  const { tool, signature } = receipt
  // Free tools are not logged when they are called, so their receipts are refused here too: otherwise any client could fill the log.
  if (call.catalogue.find(String(tool))?.price === 'free') return refused('Receipts of tools that are free without limit are not logged.')
  const entry = logEntry(verdict.digest ?? '', String(signature))
  if (entry === null) return refused('The signature of the receipt cannot be read.')
  const { stopped } = log.state()
  if (stopped !== null) return stoppedProblem(stopWords(stopped))
  const hex = bytesToHex(entry)
  await log.handIn(hex)
  return jsonReply(202, JSON.stringify({ entry: hex, merge_delay_s: LOG_RULES.merge_s, proof: `/log/proof/${hex}` }))
}

const addCheckpoint = defineEndpoint({
  id: 'log-add-checkpoint',
  method: 'post',
  path: '/log/add-checkpoint',
  summary: 'Have a checkpoint of another log signed by this service as its witness (C2SP tlog-witness).',
  description: 'Refusals are plain text, as tlog-witness has them.',
  rate: RATE,
  raw_body: { media: 'text/plain', bytes: LOG_RULES.body_bytes },
  answers: {
    200: { description: 'The signature lines.', media: ['text/plain'] },
    400: { description: 'The body is not an add-checkpoint request (C2SP tlog-witness).', media: ['text/plain'] },
    403: { description: 'The checkpoint is not signed by the key of that log.', media: ['text/plain'] },
    404: { description: 'This witness does not watch that log.', media: ['text/plain'] },
    409: { description: 'The witness has another tree size; the body is that size.', media: ['text/x.tlog.size'] },
    422: { description: 'The proof does not lead from the older checkpoint to this one.', media: ['text/plain'] },
  },
  run: async ({ bytes, context }, { log }) => witnessResponse(context, await log.witness.addCheckpoint(new TextDecoder().decode(bytes))),
})

/** Response in the format of tlog-witness, which does not use problem documents. */
function witnessResponse(context: Context<Env>, end: WitnessEnd): Response {
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

/** Endpoints of the public log (C2SP tlog-tiles), its proofs, and the witness; all free. */
export const LOG_ENDPOINTS = [
  readCheckpoint,
  readKey,
  readWitnessKey,
  readTile,
  readProof,
  readConsistency,
  readHistory,
  handIn,
  addCheckpoint,
]
