import { FREE_CALL, paidTerms, type HostileRequest } from '../hostile.ts'
import type { RowAttacks, Shape } from './attack.ts'
import { JSON_TYPE } from './sides.ts'

export const post = (path: string, body: unknown): HostileRequest => ({ path, headers: JSON_TYPE, body: JSON.stringify(body) })
const FREE = { ...FREE_CALL, headers: JSON_TYPE }
const HEALTH = 'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'
function taskFor(tool: string, input: unknown): HostileRequest {
  const parts = [{ kind: 'data', data: { tool, input } }]
  const params = { message: { kind: 'message', messageId: '1', role: 'user', parts } }
  return post('/a2a', { jsonrpc: '2.0', id: 1, method: 'message/send', params })
}
const A2A = taskFor('iban-check', { iban: 'GB82WEST12345698765432' })
const A2A_TEXT = taskFor('context-distill', { text: 'Payment is due within thirty days. '.repeat(1_200) })
const SCHEMA_CALL = post('/v1/tools/instant-json-schema-verifier/call', {
  input: {
    data: Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, 1])),
    schema: { allOf: Array.from({ length: 200 }, () => ({ properties: { none: true }, additionalProperties: true })) },
  },
})

const ADDRESSES = { 'one address': 1, 'one /24': 250, '400 /24s': 400 } as const satisfies Record<Shape, number>

/** Connections of each address, for about `total` in all. */
function spread(shape: Shape, total: number): number {
  return Math.ceil(total / ADDRESSES[shape])
}

/** Attacks on the resources that every request uses. */
export const REQUEST_ATTACKS = {
  connections: {
    by: 'connections on which nothing is sent',
    flood: (_, shape) => ({ requests: [], direct: true, connections: spread(shape, 4_200) }),
  },
  pipelined_requests: {
    by: 'forty requests on a connection without waiting for an answer',
    flood: () => ({ requests: [{ method: 'GET', path: '/health', body: HEALTH.repeat(40) }] }),
  },
  calls: {
    by: 'calls with text for a payment whose bodies never end',
    flood: (_, shape) => ({
      requests: [{ path: FREE_CALL.path, headers: JSON_TYPE, body: '{', declared_bytes: 40 }],
      connections: spread(shape, 2_000),
      claim: 'garbage',
      held: true,
      direct: true,
    }),
    refused: null,
  },
  unverified_calls: {
    by: 'calls with a signature from which no account can be recovered, whose bodies never end',
    flood: async ({ port }, shape) => ({
      requests: [{ path: FREE_CALL.path, headers: JSON_TYPE, body: '{', declared_bytes: 40 }],
      connections: spread(shape, 1_000),
      claim: 'nobody',
      terms: await paidTerms(port),
      held: true,
      direct: true,
    }),
  },
  loop_time: {
    by: 'free calls without a pause',
    flood: () => ({ requests: [FREE], connections: 64, pause_ms: 0 }),
    refused: null,
  },
  body_bytes: {
    by: 'bodies of 64 KiB whose last byte is missing',
    flood: (_, shape) => ({
      requests: [{ path: '/v1/protocols/check', headers: JSON_TYPE, fill_bytes: 65_000, declared_bytes: 65_001 }],
      connections: spread(shape, 800),
      held: true,
      direct: true,
    }),
    refused: null,
  },
  large_bodies: {
    by: 'bodies of 2 MB of which ten bytes a second arrive',
    flood: (_, shape) => ({
      requests: [
        { path: '/v1/tools/clean-markdown-scraper/call', headers: JSON_TYPE, body: '{"input":{"html":"', declared_bytes: 2_097_152 },
      ],
      connections: spread(shape, 400),
      drip_ms: 100,
      held: true,
      direct: true,
    }),
    refused: null,
  },
  heavy_jobs: {
    by: 'schemas of 200 branches over 2,000 keys',
    flood: (_, shape) => ({ requests: [SCHEMA_CALL], connections: shape === '400 /24s' ? 64 : 16, pause_ms: 200 }),
  },
  signatures: {
    by: 'free calls, whose receipts are signed',
    flood: () => ({ requests: [FREE] }),
  },
  store_operations: {
    by: 'calls that write to the store, whose queue is longer than the calls in flight fill',
    flood: () => ({ requests: [{ ...FREE, path: `${FREE_CALL.path}?detail=brief` }], connections: 64, pause_ms: 0 }),
    refused: null,
  },
  requests_by_endpoint: {
    by: 'transactions that are said to pay an invoice that is not there',
    flood: () => ({ requests: [post(`/api/invoice/inv_${'0'.repeat(20)}/transactions`, { tx_hash: `0x${'1'.repeat(64)}` })] }),
  },
  preflights: {
    by: 'preflights of an empty document',
    flood: () => ({ requests: [post('/v1/protocols/check', {})] }),
  },
  stored_answers: {
    by: 'calls that ask for the brief answer',
    flood: () => ({ requests: [{ ...FREE, path: `${FREE_CALL.path}?detail=brief` }] }),
  },
  a2a_tasks: {
    by: 'messages over A2A that become tasks',
    flood: () => ({ requests: [A2A] }),
  },
  a2a_task_bytes: {
    by: 'messages over A2A with 40 kB of text',
    flood: () => ({ requests: [A2A_TEXT], pause_ms: 200 }),
  },
  log_backlog: {
    by: 'free calls, whose receipts go into the log',
    flood: () => ({ requests: [FREE] }),
  },
} as const satisfies RowAttacks
