import { z } from 'zod'
import { problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { endpointsOf } from '../endpoint.ts'
import { jsonReply } from '../http/reply.ts'

/** Reference data of this service: what is active, and each snapshot by its SHA-256. */

const defineEndpoint = endpointsOf<AppDeps>()

const DATASET = z.strictObject({
  id: z.string().describe('Name of the dataset, as in data_as_of.'),
  schema: z.string().describe('Form of its rows.'),
  source: z.string().describe('Publisher and document.'),
  published_at: z.string().nullable().describe('Date of the publisher; null for a table that was compiled by hand.'),
  compiled_at: z.string().nullable().describe('Date on which a person compiled it; null for a published table.'),
  retrieved_at: z.string().describe('Date on which it was retrieved.'),
  rows: z.int().describe('Number of rows.'),
  sha256: z.string().describe('SHA-256 of the text that GET /v1/datasets/{sha256} returns.'),
  origin: z.enum(['bundled', 'store']).describe('bundled: of the release; store: newer, from a feed or an import.'),
  pinned: z.boolean().describe('An operator chose this snapshot; feeds do not replace it.'),
  age_days: z.int().describe('Whole days since a sanctions list was published, or another table was retrieved.'),
  limit_days: z.int().describe('Age beyond which it is old.'),
  source_urls: z.array(z.string()).describe('Documents from which feeds refresh it; empty if it changes with releases only.'),
  licence: z.string().nullable().describe('Licence of the source of a dataset with feeds.'),
})

const listDatasets = defineEndpoint({
  id: 'list-datasets',
  method: 'get',
  path: '/v1/datasets',
  summary: 'Reference tables that checks use now, with their dates, ages and hashes.',
  answers: { 200: { description: 'The tables.', json: z.strictObject({ datasets: z.array(DATASET) }) } },
  run: (_, { datasets }) => jsonReply(200, JSON.stringify({ datasets: datasets.list() }), { 'cache-control': 'no-cache' }),
})

const readDataset = defineEndpoint({
  id: 'read-dataset',
  method: 'get',
  path: '/v1/datasets/{sha256}',
  summary: 'A reference table by its SHA-256, also after a newer one replaced it; an answer can be replayed with it.',
  parts: {
    sha256: z
      .string()
      .regex(/^(?:[0-9a-f]{12}|[0-9a-f]{64})$/)
      .describe('64 lower-case hexadecimal digits, as in list.sha256 of an answer, or the 12 digits in data_as_of.'),
  },
  unfit_path: () =>
    problem(
      'NOT_FOUND',
      'The SHA-256 of a dataset has 64 lower-case hexadecimal digits, or 12 as in data_as_of; GET /v1/datasets lists them.',
    ),
  answers: { 200: { description: 'The table, byte for byte as it was hashed.', media: ['application/json'] } },
  async run({ parts }, { datasets }) {
    const text = await datasets.text(parts.sha256)
    if (text === null) return problem('NOT_FOUND', 'This service has no dataset with this SHA-256; GET /v1/datasets lists those in use.')
    return jsonReply(200, text, { 'cache-control': 'public, max-age=31536000, immutable' })
  },
})

export const DATASET_ENDPOINTS = [listDatasets, readDataset]
