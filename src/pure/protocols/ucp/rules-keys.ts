import { needText, oneOf, optional, unique } from '../kit/expect.ts'
import { CURVE_BYTES, memberBytes, PRIVATE_JWK_MEMBERS } from '../kit/keys.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { SECRET_WORDS } from '../secrets.ts'
import { PROFILES } from './detect.ts'
import { rfc, ucpSpec } from './spec.ts'
import { keyFields, objects, type UcpView } from './view.ts'

const ALGORITHMS: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', Ed25519: 'EdDSA' }

/** UCP-022…025: public keys of a profile. */
export const KEY_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-022',
      severity: 'error',
      types: PROFILES,
      why: 'Verifiers look in one place only; keys elsewhere verify nothing.',
      spec: ucpSpec('overview', 'Profile Structure'),
      hint: 'Publish signing_keys up to 2026-04-08, keys from 2026-08-25 on, beside ucp and not in it.',
      good: { ucp: { version: '2026-04-08' }, signing_keys: [] },
      bad: { ucp: { version: '2026-04-08', keys: [] } },
    },
    ({ error }, view) => {
      const { body, ucp } = view
      const [own, other] = keyFields(view)
      if (body.has(other) && !body.has(own)) error(body.get(other), 'is where another version keeps the keys', { expected: own })
      for (const name of [own, other]) {
        if (ucp.has(name)) error(ucp.get(name), 'stands in ucp, where no verifier looks', { expected: `${own} beside ucp` })
        optional(error, body.get(name), 'array')
        for (const item of body.get(name).items()) optional(error, item, 'object')
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-023',
      severity: 'error',
      types: PROFILES,
      why: 'A signature names its key by kid; a key that lacks a coordinate verifies nothing.',
      spec: rfc(7517, '4'),
      hint: 'Send kid, kty, crv, x, and y for EC, with coordinates in base64url at full length; n and e for RSA.',
      good: { kid: 'shop_2026', kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
      bad: { kty: 'EC', crv: 'P-256' },
    },
    ({ error }, { keys, newest }) => {
      for (const key of keys) keyForm(error, key, newest)
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-024',
      severity: 'both',
      why: 'Whoever reads a private key signs as its owner; other secrets are spent by their reader too.',
      spec: rfc(7518, '6'),
      hint: 'Publish public keys only, send [REDACTED] for secrets, and change whatever was shown.',
      good: { kid: 'shop_2026', kty: 'OKP', crv: 'Ed25519', x: '…' },
      bad: { kid: 'shop_2026', kty: 'OKP', crv: 'Ed25519', x: '…', d: '…' },
    },
    ({ error, warning }, { keys, context }) => {
      const told = new Set<string>()
      for (const key of keys) {
        for (const name of PRIVATE_JWK_MEMBERS) {
          const place = key.get(name)
          if (!place.present || place.redacted) continue
          told.add(place.path())
          error(place, 'is the private part of a key')
        }
      }
      for (const { place, kind } of context.secrets) if (!told.has(place.path())) warning(place, `looks like ${SECRET_WORDS[kind]}`)
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-025',
      severity: 'both',
      types: PROFILES,
      why: 'A verifier picks the key by its kid, and everybody supports ES256.',
      spec: ucpSpec('signatures', 'Signature Algorithms'),
      hint: 'Use each kid once, the algorithm of the curve, and publish at least one P-256 key.',
      good: { kid: 'shop_2026', kty: 'EC', crv: 'P-256', alg: 'ES256' },
      bad: { kid: 'shop_2026', kty: 'EC', crv: 'P-256', alg: 'ES384' },
    },
    (report, view) => {
      const { body } = view
      const [own, other] = keyFields(view)
      for (const name of [own, other]) keySet(report, body.get(name), view.newest)
    },
  ),
]

/** What a table says of the curve of a key; own members only, since the name comes from a stranger. */
function ofCurve<Value>(table: Readonly<Record<string, Value>>, key: Place): Value | undefined {
  const curve = key.get('crv').text() ?? ''
  return Object.hasOwn(table, curve) ? table[curve] : undefined
}

/** What a public key must have (RFC 7518, 6.2.1 and 6.3.1; RFC 8037, 2); of other kinds nothing is known. */
const NEEDED: ReadonlyMap<string, readonly string[]> = new Map([
  ['EC', ['crv', 'x', 'y']],
  ['OKP', ['crv', 'x']],
  ['RSA', ['n', 'e']],
])

/** To which kind a curve belongs (the registry of JOSE, read 2026-11-22). */
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

function keyForm(error: Say, key: Place, newest: boolean): void {
  needText(error, key.get('kid'))
  const kty = needText(error, key.get('kty'))
  const needed = NEEDED.get(kty ?? '') ?? []
  for (const name of ['crv', 'x', 'y', 'alg', 'e', 'n']) {
    if (needed.includes(name)) needText(error, key.get(name))
    else optional(error, key.get(name), 'string')
  }
  if (newest) optional(error, key.get('use'), 'string')
  else oneOf(error, key.get('use'), ['sig', 'enc'])
  const type = ofCurve(CURVE_TYPE, key)
  if (type !== undefined && NEEDED.has(kty ?? '') && kty !== type) {
    error(key.get('crv'), 'is no curve of this kty', { expected: `a key with the kty ${type}` })
    return
  }
  const size = kty === 'RSA' ? undefined : ofCurve(CURVE_BYTES, key)
  for (const name of size === undefined ? [] : needed.slice(1)) {
    const place = key.get(name)
    const text = place.text()
    if (text !== null && text.trim() !== '' && memberBytes(place) !== size)
      error(place, `does not decode to ${size} bytes`, { expected: `base64url of ${size} bytes` })
  }
}

/** One list of keys; nothing is said of an absent or empty one. */
function keySet({ error, warning }: Report, list: Place, newest: boolean): void {
  // The schema of the newest version binds each curve to its algorithm.
  const sayAlgorithm = newest ? error : warning
  const keys = objects(list)
  unique(
    error,
    keys.map((key) => key.get('kid')),
    'the kid of another key',
  )
  for (const key of keys) {
    const alg = key.get('alg').text()
    const expected = ofCurve(ALGORITHMS, key)
    if (alg !== null && expected !== undefined && alg !== expected)
      sayAlgorithm(key.get('alg'), 'is not the algorithm of the curve', { expected })
  }
  const isRedacted = keys.some((key) => key.get('crv').redacted || key.get('alg').redacted)
  const hasBaseline = keys.some((key) => key.get('crv').text() === 'P-256' || key.get('alg').text() === 'ES256')
  if (keys.length > 0 && !hasBaseline && !isRedacted)
    warning(list, 'holds no ES256 key, which everybody can verify', { expected: 'a P-256 key' })
}
