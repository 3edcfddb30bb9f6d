import assert from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { ed25519 } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import { keccak256, stringToBytes, toHex, type Hex } from 'viem'
import { privateKeyToAddress, sign as signSecp } from 'viem/accounts'
import { POD1_CODES } from '../../src/pure/rulebooks/pod1-table.ts'
import { type Attestation, type DeliveryMandate, digestText, verifyDelivery } from '../../src/pure/rulebooks/pod1.ts'
import { runs, SEED } from '../support/counts.ts'
import { readVectors } from '../support/vectors.ts'

const RING = [
  [10, 10],
  [10, 90],
  [90, 90],
  [90, 10],
]

const MANDATE: DeliveryMandate = {
  mandate_id: 'M-1',
  geofence: { type: 'polygon_e7', ring: RING },
  window: { not_before: 100, not_after: 200 },
  max_accuracy_m: 20,
  required_signers: ['device', 'recipient'],
}

/** An attestation that MANDATE takes, but for its key, scheme and signatures. */
const DELIVERY: fc.Arbitrary<Attestation> = fc.record({
  mandate_id: fc.constant('M-1'),
  device_id: fc.stringMatching(/^[ -{}~]{1,20}$/),
  geo: fc.record({
    lat_e7: fc.integer({ min: 10, max: 90 }),
    lon_e7: fc.integer({ min: 10, max: 90 }),
    accuracy_m: fc.double({ min: 0, max: 20, noNaN: true }),
  }),
  ts: fc.integer({ min: 100, max: 200 }),
  counter: fc.integer({ min: 8, max: Number.MAX_SAFE_INTEGER - 1 }),
})

/** The signed text, put together apart from the code under test. */
function message(role: string, { mandate_id, device_id, device_pubkey, scheme, geo, ts, counter }: Attestation): Hex {
  const place = `${geo?.lat_e7 ?? ''}|${geo?.lon_e7 ?? ''}|${JSON.stringify(geo?.accuracy_m)}`
  const text = `POD-1|${role}|${mandate_id ?? ''}|${device_id ?? ''}|${device_pubkey ?? ''}|${scheme ?? ''}|${place}|${ts ?? ''}|${counter ?? ''}`
  return keccak256(stringToBytes(text))
}

const bytes = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')

interface Signer {
  scheme: number
  key: string
  sign(digest: Hex): Promise<string>
}

function wallet(private_key: Hex): Signer {
  return {
    scheme: 1,
    key: privateKeyToAddress(private_key).toLowerCase(),
    sign: (hash) => signSecp({ hash, privateKey: private_key, to: 'hex' }),
  }
}

function edwards(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { scheme: 2, key: rawKey(publicKey), sign: (digest) => Promise.resolve(toHex(sign(null, bytes(digest), privateKey))) }
}

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** Of the two s that a signature may have, the low or the high one; left alone, signers give either. */
function secureElement(high = false): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const signed = (digest: Hex) => {
    const raw = sign('sha256', bytes(digest), { key: privateKey, dsaEncoding: 'ieee-p1363' })
    const s = BigInt(`0x${raw.toString('hex', 32)}`)
    const other = s > P256_ORDER / 2n === high ? s : P256_ORDER - s
    return `0x${raw.toString('hex', 0, 32)}${other.toString(16).padStart(64, '0')}`
  }
  return { scheme: 3, key: rawKey(publicKey), sign: (digest) => Promise.resolve(signed(digest)) }
}

/** The 32 bytes of an Ed25519 key; of a P-256 key the uncompressed point. */
function rawKey(key: KeyObject): string {
  const { x = '', y } = createPublicKey(key.export({ type: 'spki', format: 'pem' })).export({ format: 'jwk' })
  const part = (text: string) => Buffer.from(text, 'base64url').toString('hex')
  return y === undefined ? `0x${part(x)}` : `0x04${part(x)}${part(y)}`
}

async function attested(delivery: Attestation, device: Signer, recipient: Signer): Promise<Attestation> {
  const whole = { ...delivery, scheme: device.scheme, device_pubkey: device.key }
  const signatures = {
    device: await device.sign(message('device', whole)),
    recipient: await recipient.sign(message('recipient', whole)),
  }
  return { ...whole, signatures }
}

const PAIRS: Record<string, () => [Signer, Signer]> = {
  'secp256k1 by viem': () => [wallet(toHex(1n, { size: 32 })), wallet(toHex(2n ** 255n, { size: 32 }))],
  'Ed25519 by node:crypto': () => [edwards(), edwards()],
  'P-256 by node:crypto, low s': () => [secureElement(), secureElement()],
  'P-256 by node:crypto, high s': () => [secureElement(true), secureElement(true)],
}

for (const [name, pair] of Object.entries(PAIRS)) {
  test(`what others sign verifies: ${name}; no changed field does`, async () => {
    const [device, recipient] = pair()
    const mandate = { ...MANDATE, signer_keys: { device: device.key, recipient: recipient.key } }
    const property = fc.asyncProperty(DELIVERY, async (delivery) => {
      const good = await attested(delivery, device, recipient)
      const found = verifyDelivery(mandate, good, 7)
      assert.equal(found.reason_code, 'ok')
      assert.equal(found.next_last_seen_counter, delivery.counter)
      assert.deepEqual(
        found.signers.map(({ digest }) => digest),
        [message('device', good), message('recipient', good)],
      )
      for (const changed of altered(good)) {
        const { verdict, signers } = verifyDelivery(mandate, changed, 7)
        assert.equal(verdict, 'REJECTED')
        assert.ok(signers.every(({ check }) => check.outcome === 'fail'))
      }
    })
    await fc.assert(property, { numRuns: runs(5, 50), seed: SEED })
  })
}

/** The attestation with one field changed each time. */
function altered(good: Attestation): Attestation[] {
  const { geo, ts = 0, counter = 0, signatures = {} } = good
  if (geo === undefined) throw new Error('A delivery has a position.')
  const swapped = { device: signatures['recipient'] ?? '', recipient: signatures['device'] ?? '' }
  return [
    { ...good, mandate_id: 'M-2' },
    { ...good, device_id: 'another' },
    { ...good, geo: { ...geo, lat_e7: geo.lat_e7 + 1 } },
    { ...good, geo: { ...geo, lon_e7: geo.lon_e7 - 1 } },
    { ...good, geo: { ...geo, accuracy_m: (geo.accuracy_m ?? 0) + 0.5 } },
    { ...good, ts: ts - 1 },
    { ...good, counter: counter + 1 },
    { ...good, signatures: swapped },
  ]
}

const [DEVICE, RECIPIENT] = [wallet(toHex(3n, { size: 32 })), wallet(toHex(4n, { size: 32 }))]
const SAMPLE: Attestation = { mandate_id: 'M-1', device_id: 'd', geo: { lat_e7: 50, lon_e7: 50, accuracy_m: 3 }, ts: 150, counter: 9 }

test('whatever is missing, nothing is verified, and nothing fails that was not wrong', async () => {
  const good = await attested(SAMPLE, DEVICE, RECIPIENT)
  assert.equal(verifyDelivery(MANDATE, good, null).verdict, 'VERIFIED')
  const without = (whole: object, name: string) => Object.fromEntries(Object.entries(whole).filter(([one]) => one !== name))
  for (const name of Object.keys(MANDATE)) assert.equal(verifyDelivery(without(MANDATE, name), good, 8).verdict, 'INCOMPLETE', name)
  for (const name of Object.keys(good)) assert.equal(verifyDelivery(MANDATE, without(good, name), 8).verdict, 'INCOMPLETE', name)
  const empty = verifyDelivery({}, {}, null)
  assert.equal(empty.verdict, 'INCOMPLETE')
  assert.ok(empty.checks.every(({ outcome }) => outcome !== 'fail'))
})

test('all checks run: each one that fails is reported beside the others', async () => {
  const good = await attested(SAMPLE, DEVICE, RECIPIENT)
  const bad = { ...good, mandate_id: 'M-2', geo: { lat_e7: 5, lon_e7: 5, accuracy_m: 21 }, ts: 99, counter: 8 }
  const { checks, verdict } = verifyDelivery({ ...MANDATE, signer_keys: { recipient: RECIPIENT.key } }, bad, 8)
  assert.equal(verdict, 'REJECTED')
  assert.deepEqual(
    checks.filter(({ outcome }) => outcome === 'fail').map(({ code }) => code),
    ['mandate_mismatch', 'outside_geofence', 'accuracy_too_coarse', 'before_window', 'counter_replayed', 'signature_wrong'],
  )
})

test('no key stands for two roles, in whatever form it is written', async () => {
  const good = await attested(SAMPLE, DEVICE, RECIPIENT)
  // The public key of the private key 3, SEC 2 curve secp256k1; its address is that of DEVICE.
  const point = '0x02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9'
  const keys = { device: DEVICE.key.toUpperCase().replace('0X', '0x'), recipient: RECIPIENT.key, courier: point }
  assert.equal(verifyDelivery({ ...MANDATE, signer_keys: keys }, good, 8).reason_code, 'key_reused')
  const { courier: _courier, ...distinct } = keys
  assert.equal(verifyDelivery({ ...MANDATE, signer_keys: distinct }, good, 8).verdict, 'VERIFIED')
})

test('on P-256 an s of either half is taken, and none beyond the order', async () => {
  const [device, recipient] = [secureElement(), secureElement(true)]
  const mandate = { ...MANDATE, signer_keys: { recipient: recipient.key } }
  const good = await attested(SAMPLE, device, recipient)
  assert.equal(verifyDelivery(mandate, good, 8).verdict, 'VERIFIED')
  const { recipient: text = '' } = good.signatures ?? {}
  for (const s of [0n, P256_ORDER, 2n ** 256n - 1n]) {
    const signatures = { ...good.signatures, recipient: `${text.slice(0, 66)}${s.toString(16).padStart(64, '0')}` }
    assert.equal(verifyDelivery(mandate, { ...good, signatures }, 8).reason_code, 'signature_malformed')
  }
})

test('an Ed25519 key outside the group of prime order is no key, though lenient verifiers take its signatures', () => {
  const { Point } = ed25519
  // A key of order 8 times the prime, and a signature that holds once multiplied by the cofactor.
  const torsion = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')
  const [secret, nonce] = [5n, 11n]
  const key = Point.BASE.multiply(secret).add(torsion)
  const whole = { ...SAMPLE, scheme: 2, device_pubkey: `0x${key.toHex()}` }
  const digest = bytes(message('device', whole))
  const r = Point.BASE.multiply(nonce)
  const challenge = Point.Fn.create(
    littleEndian(
      createHash('sha512')
        .update(Buffer.concat([r.toBytes(), key.toBytes(), digest]))
        .digest(),
    ),
  )
  const s = Point.Fn.toBytes(Point.Fn.create(nonce + challenge * secret))
  const signature = Buffer.concat([r.toBytes(), s])
  assert.ok(ed25519.verify(signature, digest, key.toBytes()))
  const found = verifyDelivery({ ...MANDATE, required_signers: ['device'] }, { ...whole, signatures: { device: toHex(signature) } }, 8)
  assert.equal(found.reason_code, 'key_malformed')
})

function littleEndian(found: Uint8Array): bigint {
  return BigInt(toHex(found.toReversed()))
}

test('the digest is as the documentation shows it', () => {
  const { cases = [] } = readVectors({ family: 'trust', id: 'pod-verify-delivery' }) ?? {}
  const [first] = cases
  const text = digestText('device', first?.in['attestation'] as Attestation)
  assert.equal(
    text,
    'POD-1|device|M-2026-77|scanner-9|0x027f30ea2476b399b4957509c88f77d0191afa2ff5cb7b14fd6d8e7d65aaab1193|1|525200000|134050000|8.5|1790001800|42',
  )
})

test('every code that can be answered has a vector', () => {
  const { cases = [] } = readVectors({ family: 'trust', id: 'pod-verify-delivery' }) ?? {}
  const seen = new Set(cases.map(({ out }) => out['reason_code']))
  assert.deepEqual(
    Object.keys(POD1_CODES).filter((code) => !seen.has(code)),
    [],
  )
})
