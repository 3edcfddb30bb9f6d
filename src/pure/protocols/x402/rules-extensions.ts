import { readCaip2 } from '../kit/addresses.ts'
import { readDateTime } from '../kit/dates.ts'
import {
  containsRedaction,
  expectNotEmpty,
  expectType,
  expectText,
  expectOneOf,
  expectTypeIfPresent,
  expectPresent,
  expectTextForm,
  expectObject,
} from '../kit/expect.ts'
import { readCompactJws } from '../kit/keys.ts'
import { expectInteger } from '../kit/money.ts'
import { each, expectShape, integer, type JsonShape, list, object, oneOfTexts, text, textWith, uri } from '../kit/shape.ts'
import { inspectSchema, validateDeclaration } from '../kit/schema.ts'
import { classifyPrivateHost, readUrl } from '../kit/url.ts'
import type { JsonCursor } from '../json-cursor.ts'
import type { RuleTable, RuleContext, FindingReporter, ReportFinding } from '../protocol.ts'
import { x402Spec, type X402View } from './view.ts'

const EXTENSIONS = x402Spec(2, 'Extensions')
const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
const METHODS: ReadonlySet<string> = new Set([...BODY_METHODS, 'GET', 'HEAD', 'DELETE'])
const BODY_TYPES = ['json', 'form-data', 'text'] as const

/** X402-024…026, 030…032, 050 and 051: the resource, and extensions. */
export const X402_EXTENSION_RULES: RuleTable<X402View> = {
  'X402-024': {
    severity: 'both',
    why: 'The payer is shown what it pays for by this URL, and may hold the payment against it.',
    spec: x402Spec(2, 'ResourceInfo'),
    hint: 'Send the absolute https URL under which clients reach the resource.',
    good: { resource: { url: 'https://api.example.com/report' } },
    bad: { resource: { url: '/report' } },
    check(report, { resources, entries }) {
      for (const { cursor, required } of resources) {
        if (!required && (!cursor.present || cursor.kind === 'null')) continue
        if (expectType(report.error, cursor, 'object')) checkResourceUrl(report, cursor.get('url'))
      }
      for (const { cursor, version, role } of entries)
        if (version === '1' && role === 'offered') checkResourceUrl(report, cursor.get('resource'))
    },
  },
  'X402-025': {
    severity: 'both',
    why: 'Version 1 asks for a description; in both versions an agent chooses by it.',
    spec: x402Spec(1, 'PaymentRequirements'),
    hint: 'Say in a line what is sold, and of which media type the answer is.',
    good: { resource: { description: 'Weather report', mimeType: 'application/json' } },
    bad: { resource: { url: 'https://api.example.com/report' } },
    check({ error, warning }, { resources, entries }) {
      for (const { cursor, required } of resources) {
        for (const name of ['description', 'mimeType']) {
          const words = cursor.get(name)
          if (required && cursor.kind === 'object' && (!words.present || words.kind === 'null')) warning(words, 'is missing')
          else if (words.kind !== 'null') expectTypeIfPresent(error, words, 'string')
        }
      }
      for (const { cursor, version, role } of entries) {
        if (version !== '1' || role !== 'offered') continue
        expectType(error, cursor.get('description'), 'string')
        if (expectPresent(warning, cursor.get('mimeType'))) expectTypeIfPresent(error, cursor.get('mimeType'), 'string')
      }
    },
  },
  'X402-026': {
    since: '2',
    why: 'Wallets show these to people; longer ones are refused.',
    spec: x402Spec(2, 'ResourceInfo'),
    hint: 'Keep serviceName and tags short and in ASCII, and iconUrl an https URL.',
    good: { resource: { serviceName: 'Weather', tags: ['weather'] } },
    bad: { resource: { tags: ['one', 'two', 'three', 'four', 'five', 'six'] } },
    check({ error }, { resources }) {
      for (const { cursor } of resources) {
        const short = { pattern: /^[\x20-\x7e]{1,32}$/, expected: '1 to 32 printable ASCII characters' }
        const given = ['serviceName', 'tags', 'iconUrl'].filter((name) => cursor.get(name).kind !== 'null')
        if (given.includes('serviceName')) expectTextForm(error, cursor.get('serviceName'), short)
        const tags = cursor.get('tags')
        if (given.includes('tags') && expectTypeIfPresent(error, tags, 'array')) {
          if (tags.items().length > 5) error(tags, 'has more than 5 items')
          for (const tag of tags.items()) expectTextForm(error, tag, short)
        }
        if (given.includes('iconUrl'))
          expectTextForm(error, cursor.get('iconUrl'), {
            pattern: /^https:\/\/[^\s/]/i,
            max_chars: 2_048,
            expected: 'an https URL of at most 2048 characters',
          })
      }
    },
  },
  'X402-030': {
    severity: 'both',
    why: 'Each extension carries its data in info, and a JSON Schema for it in schema; directories hold bazaar against it.',
    spec: EXTENSIONS,
    hint: 'Send info as an object and, in a challenge, schema as one; info as the schema asks, but for what the payer adds.',
    good: { extensions: { bazaar: { info: {}, schema: {} } } },
    bad: { extensions: { bazaar: {} } },
    check(report, { context, extensions }) {
      for (const extension of extensions.flatMap((cursor) => cursor.members())) checkExtension(report, context, extension)
    },
  },
  'X402-031': {
    severity: 'both',
    why: 'Directories call a service from this description.',
    spec: { url: 'https://github.com/coinbase/x402/blob/main/specs/extensions/bazaar.md', section: 'info' },
    hint: 'Describe the input: http with its method, and bodyType and body if the method has one; mcp with toolName and inputSchema.',
    good: { extensions: { bazaar: { info: { input: { type: 'http', method: 'GET' } } } } },
    bad: { extensions: { bazaar: { info: { input: { type: 'http' } } } } },
    check(report, { extensions }) {
      for (const cursor of extensions) {
        const info = cursor.get('bazaar', 'info')
        if (info.kind === 'object') checkBazaarInput(report, info.get('input'))
      }
    },
  },
  'X402-032': {
    why: 'A short id collides, and a long one is refused; either way two payments are mixed up or one is lost.',
    spec: { url: 'https://github.com/coinbase/x402/blob/main/specs/extensions/payment_identifier.md', section: 'id' },
    hint: 'Use 16 to 128 letters, digits, hyphens and underscores; say in info.required whether payers must send an id, and send one where they must.',
    good: { extensions: { 'payment-identifier': { info: { id: 'pay_0123456789abcdef' } } } },
    bad: { extensions: { 'payment-identifier': { info: { id: '42' } } } },
    check({ error }, { context, extensions }) {
      for (const cursor of extensions) {
        const id = cursor.get('payment-identifier', 'info', 'id')
        expectTextForm(error, id, { pattern: /^[A-Za-z0-9_-]{16,128}$/, expected: '16 to 128 letters, digits, hyphens and underscores' })
        const required = cursor.get('payment-identifier', 'info', 'required')
        expectTypeIfPresent(error, required, 'boolean')
        if (PAYING.has(context.type) && required.value === true) expectPresent(error, id, { expected: 'an id, which this server requires' })
      }
    },
  },
  'X402-050': {
    severity: 'both',
    since: '2',
    why: 'An offer or receipt proves something only if its form can be verified, and if it promises what the terms ask.',
    spec: {
      url: 'https://github.com/coinbase/x402/blob/main/specs/extensions/extension-offer-and-receipt.md',
      section: 'Payload Structures',
    },
    hint: 'Send format eip712 with payload and signature, or jws with a compact signature and no payload; acceptIndex names the entry of accepts.',
    hint_by_case: true,
    good: { 'offer-receipt': { info: { offers: [{ format: 'jws', acceptIndex: 0, signature: 'eyJ….eyJ….c2ln' }] } } },
    bad: { 'offer-receipt': { info: { offers: [{ format: 'eip712', signature: '0x…' }] } } },
    check(report, { context, extensions, document }) {
      for (const cursor of extensions) {
        const info = cursor.get('offer-receipt', 'info')
        if (info.kind !== 'object') continue
        const accepts = context.type === 'payment_required' ? document.items('accepts') : null
        if (expectTypeIfPresent(report.error, info.get('offers'), 'array'))
          for (const offer of info.items('offers')) checkOffer(report, offer, accepts, context.now_s)
        if (info.has('receipt')) checkSigned(report.error, info.get('receipt'), RECEIPT_PAYLOAD)
      }
    },
  },
  'X402-051': {
    severity: 'both',
    since: '2',
    why: 'A wallet signs these members as they are; a message of another domain or time is refused, and a repeated nonce lets anybody sign in again.',
    spec: { url: 'https://github.com/coinbase/x402/blob/main/specs/extensions/sign-in-with-x.md', section: 'Server Declaration' },
    hint: 'Send the host as domain, an absolute uri on it, version "1", a fresh nonce of letters and digits, and times of RFC 3339.',
    hint_by_case: true,
    good: { info: { domain: 'api.example.com', uri: 'https://api.example.com/report', version: '1', nonce: 'a1b2c3d4e5f67890' } },
    bad: { info: { domain: 'https://api.example.com', uri: '/report', version: 1, nonce: '1' } },
    check(report, { context, extensions }) {
      for (const cursor of extensions) {
        const extension = cursor.get('sign-in-with-x')
        if (extension.kind === 'object') checkSignIn(report, extension, context)
      }
    },
  },
}

function checkResourceUrl({ error, warning }: FindingReporter, cursor: JsonCursor): void {
  if (!expectType(error, cursor, 'string') || cursor.redacted) return
  const url = readUrl(cursor.text())
  if (url === null) error(cursor, 'is not an absolute URL', { expected: 'an absolute https URL' })
  else if (url.protocol === 'mcp:') return
  else if (url.protocol === 'http:') warning(cursor, 'is an http URL, as behind a proxy that ends TLS', { expected: 'an https URL' })
  else if (url.protocol !== 'https:') warning(cursor, 'is neither an https nor an mcp URL')
  else if (classifyPrivateHost(url) !== null) warning(cursor, 'has a host that is not public')
}

/** Payers and settlements may send back info alone. */
const DECLARING: ReadonlySet<string> = new Set(['payment_required', 'payment_requirements', 'resource_list'])

/** Types without a specified form of extensions: answers. */
const ANSWERING: ReadonlySet<string> = new Set(['settlement_response', 'verify_response'])

function checkExtension({ error, warning }: FindingReporter, context: RuleContext, extension: JsonCursor): void {
  const isAnswer = ANSWERING.has(context.type)
  if (!expectType(isAnswer ? warning : error, extension, 'object') || extension.redacted) return
  const [info, schema] = [extension.get('info'), extension.get('schema')]
  const isThere = expectType(isAnswer ? warning : error, info, 'object')
  const isDeclared = DECLARING.has(context.type) || schema.present ? expectType(error, schema, 'object') : false
  if (!isThere || !isDeclared || info.redacted || schema.redacted) return
  const isBazaar = extension.key === 'bazaar'
  if (isBazaar && !checkBazaarSchema(error, context, schema)) return
  const judged = validateDeclaration(context, schema, info)
  // Other extensions declare what the payer adds later; directories must refuse a bazaar that lacks anything.
  if (judged === 'invalid' || (judged === 'incomplete' && isBazaar)) (isBazaar ? error : warning)(info, 'does not match its schema')
  else if (judged === 'undetermined') context.addNotChecked('extension schemas beyond what is read here')
}

/** Directories refuse a schema that is none, or that leads out of itself. */
function checkBazaarSchema(error: ReportFinding, context: RuleContext, schema: JsonCursor): boolean {
  const check = containsRedaction(schema) ? null : inspectSchema(context, schema)
  const isMalformed = check?.well_formed === false
  const leadsOut = check?.unsupported.some(({ code }) => code === 'ref_unresolvable') === true
  if (isMalformed) error(schema, 'is not a JSON Schema')
  else if (leadsOut) error(schema, 'has a reference that leads outside it')
  return !isMalformed && !leadsOut
}

function checkBazaarInput(report: FindingReporter, input: JsonCursor): void {
  const { error } = report
  if (!expectObject(error, input)) return
  const type = input.get('type')
  if (!expectType(error, type, 'string') || type.redacted) return
  if (type.text() === 'http') checkHttpInput(report, input)
  else if (type.text() === 'mcp') checkToolInput(report, input)
  else error(type, 'is not a known kind of input', { expected: 'http or mcp' })
}

function checkHttpInput({ error, warning }: FindingReporter, input: JsonCursor): void {
  const method = input.get('method')
  if (!expectType(error, method, 'string') || method.redacted) return
  const name = (method.text() ?? '').toUpperCase()
  if (!METHODS.has(name)) error(method, 'is not a supported HTTP method', { expected: [...METHODS].join(', ') })
  else if (BODY_METHODS.has(name)) {
    expectPresent(error, input.get('bodyType'))
    expectOneOf(error, input.get('bodyType'), BODY_TYPES)
    expectPresent(error, input.get('body'))
  } else if (input.has('body')) warning(input.get('body'), 'is described for a method without a body')
}

function checkToolInput({ error, warning }: FindingReporter, input: JsonCursor): void {
  // Specifications of early 2026 still had the older name.
  if (input.has('toolName') || !input.has('tool')) expectText(error, input.get('toolName'))
  else warning(input.get('tool'), 'is an older name of toolName', { expected: 'toolName' })
  expectType(error, input.get('inputSchema'), 'object')
}

/** Documents of a payer. */
const PAYING: ReadonlySet<string> = new Set(['payment_payload', 'verify_request'])

const CAIP_2 = textWith(
  (found) => (readCaip2(found) === null ? 'is not a CAIP-2 id' : null),
  'a CAIP-2 id of a network, such as eip155:8453',
)
const OFFER_TERMS = ['scheme', 'network', 'asset', 'payTo', 'amount'] as const
const OFFER_PAYLOAD = object(
  { version: integer(1n), resourceUrl: uri, network: CAIP_2, ...each(text, 'scheme', 'asset', 'payTo', 'amount') },
  { validUntil: integer(0n) },
)
const RECEIPT_PAYLOAD = object(
  { version: integer(1n), network: CAIP_2, resourceUrl: uri, payer: text, issuedAt: integer(0n) },
  { transaction: text },
)
const KEY_SIGNATURE = { pattern: /^0x[0-9a-fA-F]{130}$/, expected: '0x and 130 hexadecimal digits' }

/** Expects an offer or receipt in one of its two formats; returns its payload, null where it is in the signature. */
function checkSigned(error: ReportFinding, cursor: JsonCursor, payload: JsonShape): JsonCursor | null {
  if (!expectObject(error, cursor)) return null
  const format = cursor.get('format')
  if (!expectPresent(error, format) || expectOneOf(error, format, ['eip712', 'jws']) === null) return null
  const signature = cursor.get('signature')
  if (!expectType(error, signature, 'string')) return null
  if (format.text() === 'jws') {
    if (cursor.has('payload')) error(cursor.get('payload'), 'repeats the payload of the JWS')
    const token = signature.text()
    if (token !== null && readCompactJws(token)?.header == null) error(signature, 'is not a compact JWS')
    return null
  }
  expectTextForm(error, signature, KEY_SIGNATURE)
  if (!expectType(error, cursor.get('payload'), 'object')) return null
  expectShape(error, cursor.get('payload'), payload)
  return cursor.get('payload')
}

function checkOffer({ error, warning }: FindingReporter, offer: JsonCursor, accepts: readonly JsonCursor[] | null, now_s: number): void {
  const payload = checkSigned(error, offer, OFFER_PAYLOAD)
  const index = expectInteger(error, offer.get('acceptIndex'), { min: 0n })
  const entry = index === null ? null : (accepts?.[Number(index)] ?? null)
  if (index !== null && accepts !== null && entry === null) error(offer.get('acceptIndex'), 'names no entry of accepts')
  const end = payload?.integer('validUntil') ?? null
  if (payload !== null && end !== null && end > 0n && end < BigInt(now_s)) warning(payload.get('validUntil'), 'is in the past')
  if (payload === null || entry === null) return
  for (const name of OFFER_TERMS) {
    const [promised, asked] = [payload.text(name), entry.text(name)]
    if (promised !== null && asked !== null && promised.toLowerCase() !== asked.toLowerCase())
      error(payload.get(name), `is not the ${name} of the entry that acceptIndex names`)
  }
}

const SIGN_IN = object(
  {
    domain: textWith((found) => (/^[^\s/?#@]{1,253}$/.test(found) ? null : 'is not a host'), 'a host, such as api.example.com'),
    uri,
    version: oneOfTexts('1'),
    nonce: textWith((found) => (/^[A-Za-z0-9]{8,256}$/.test(found) ? null : 'is not a nonce of EIP-4361'), 'at least 8 letters and digits'),
    issuedAt: textWith((found) => (readDateTime(found) === null ? 'is not a date-time of RFC 3339' : null), '2026-11-21T12:00:00Z'),
  },
  {
    ...each(
      textWith((found) => (readDateTime(found) === null ? 'is not a date-time of RFC 3339' : null), '2026-11-21T12:00:00Z'),
      'expirationTime',
      'notBefore',
    ),
    ...each(text, 'statement', 'requestId'),
    resources: list(text),
  },
)
const SIGN_IN_CHAIN = object({ chainId: CAIP_2, type: oneOfTexts('eip191', 'ed25519') })

function checkSignIn({ error, warning }: FindingReporter, extension: JsonCursor, context: RuleContext): void {
  const info = extension.get('info')
  expectShape(error, info, SIGN_IN)
  const [domain, url] = [info.text('domain'), readUrl(info.text('uri'))]
  if (domain !== null && url !== null && url.host !== domain.toLowerCase() && url.hostname !== domain.toLowerCase())
    error(info.get('uri'), 'is not on the domain', { expected: domain })
  const [issued, end] = [readDateTime(info.text('issuedAt')), readDateTime(info.text('expirationTime'))]
  if (issued !== null && end !== null && end <= issued) error(info.get('expirationTime'), 'is not later than issuedAt')
  else if (end !== null && end <= context.now_s) warning(info.get('expirationTime'), 'is in the past')
  if (info.text('signature') !== null || PAYING.has(context.type)) return
  const chains = extension.get('supportedChains')
  if (!expectType(error, chains, 'array')) return
  expectNotEmpty(error, chains, 'a chain that a payer may sign for')
  for (const chain of chains.items()) {
    expectShape(error, chain, SIGN_IN_CHAIN)
    const [id, type] = [chain.text('chainId') ?? '', chain.text('type')]
    if (id.startsWith('eip155:') && type === 'ed25519')
      error(chain.get('type'), 'is not a signature type of this network', { expected: 'eip191' })
    if (id.startsWith('solana:') && type === 'eip191')
      error(chain.get('type'), 'is not a signature type of this network', { expected: 'ed25519' })
  }
}
