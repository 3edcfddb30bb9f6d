import { expectType, expectTypeIfPresent, expectPresent, comparableText, containsRedaction } from '../kit/expect.ts'
import { validateBySchema } from '../kit/schema.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, ReportFinding, FindingReporter, SpecReference } from '../protocol.ts'
import { MCP_TYPES, mcpSpec, asksForInput, type McpView, type ToolCall } from './view.ts'
import { isUri } from '../kit/url.ts'

const CALLS = ['tool_result', 'tools_list', 'batch'] as const
const TOOL_RESULT = mcpSpec('server/tools', 'Tool Result')
const STRUCTURED = mcpSpec('server/tools', 'Structured Content')

/** MCP-033…037: answers of tools, and content blocks. */
export const MCP_CONTENT_RULES: RuleTable<McpView> = {
  'MCP-033': {
    types: CALLS,
    why: 'Clients read content, also where there is structured content.',
    spec: TOOL_RESULT,
    hint: 'Send content, [] if there is nothing to say.',
    good: { content: [{ type: 'text', text: '{"celsius":4}' }], structuredContent: { celsius: 4 } },
    bad: { structuredContent: { celsius: 4 } },
    check({ error }, { calls }) {
      for (const { cursor } of calls) expectType(error, cursor.get('content'), 'array')
    },
  },
  'MCP-034': {
    types: [...CALLS, 'prompt', 'resource_contents'],
    why: 'A client that meets a block it cannot read throws, or drops the whole answer.',
    spec: mcpSpec('schema', 'ContentBlock'),
    hint: 'Send text with text, image and audio with base64 data and mimeType, resource_link with uri and name, resource with text or blob.',
    hint_by_case: true,
    good: { type: 'text', text: 'Four degrees.' },
    bad: { type: 'image', url: 'https://example.com/a.png' },
    check({ error }, { results, blocks, contents, prompt_messages }) {
      for (const item of results.filter((one) => !asksForInput(one)).flatMap((result) => result.items('content')))
        expectTypeIfPresent(error, item, 'object')
      for (const message of prompt_messages) expectType(error, message.get('content'), 'object')
      for (const block of blocks) checkBlock(error, block)
      for (const content of contents) checkContents(error, content)
    },
  },
  'MCP-035': {
    severity: 'both',
    types: CALLS,
    why: 'Older clients read the text, newer ones the structured content; when they differ, two readers see two answers.',
    spec: STRUCTURED,
    hint: 'Repeat the structured content as JSON in one text block; before 2026-07-28 it must be an object.',
    good: { content: [{ type: 'text', text: '{"celsius":4}' }], structuredContent: { celsius: 4 } },
    bad: { content: [{ type: 'text', text: '{"celsius":40}' }], structuredContent: { celsius: 4 } },
    check({ error, warning }, { calls, context }) {
      for (const call of calls) {
        const { structured } = call
        if (!context.atLeast('2026-07-28')) expectTypeIfPresent(error, structured, 'object')
        if (isChallenge(structured, call)) continue
        const copy = compareCopy(call)
        if (copy === 'other') error(structured, 'differs from the JSON in the text content')
        if (copy === 'none') warning(structured, 'is not repeated in a text block for older clients')
      }
    },
  },
  'MCP-036': {
    types: CALLS,
    why: 'Clients refuse structured content that breaks the schema of its tool.',
    spec: mcpSpec('server/tools', 'Output Schema'),
    hint: 'Send what outputSchema describes. It is validated where the document has exactly one tool.',
    good: { tools: [{ name: 'a', outputSchema: { type: 'object' } }], structuredContent: {} },
    bad: { tools: [{ name: 'a', outputSchema: { type: 'object', required: ['x'] } }], structuredContent: {} },
    check({ error }, { tools, calls, context }) {
      const [tool] = tools
      const schema = tools.length === 1 ? tool?.output : null
      for (const { cursor, structured } of calls) {
        if (!structured.present || cursor.boolean('isError') === true) continue
        const outcome = schema === null || schema === undefined ? 'undetermined' : validateBySchema(context, schema.cursor, structured)
        if (outcome === 'invalid') error(structured, 'does not satisfy the outputSchema of the tool')
        if (outcome === 'undetermined') context.addNotChecked('structured content against its outputSchema')
      }
    },
  },
  'MCP-037': {
    severity: 'both',
    types: CALLS,
    why: 'Without isError a model takes a failure for an answer.',
    spec: mcpSpec('server/tools', 'Error Handling'),
    hint: 'Send "isError": true with what went wrong.',
    good: { content: [{ type: 'text', text: 'Error: no such city' }], isError: true },
    bad: { content: [{ type: 'text', text: 'Error: no such city' }] },
    check({ error, warning }, { calls }) {
      for (const { cursor, texts } of calls) {
        const flag = cursor.get('isError')
        expectTypeIfPresent(error, flag, 'boolean')
        const failure = flag.present ? undefined : texts.find((text) => FAILURE.test(text.text() ?? ''))
        if (failure !== undefined) warning(failure, 'looks like an error, and isError is missing')
      }
    },
  },
}

const FAILURE = /^\s{0,16}(?:\w{0,40}?(?:error|exception)\s?:|(?:failure|failed|fatal)\s?:|traceback \(most recent call last\))/i

function checkBlock(error: ReportFinding, block: JsonCursor): void {
  const type = block.get('type')
  if (!expectType(error, type, 'string')) return
  switch (type.text()) {
    case null:
      return
    case 'text':
      expectType(error, block.get('text'), 'string')
      return
    case 'image':
    case 'audio':
      expectBase64(error, block.get('data'), { may_be_empty: false })
      expectType(error, block.get('mimeType'), 'string')
      return
    case 'resource_link':
      // Its members are those of a listed resource, whose rule reads them.
      return
    case 'resource':
      expectType(error, block.get('resource'), 'object')
      return
    default:
      error(type, 'is not a content type', { expected: 'text, image, audio, resource_link or resource' })
  }
}

/** Checks the contents of a resource: uri, and either text or blob. */
function checkContents(error: ReportFinding, content: JsonCursor): void {
  const [uri, text, blob] = [content.get('uri'), content.get('text'), content.get('blob')]
  if (expectType(error, uri, 'string') && uri.text() !== null && !isUri(uri.text() ?? '')) error(uri, 'is not an absolute URI')
  expectTypeIfPresent(error, content.get('mimeType'), 'string')
  if (text.present === blob.present) error(content, text.present ? 'has both text and blob' : 'has neither text nor blob')
  expectTypeIfPresent(error, text, 'string')
  if (blob.present) expectBase64(error, blob, { may_be_empty: true })
}

/** RFC 4648, 4, with its padding (3.2), which the schemas ask for; line breaks pass, since every decoder of the protocol's libraries skips them. */
function expectBase64(error: ReportFinding, cursor: JsonCursor, { may_be_empty }: { may_be_empty: boolean }): void {
  if (!expectPresent(error, cursor) || !expectTypeIfPresent(error, cursor, 'string')) return
  const text = cursor.text()?.replace(/[\t\n\r]+/g, '') ?? null
  if (text === null || (text === '' && may_be_empty)) return
  const digits = text.replace(/={1,2}$/, '')
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+$/.test(digits))
    error(cursor, 'is not base64', { expected: 'base64 with padding (RFC 4648, 4)' })
}

const X402_OVER_MCP: SpecReference = {
  url: 'https://github.com/coinbase/x402/blob/main/specs/transports-v2/mcp.md',
  section: 'Payment Required Signaling',
}

/** MCP-043, 044: payments and shop documents inside an answer, checked by the rules of their protocols. */
export const MCP_NESTED_RULES: RuleTable<McpView> = {
  'MCP-043': {
    severity: 'both',
    types: [...MCP_TYPES, 'request'],
    why: 'A client pays what it reads, in the structured content or in the first text, and takes neither for a challenge without isError.',
    spec: X402_OVER_MCP,
    hint: 'Send the whole challenge as structuredContent, the same JSON in the first text block, and "isError": true.',
    good: {
      isError: true,
      structuredContent: { x402Version: 2, accepts: [] },
      content: [{ type: 'text', text: '{"x402Version":2,"accepts":[]}' }],
    },
    bad: { isError: true, structuredContent: { x402Version: 2, accepts: [] }, content: [{ type: 'text', text: 'Pay first' }] },
    check(report, view) {
      for (const call of view.calls) checkChallenge(report, call)
      for (const { cursor, type } of listX402Documents(view)) view.context.delegate('x402', cursor, type)
    },
  },
  'MCP-044': {
    severity: 'warning',
    why: 'MCP itself names no payee; only a checkout or a payment challenge inside the answer does.',
    spec: mcpSpec('server/tools', 'Structured Content'),
    hint: 'Send the answer that holds the checkout or the challenge, or leave out the expected payee.',
    good: { expected_payee: 'shop.example.com', structuredContent: { ucp: { version: '2026-04-08' } } },
    bad: { expected_payee: 'shop.example.com', structuredContent: { celsius: 4 } },
    check({ warning }, view) {
      const { context, calls } = view
      // Every body is handed on, whether or not one before it was.
      const shops = calls.flatMap(shopBodies).filter((body) => context.delegate('ucp', body) || context.delegate('acp', body))
      if (context.expected_payee !== null && shops.length === 0 && listX402Documents(view).length === 0)
        warning(view.document, 'names no payee that could be compared with the expected one')
    },
  },
}

/** Checks how a tool asks to be paid. A challenge in the text alone is enough for existing clients. */
function checkChallenge({ error, warning }: FindingReporter, call: ToolCall): void {
  const [challenge] = listChallenges(call)
  if (challenge === undefined) return
  const { cursor, structured } = call
  const flag = cursor.get('isError')
  if (!flag.present || flag.boolean() === false) error(flag, 'is not true although the answer is a payment challenge', { expected: 'true' })
  const copy = isChallenge(structured, call) ? compareCopy(call) : 'same'
  if (copy === 'none' || copy === 'other')
    error(structured, 'is a payment challenge that no text block repeats', { expected: 'the same JSON as text' })
  else if (!isInFirstBlock(call))
    warning(challenge, 'is a payment challenge that is not in the first block', { expected: 'the JSON in content[0].text' })
}

/** Comparison of text content with structured content. `unknown` if something is redacted or there is nothing to repeat. */
type Copy = 'same' | 'none' | 'other' | 'unknown'

/** Servers repeat structured content as JSON in a text, for clients that read texts only. */
function compareCopy(call: ToolCall): Copy {
  const { cursor, structured, values } = call
  if (!structured.present || cursor.get('content').kind !== 'array') return 'unknown'
  if (containsRedaction(structured) || containsRedaction(cursor.get('content'))) return 'unknown'
  const wanted = comparableText(structured.value)
  let other = false
  for (const { value } of values) {
    if (value === undefined) continue
    if (comparableText(value) === wanted) return 'same'
    if (typeof value === 'object' && value !== null) other = true
  }
  if (repeatsWrappedValue(call)) return 'same'
  return other ? 'other' : 'none'
}

/**
 * Returns whether the texts repeat the content of a wrapper. Libraries wrap a value that is not an object as `result` and repeat the bare
 * value: as one text, or a list as one text per item (the official SDK for Python).
 */
function repeatsWrappedValue({ structured, texts, values }: ToolCall): boolean {
  const [inner, ...others] = structured.members()
  if (inner?.key !== 'result' || others.length > 0) return false
  // Of nothing there is nothing to repeat.
  if (inner.kind === 'null' && texts.length === 0) return true
  const says = (index: number, value: unknown) => {
    const [text, read] = [texts[index]?.text(), values[index]?.value]
    return text === value || (read !== undefined && comparableText(read) === comparableText(value))
  }
  if (texts.some((_text, index) => says(index, inner.value))) return true
  const items = flattenItems(inner)
  return inner.kind === 'array' && items.length === texts.length && items.every((item, index) => says(index, item))
}

/** The items of a list, and of lists in it. */
function flattenItems(list: JsonCursor): unknown[] {
  return list.items().flatMap((item) => (item.kind === 'array' ? flattenItems(item) : [item.value]))
}

/** Documents of other protocols that an answer of MCP carries. */

/** A document of x402, with the type that its position determines. */
interface Payment {
  cursor: JsonCursor
  type: 'payment_required' | 'payment_payload' | 'settlement_response'
}

/** Returns whether a value in the answer of a tool is an x402 challenge. Outside errors, x402Version alone does not make one. */
function isChallenge(value: JsonCursor, { cursor }: ToolCall): boolean {
  return hasOffers(value) || (value.has('x402Version') && (value.has('accepts') || cursor.boolean('isError') === true))
}

function hasOffers(value: JsonCursor): boolean {
  return value.objects('accepts').some((offer) => offer.has('payTo'))
}

/** Challenges in the answer of a tool: as structured content, and as JSON in a text. */
function listChallenges(call: ToolCall): JsonCursor[] {
  return [call.structured, ...call.values].filter((value) => isChallenge(value, call))
}

/** Returns whether the first block, where x402 clients look, contains the challenge or cannot be read. */
function isInFirstBlock(call: ToolCall): boolean {
  const { cursor, texts, values } = call
  const [block] = cursor.items('content')
  if (block === undefined || block.redacted || block.get('text').redacted) return true
  const [text, value] = [texts[0], values[0]]
  return text?.parent?.value === block.value && value !== undefined && isChallenge(value, call)
}

/** All that asks to be paid, and receipts of what was; of several that say the same, the first. */
function listX402Documents({ document, messages, results, calls }: McpView): Payment[] {
  const metas = results.map((result) => result.get('_meta'))
  const errors = messages.map(({ cursor }) => cursor.get('error', 'data'))
  const challenges = [
    ...calls.flatMap(listChallenges),
    ...metas.map((meta) => meta.get('x402/error')),
    ...results.filter((result) => result.text('resultType') === 'payment_required').map((result) => result.get('paymentRequired')),
    ...errors.filter((data) => data.has('x402Version') || hasOffers(data)),
    ...errors.map((data) => data.get('x402')),
  ]
  const receipts = RECEIPTS.flatMap((key) => metas.map((meta) => meta.get(key)))
  const payment = document.get('params', '_meta', 'x402/payment')
  return [
    ...dropRepeats(challenges, 'payment_required'),
    ...dropRepeats([payment], 'payment_payload'),
    ...dropRepeats(receipts, 'settlement_response'),
  ]
}

/** The key of the specification, and that of an earlier client package. */
const RECEIPTS = ['x402/payment-response', 'x402.payment-response']

function dropRepeats(cursors: readonly JsonCursor[], type: Payment['type']): Payment[] {
  const found = new Map<string, Payment>()
  for (const cursor of cursors) {
    const text = cursor.kind === 'object' ? comparableText(cursor.value) : null
    if (text !== null && !found.has(text)) found.set(text, { cursor, type })
  }
  return [...found.values()]
}

/** Candidates for the body of a shop: the structured content, or else the JSON in a text, and members of it. */
function shopBodies({ structured, values }: ToolCall): JsonCursor[] {
  const holders = structured.present ? [structured] : values
  return holders
    .flatMap((holder) => [holder, ...['checkout', 'cart', 'order', 'checkout_session'].map((name) => holder.get(name))])
    .filter(({ kind }) => kind === 'object')
}
