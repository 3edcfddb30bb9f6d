import { z } from 'zod'
import { BUNDLE_ENTRIES_MAX, BUNDLE_FORMAT, BUNDLE_LIMITS, BUNDLE_VERSION } from '../pure/audit/bundle.ts'
import { once } from '../pure/once.ts'
import { BUNDLE_RULES, limits } from '../service/limits.ts'
import { problem } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import { receiptSpec } from './discovery/documents.ts'
import { anyObject, endpointsOf, named, type Rate } from './endpoint.ts'
import { jsonReply, type Reply } from './http/reply.ts'

/** The service's part of an audit bundle. Clients hold inputs and answers, which are not stored here; "assay bundle" puts both together. */

const defineEndpoint = endpointsOf<AppDeps>()

const RATE: Rate = { code: 'LOG_RATE_LIMITED', per_minute: BUNDLE_RULES.per_minute }

const ENTRY = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe(
    'Log entry in lower-case hex: SHA-256 over the 32 bytes of the digest and the 65 of the signature of a receipt, or of a dataset.',
  )
const SHA256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the text, 64 lower-case hexadecimal digits.')
const DATASET_ID = z.string().min(1).max(64).describe('Name of a dataset as in data_as_of of answers.')

const BUNDLED_LOG = z.strictObject({
  verifier_key: z.string().describe('Key of the log, as at /log/key.'),
  checkpoint: z.string().nullable().describe('Signed checkpoint that all proofs lead to; null before the first.'),
  proofs: z
    .array(z.strictObject({ entry: ENTRY, proof: z.string().describe('C2SP tlog-proof; it verifies offline.') }))
    .max(BUNDLE_ENTRIES_MAX)
    .describe('Proofs of the entries that the log has.'),
  unproved: z
    .array(
      z.strictObject({
        entry: ENTRY,
        state: z.enum(['waiting', 'unknown']).describe('waiting: appended within a minute; unknown: the log does not have it.'),
      }),
    )
    .max(BUNDLE_ENTRIES_MAX)
    .describe('The other entries.'),
  earlier_checkpoint: z.string().optional().describe('Checkpoint that the auditor kept from an earlier audit.'),
  consistency: z.string().optional().describe('Proof that `checkpoint` continues the earlier one.'),
})

const COMMON = {
  format: z.literal(BUNDLE_FORMAT).describe('Name of the format.'),
  version: z.literal(BUNDLE_VERSION).describe('Version of the format.'),
  schema: z.string().describe('Address of this schema.'),
  service: z.string().describe('Public origin of the service.'),
  made_at: z.string().describe('Time at which the service gave its part, RFC 3339.'),
  keys: anyObject('Key list of the service, as at /.well-known/xdr-1.json.'),
  log: BUNDLED_LOG.nullable().describe('Null if the service keeps no log.'),
}

const SERVICE_PART = named(
  'BundlePart',
  z.strictObject({
    ...COMMON,
    datasets: z
      .array(z.strictObject({ id: DATASET_ID, sha256: SHA256 }))
      .describe('The datasets that were asked for and that this service has; the texts are at /v1/datasets/{sha256}.'),
  }),
)

const BUNDLE = z.strictObject({
  ...COMMON,
  answers: z
    .array(
      z.strictObject({
        input: z.unknown().optional().describe('Input of the call, without the wrapper `input`; absent if it was not given.'),
        answer: z
          .looseObject({ receipt: anyObject('Receipt (XDR-1).') })
          .describe('Answer as the service gave it, with its link to an earlier receipt; or the receipt alone.'),
      }),
    )
    .min(1)
    .max(BUNDLE_LIMITS.answers)
    .describe('Answers.'),
  datasets: z
    .array(
      z.strictObject({
        id: DATASET_ID,
        sha256: SHA256,
        text: z.string().optional().describe('Exact text; absent if it is to be fetched.'),
      }),
    )
    .max(BUNDLE_LIMITS.datasets)
    .describe('Datasets that answers name.'),
  manifest: z
    .record(z.string(), SHA256)
    .describe(
      'SHA-256 of the RFC 8785 text of each part, by JSON pointer. Parts are the members of the bundle except this one; of `answers`, `answer`, `log`, its ' +
        'lists and `datasets` the elements and members.',
    ),
})

/** JSON Schema of the file. */
const bundleSchema = once(() => {
  const { $schema, ...schema } = z.toJSONSchema(BUNDLE, { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' })
  return JSON.stringify({ $schema, title: 'Audit bundle', ...schema })
})

interface Asked {
  entries: readonly string[]
  datasets: readonly string[]
  from_size: number | null
}

async function servicePart({ entries, datasets, from_size }: Asked, deps: AppDeps): Promise<Reply> {
  const { log, origins } = deps
  const wanted = new Set(datasets)
  const evidence = log === null ? null : await log.book.evidence([...new Set(entries)], from_size)
  const { checkpoint = null, proofs = [], consistency = null } = evidence ?? {}
  // The first checkpoint is signed a moment after the start of a new service.
  const unproved = evidence?.unproved ?? [...new Set(entries)].map((entry) => ({ entry, state: 'waiting' as const }))
  const body: z.input<typeof SERVICE_PART> = {
    format: BUNDLE_FORMAT,
    version: BUNDLE_VERSION,
    schema: `${origins.api_url}/v1/bundle/schema`,
    service: origins.api_url,
    made_at: new Date(deps.call.sources.clock.now_ms()).toISOString(),
    keys: receiptSpec(deps),
    log:
      log === null
        ? null
        : { verifier_key: log.verifier_key, checkpoint, proofs, unproved, ...(consistency === null ? {} : { consistency }) },
    datasets: deps.datasets.list().flatMap(({ id, sha256 }) => (wanted.has(id) || wanted.has(sha256) ? [{ id, sha256 }] : [])),
  }
  return jsonReply(200, JSON.stringify(body), { 'cache-control': 'no-store' })
}

const readSchema = defineEndpoint({
  id: 'bundle-schema',
  method: 'get',
  path: '/v1/bundle/schema',
  summary: 'JSON Schema of an audit bundle, the file that "assay bundle" writes.',
  answers: { 200: { description: 'The schema.', json: anyObject('JSON Schema, 2020-12.') } },
  run: () => jsonReply(200, bundleSchema(), { 'cache-control': 'public, max-age=300' }),
})

const ANSWERS = { 200: { description: 'Key list, proofs under one checkpoint, and hashes of datasets.', json: SERVICE_PART } }

const readOne = defineEndpoint({
  id: 'read-bundle',
  method: 'get',
  path: '/v1/bundle/{entry}',
  summary: 'What this service adds to an audit bundle for one receipt: key list, checkpoint and log proof.',
  parts: { entry: ENTRY },
  unfit_path: () =>
    problem('NOT_FOUND', 'An entry has 64 lower-case hexadecimal digits: SHA-256 over the digest and the signature of a receipt.'),
  rate: RATE,
  answers: ANSWERS,
  run: ({ parts }, deps) => servicePart({ entries: [parts.entry], datasets: [], from_size: null }, deps),
})

const readMany = defineEndpoint({
  id: 'make-bundle',
  method: 'post',
  path: '/v1/bundle',
  summary: 'What this service adds to an audit bundle: key list, log proofs under one checkpoint, hashes of datasets.',
  description:
    'Free. Send log entries, which disclose nothing about calls; inputs and answers stay with you. An entry without a proof is listed with the reason. ' +
    `At most ${BUNDLE_RULES.per_minute} requests a minute for one client.`,
  rate: RATE,
  body: {
    schema: z.strictObject({
      entries: z.array(ENTRY).max(BUNDLE_ENTRIES_MAX).describe('Entries to prove.'),
      datasets: z.array(DATASET_ID).max(BUNDLE_LIMITS.datasets).default([]).describe('Datasets by id or SHA-256, of those in use.'),
      from_size: z
        .int()
        .min(0)
        .max(Number.MAX_SAFE_INTEGER)
        .optional()
        .describe('Size of an earlier checkpoint; the answer then proves that the log only grew since.'),
    }),
    bounds: { body_bytes: BUNDLE_RULES.body_bytes, depth: limits.json_depth, nodes: limits.json_nodes, unsafe_numbers: 'refuse' },
    example: { entries: ['0'.repeat(64)], datasets: ['iban_registry'] },
  },
  answers: ANSWERS,
  run: ({ body }, deps) => servicePart({ ...body, from_size: body.from_size ?? null }, deps),
})

/** Endpoints of audit bundles; all free. */
export const BUNDLE_ENDPOINTS = [readSchema, readMany, readOne]
