import type { JsonSchema } from '../../service/catalogue/json-schema.ts'
import { json, type Json } from '../../service/catalogue/openapi-parts.ts'
import { LOG_RULES } from '../../service/log/rules.ts'

const ENTRY = '^[0-9a-f]{64}$'
const TEXT: Json = { 'text/plain': { schema: { type: 'string' } } }
const BYTES: Json = { 'application/octet-stream': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } } }

const HANDED_IN: JsonSchema = {
  type: 'object',
  properties: {
    entry: { type: 'string', pattern: ENTRY, description: 'SHA-256 over the 32 bytes of the digest and the 65 of the signature.' },
    merge_delay_s: { type: 'integer', description: 'Within so many seconds it is in the log.' },
    proof: { type: 'string', description: 'Where its proof is to be had then.' },
  },
  required: ['entry', 'merge_delay_s', 'proof'],
}

type Answers = (statuses: readonly number[]) => Json

/** The public log of receipts; deployments that keep none answer 404 to all of it. `answers` gives the responses of some statuses. */
export function logPaths(answers: Answers): Json {
  const read = (operationId: string, summary: string, content: Json, parameters: Json[] = [], refused: readonly number[] = [404]) => ({
    get: {
      operationId,
      summary,
      tags: ['service'],
      parameters,
      responses: { 200: { description: summary, content }, ...answers(refused) },
    },
  })
  const part = (name: string, pattern: string, description: string) => [
    { name, in: 'path', required: true, description, schema: { type: 'string', pattern } },
  ]
  const tile = part(
    'path',
    '^(entries|0|[1-9]\\d?)/(x\\d{3}/)*\\d{3}(\\.p/[1-9]\\d{0,2})?$',
    'Level and place of the tile; it holds slashes.',
  )
  return {
    '/log/checkpoint': read('log-checkpoint', 'The newest signed checkpoint (C2SP tlog-checkpoint).', TEXT, [], [404, 503]),
    '/log/key': read('log-key', 'The key that signs checkpoints, as a verifier key.', TEXT),
    '/log/witness-key': read('log-witness-key', 'The key by which this service signs checkpoints of other logs.', TEXT),
    '/log/tile/{path}': read('log-tile', 'A tile of the log (C2SP tlog-tiles).', BYTES, tile),
    '/log/proof/{entry}': read(
      'log-proof',
      'The proof that a receipt is in the log (C2SP tlog-proof); it verifies offline.',
      TEXT,
      part('entry', ENTRY, 'The entry of the receipt.'),
      [404, 503],
    ),
    '/log/consistency/{size}': read(
      'log-consistency',
      'The newest checkpoint with the proof that it continues the log of an earlier size.',
      TEXT,
      part('size', '^(0|[1-9]\\d{0,15})$', 'The earlier size.'),
    ),
    '/log/entries': { post: handIn(answers) },
    '/log/add-checkpoint': { post: addCheckpoint(answers) },
  }
}

function handIn(answers: Answers): Json {
  const receipt = { type: 'object', description: 'A receipt of this service, bare or under `receipt`.' }
  return {
    operationId: 'log-hand-in',
    summary: 'Hand in a receipt of this service that the log lacks.',
    description: `Free; ${LOG_RULES.per_minute} a minute for one client. A receipt that is there already stays where it is.`,
    tags: ['service'],
    requestBody: { required: true, content: json(receipt) },
    responses: {
      202: { description: 'It is written down and will be appended.', content: json(HANDED_IN) },
      ...answers([400, 413, 415, 422, 429]),
    },
  }
}

/** The words of tlog-witness: its refusals are plain text. */
function addCheckpoint(answers: Answers): Json {
  const refused = (description: string) => ({ description, content: TEXT })
  return {
    operationId: 'log-add-checkpoint',
    summary: 'Have a checkpoint of another log signed by this service as its witness (C2SP tlog-witness).',
    tags: ['service'],
    requestBody: { required: true, content: TEXT },
    responses: {
      200: { description: 'The signature lines.', content: TEXT },
      400: refused('The body is no such request.'),
      403: refused('The checkpoint is not signed by the key of that log.'),
      404: refused('This witness does not watch that log.'),
      409: {
        description: 'The witness stands at another size, which is the body.',
        content: { 'text/x.tlog.size': { schema: { type: 'string' } } },
      },
      422: refused('The proof does not lead from the older checkpoint to this one.'),
      ...answers([413, 415, 429]),
    },
  }
}
