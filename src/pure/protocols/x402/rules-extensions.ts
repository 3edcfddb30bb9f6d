import { holdsRedaction, need, needText, oneOf, optional, present, textForm } from '../kit/expect.ts'
import { inspectSchema, judgeDeclaration } from '../kit/schema.ts'
import { privateHost, readUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Context, type Report, type Say } from '../rule.ts'
import { x402Spec } from './spec.ts'
import type { X402View } from './view.ts'

const EXTENSIONS = x402Spec(2, 'Extensions')
const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
const METHODS: ReadonlySet<string> = new Set([...BODY_METHODS, 'GET', 'HEAD', 'DELETE'])
const BODY_TYPES = ['json', 'form-data', 'text'] as const

/** X402-024…026 and 030…032: the resource, and what extensions add. */
export const EXTENSION_RULES = [
  rule<X402View>(
    {
      code: 'X402-024',
      severity: 'both',
      why: 'The payer is shown what it pays for by this URL, and may hold the payment against it.',
      spec: x402Spec(2, 'ResourceInfo'),
      hint: 'Send the absolute https URL under which clients reach the resource.',
      good: { resource: { url: 'https://api.example.com/report' } },
      bad: { resource: { url: '/report' } },
    },
    (report, { resources, entries }) => {
      for (const { place, required } of resources) {
        if (!required && (!place.present || place.kind === 'null')) continue
        if (need(report.error, place, 'object')) resourceUrl(report, place.get('url'))
      }
      for (const { place, version, role } of entries) if (version === '1' && role === 'offered') resourceUrl(report, place.get('resource'))
    },
  ),
  rule<X402View>(
    {
      code: 'X402-025',
      severity: 'both',
      why: 'Version 1 asks for a description; in both versions an agent chooses by it.',
      spec: x402Spec(1, 'PaymentRequirements'),
      hint: 'Say in a line what is sold, and of which media type the answer is.',
      good: { resource: { description: 'Weather report', mimeType: 'application/json' } },
      bad: { resource: { url: 'https://api.example.com/report' } },
    },
    ({ error, warning }, { resources, entries }) => {
      for (const { place, required } of resources) {
        for (const name of ['description', 'mimeType']) {
          const words = place.get(name)
          if (required && place.kind === 'object' && (!words.present || words.kind === 'null')) warning(words, 'is missing')
          else if (words.kind !== 'null') optional(error, words, 'string')
        }
      }
      for (const { place, version, role } of entries) {
        if (version !== '1' || role !== 'offered') continue
        need(error, place.get('description'), 'string')
        if (present(warning, place.get('mimeType'))) optional(error, place.get('mimeType'), 'string')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-026',
      severity: 'error',
      since: '2',
      why: 'Wallets show these to people; longer ones are refused.',
      spec: x402Spec(2, 'ResourceInfo'),
      hint: 'Keep serviceName and tags short and in ASCII, and iconUrl an https URL.',
      good: { resource: { serviceName: 'Weather', tags: ['weather'] } },
      bad: { resource: { tags: ['one', 'two', 'three', 'four', 'five', 'six'] } },
    },
    ({ error }, { resources }) => {
      for (const { place } of resources) {
        const short = { pattern: /^[\x20-\x7e]{1,32}$/, expected: '1 to 32 printable ASCII characters' }
        const given = ['serviceName', 'tags', 'iconUrl'].filter((name) => place.get(name).kind !== 'null')
        if (given.includes('serviceName')) textForm(error, place.get('serviceName'), short)
        const tags = place.get('tags')
        if (given.includes('tags') && optional(error, tags, 'array')) {
          if (tags.items().length > 5) error(tags, 'has more than 5 items')
          for (const tag of tags.items()) textForm(error, tag, short)
        }
        if (given.includes('iconUrl'))
          textForm(error, place.get('iconUrl'), {
            pattern: /^https:\/\/[^\s/]/i,
            max_chars: 2_048,
            expected: 'an https URL of at most 2048 characters',
          })
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-030',
      severity: 'both',
      why: 'Each extension carries its data in info, and a JSON Schema for it in schema; directories hold bazaar against it.',
      spec: EXTENSIONS,
      hint: 'Send info as an object and, in a challenge, schema as one; info as the schema asks, but for what the payer adds.',
      good: { extensions: { bazaar: { info: {}, schema: {} } } },
      bad: { extensions: { bazaar: {} } },
    },
    (report, { context, extensions }) => {
      for (const extension of extensions.flatMap((place) => place.members())) extensionForm(report, context, extension)
    },
  ),
  rule<X402View>(
    {
      code: 'X402-031',
      severity: 'both',
      why: 'Directories call a service from this description.',
      spec: { url: 'https://github.com/coinbase/x402/blob/main/specs/extensions/bazaar.md', section: 'info' },
      hint: 'Describe the input: http with its method, and bodyType and body if the method has one; mcp with toolName and inputSchema.',
      good: { extensions: { bazaar: { info: { input: { type: 'http', method: 'GET' } } } } },
      bad: { extensions: { bazaar: { info: { input: { type: 'http' } } } } },
    },
    (report, { extensions }) => {
      for (const place of extensions) {
        const info = place.down('bazaar', 'info')
        if (info.kind === 'object') bazaarInput(report, info.get('input'))
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-032',
      severity: 'error',
      why: 'A short id collides, and a long one is refused; either way two payments are mixed up or one is lost.',
      spec: { url: 'https://github.com/coinbase/x402/blob/main/specs/extensions/payment_identifier.md', section: 'id' },
      hint: 'Use 16 to 128 letters, digits, hyphens and underscores.',
      good: { extensions: { 'payment-identifier': { info: { id: 'pay_0123456789abcdef' } } } },
      bad: { extensions: { 'payment-identifier': { info: { id: '42' } } } },
    },
    ({ error }, { extensions }) => {
      for (const place of extensions) {
        const id = place.down('payment-identifier', 'info', 'id')
        textForm(error, id, { pattern: /^[A-Za-z0-9_-]{16,128}$/, expected: '16 to 128 letters, digits, hyphens and underscores' })
      }
    },
  ),
]

function resourceUrl({ error, warning }: Report, place: Place): void {
  if (!need(error, place, 'string') || place.redacted) return
  const url = readUrl(place.text())
  if (url === null) error(place, 'is not an absolute URL', { expected: 'an absolute https URL' })
  else if (url.protocol === 'mcp:') return
  else if (url.protocol === 'http:') warning(place, 'is an http URL, as behind a proxy that ends TLS', { expected: 'an https URL' })
  else if (url.protocol !== 'https:') warning(place, 'is neither an https nor an mcp URL')
  else if (privateHost(url) !== null) warning(place, 'names a host that strangers cannot reach')
}

/** Payers and settlements may send back info alone. */
const DECLARING: ReadonlySet<string> = new Set(['payment_required', 'payment_requirements', 'resource_list'])

/** The form is written down for challenges and payments; in answers an extension has what it likes. */
const ANSWERING: ReadonlySet<string> = new Set(['settlement_response', 'verify_response'])

function extensionForm({ error, warning }: Report, context: Context, extension: Place): void {
  const isAnswer = ANSWERING.has(context.type)
  if (!need(isAnswer ? warning : error, extension, 'object') || extension.redacted) return
  const [info, schema] = [extension.get('info'), extension.get('schema')]
  const isThere = need(isAnswer ? warning : error, info, 'object')
  const isDeclared = DECLARING.has(context.type) || schema.present ? need(error, schema, 'object') : false
  if (!isThere || !isDeclared || info.redacted || schema.redacted) return
  const isBazaar = extension.key === 'bazaar'
  if (isBazaar && !isUsable(error, context, schema)) return
  const judged = judgeDeclaration(context, schema, info)
  // Other extensions declare what the payer adds later; directories must refuse a bazaar that lacks anything.
  if (judged === 'invalid' || (judged === 'incomplete' && isBazaar)) (isBazaar ? error : warning)(info, 'does not fit the schema beside it')
  else if (judged === 'undetermined') context.notChecked('extension schemas beyond what is read here')
}

/** Directories refuse a schema that is none, or that leads out of itself. */
function isUsable(error: Say, context: Context, schema: Place): boolean {
  const check = holdsRedaction(schema) ? null : inspectSchema(context, schema)
  const isMalformed = check?.well_formed === false
  const leadsOut = check?.unsupported.some(({ code }) => code === 'ref_unresolvable') === true
  if (isMalformed) error(schema, 'is no JSON Schema')
  else if (leadsOut) error(schema, 'refers to what it does not hold')
  return !isMalformed && !leadsOut
}

function bazaarInput(report: Report, input: Place): void {
  const { error } = report
  if (!need(error, input, 'object') || input.redacted) return
  const type = input.get('type')
  if (!need(error, type, 'string') || type.redacted) return
  if (type.text() === 'http') httpInput(report, input)
  else if (type.text() === 'mcp') toolInput(report, input)
  else error(type, 'is no kind of input that directories know', { expected: 'http or mcp' })
}

function httpInput({ error, warning }: Report, input: Place): void {
  const method = input.get('method')
  if (!need(error, method, 'string') || method.redacted) return
  const name = (method.text() ?? '').toUpperCase()
  if (!METHODS.has(name)) error(method, 'is no method of HTTP that is used here', { expected: [...METHODS].join(', ') })
  else if (BODY_METHODS.has(name)) {
    present(error, input.get('bodyType'))
    oneOf(error, input.get('bodyType'), BODY_TYPES)
    present(error, input.get('body'))
  } else if (input.has('body')) warning(input.get('body'), 'is described for a method without a body')
}

function toolInput({ error, warning }: Report, input: Place): void {
  // Specifications of early 2026 still had the older name.
  if (input.has('toolName') || !input.has('tool')) needText(error, input.get('toolName'))
  else warning(input.get('tool'), 'is an older name of toolName', { expected: 'toolName' })
  need(error, input.get('inputSchema'), 'object')
}
