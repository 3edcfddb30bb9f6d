import {
  expectType,
  expectItems,
  expectTypeIfPresent,
  expectPresent,
  expectItemTypes,
  expectObject,
  expectObjectIfPresent,
} from '../kit/expect.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, FindingReporter, SpecReference } from '../protocol.ts'
import { mcpSpec, type McpView } from './view.ts'

const RESPONSES = mcpSpec('basic', 'Messages, Responses')
const CODES = mcpSpec('schema', 'Errors')

const BATCHES: SpecReference = {
  url: 'https://modelcontextprotocol.io/specification/2025-03-26/basic',
  section: 'Batching',
}

const JSON_RPC: SpecReference = { url: 'https://www.jsonrpc.org/specification', section: '5' }

/** MCP-001…010: the message around the result, and errors. */
export const MCP_ENVELOPE_RULES: RuleTable<McpView> = {
  'MCP-001': {
    why: 'A message is one JSON object; arrays of messages came and went with 2025-03-26.',
    spec: BATCHES,
    hint: 'Send one response, or a batch of 2025-03-26 with at least one in it.',
    good: { jsonrpc: '2.0', id: 1, result: {} },
    bad: [],
    check({ error }, { document, context }) {
      if (document.kind !== 'array') {
        expectTypeIfPresent(error, document, 'object')
        return
      }
      const items = expectItems(error, document)
      for (const item of items) expectTypeIfPresent(error, item, 'object')
      if (items.length > 0 && context.version !== '2025-03-26') error(document, 'is a batch, which only version 2025-03-26 has')
    },
  },
  'MCP-002': {
    severity: 'both',
    why: 'Receivers drop messages that are not marked as JSON-RPC 2.0.',
    spec: JSON_RPC,
    hint: 'Put "jsonrpc": "2.0" into the message, and send the whole message.',
    good: { jsonrpc: '2.0', id: 1, result: {} },
    bad: { jsonrpc: '1.0', id: 1, result: {} },
    check({ error, warning }, { messages }) {
      for (const { cursor, is_envelope } of messages) {
        const version = cursor.get('jsonrpc')
        if (!is_envelope) warning(cursor, 'is a bare result, without the JSON-RPC message around it')
        else if (version.text() !== '2.0' && !version.redacted) error(version, 'is not "2.0"', { expected: 'the string "2.0"' })
      }
    },
  },
  'MCP-003': {
    why: 'A response says either what came of the request or why nothing did.',
    spec: RESPONSES,
    hint: 'Send result or error, never both and never neither.',
    good: { jsonrpc: '2.0', id: 1, result: {} },
    bad: { jsonrpc: '2.0', id: 1, result: {}, error: { code: -32603, message: 'Internal error' } },
    check({ error }, { messages }) {
      for (const { cursor, is_envelope } of messages) {
        if (!is_envelope || cursor.has('method')) continue
        const [has_result, has_error] = [cursor.has('result'), cursor.has('error')]
        if (has_result && has_error) error(cursor, 'has both result and error')
        if (!has_result && !has_error) error(cursor, 'has neither result nor error')
      }
    },
  },
  'MCP-004': {
    why: 'The id names the answered request and is never null in MCP.',
    spec: RESPONSES,
    hint: 'Repeat the id of the request; leave it out only where the id of a broken request could not be read.',
    good: { jsonrpc: '2.0', id: 1, result: {} },
    bad: { jsonrpc: '2.0', id: null, result: {} },
    check(report, view) {
      for (const { cursor, is_envelope } of view.messages) if (is_envelope && !cursor.has('method')) checkId(report, cursor, view)
    },
  },
  'MCP-005': {
    why: 'A message with a method asks or notifies; with a result it is neither a request nor an answer.',
    spec: mcpSpec('basic', 'Messages, Requests'),
    hint: 'Send the response of the server, without the method that it answers.',
    good: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
    bad: { jsonrpc: '2.0', id: 1, method: 'tools/list', result: { tools: [] } },
    check({ error }, { messages }) {
      for (const { cursor, is_envelope } of messages)
        if (is_envelope && cursor.has('method')) error(cursor.get('method'), 'has no place in a response')
    },
  },
  'MCP-006': {
    types: ['error', 'batch'],
    why: 'Clients decide by the code and show the message.',
    spec: JSON_RPC,
    hint: 'Send an integer code and a message.',
    good: { code: -32602, message: 'Unknown tool' },
    bad: { code: '-32602' },
    check({ error }, { messages }) {
      for (const cursor of listErrors(messages)) {
        if (!expectObjectIfPresent(error, cursor)) continue
        const [code, message] = [cursor.get('code'), cursor.get('message')]
        if (expectPresent(error, code) && !code.redacted && code.integer() === null)
          error(code, 'is not an integer', { expected: 'an integer' })
        expectType(error, message, 'string')
      }
    },
  },
  'MCP-007': {
    severity: 'both',
    types: ['error', 'batch'],
    why: 'A client cannot act on an undefined code; since 2026-07-28, MCP reserves -32020 to -32099.',
    spec: CODES,
    hint: 'Use a code of JSON-RPC or of this version, or one from -32000 to -32019 for what is your own.',
    good: { code: -32602, message: 'Unknown tool' },
    bad: { code: -32050, message: 'Unknown tool' },
    check(report, view) {
      for (const cursor of listErrors(view.messages)) checkCode(report, cursor.get('code'), view)
    },
  },
  'MCP-008': {
    types: ['error', 'batch'],
    since: '2026-07-28',
    why: 'These codes were retired: clients of this version do not know them any more.',
    spec: CODES,
    hint: 'Answer -32602 for an unknown resource, and ask for input by an input_required result.',
    good: { code: -32602, message: 'Resource not found' },
    bad: { code: -32002, message: 'Resource not found' },
    check({ error }, { messages }) {
      for (const cursor of listErrors(messages)) {
        const code = cursor.get('code')
        if (isRetired(code.number())) error(code, 'is retired in this version')
      }
    },
  },
  'MCP-009': {
    types: ['error', 'batch'],
    since: '2026-07-28',
    why: 'A client picks another version, or declares the capability, from what these errors say.',
    spec: CODES,
    hint: 'Send data with requested and supported for -32022, with requiredCapabilities for -32021.',
    good: { code: -32022, message: 'Unsupported', data: { requested: '2027-01-01', supported: ['2026-07-28'] } },
    bad: { code: -32022, message: 'Unsupported' },
    check({ error }, { messages }) {
      for (const cursor of listErrors(messages)) {
        const [code, data] = [cursor.number('code'), cursor.get('data')]
        if (code !== -32022 && code !== -32021) continue
        if (!expectObject(error, data)) continue
        if (code === -32021) {
          expectType(error, data.get('requiredCapabilities'), 'object')
          continue
        }
        expectType(error, data.get('requested'), 'string')
        if (expectType(error, data.get('supported'), 'array')) expectItemTypes(error, data.get('supported'), 'string')
      }
    },
  },
  'MCP-010': {
    why: 'Every result is an object, so that versions can add members to it.',
    spec: RESPONSES,
    hint: 'Put the value into a member of an object.',
    good: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
    bad: { jsonrpc: '2.0', id: 1, result: [] },
    check({ error }, { messages }) {
      for (const { cursor, is_envelope } of messages) if (is_envelope) expectTypeIfPresent(error, cursor.get('result'), 'object')
    },
  },
}

function listErrors(messages: McpView['messages']): JsonCursor[] {
  return messages.filter(({ is_envelope }) => is_envelope).map(({ cursor }) => cursor.get('error'))
}

function checkId({ error }: FindingReporter, message: JsonCursor, { context }: McpView): void {
  const [id, code] = [message.get('id'), message.get('error', 'code')]
  const mayLack = context.atLeast('2025-11-25') && (code.number() === -32700 || code.number() === -32600 || code.redacted)
  if (!id.present) {
    if (!mayLack) error(id, 'is missing', { expected: 'the id of the request' })
    return
  }
  if (id.kind !== 'string' && id.integer() === null && !id.redacted) error(id, 'is neither a string nor an integer')
}

const STANDARD: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32603])
const NEWEST: ReadonlySet<number> = new Set([-32020, -32021, -32022])

function isRetired(code: number | null): boolean {
  return code === -32002 || code === -32042
}

function checkCode({ error, warning }: FindingReporter, cursor: JsonCursor, { context }: McpView): void {
  const code = cursor.number()
  if (code === null || !Number.isSafeInteger(code) || STANDARD.has(code) || isRetired(code)) return
  const isNewest = context.atLeast('2026-07-28')
  if (isNewest && NEWEST.has(code)) return
  if (isNewest && code <= -32020 && code >= -32099) {
    // Before that version servers could define the code, and the version may be unknown.
    const report = context.version_source === 'assumed' ? warning : error
    report(cursor, 'is reserved by the specification since 2026-07-28 and not defined')
    return
  }
  // Servers may define what they like here.
  if (code <= -32000 && code >= -32099) return
  warning(cursor, 'is not defined by JSON-RPC or MCP')
}
