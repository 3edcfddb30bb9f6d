/** Attacks by signatures: second forms of a good one, and good ones shown where they were not meant. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hexToBigInt, keccak256, toBytes, toHex, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts'
import { ed25519 } from '@noble/curves/ed25519.js'
import { p256 } from '@noble/curves/nist.js'
import { releasedBy, releaseText } from '../../src/pure/credits/credits.ts'
import { merchantDigest, merchantSigned } from '../../src/pure/invoices/terms.ts'
import { logEntry } from '../../src/pure/log/checkpoint.ts'
import { createAuthorizationDigest, normaliseSignature, recoverPayer } from '../../src/pure/payments/eip3009.ts'
import { typedSigner } from '../../src/pure/payments/typed-data.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { signReceipt } from '../../src/pure/receipts/receipt.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import { readKey, readRoleSignature } from '../../src/pure/rulebooks/pod1.ts'
import { readEntry } from '../../src/pure/rulebooks/pol1-registry.ts'
import { BODY } from '../receipts/example.ts'
import { insurer } from '../support/insurer.ts'

const KEY = generatePrivateKey()
const ACCOUNT = privateKeyToAccount(KEY)
const OWNER = ACCOUNT.address.toLowerCase()
/** Order of secp256k1, SEC 2 v2.0 §2.4.1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const word = (value: bigint) => value.toString(16).padStart(64, '0')
const joined = (r: bigint, s: bigint, v: number): Hex => `0x${word(r)}${word(s)}${v.toString(16).padStart(2, '0')}`

/** Other texts for one signature over one digest: `same` say it in another spelling, `others` are what forgers and careless libraries make. */
function formsOf(signature: Hex): { same: Record<string, string>; others: Record<string, string> } {
  const [r, s] = [hexToBigInt(`0x${signature.slice(2, 66)}`), hexToBigInt(`0x${signature.slice(66, 130)}`)]
  const v = Number.parseInt(signature.slice(130), 16)
  const other_v = v === 27 ? 28 : 27
  const compact = `0x${word(r)}${word(s | (BigInt(v - 27) << 255n))}`
  return {
    same: { 'v from 0': joined(r, s, v - 27), capitals: `0x${signature.slice(2).toUpperCase()}` },
    others: {
      'high s': joined(r, ORDER - s, other_v),
      'high s, v from 0': joined(r, ORDER - s, other_v - 27),
      'high s, v as it was': joined(r, ORDER - s, v),
      'the other v': joined(r, s, other_v),
      'v of a chain (EIP-155)': joined(r, s, v + 8),
      'v 29': joined(r, s, v + 2),
      'v 2': joined(r, s, 2),
      'r nothing': joined(0n, s, v),
      's nothing': joined(r, 0n, v),
      'both nothing': joined(0n, 0n, v),
      'r the order': joined(ORDER, s, v),
      's the order': joined(r, ORDER, v),
      's beyond the order': joined(r, (1n << 256n) - 1n, v),
      'r beyond the order': joined((1n << 256n) - 1n, s, v),
      'a byte more': `${signature}00`,
      'a byte less': signature.slice(0, -2),
      'no 0x': signature.slice(2),
      '0X': `0X${signature.slice(2)}`,
      'a space': ` ${signature}`,
      'a line end': `${signature}\n`,
      empty: '0x',
      twice: signature + signature.slice(2),
      compact,
      'compact with high s': `0x${word(r)}${word((ORDER - s) | (BigInt(v - 27) << 255n))}`,
    },
  }
}

/** Who signed, according to one reader; null when it is nobody. Some of them read the compact form of ERC-2098 too. */
type Reader = (signature: string) => string | null
const digest = (text: string) => toBytes(keccak256(toBytes(text)))

async function judge(name: string, good: Hex, reader: Reader, compact: boolean): Promise<void> {
  assert.equal(reader(good), OWNER, name)
  const { same, others } = formsOf(good)
  for (const [form, text] of Object.entries(same)) assert.ok([OWNER, null].includes(reader(text)), `${name}: ${form}`)
  for (const [form, text] of Object.entries(others)) {
    const who = reader(text)
    // Without its v, a signature with v 27 is its compact form.
    assert.ok(compact && text === others['compact'] ? who === OWNER : who !== OWNER, `${name}: ${form}`)
  }
}

const TERMS = {
  invoice_id: 'inv_'.padEnd(30, 'a'),
  merchant: OWNER,
  amount_minor: '1000000',
  cart_hash: `0x${'7'.repeat(64)}`,
  chain_id: 84_532,
  token: `0x${'5'.repeat(40)}`,
  bank: null,
}

// attack: high s, other v, r or s of zero, compact forms
// in: money and signatures
// asset: paid answers
// attacker: payer
// defence: one signature reader; malleable twins are refused
test('no second form of a signature is one, wherever signatures are read', async () => {
  // Sixteen digests, so that both v and many shapes of r and s come up.
  for (let index = 0; index < 16; index++) {
    const text = digest(`payment ${index}`)
    const signed = await sign({ hash: toHex(text), privateKey: KEY, to: 'hex' })
    const payer: Reader = (given) => {
      const read = normaliseSignature(given)
      return read === null ? null : recoverPayer(text, read, nobleCrypto.recover)
    }
    await judge('payments', signed, payer, true)
    await judge('EIP-712 acts', signed, (given) => typedSigner(text, given, nobleCrypto), false)
    await judge('proofs of delivery', signed, (given) => roleKey(given, text), false)

    const terms = { ...TERMS, amount_minor: String(1_000 + index) }
    const issued = await sign({ hash: toHex(merchantDigest('issue', terms, nobleCrypto)), privateKey: KEY, to: 'hex' })
    await judge('invoices', issued, (given) => (merchantSigned('issue', terms, given, nobleCrypto) ? OWNER : null), true)

    const released = await ACCOUNT.signMessage({ message: releaseText(`inv_${index}`, 84_532) })
    await judge('credits', released, (given) => releasedBy(`inv_${index}`, 84_532, given, nobleCrypto), true)
  }
})

function roleKey(signature: string, over: Uint8Array): string | null {
  const read = readRoleSignature(1, signature, over, OWNER, nobleCrypto)
  return read.ok ? read.key : null
}

test('of one receipt there is one entry for the log, however its signature is written, and no twin verifies', () => {
  for (let index = 0; index < 16; index++) {
    const { receipt } = signReceipt({ ...BODY, ts: BODY.ts + index }, nobleSigner(toBytes(KEY)))
    const { same, others } = formsOf(receipt.signature as Hex)
    const entries = new Set<string>()
    for (const signature of [receipt.signature, ...Object.values(same)]) {
      const verdict = verifyReceipt({ ...receipt, signature })
      const entry = logEntry(verdict.digest ?? '', signature)
      if (verdict.valid) entries.add(toHex(entry ?? new Uint8Array()))
    }
    assert.equal(entries.size, 1)
    for (const [form, signature] of Object.entries(others)) assert.equal(verifyReceipt({ ...receipt, signature }).valid, false, form)
  }
})

test('Ed25519: no second scalar, no key or point of small order; P-256: the twin tells the same key; neither has another encoding', () => {
  const over = digest('delivery')
  const [edwards_secret, nist_secret] = [ed25519.utils.randomSecretKey(), p256.utils.randomSecretKey()]
  const edwards_key = readKey(2, toHex(ed25519.getPublicKey(edwards_secret)), nobleCrypto)
  const nist_key = readKey(3, toHex(p256.getPublicKey(nist_secret)), nobleCrypto)
  const edwards = ed25519.sign(over, edwards_secret)
  const nist = p256.sign(over, nist_secret, { lowS: true, prehash: true, format: 'compact' })
  const accepts = (scheme: 2 | 3, signature: Uint8Array, key: string | null) =>
    readRoleSignature(scheme, toHex(signature), over, key, nobleCrypto).ok
  assert.ok(accepts(2, edwards, edwards_key) && accepts(3, nist, nist_key))

  // S + L has the same sum: RFC 8032 §5.1.7 asks that S be below L.
  const group = 2n ** 252n + 27742317777372353535851937790883648493n
  const scalar = [...edwards.subarray(32)].reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n) + group
  const second = Uint8Array.from(edwards)
  for (let at = 0; at < 32; at++) second[32 + at] = Number((scalar >> BigInt(8 * at)) & 255n)
  assert.ok(!accepts(2, second, edwards_key))
  // The neutral point as key makes signatures good for every message where a library does not look.
  const neutral = Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? 1 : 0))
  assert.equal(readKey(2, toHex(neutral), nobleCrypto), null)
  const empty = new Uint8Array(64)
  empty[0] = 1
  assert.ok(!accepts(2, empty, edwards_key))

  const order = p256.Point.Fn.ORDER
  const s = hexToBigInt(toHex(nist.subarray(32)))
  const twin = toBytes(`0x${toHex(nist.subarray(0, 32)).slice(2)}${word(order - s)}`)
  // FIPS 186-5 knows no low s. Nothing is kept under the text of a signature: the counter stops a second delivery, the key a second role.
  assert.deepEqual(readRoleSignature(3, toHex(twin), over, nist_key, nobleCrypto), { ok: true, key: nist_key })
  const beyond = toBytes(`0x${toHex(nist.subarray(0, 32)).slice(2)}${word(order)}`)
  for (const broken of [beyond, new Uint8Array(64), nist.subarray(0, 63), Uint8Array.of(...nist, 0)])
    assert.ok(!accepts(3, broken, nist_key))
})

// attack: authorizations and acts replayed on another network or deployment
// in: money and signatures
// asset: payers' money
// attacker: client
// defence: network, token, invoice and origin are part of what is signed
test('a transfer that was signed for one network, token or version is nobody’s on another', async () => {
  const domain = { name: 'USDC', version: '2', chain_id: 84_532, verifying_contract: `0x${'5'.repeat(40)}` }
  const authorization = {
    from: OWNER,
    to: `0x${'2b'.repeat(20)}`,
    value_minor: 5_000n,
    valid_after_s: 0n,
    valid_before_s: 2_000_000_000n,
    nonce: `0x${'3c'.repeat(32)}`,
  }
  const over = (change: Partial<typeof domain>, other: Partial<typeof authorization> = {}) =>
    createAuthorizationDigest({ ...domain, ...change }, nobleCrypto.keccak256)({ ...authorization, ...other })
  const signature = normaliseSignature(await sign({ hash: toHex(over({})), privateKey: KEY, to: 'hex' }))
  assert.ok(signature !== null)
  const payer = (text: Uint8Array) => recoverPayer(text, signature, nobleCrypto.recover)
  assert.equal(payer(over({})), OWNER)
  const elsewhere: Partial<typeof domain>[] = [
    { chain_id: 8_453 },
    { name: 'USD Coin' },
    { version: '1' },
    { verifying_contract: `0x${'6'.repeat(40)}` },
  ]
  for (const change of elsewhere) assert.notEqual(payer(over(change)), OWNER, JSON.stringify(change))
  const changed: Partial<typeof authorization>[] = [
    { to: OWNER },
    { value_minor: 5_001n },
    { valid_after_s: 1n },
    { valid_before_s: 2_000_000_001n },
    { nonce: `0x${'3d'.repeat(32)}` },
  ]
  for (const change of changed) assert.notEqual(payer(over({}, change)), OWNER, Object.keys(change).join())
})

// attack: authorizations and acts replayed on another network or deployment
test('what a merchant signed holds for that invoice, that act and that network alone', async () => {
  const signature = await sign({ hash: toHex(merchantDigest('issue', TERMS, nobleCrypto)), privateKey: KEY, to: 'hex' })
  assert.ok(merchantSigned('issue', TERMS, signature, nobleCrypto))
  assert.ok(!merchantSigned('void', TERMS, signature, nobleCrypto))
  const others: Partial<typeof TERMS>[] = [
    { invoice_id: 'inv_'.padEnd(30, 'b') },
    { chain_id: 8_453 },
    { token: `0x${'6'.repeat(40)}` },
    { amount_minor: '1000001' },
    { cart_hash: `0x${'8'.repeat(64)}` },
  ]
  for (const change of others) assert.ok(!merchantSigned('issue', { ...TERMS, ...change }, signature, nobleCrypto), JSON.stringify(change))
  const released = await ACCOUNT.signMessage({ message: releaseText('inv_one', 84_532) })
  for (const [invoice, chain_id] of [
    ['inv_two', 84_532],
    ['inv_one', 8_453],
  ] as const) {
    assert.notEqual(releasedBy(invoice, chain_id, released, nobleCrypto), OWNER)
  }
})

test('an entry of an underwriter holds at the origin that it names, and until it ends', async () => {
  const now_s = 1_790_000_000
  const given = await insurer(KEY).registration('https://one.example', now_s)
  assert.ok(readEntry(given, 'https://one.example', now_s, nobleCrypto).ok)
  for (const [origin, at_s] of [
    ['https://two.example', now_s],
    ['https://one.example', now_s + 2 * 86_400],
    ['https://one.example.evil', now_s],
  ] as const) {
    assert.ok(!readEntry(given, origin, at_s, nobleCrypto).ok, `${origin} ${at_s}`)
  }
  const twin = formsOf(given.signature).others['high s'] ?? ''
  assert.ok(!readEntry({ ...given, signature: twin }, 'https://one.example', now_s, nobleCrypto).ok)
})

test('a receipt of another deployment verifies, and is none of this one’s keys', () => {
  const { receipt } = signReceipt(BODY, nobleSigner(toBytes(KEY)))
  const list = (address: string, not_before: number) => [
    {
      address,
      status: 'active' as const,
      not_before,
      not_after: null,
      revoked_at: null,
      reason: null,
      mode: 'sandbox' as const,
      chain_id: 84_532,
    },
  ]
  const { valid, signer_published } = verifyReceipt(receipt, list(`0x${'9'.repeat(40)}`, 0))
  assert.deepEqual([valid, signer_published], [true, false])
  // The declared signer decides nothing: only who is recovered does.
  const claimed = verifyReceipt({ ...receipt, signer: `0x${'9'.repeat(40)}` }, list(`0x${'9'.repeat(40)}`, 0))
  assert.deepEqual([claimed.valid, claimed.signer_published], [false, 'not_checked'])
  assert.equal(verifyReceipt(receipt, list(OWNER, BODY.ts + 1)).signer_valid_at_ts, false)
})
