import { isDate } from '../kit/dates.ts'
import {
  expectType,
  expectItems,
  expectText,
  expectTypeIfPresent,
  expectTextIfPresent,
  expectOneOf,
  expectArrayIfPresent,
  reportSecrets,
  expectObjectIfPresent,
  expectUniqueMembers,
} from '../kit/expect.ts'
import { describeHttpsFault, expectHttpsUrl, hostOfUrl, isHostWithin, hostOfPayee } from '../kit/url.ts'
import { rfc, type RuleTable, type FindingReporter, type ReportFinding } from '../protocol.ts'
import { ucpSpec, isCapability, type UcpView, PROFILES } from './view.ts'
import { expectShape, list, object, text, uri } from '../kit/shape.ts'
import { decodedLength, PRIVATE_JWK_MEMBERS } from '../kit/keys.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { sameAccount } from '../kit/addresses.ts'

const HANDLERS = ucpSpec('overview', 'Payment Architecture')

/** Members of a handler in 2026-01-11 except name and version, which other rules check. */
const FIRST_HANDLER = object({ spec: text, config_schema: uri, instrument_schemas: list(uri), config: object({}) })

export const UCP_HANDLER_RULES: RuleTable<UcpView> = {
  // UCP-019…021 and 026: payment handlers, older versions, and the webhook for orders.
  'UCP-019': {
    severity: 'both',
    why: 'Payment instruments say by this id which handler made them.',
    spec: HANDLERS,
    hint: 'Give each handler a unique id, and in 2026-01-11 spec, config_schema, instrument_schemas and config.',
    hint_by_case: true,
    good: { payment_handlers: { 'com.google.pay': [{ id: 'gpay', version: '2026-04-08' }] } },
    bad: { payment_handlers: { 'com.google.pay': [{ version: '2026-04-08' }] } },
    check({ error, warning }, { entities, is_first_version }) {
      const handlers = entities.filter(({ registry }) => registry === 'payment_handlers')
      for (const { cursor } of handlers) {
        expectText(error, cursor.get('id'))
        if (is_first_version) {
          expectShape(error, cursor, FIRST_HANDLER)
          expectTextIfPresent(error, cursor.get('spec'))
        } else {
          expectTypeIfPresent(error, cursor.get('config'), 'object')
          for (const name of ['schema', 'spec']) expectTextIfPresent(error, cursor.get(name))
        }
      }
      expectUniqueMembers(
        warning,
        handlers.map(({ cursor }) => cursor),
        'id',
        'the id of another handler',
      )
    },
  },
  'UCP-020': {
    since: '2026-04-08',
    why: 'An empty list means that the handler accepts no instrument.',
    spec: HANDLERS,
    hint: 'List at least one instrument with its type, or leave the member out.',
    good: { available_instruments: [{ type: 'card', constraints: { brands: ['visa'] } }] },
    bad: { available_instruments: [] },
    check({ error }, { entities }) {
      for (const { registry, cursor } of entities) {
        const instruments = cursor.get('available_instruments')
        if (registry !== 'payment_handlers' || !instruments.present) continue
        for (const item of expectItems(error, instruments)) {
          if (!expectObjectIfPresent(error, item)) continue
          expectText(error, item.get('type'))
          const constraints = item.get('constraints')
          if (expectTypeIfPresent(error, constraints, 'object') && constraints.kind === 'object' && constraints.members().length === 0)
            error(constraints, 'is empty', { expected: 'at least one constraint, or no such member' })
        }
      }
    },
  },
  'UCP-021': {
    severity: 'both',
    since: '2026-04-08',
    why: 'Platforms of an older version find their profile there.',
    spec: ucpSpec('overview', 'Protocol Version'),
    hint: 'Map each older version to the https URL of its profile.',
    good: { supported_versions: { '2026-01-23': 'https://shop.example.com/.well-known/ucp/2026-01-23' } },
    bad: { supported_versions: { '1.0': '/old' } },
    check({ error, warning }, { ucp }) {
      const versions = ucp.get('supported_versions')
      expectTypeIfPresent(error, versions, 'object')
      for (const member of versions.members()) {
        if (!isDate(member.key)) error(member, 'has a name that is not a date', { expected: 'a version as YYYY-MM-DD' })
        else if (member.key === ucp.text('version')) warning(member, 'is the version of this document itself')
        expectHttpsUrl(error, member)
      }
    },
  },
  'UCP-026': {
    severity: 'warning',
    types: ['platform_profile'],
    why: 'Businesses report the fate of an order to this URL.',
    spec: ucpSpec('order', 'Webhook URL Configuration'),
    hint: 'Add config.webhook_url to the order capability, with an https URL.',
    good: { 'dev.ucp.shopping.order': [{ config: { webhook_url: 'https://agent.example.com/orders' } }] },
    bad: { 'dev.ucp.shopping.order': [{}] },
    check({ warning }, { entities }) {
      for (const { cursor, name } of entities.filter(isCapability)) {
        if (name !== 'dev.ucp.shopping.order') continue
        const url = cursor.get('config', 'webhook_url')
        if (!expectType(warning, url, 'string')) continue
        const said = url.text()
        const fault = said === null ? null : describeHttpsFault(said)
        if (fault !== null) warning(url, fault, { expected: 'an absolute https URL' })
      }
    },
  },
  // UCP-022…025: public keys of a profile.
  'UCP-022': {
    types: PROFILES,
    why: 'Verifiers look in one place only; keys elsewhere verify nothing.',
    spec: ucpSpec('overview', 'Profile Structure'),
    hint: 'Publish signing_keys up to 2026-04-08 or keys since 2026-08-25, next to ucp and not inside it.',
    good: { ucp: { version: '2026-04-08' }, signing_keys: [] },
    bad: { ucp: { version: '2026-04-08', keys: [] } },
    check({ error }, view) {
      const { body, ucp } = view
      const [own, other] = keyMemberNames(view)
      if (body.has(other) && !body.has(own)) error(body.get(other), 'is where another version keeps the keys', { expected: own })
      for (const name of [own, other]) {
        if (ucp.has(name)) error(ucp.get(name), 'is inside ucp, where verifiers do not look', { expected: `${own} next to ucp` })
        expectArrayIfPresent(error, body.get(name), 'object')
      }
    },
  },
  'UCP-023': {
    types: PROFILES,
    why: 'A signature names its key by kid; a key that lacks a coordinate verifies nothing.',
    spec: rfc(7517, '4'),
    hint: 'Send kid, kty, crv, x, and y for EC, with coordinates in base64url at full length; n and e for RSA.',
    good: { kid: 'shop_2026', kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
    bad: { kty: 'EC', crv: 'P-256' },
    check({ error }, { keys, is_newest_version }) {
      for (const key of keys) checkKey(error, key, is_newest_version)
    },
  },
  'UCP-024': {
    severity: 'both',
    why: 'A reader of a private key can sign as its owner; other secrets can be misused too.',
    spec: rfc(7518, '6'),
    hint: 'Publish public keys only, send [REDACTED] for secrets, and replace those that were published.',
    good: { kid: 'shop_2026', kty: 'OKP', crv: 'Ed25519', x: '…' },
    bad: { kid: 'shop_2026', kty: 'OKP', crv: 'Ed25519', x: '…', d: '…' },
    check({ error, warning }, { keys, context }) {
      const reported = new Set<string>()
      for (const key of keys) {
        for (const name of PRIVATE_JWK_MEMBERS) {
          const cursor = key.get(name)
          if (!cursor.present || cursor.redacted) continue
          reported.add(cursor.path())
          error(cursor, 'is the private part of a key')
        }
      }
      reportSecrets(warning, context.secrets, reported)
    },
  },
  'UCP-025': {
    severity: 'both',
    types: PROFILES,
    why: 'A verifier picks the key by its kid, and everybody supports ES256.',
    spec: ucpSpec('signatures', 'Signature Algorithms'),
    hint: 'Use each kid once, the algorithm of the curve, and publish at least one P-256 key.',
    good: { kid: 'shop_2026', kty: 'EC', crv: 'P-256', alg: 'ES256' },
    bad: { kid: 'shop_2026', kty: 'EC', crv: 'P-256', alg: 'ES384' },
    check(report, view) {
      const { body } = view
      const [own, other] = keyMemberNames(view)
      for (const name of [own, other]) checkKeySet(report, body.get(name), view.is_newest_version)
    },
  },
}

/** The own field of a version for public keys, and the one that another version uses. */
function keyMemberNames({ is_newest_version }: Pick<UcpView, 'is_newest_version'>): ['keys' | 'signing_keys', 'keys' | 'signing_keys'] {
  return is_newest_version ? ['keys', 'signing_keys'] : ['signing_keys', 'keys']
}

const ALGORITHMS: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', Ed25519: 'EdDSA' }

/** The table entry for the curve of a key; own members only, since the name is input. */
function lookUpCurve<Value>(table: Readonly<Record<string, Value>>, key: JsonCursor): Value | undefined {
  const curve = key.text('crv') ?? ''
  return Object.hasOwn(table, curve) ? table[curve] : undefined
}

/** Required members of public keys by kty (RFC 7518, 6.2.1 and 6.3.1; RFC 8037, 2). */
const NEEDED: ReadonlyMap<string, readonly string[]> = new Map([
  ['EC', ['crv', 'x', 'y']],
  ['OKP', ['crv', 'x']],
  ['RSA', ['n', 'e']],
])

/** The kty of each curve (JOSE registry, read 2026-11-22). */
const CURVE_TYPE: Readonly<Record<string, string>> = {
  'P-256': 'EC',
  'P-384': 'EC',
  'P-521': 'EC',
  secp256k1: 'EC',
  Ed25519: 'OKP',
  Ed448: 'OKP',
  X25519: 'OKP',
  X448: 'OKP',
}

/** Number of bytes in a coordinate of a curve (RFC 7518, 6.2.1; RFC 8037, 2). */
const CURVE_BYTES: Readonly<Record<string, number>> = {
  'P-256': 32,
  'P-384': 48,
  'P-521': 66,
  secp256k1: 32,
  Ed25519: 32,
  X25519: 32,
}

function checkKey(error: ReportFinding, key: JsonCursor, is_newest_version: boolean): void {
  expectText(error, key.get('kid'))
  const kty = expectText(error, key.get('kty'))
  const needed = NEEDED.get(kty ?? '') ?? []
  for (const name of ['crv', 'x', 'y', 'alg', 'e', 'n']) {
    if (needed.includes(name)) expectText(error, key.get(name))
    else expectTypeIfPresent(error, key.get(name), 'string')
  }
  if (is_newest_version) expectTypeIfPresent(error, key.get('use'), 'string')
  else expectOneOf(error, key.get('use'), ['sig', 'enc'])
  const type = lookUpCurve(CURVE_TYPE, key)
  if (type !== undefined && NEEDED.has(kty ?? '') && kty !== type) {
    error(key.get('crv'), 'is not a curve of this kty', { expected: `a key with the kty ${type}` })
    return
  }
  const size = kty === 'RSA' ? undefined : lookUpCurve(CURVE_BYTES, key)
  for (const name of size === undefined ? [] : needed.slice(1)) {
    const cursor = key.get(name)
    const value_text = cursor.text()
    if (value_text !== null && value_text.trim() !== '' && decodedLength(cursor) !== size)
      error(cursor, `does not decode to ${size} bytes`, { expected: `base64url of ${size} bytes` })
  }
}

/** One list of keys; nothing is said of an absent or empty one. */
function checkKeySet({ error, warning }: FindingReporter, key_list: JsonCursor, is_newest_version: boolean): void {
  // The schema of the newest version binds each curve to its algorithm.
  const sayAlgorithm = is_newest_version ? error : warning
  const keys = key_list.objects()
  expectUniqueMembers(error, keys, 'kid', 'the kid of another key')
  for (const key of keys) {
    const alg = key.text('alg')
    const expected = lookUpCurve(ALGORITHMS, key)
    if (alg !== null && expected !== undefined && alg !== expected)
      sayAlgorithm(key.get('alg'), 'is not the algorithm of the curve', { expected })
  }
  const isRedacted = keys.some((key) => key.get('crv').redacted || key.get('alg').redacted)
  const hasBaseline = keys.some((key) => key.text('crv') === 'P-256' || key.text('alg') === 'ES256')
  if (keys.length > 0 && !hasBaseline && !isRedacted)
    warning(key_list, 'contains no ES256 key, which every verifier supports', { expected: 'a P-256 key' })
}

/** Names under which handlers keep the account of the business. */
const ID_NAMES: ReadonlySet<string> = new Set([
  'merchant_id',
  'merchantid',
  'business_id',
  'shop_id',
  'seller_id',
  'payee',
  'payto',
  'pay_to',
])

/** UCP-045: the payee. */
export const UCP_PAYEE_RULES: RuleTable<UcpView> = {
  'UCP-045': {
    severity: 'both',
    why: 'A document of another business looks just like one of the business you mean to pay.',
    spec: ucpSpec('overview', 'Payment Architecture'),
    hint: 'Compare the business with your intended payee before you pay.',
    good: { config: { merchant_id: 'the expected payee' } },
    bad: { config: { merchant_id: 'another payee' } },
    check({ error, warning }, view) {
      const expected = view.context.expected_payee
      if (expected === null) return
      const ids = listMerchantIds(view)
      const others = ids.filter((id) => !sameAccount(id.text() ?? '', expected))
      if (others.length < ids.length) {
        for (const id of others) warning(id, 'is another payee than the expected one')
        return
      }
      const host = hostOfPayee(expected)
      if (host === null && ids.length > 0) for (const id of ids) error(id, 'is not the expected payee')
      if (host === null && ids.length > 0) return
      const hosts = host === null ? [] : hostCursors(view)
      const strangers = hosts.filter((cursor) => !isHostWithin(hostOfUrl(cursor.text()) ?? '', host ?? ''))
      for (const cursor of strangers) warning(cursor, 'has another host than the expected payee')
      if (hosts.length === 0) warning(view.body, 'names no payee that could be compared with the expected one')
    },
  },
}

/** Accounts of the business in the settings of handlers, at any depth: settings nest as each handler likes. */
function listMerchantIds({ entities }: UcpView): JsonCursor[] {
  const configs = entities.filter(({ registry }) => registry === 'payment_handlers').map(({ cursor }) => cursor.get('config'))
  return configs
    .toReversed()
    .flatMap((config) => [...config.descendants()].filter((cursor) => cursor.text() !== null && ID_NAMES.has(cursor.key.toLowerCase())))
}

/** URLs of the business itself: endpoints of a profile, and where a response leads the buyer. */
function hostCursors({ body, bindings, is_platform }: UcpView): JsonCursor[] {
  const cursors = [
    ...(is_platform ? [] : bindings.map(({ cursor }) => cursor.get('endpoint'))),
    body.get('continue_url'),
    body.get('permalink_url'),
    body.get('order', 'permalink_url'),
    ...body.objects('products').map((product) => product.get('url')),
  ]
  return cursors.filter((cursor) => hostOfUrl(cursor.text()) !== null)
}
