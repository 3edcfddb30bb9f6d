/** The service and the official facilitator, @x402/core and @x402/evm 2.27.0, on flawed payments: the same reason for each, but where we differ on purpose. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentPayload } from '@x402/core/types'
import { parseSignature, serializeCompactSignature, serializeSignature, signatureToCompactSignature, toHex, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { authorization, transferTypes, usdcDomain, type Authorization } from '../support/authorization.ts'
import { asMembers } from '../support/documents.ts'
import { headersOf, readRequired } from '../support/paying.ts'
import { INPUT, judged, officialFacilitator, pay, termsFor, type Generation } from './official-facilitator.ts'
import { assertBought, assertNothingPaid, openShop, type Shop } from './shop.ts'

const CHECK_MINOR = 5_000n
const BEFORE = 'invalid_exact_evm_payload_authorization_valid_before'
const AFTER = 'invalid_exact_evm_payload_authorization_valid_after'
const SIGNATURE = 'invalid_exact_evm_signature'
const RECIPIENT = 'invalid_exact_evm_recipient_mismatch'
const NETWORK = 'invalid_exact_evm_network_mismatch'
const VALUE = { 1: 'invalid_exact_evm_authorization_value', 2: 'invalid_exact_evm_payload_authorization_value_mismatch' }
const SERVERS = 'a server compares what is repeated of its terms'
/** n of secp256k1 (SEC 2, §2.4.1). */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const BOTH: Generation[] = [1, 2]

const stranger = privateKeyToAccount(generatePrivateKey())

let shop: Shop
let facilitator: x402Facilitator
before(async () => {
  shop = await openShop()
  facilitator = await officialFacilitator(shop)
})
after(() => shop.stop())

/** How a payment differs from a good one. */
interface Flaw {
  balance_minor?: bigint
  /** Before it is signed. */
  message?: (now_s: bigint) => Partial<Authorization>
  /** After it was signed. */
  tamper?: (now_s: bigint) => Partial<Authorization>
  /** Who signs, when it is not the payer. */
  forged?: boolean
  signature?: (made: Hex) => Hex
  /** Changes what stands around the authorization: in version 1 the payment itself, in version 2 what it repeats of the terms. */
  around?: (generation: Generation) => Record<string, unknown>
}

interface Verdicts {
  ours: string
  code: unknown
  official: string
}

/** What both say to the same flawed payment. */
async function verdicts(generation: Generation, flaw: Flaw): Promise<Verdicts> {
  const payer = await shop.payer(flaw.balance_minor)
  const { entry, header } = await termsFor(shop, generation)
  const now_s = BigInt(Math.floor(systemClock.now_ms() / 1_000))
  const asked = authorization(payer.address, shop.pay_to, CHECK_MINOR, { validBefore: now_s + 120n })
  const signed = { ...asked, ...flaw.message?.(now_s) }
  const signer = flaw.forged === true ? stranger : payer
  const domain = usdcDomain(shop.network.chain.id, shop.token)
  const made = await signer.signTypedData({ domain, types: transferTypes, primaryType: 'TransferWithAuthorization', message: signed })
  const texts = headersOf(readRequired(header), { ...signed, ...flaw.tamper?.(now_s) }, flaw.signature?.(made) ?? made)
  const text = generation === 1 ? texts.v1 : texts.v2
  const payment = JSON.parse(Buffer.from(text, 'base64').toString()) as Record<string, unknown>
  Object.assign(generation === 1 ? payment : asMembers(payment['accepted']), flaw.around?.(generation))

  const official = await judged(facilitator, payment as unknown as PaymentPayload, entry)
  const { status, body } = await pay(shop, payment, generation)
  if (status === 200) {
    await assertBought(shop, { payer: payer.address, amount_minor: CHECK_MINOR, tool: 'iban-check', input: INPUT, answer: body })
    return { ours: 'valid', code: null, official }
  }
  assert.deepEqual([status, body['charged']], [402, false], JSON.stringify(body))
  await assertNothingPaid(shop, payer.address)
  return { ours: String(body['invalid_reason']), code: body['code'], official }
}

interface Agreed extends Flaw {
  code: string
  reason: string | Record<Generation, string>
}

/** Refused by both for the same reason. */
const AGREED: Record<string, Agreed> = {
  'too much': { message: () => ({ value: CHECK_MINOR + 1n }), code: 'PRICE_MISMATCH', reason: VALUE },
  'too little': { message: () => ({ value: CHECK_MINOR - 1n }), code: 'PRICE_MISMATCH', reason: VALUE },
  nothing: { message: () => ({ value: 0n }), code: 'PRICE_MISMATCH', reason: VALUE },
  'another recipient': { message: () => ({ to: stranger.address }), code: 'RECIPIENT_MISMATCH', reason: RECIPIENT },
  expired: { message: (now_s) => ({ validBefore: now_s - 1n }), code: 'EXPIRED', reason: BEFORE },
  'about to expire': { message: (now_s) => ({ validBefore: now_s + 4n }), code: 'EXPIRED', reason: BEFORE },
  'not valid yet': { message: (now_s) => ({ validAfter: now_s + 60n }), code: 'NOT_YET_VALID', reason: AFTER },
  'signed by a stranger': { forged: true, code: 'BAD_SIGNATURE', reason: SIGNATURE },
  'signed for another nonce': { tamper: () => ({ nonce: `0x${'5a'.repeat(32)}` }), code: 'BAD_SIGNATURE', reason: SIGNATURE },
  'signed for a shorter time': {
    tamper: (now_s) => ({ validBefore: now_s + 200n }),
    code: 'BAD_SIGNATURE',
    reason: SIGNATURE,
  },
  'signed by a stranger who names a poor payer': { balance_minor: 1n, forged: true, code: 'BAD_SIGNATURE', reason: SIGNATURE },
  'a signature of zeros': { signature: () => `0x${'00'.repeat(65)}`, code: 'BAD_SIGNATURE', reason: SIGNATURE },
  'a signature cut short': { signature: () => `0x${'11'.repeat(64)}`, code: 'BAD_SIGNATURE', reason: SIGNATURE },
  'more than the payer has': {
    balance_minor: CHECK_MINOR - 1n,
    code: 'INSUFFICIENT_FUNDS',
    reason: 'invalid_exact_evm_insufficient_balance',
  },
  'another network': {
    around: (generation) => ({ network: generation === 1 ? 'base' : 'eip155:8453' }),
    code: 'NETWORK_MISMATCH',
    reason: NETWORK,
  },
  'a network of another family': {
    around: (generation) => ({ network: generation === 1 ? 'solana' : 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }),
    code: 'NETWORK_MISMATCH',
    reason: NETWORK,
  },
}

for (const [name, { reason, code, ...flaw }] of Object.entries(AGREED)) {
  test(`both refuse: ${name}`, async () => {
    for (const generation of BOTH) {
      const word = typeof reason === 'string' ? reason : reason[generation]
      assert.deepEqual(await verdicts(generation, flaw), { ours: word, code, official: word }, `version ${generation}`)
    }
  })
}

interface Differing extends Flaw {
  says: Verdicts
  /** Both unless told otherwise. */
  generations?: Generation[]
  why: string
}

/** Where we decide otherwise, or say something else, on purpose. */
const DIFFERING: Record<string, Differing> = {
  'too little time to settle': {
    message: (now_s) => ({ validBefore: now_s + 15n }),
    why: 'a call may wait 15 seconds for its settlement, and 6 must be left then',
    says: { ours: BEFORE, code: 'EXPIRED', official: 'valid' },
  },
  'valid for a year': {
    message: (now_s) => ({ validBefore: now_s + 31_536_000n }),
    why: 'an authorization is not held for longer than an hour',
    says: { ours: BEFORE, code: 'WINDOW_TOO_LONG', official: 'valid' },
  },
  'another scheme': {
    around: () => ({ scheme: 'upto' }),
    why: 'the word of the specification for a scheme that is not served; the class knows its own scheme only',
    says: { ours: 'unsupported_scheme', code: 'SCHEME_UNSUPPORTED', official: 'invalid_exact_evm_scheme' },
  },
  'the name of the network in the other generation': {
    around: (generation) => ({ network: generation === 1 ? shop.network.v2 : shop.network.v1 }),
    why: 'terms are matched by meaning',
    says: { ours: 'valid', code: null, official: NETWORK },
  },
  'a signature with 0 or 1 for 27 or 28': {
    signature: (made) => `${made.slice(0, -2) as Hex}${made.endsWith('1b') ? '00' : '01'}`,
    why: 'it is brought into the form of the token before it is sent',
    says: { ours: 'valid', code: null, official: 'invalid_exact_evm_transaction_simulation_failed' },
  },
  'a signature of 64 bytes (EIP-2098)': {
    signature: (made) => serializeCompactSignature(signatureToCompactSignature(parseSignature(made))),
    why: 'it is brought into the form of the token before it is sent',
    says: { ours: 'valid', code: null, official: SIGNATURE },
  },
  'a signature with a high s': {
    signature: mirrored,
    why: 'the token will not take it, and we say what is wrong with it',
    says: { ours: SIGNATURE, code: 'BAD_SIGNATURE', official: 'invalid_exact_evm_transaction_simulation_failed' },
  },
  'a forged signature for another recipient': {
    forged: true,
    message: () => ({ to: stranger.address }),
    why: 'terms are compared before signatures, which cost more',
    says: { ours: RECIPIENT, code: 'RECIPIENT_MISMATCH', official: SIGNATURE },
  },
  'a forged signature that has expired': {
    forged: true,
    message: (now_s) => ({ validBefore: now_s - 1n }),
    why: 'time is compared before signatures, which cost more',
    says: { ours: BEFORE, code: 'EXPIRED', official: SIGNATURE },
  },
  'a wrong amount that has expired, in version 1': {
    message: (now_s) => ({ value: 1n, validBefore: now_s - 1n }),
    generations: [1],
    why: 'all terms are compared before the time',
    says: { ours: VALUE[1], code: 'PRICE_MISMATCH', official: BEFORE },
  },
  'a wrong amount that has expired, in version 2': {
    message: (now_s) => ({ value: 1n, validBefore: now_s - 1n }),
    generations: [2],
    why: 'all terms are compared before the time',
    says: { ours: VALUE[2], code: 'PRICE_MISMATCH', official: BEFORE },
  },
  // The class leaves what version 2 repeats of the terms to the server beside it, which wants it to be what it sent.
  'another recipient among the terms': {
    around: () => ({ payTo: stranger.address }),
    generations: [2],
    why: SERVERS,
    says: { ours: RECIPIENT, code: 'RECIPIENT_MISMATCH', official: 'valid' },
  },
  'another amount among the terms': {
    around: () => ({ amount: '1' }),
    generations: [2],
    why: SERVERS,
    says: { ours: VALUE[2], code: 'PRICE_MISMATCH', official: 'valid' },
  },
  'another token among the terms': {
    around: () => ({ asset: stranger.address }),
    generations: [2],
    why: SERVERS,
    says: { ours: 'invalid_payment_requirements', code: 'ASSET_MISMATCH', official: 'valid' },
  },
  'another signing domain among the terms': {
    around: () => ({ extra: { name: 'USD Coin', version: '2' } }),
    generations: [2],
    why: SERVERS,
    says: { ours: 'invalid_exact_evm_token_name_mismatch', code: 'DOMAIN_MISMATCH', official: 'valid' },
  },
  'another flow among the terms': {
    around: () => ({ extra: { name: 'USDC', version: '2', paymentFlow: 'upfront' } }),
    generations: [2],
    why: SERVERS,
    says: { ours: 'unsupported_payment_flow', code: 'SCHEME_UNSUPPORTED', official: 'valid' },
  },
}

/** The same signature with the other root: valid on the curve, barred by EIP-2. */
function mirrored(made: Hex): Hex {
  const { r, s, yParity } = parseSignature(made)
  return serializeSignature({ r, s: toHex(CURVE_ORDER - BigInt(s), { size: 32 }), yParity: 1 - yParity })
}

for (const [name, { generations = BOTH, why, says, ...flaw }] of Object.entries(DIFFERING)) {
  test(`they differ: ${name}`, async () => {
    for (const generation of generations) assert.deepEqual(await verdicts(generation, flaw), says, why)
  })
}
