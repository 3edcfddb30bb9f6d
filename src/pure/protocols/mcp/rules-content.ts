import { need, optional, present } from '../kit/expect.ts'
import { judgeBySchema } from '../kit/schema.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { copyOf } from './copies.ts'
import { isChallenge } from './nested.ts'
import { mcpSpec } from './spec.ts'
import { isUri } from './uris.ts'
import { isAsking, type McpView } from './view.ts'

const CALLS = ['tool_result', 'tools_list', 'batch'] as const
const TOOL_RESULT = mcpSpec('server/tools', 'Tool Result')
const STRUCTURED = mcpSpec('server/tools', 'Structured Content')

/** MCP-033…037: answers of tools, and content wherever it stands. */
export const CONTENT_RULES = [
  rule<McpView>(
    {
      code: 'MCP-033',
      severity: 'error',
      types: CALLS,
      why: 'Clients read content, also where there is structured content.',
      spec: TOOL_RESULT,
      hint: 'Send content, [] if there is nothing to say.',
      good: { content: [{ type: 'text', text: '{"celsius":4}' }], structuredContent: { celsius: 4 } },
      bad: { structuredContent: { celsius: 4 } },
    },
    ({ error }, { calls }) => {
      for (const { place } of calls) need(error, place.get('content'), 'array')
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-034',
      severity: 'error',
      types: [...CALLS, 'prompt', 'resource_contents'],
      why: 'A client that meets a block it cannot read throws, or drops the whole answer.',
      spec: mcpSpec('schema', 'ContentBlock'),
      hint: 'Send text with text, image and audio with base64 data and mimeType, resource_link with uri and name, resource with text or blob.',
      hint_by_case: true,
      good: { type: 'text', text: 'Four degrees.' },
      bad: { type: 'image', url: 'https://example.com/a.png' },
    },
    ({ error }, { results, blocks, contents, prompt_messages }) => {
      for (const item of results.filter((one) => !isAsking(one)).flatMap((result) => result.get('content').items()))
        optional(error, item, 'object')
      for (const message of prompt_messages) need(error, message.get('content'), 'object')
      for (const block of blocks) checkBlock(error, block)
      for (const content of contents) checkContents(error, content)
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-035',
      severity: 'both',
      types: CALLS,
      why: 'Older clients read the text, newer ones the structured content; when they differ, two readers see two answers.',
      spec: STRUCTURED,
      hint: 'Repeat the structured content as JSON in one text block; before 2026-07-28 it must be an object.',
      good: { content: [{ type: 'text', text: '{"celsius":4}' }], structuredContent: { celsius: 4 } },
      bad: { content: [{ type: 'text', text: '{"celsius":40}' }], structuredContent: { celsius: 4 } },
    },
    ({ error, warning }, { calls, context }) => {
      for (const call of calls) {
        const { structured } = call
        if (!context.atLeast('2026-07-28')) optional(error, structured, 'object')
        if (isChallenge(structured, call)) continue
        const copy = copyOf(call)
        if (copy === 'other') error(structured, 'differs from the JSON in the text content')
        if (copy === 'none') warning(structured, 'is not repeated in a text block, where older clients look')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-036',
      severity: 'error',
      types: CALLS,
      why: 'Clients refuse structured content that breaks the schema of its tool.',
      spec: mcpSpec('server/tools', 'Output Schema'),
      hint: 'Send what outputSchema describes. It is held against it where the document has exactly one tool.',
      good: { tools: [{ name: 'a', outputSchema: { type: 'object' } }], structuredContent: {} },
      bad: { tools: [{ name: 'a', outputSchema: { type: 'object', required: ['x'] } }], structuredContent: {} },
    },
    ({ error }, { tools, calls, context }) => {
      const [tool] = tools
      const schema = tools.length === 1 ? tool?.output : null
      for (const { place, structured } of calls) {
        if (!structured.present || place.get('isError').boolean() === true) continue
        const outcome = schema === null || schema === undefined ? 'undetermined' : judgeBySchema(context, schema.place, structured)
        if (outcome === 'invalid') error(structured, 'does not satisfy the outputSchema of the tool')
        if (outcome === 'undetermined') context.notChecked('structured content against its outputSchema')
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-037',
      severity: 'both',
      types: CALLS,
      why: 'Without isError a model takes a failure for an answer.',
      spec: mcpSpec('server/tools', 'Error Handling'),
      hint: 'Send "isError": true with what went wrong.',
      good: { content: [{ type: 'text', text: 'Error: no such city' }], isError: true },
      bad: { content: [{ type: 'text', text: 'Error: no such city' }] },
    },
    ({ error, warning }, { calls }) => {
      for (const { place, texts } of calls) {
        const flag = place.get('isError')
        optional(error, flag, 'boolean')
        const failure = flag.present ? undefined : texts.find((text) => FAILURE.test(text.text() ?? ''))
        if (failure !== undefined) warning(failure, 'looks like an error, and isError is missing')
      }
    },
  ),
]

const FAILURE = /^\s{0,16}(?:\w{0,40}?(?:error|exception)\s?:|(?:failure|failed|fatal)\s?:|traceback \(most recent call last\))/i

function checkBlock(error: Say, block: Place): void {
  const type = block.get('type')
  if (!need(error, type, 'string')) return
  switch (type.text()) {
    case null:
      return
    case 'text':
      need(error, block.get('text'), 'string')
      return
    case 'image':
    case 'audio':
      base64(error, block.get('data'), { may_be_empty: false })
      need(error, block.get('mimeType'), 'string')
      return
    case 'resource_link':
      // Its members are those of a listed resource, whose rule reads them.
      return
    case 'resource':
      need(error, block.get('resource'), 'object')
      return
    default:
      error(type, 'is no type of content', { expected: 'text, image, audio, resource_link or resource' })
  }
}

/** What a resource holds: text or bytes, and whose it is. */
function checkContents(error: Say, content: Place): void {
  const [uri, text, blob] = [content.get('uri'), content.get('text'), content.get('blob')]
  if (need(error, uri, 'string') && uri.text() !== null && !isUri(uri.text() ?? '')) error(uri, 'is not an absolute URI')
  optional(error, content.get('mimeType'), 'string')
  if (text.present === blob.present) error(content, text.present ? 'has both text and blob' : 'has neither text nor blob')
  optional(error, text, 'string')
  if (blob.present) base64(error, blob, { may_be_empty: true })
}

/** RFC 4648, 4, padded or not; line breaks pass, since every decoder of the protocol's libraries skips them. */
function base64(error: Say, place: Place, { may_be_empty }: { may_be_empty: boolean }): void {
  if (!present(error, place) || !optional(error, place, 'string')) return
  const text = place.text()?.replace(/[\t\n\r ]+/g, '') ?? null
  if (text === null || (text === '' && may_be_empty)) return
  const digits = text.replace(/={1,2}$/, '')
  const isPaddedRight = digits.length === text.length || text.length % 4 === 0
  if (!isPaddedRight || digits.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(digits))
    error(place, 'is not base64', { expected: 'base64 (RFC 4648, 4)' })
}
