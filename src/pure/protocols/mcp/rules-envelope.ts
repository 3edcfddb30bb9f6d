import { need, needItems, optional, present } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import { rule, type Report } from '../rule.ts'
import { BATCHES, JSON_RPC, mcpSpec } from './spec.ts'
import type { McpView } from './view.ts'

const RESPONSES = mcpSpec('basic', 'Messages, Responses')
const CODES = mcpSpec('schema', 'Errors')

/** MCP-001…010: the message around the result, and errors. */
export const ENVELOPE_RULES = [
  rule<McpView>(
    {
      code: 'MCP-001',
      severity: 'error',
      why: 'A message is one JSON object; arrays of messages came and went with 2025-03-26.',
      spec: BATCHES,
      hint: 'Send one response, or a batch of 2025-03-26 with at least one in it.',
      good: { jsonrpc: '2.0', id: 1, result: {} },
      bad: [],
    },
    ({ error }, { document, context }) => {
      if (document.kind !== 'array') {
        optional(error, document, 'object')
        return
      }
      const items = needItems(error, document)
      for (const item of items) optional(error, item, 'object')
      if (items.length > 0 && context.version !== '2025-03-26') error(document, 'is a batch, which only version 2025-03-26 has')
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-002',
      severity: 'both',
      why: 'Receivers drop whatever is not marked as JSON-RPC 2.0.',
      spec: JSON_RPC,
      hint: 'Put "jsonrpc": "2.0" into the message, and send the whole message.',
      good: { jsonrpc: '2.0', id: 1, result: {} },
      bad: { jsonrpc: '1.0', id: 1, result: {} },
    },
    ({ error, warning }, { messages }) => {
      for (const { place, is_envelope } of messages) {
        const version = place.get('jsonrpc')
        if (!is_envelope) warning(place, 'is a bare result, without the JSON-RPC message around it')
        else if (version.text() !== '2.0' && !version.redacted) error(version, 'is not "2.0"', { expected: 'the text "2.0"' })
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-003',
      severity: 'error',
      why: 'A response says either what came of the request or why nothing did.',
      spec: RESPONSES,
      hint: 'Send result or error, never both and never neither.',
      good: { jsonrpc: '2.0', id: 1, result: {} },
      bad: { jsonrpc: '2.0', id: 1, result: {}, error: { code: -32603, message: 'Internal error' } },
    },
    ({ error }, { messages }) => {
      for (const { place, is_envelope } of messages) {
        if (!is_envelope || place.has('method')) continue
        const [has_result, has_error] = [place.has('result'), place.has('error')]
        if (has_result && has_error) error(place, 'has both result and error')
        if (!has_result && !has_error) error(place, 'has neither result nor error')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-004',
      severity: 'error',
      why: 'The id tells which request is answered; MCP never has null there.',
      spec: RESPONSES,
      hint: 'Repeat the id of the request; leave it out only where the id of a broken request could not be read.',
      good: { jsonrpc: '2.0', id: 1, result: {} },
      bad: { jsonrpc: '2.0', id: null, result: {} },
    },
    (report, view) => {
      for (const { place, is_envelope } of view.messages) if (is_envelope && !place.has('method')) checkId(report, place, view)
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-005',
      severity: 'error',
      why: 'A message with a method asks or notifies; it answers nothing.',
      spec: mcpSpec('basic', 'Messages, Requests'),
      hint: 'Send the response of the server, not the request to it.',
      good: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
      bad: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    },
    ({ error }, { messages }) => {
      for (const { place, is_envelope } of messages)
        if (is_envelope && place.has('method')) error(place.get('method'), 'makes this a request or a notification, not a response')
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-006',
      severity: 'error',
      types: ['error', 'batch'],
      why: 'Clients decide by the code and show the message.',
      spec: JSON_RPC,
      hint: 'Send an integer code and a message.',
      good: { code: -32602, message: 'Unknown tool' },
      bad: { code: '-32602' },
    },
    ({ error }, { messages }) => {
      for (const place of errorsOf(messages)) {
        if (!optional(error, place, 'object') || place.redacted) continue
        const [code, message] = [place.get('code'), place.get('message')]
        if (present(error, code) && !code.redacted && code.integer() === null) error(code, 'is not an integer', { expected: 'an integer' })
        need(error, message, 'string')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-007',
      severity: 'both',
      types: ['error', 'batch'],
      why: 'A client cannot act on a code that nobody has defined; from 2026-07-28 on, MCP keeps -32020 to -32099 for itself.',
      spec: CODES,
      hint: 'Use a code of JSON-RPC or of this version, or one from -32000 to -32019 for what is your own.',
      good: { code: -32602, message: 'Unknown tool' },
      bad: { code: -32050, message: 'Unknown tool' },
    },
    (report, view) => {
      for (const place of errorsOf(view.messages)) checkCode(report, place.get('code'), view)
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-008',
      severity: 'error',
      types: ['error', 'batch'],
      since: '2026-07-28',
      why: 'These codes were retired: clients of this version do not know them any more.',
      spec: CODES,
      hint: 'Answer -32602 for an unknown resource, and ask for input by an input_required result.',
      good: { code: -32602, message: 'Resource not found' },
      bad: { code: -32002, message: 'Resource not found' },
    },
    ({ error }, { messages }) => {
      for (const place of errorsOf(messages)) {
        const code = place.get('code')
        if (isRetired(code.number())) error(code, 'is retired in this version')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-009',
      severity: 'error',
      types: ['error', 'batch'],
      since: '2026-07-28',
      why: 'A client picks another version, or declares the capability, from what these errors say.',
      spec: CODES,
      hint: 'Send data with requested and supported for -32022, with requiredCapabilities for -32021.',
      good: { code: -32022, message: 'Unsupported', data: { requested: '2027-01-01', supported: ['2026-07-28'] } },
      bad: { code: -32022, message: 'Unsupported' },
    },
    ({ error }, { messages }) => {
      for (const place of errorsOf(messages)) {
        const [code, data] = [place.get('code').number(), place.get('data')]
        if (code !== -32022 && code !== -32021) continue
        if (!need(error, data, 'object') || data.redacted) continue
        if (code === -32021) {
          need(error, data.get('requiredCapabilities'), 'object')
          continue
        }
        need(error, data.get('requested'), 'string')
        if (need(error, data.get('supported'), 'array')) for (const item of data.get('supported').items()) optional(error, item, 'string')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-010',
      severity: 'error',
      why: 'Every result is an object, so that versions can add members to it.',
      spec: RESPONSES,
      hint: 'Put the value into a member of an object.',
      good: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
      bad: { jsonrpc: '2.0', id: 1, result: [] },
    },
    ({ error }, { messages }) => {
      for (const { place, is_envelope } of messages) if (is_envelope) optional(error, place.get('result'), 'object')
    },
  ),
]

function errorsOf(messages: McpView['messages']): Place[] {
  return messages.filter(({ is_envelope }) => is_envelope).map(({ place }) => place.get('error'))
}

function checkId({ error }: Report, message: Place, { context }: McpView): void {
  const [id, code] = [message.get('id'), message.get('error').get('code')]
  const mayLack = context.atLeast('2025-11-25') && (code.number() === -32700 || code.number() === -32600 || code.redacted)
  if (!id.present) {
    if (!mayLack) error(id, 'is missing', { expected: 'the id of the request' })
    return
  }
  if (id.kind !== 'string' && id.integer() === null && !id.redacted) error(id, 'is neither a text nor an integer')
}

const STANDARD: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32603])
const NEWEST: ReadonlySet<number> = new Set([-32020, -32021, -32022])

function isRetired(code: number | null): boolean {
  return code === -32002 || code === -32042
}

function checkCode({ error, warning }: Report, place: Place, { context }: McpView): void {
  const code = place.number()
  if (code === null || !Number.isSafeInteger(code) || STANDARD.has(code) || isRetired(code)) return
  const isNewest = context.atLeast('2026-07-28')
  if (isNewest && NEWEST.has(code)) return
  if (isNewest && code <= -32020 && code >= -32099) {
    // Before that version the code was the server's own, and nothing may tell which it speaks.
    const say = context.version_source === 'assumed' ? warning : error
    say(place, 'is kept for the specification since 2026-07-28, which does not define it')
    return
  }
  // Servers may define what they like here.
  if (code <= -32000 && code >= -32099) return
  warning(place, 'is a code that neither JSON-RPC nor MCP defines')
}
