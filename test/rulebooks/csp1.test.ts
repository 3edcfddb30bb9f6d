import assert from 'node:assert/strict'
import { createECDH } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { keccak256, toHex, type Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { createDerivation } from '../../src/adapters/derivation/hmac.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { createCommitment, CSP1_CODES, readMetaAddress, stealthAddress } from '../../src/pure/rulebooks/csp1.ts'
import { runs, SEED } from '../support/counts.ts'
import { readVectors } from '../support/vectors.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const KEY = fc.bigInt({ min: 1n, max: ORDER - 1n })
const INVOICE = { no: 'A-1', total: '12.50' }
const { hmac } = createDerivation(new Uint8Array(32).fill(1))

const hex = (key: bigint) => key.toString(16).padStart(64, '0')

/** Multiplication on secp256k1 as OpenSSL does it. */
function openssl(key: bigint) {
  const ecdh = createECDH('secp256k1')
  ecdh.setPrivateKey(hex(key), 'hex')
  return ecdh
}

const publicKey = (key: bigint) => openssl(key).getPublicKey('hex', 'compressed')

test('the recipient finds and spends the payment with the announcement and the own keys alone', () => {
  const property = fc.property(KEY, KEY, fc.jsonValue(), (spend, view, terms) => {
    const stealth_recipient = `st:eth:0x${publicKey(spend)}${publicKey(view)}`
    const { ok, announcement, linkable_by_service } = createCommitment({ invoice_object: { terms }, stealth_recipient }, hmac)
    assert.ok(ok && announcement !== null && linkable_by_service)
    // The shared point as OpenSSL finds it: x alone, so both of its signs are tried; the view tag says which.
    const x = openssl(view).computeSecret(announcement.ephemeral_pubkey.slice(2), 'hex', 'hex')
    const spending = (['02', '03'] as const)
      .map((sign) => keccak256(`0x${sign}${x}`))
      .map((hashed) => ({ hashed, tag: hashed.slice(0, 4) }))
    const found = spending
      .filter(({ tag }) => tag === announcement.view_tag)
      .map(({ hashed }) => privateKeyToAddress(`0x${hex((spend + BigInt(hashed)) % ORDER)}`).toLowerCase())
    assert.ok(found.includes(announcement.stealth_address))
    assert.equal(announcement.metadata, announcement.view_tag)
  })
  fc.assert(property, { numRuns: runs(10, 250), seed: SEED })
})

test('scheme 1 with the hash of the compressed point', () => {
  const read = readMetaAddress(`0x${publicKey(5n)}${publicKey(6n)}`)
  assert.ok(read.ok)
  assert.deepEqual(stealthAddress(read.meta, 7n, nobleCrypto), {
    stealth_address: '0x5503b73206ba342b18e94af1c63b76cd37b16f26',
    ephemeral_pubkey: '0x025cbdf0646e5db4eaa398f365f2ea7a0e3d419b7e0330e39ce92bddedcac4f9bc',
    view_tag: '0x15',
  })
  for (const key of [0n, ORDER, ORDER + 7n]) assert.equal(stealthAddress(read.meta, key, nobleCrypto), null)
})

test('a commitment binds to every part of the invoice and to the salt, whatever the order of members', () => {
  const property = fc.property(
    fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
    fc.bigInt({ min: 1n, max: 2n ** 255n }),
    (terms, salt) => {
      const salt_hex = toHex(salt, { size: 32 })
      const made = createCommitment({ invoice_object: terms, salt_hex }, hmac)
      const turned = Object.fromEntries(Object.entries(terms).toReversed())
      const text = Buffer.from(made.canonical_jcs).toString('hex')
      assert.equal(made.invoice_commitment, keccak256(`${keccak256(toHex('CSP-1 commitment'))}${salt_hex.slice(2)}${text}` as Hex))
      assert.equal(createCommitment({ invoice_object: turned, salt_hex }, hmac).invoice_commitment, made.invoice_commitment)
      const others = [
        { invoice_object: { ...terms, one_more: 1 }, salt_hex },
        { invoice_object: terms, salt_hex: toHex(salt - 1n, { size: 32 }) },
      ]
      for (const other of others) assert.notEqual(createCommitment(other, hmac).invoice_commitment, made.invoice_commitment)
    },
  )
  fc.assert(property, { numRuns: runs(50, 2_000), seed: SEED })
})

test('what is derived follows from the terms and the secret, and from nothing else', () => {
  const stealth_recipient = `0x${publicKey(5n)}`
  const made = createCommitment({ invoice_object: INVOICE, stealth_recipient }, hmac)
  assert.deepEqual(createCommitment({ invoice_object: { ...INVOICE }, stealth_recipient }, hmac), made)
  const stranger = createDerivation(new Uint8Array(32).fill(2))
  const [elsewhere, other] = [
    createCommitment({ invoice_object: INVOICE, stealth_recipient }, stranger.hmac),
    createCommitment({ invoice_object: { ...INVOICE, no: 'A-2' }, stealth_recipient }, hmac),
  ]
  for (const one of [elsewhere, other]) {
    assert.notEqual(one.salt_hex, made.salt_hex)
    assert.notEqual(one.announcement?.ephemeral_pubkey, made.announcement?.ephemeral_pubkey)
  }
})

test('amounts that do not fit 32 bytes, or are no decimal text, stay out of the metadata', () => {
  const token_address = `0x${'ab'.repeat(20)}`
  const metadata = (amount_minor: unknown) =>
    createCommitment({ invoice_object: { token_address, amount_minor }, stealth_recipient: `0x${publicKey(5n)}` }, hmac).announcement
      ?.metadata
  const most = 2n ** 256n - 1n
  assert.equal(metadata(String(most))?.slice(4), `a9059cbb${'ab'.repeat(20)}${'ff'.repeat(32)}`)
  for (const amount of [String(most + 1n), 5, '1.5', '-1', '007', '1e3']) assert.equal(metadata(amount)?.length, 4)
})

test('every code that can be answered has a vector', () => {
  const { cases = [] } = readVectors({ family: 'trust', id: 'csp-commitment-create' }) ?? {}
  const seen = new Set(cases.map(({ out }) => out['reason_code']))
  assert.deepEqual(
    Object.keys(CSP1_CODES).filter((code) => !seen.has(code)),
    [],
  )
})
