import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  domainSeparator as viemDomainSeparator,
  hashTypedData,
  parseSignature,
  serializeCompactSignature,
  serializeSignature,
  signatureToCompactSignature,
  toBytes,
  toHex,
  type Hex,
} from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { chooseSigning } from '../../src/adapters/signer/choose.ts'
import {
  type Authorization,
  type TokenDomain,
  createAuthorizationDigest,
  domainSeparator,
  normaliseSignature,
  recoverPayer,
} from '../../src/pure/payments/eip3009.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { runs, SEED } from '../support/counts.ts'

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const UINT256_MAX = 2n ** 256n - 1n
/** Order of secp256k1, SEC 2 v2.0 §2.4.1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const BASE: TokenDomain = {
  name: 'USD Coin',
  version: '2',
  chain_id: 8453,
  verifying_contract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
}
const SAMPLE: Authorization = {
  from: `0x${'1a'.repeat(20)}`,
  to: `0x${'2b'.repeat(20)}`,
  value_minor: 5_000n,
  valid_after_s: 1_700_000_000n,
  valid_before_s: 1_700_000_120n,
  nonce: `0x${'3c'.repeat(32)}`,
}

function hex(bytes: number) {
  return fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((found) => toHex(found))
}
const UINT = fc.oneof(fc.bigInt(0n, UINT256_MAX), fc.bigInt(0n, 2n ** 40n), fc.constantFrom(0n, 2n ** 64n - 1n, 2n ** 64n, UINT256_MAX))
const AUTHORIZATION = fc.record({
  from: hex(20),
  to: hex(20),
  value_minor: UINT,
  valid_after_s: UINT,
  valid_before_s: UINT,
  nonce: hex(32),
})
const DOMAIN = fc.record({
  name: fc.string({ unit: 'grapheme', maxLength: 40 }),
  version: fc.string({ maxLength: 4 }),
  chain_id: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  verifying_contract: hex(20),
})

function viemDomain({ name, version, chain_id, verifying_contract }: TokenDomain) {
  return { name, version, chainId: BigInt(chain_id), verifyingContract: verifying_contract as Hex }
}

function viemDigest(domain: TokenDomain, { from, to, value_minor, valid_after_s, valid_before_s, nonce }: Authorization): Hex {
  return hashTypedData({
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    domain: viemDomain(domain),
    message: {
      from: from as Hex,
      to: to as Hex,
      value: value_minor,
      validAfter: valid_after_s,
      validBefore: valid_before_s,
      nonce: nonce as Hex,
    },
  })
}

const fast = (await chooseSigning()).crypto

test('digests are those of viem, whatever the domain and the fields', () => {
  const property = fc.property(DOMAIN, fc.array(AUTHORIZATION, { minLength: 1, maxLength: 3 }), (domain, authorizations) => {
    const digests = [nobleCrypto.keccak256, fast.keccak256].map((keccak256) => createAuthorizationDigest(domain, keccak256))
    for (const authorization of authorizations) {
      for (const digest of digests) assert.equal(toHex(digest(authorization)), viemDigest(domain, authorization))
    }
  })
  fc.assert(property, { seed: SEED, numRuns: runs(100, 2_000) })
})

test('every field changes the digest, and so does every field of the domain', () => {
  const digestOf = (domain: TokenDomain, authorization: Authorization) =>
    toHex(createAuthorizationDigest(domain, fast.keccak256)(authorization))
  const changes: Partial<Authorization>[] = [
    { from: SAMPLE.to },
    { to: SAMPLE.from },
    { value_minor: 5_001n },
    { value_minor: 5_000n + (1n << 64n) },
    { value_minor: 5_000n + (1n << 192n) },
    { valid_after_s: 1_700_000_001n },
    { valid_before_s: 1_700_000_121n },
    { nonce: `0x${'3c'.repeat(31)}3d` },
  ]
  const domains: Partial<TokenDomain>[] = [{ name: 'USDC' }, { version: '1' }, { chain_id: 84532 }, { verifying_contract: SAMPLE.to }]
  const all = [
    digestOf(BASE, SAMPLE),
    ...changes.map((change) => digestOf(BASE, { ...SAMPLE, ...change })),
    ...domains.map((change) => digestOf({ ...BASE, ...change }, SAMPLE)),
  ]
  assert.equal(new Set(all).size, 1 + changes.length + domains.length)
})

test('a digest keeps nothing of the one before, and its result is not touched by the next', () => {
  const digest = createAuthorizationDigest(BASE, fast.keccak256)
  const first = digest({ ...SAMPLE, value_minor: UINT256_MAX })
  const text = toHex(first)
  assert.equal(toHex(digest(SAMPLE)), viemDigest(BASE, SAMPLE))
  assert.equal(toHex(first), text)
})

test('what is no address, nonce or uint256 has no digest', () => {
  const digest = createAuthorizationDigest(BASE, nobleCrypto.keccak256)
  const wrong: Partial<Authorization>[] = [
    { from: '0x1a' },
    { to: `0x${'2b'.repeat(21)}` },
    { to: `0x${'zz'.repeat(20)}` },
    { to: `0x${'1g'.repeat(20)}` },
    { from: `0X${'1a'.repeat(20)}` },
    { from: `0x${'\u0661a'.repeat(20)}` },
    { value_minor: -1n },
    { valid_before_s: UINT256_MAX + 1n },
    { nonce: '3c'.repeat(33) },
  ]
  for (const change of wrong) assert.throws(() => digest({ ...SAMPLE, ...change }), RangeError)
  assert.throws(() => createAuthorizationDigest({ ...BASE, verifying_contract: '0x' }, nobleCrypto.keccak256), RangeError)
})

test('the domain separator is that of viem', () => {
  assert.equal(
    toHex(domainSeparator(BASE, nobleCrypto.keccak256)),
    viemDomainSeparator({ domain: { ...viemDomain(BASE), chainId: BASE.chain_id } }),
  )
})

const KEY = fc.bigInt(1n, ORDER - 1n).map((scalar) => toHex(scalar, { size: 32 }))

test('payers are recovered from what viem signs, in every form of a signature', async () => {
  const digest = createAuthorizationDigest(BASE, fast.keccak256)
  const property = fc.asyncProperty(KEY, AUTHORIZATION, async (privateKey, authorization) => {
    const account = privateKeyToAccount(privateKey)
    const hash = viemDigest(BASE, authorization)
    const signature = await sign({ hash, privateKey })
    const parity = signature.yParity ?? 0
    const long = serializeSignature(signature)
    const forms = [
      long,
      `0x${long.slice(2).toUpperCase()}`,
      `${long.slice(0, -2)}0${parity}`,
      serializeCompactSignature(signatureToCompactSignature(signature)),
    ]
    for (const form of forms) {
      const read = normaliseSignature(form)
      assert.ok(read !== null && !read.high_s)
      assert.deepEqual([BigInt(read.v), read.r, read.s], [BigInt(27 + parity), signature.r, signature.s])
      assert.deepEqual(toHex(read.rs), `${signature.r}${signature.s.slice(2)}`)
      for (const { recover } of [nobleCrypto, fast]) {
        assert.equal(recoverPayer(digest(authorization), read, recover), account.address.toLowerCase())
      }
      assert.notEqual(recoverPayer(toBytes(`0x${'07'.repeat(32)}`), read, fast.recover), account.address.toLowerCase())
    }
  })
  await fc.assert(property, { seed: SEED, numRuns: runs(10, 200) })
})

// attack: high s, other v, r or s of zero, compact forms
test('the twin of a signature with high s is told, and recovers to nobody', async () => {
  const privateKey = toHex(7n, { size: 32 })
  const { r, s, yParity } = parseSignature(serializeSignature(await sign({ hash: viemDigest(BASE, SAMPLE), privateKey })))
  const twin = normaliseSignature(serializeSignature({ r, s: toHex(ORDER - BigInt(s), { size: 32 }), yParity: 1 - yParity }))
  assert.ok(twin !== null && twin.high_s)
  const digest = createAuthorizationDigest(BASE, fast.keccak256)(SAMPLE)
  assert.equal(fast.recover(digest, twin.rs, twin.recovery), privateKeyToAccount(privateKey).address.toLowerCase())
  assert.equal(recoverPayer(digest, twin, fast.recover), null)
})

test('what is no signature of an account is null', () => {
  const word = '11'.repeat(32)
  const order = ORDER.toString(16)
  const zero = '00'.repeat(32)
  const wrong = ['', '0x', `0x${word}${word}1d`, `0x${word}${word}02`, `0x${word}${word}1b00`, `0x${word}${word.slice(2)}`]
  const outside = [`0x${zero}${word}1b`, `0x${word}${zero}1b`, `0x${order}${word}1b`, `0x${word}${order}1b`, `0x${word}80${zero.slice(2)}`]
  const odd = [`${word}${word}1b00`, `0x${word}${word}g0`, `0x${word}g1${word.slice(2)}`, `0x${word}\u00e9${word.slice(1)}`]
  for (const text of [...wrong, ...outside, ...odd]) assert.equal(normaliseSignature(text), null, text)
})
