/** Every problem of payment and of settlement, met by a real request; each must leave the caller knowing what to do, and uncharged. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { serializeErc6492Signature } from 'viem'
import type { PAYMENT_PROBLEMS, SETTLEMENT_PROBLEMS } from '../../src/service/payment-problems.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { call, INPUT, priceOf, read, seconds, signed, stranger, tampered, TOOL, v1, v2, type Answered } from '../support/paying-calls.ts'
import { asOwner, MUTE_CONTRACT, placeWallet, refuseSignatures } from '../support/paying-chain.ts'
import { shoutingToken, spendElsewhere } from '../support/paying-chain.ts'
import { assertListed, assertTerms, assertWords, crowd, emptyGasWallet, misnamed } from '../support/paying-problems.ts'
import { serveVariant, startLiveWorld, startWorld, type World } from '../support/paying-world.ts'
import { fund, headersOf, signTerms, termsOf, withIdentifier } from '../support/paying.ts'

type Code = keyof typeof PAYMENT_PROBLEMS | keyof typeof SETTLEMENT_PROBLEMS

interface Case {
  /** 402 unless told otherwise. */
  status?: number
  /** The word of the official facilitators for it. */
  word?: string
  /** Nothing was charged, unless told otherwise. */
  charged?: true | 'unknown'
  meet(): Promise<Answered>
}

let world: World
let anvil: Anvil
let live: World
let pending: Promise<Answered>

before(async () => {
  world = await startWorld()
  anvil = await startAnvil()
  live = await startLiveWorld({ anvil })
  const payment = await signed(live.url, await live.payer())
  await anvil.automine(false)
  // Answered when the service has waited long enough; everything else happens meanwhile.
  pending = call(live.url, v2(payment))
})
after(async () => {
  await anvil.automine(true)
  await anvil.mine()
  await pending
  await world.stop()
  await live.stop()
  await anvil.stop()
})

/** A service of its own, for what cannot be undone. */
async function apart(meet: (own: World) => Promise<Answered>): Promise<Answered> {
  const own = await startWorld()
  try {
    return await meet(own)
  } finally {
    await own.stop()
  }
}

const pay = async (own: World, change: Parameters<typeof signed>[2] = {}) =>
  call(own.url, v2(await signed(own.url, await own.payer(), change)))
const altered = async (change: Parameters<typeof tampered>[1]) =>
  call(world.url, tampered(await signed(world.url, await world.payer(0n)), change))

/** Passes verification, and has spent the money when its transfer is tried. */
async function failing(payer: Awaited<ReturnType<World['payer']>>): Promise<Answered> {
  const price = await priceOf(world.url)
  await fund(world.chain.rpc_url, world.chain.token, payer.address, price)
  const payment = await signed(world.url, payer)
  world.at('after_prepare', () => spendElsewhere(world.chain, payer, price))
  return call(world.url, v2(payment))
}

async function wrappedSignature(): Promise<Answered> {
  const required = await termsOf(world.url, TOOL, INPUT)
  const { message, signature } = await signTerms(await world.payer(0n), required)
  const wrapped = serializeErc6492Signature({ address: world.chain.token, data: '0x1234', signature })
  return call(world.url, v2(headersOf(required, { ...message, from: '0x000000000000000000000000000000000000bEEF' }, wrapped)))
}

async function refusingWallet(): Promise<Answered> {
  const owner = await world.payer(0n)
  const wallet = await placeWallet(world.chain, owner.address)
  await fund(world.chain.rpc_url, world.chain.token, wallet, 1_000_000n)
  await refuseSignatures(world.chain, wallet)
  return call(world.url, v2(await signed(world.url, owner, { from: wallet })))
}

/** The payer signed two transfers with one nonce, and the other one was executed. */
async function usedElsewhere(): Promise<Answered> {
  const payer = await world.payer()
  const payment = await signed(world.url, payer)
  await spendElsewhere(world.chain, payer, 1n, payment.message.nonce)
  return call(world.url, v2(payment))
}

async function paidThen(next: (headers: Record<string, string>) => Promise<Answered>): Promise<Answered> {
  const headers = v2(await signed(world.url, await world.payer()))
  assert.equal((await call(world.url, headers)).status, 200)
  return next(headers)
}

async function mismatching(headers: Record<string, string>): Promise<Answered> {
  const client = stranger()
  const other = () => call(world.url, headers, { client, input: { iban: 'another' } })
  for (let times = 0; times < 10; times += 1) assert.equal((await other()).status, 409)
  return other()
}

async function shutOut(): Promise<Answered> {
  const payer = await world.payer(0n)
  for (let times = 0; times < 2; times += 1) assert.equal((await failing(payer)).body['code'], 'SETTLEMENT_FAILED')
  await fund(world.chain.rpc_url, world.chain.token, payer.address, 1_000_000n)
  return call(world.url, v2(await signed(world.url, payer)))
}

async function notConfigured(): Promise<Answered> {
  const variant = await serveVariant(world, { payments: null })
  try {
    return await call(variant.url, v2(await signed(world.url, await world.payer())))
  } finally {
    await variant.stop()
  }
}

async function expiredAnswer(headers: Record<string, string>): Promise<Answered> {
  world.sql((database) => database.exec('update payment_answer set expires_ms = 1'))
  return call(world.url, headers)
}

const VALID_BEFORE = 'invalid_exact_evm_payload_authorization_valid_before'
const SIMULATION = 'invalid_exact_evm_transaction_simulation_failed'
const OTHER = '0x00000000000000000000000000000000000000aa'

const CASES: Record<Code, Case> = {
  PAYMENT_REQUIRED: { meet: () => call(world.url, {}) },
  MALFORMED_PAYMENT: { word: 'invalid_x402_version', meet: () => call(world.url, { 'x-payment': 'e30=' }) },
  PAYMENT_UNDECODABLE: { status: 400, word: 'invalid_payload', meet: () => call(world.url, { 'x-payment': 'what?' }) },
  PAYMENT_IDENTIFIER_INVALID: {
    status: 400,
    word: 'invalid_payload',
    meet: async () => call(world.url, withIdentifier((await signed(world.url, await world.payer())).v2, 'too short')),
  },
  PAYMENT_CONFLICT: {
    status: 400,
    meet: async () => {
      const payment = await signed(world.url, await world.payer())
      return call(world.url, { ...v1(payment), ...v2(payment) })
    },
  },
  SCHEME_UNSUPPORTED: { word: 'unsupported_scheme', meet: () => altered(({ accepted }) => void (accepted.scheme = 'upto')) },
  NETWORK_MISMATCH: {
    word: 'invalid_exact_evm_network_mismatch',
    meet: () => altered(({ accepted }) => void (accepted.network = 'eip155:1')),
  },
  ASSET_MISMATCH: { word: 'invalid_payment_requirements', meet: () => altered(({ accepted }) => void (accepted.asset = OTHER)) },
  DOMAIN_MISMATCH: {
    word: 'invalid_exact_evm_token_name_mismatch',
    meet: () => altered(({ accepted }) => void (accepted.extra.name = 'Tether')),
  },
  RECIPIENT_MISMATCH: { word: 'invalid_exact_evm_recipient_mismatch', meet: () => pay(world, { to: OTHER }) },
  PRICE_MISMATCH: {
    word: 'invalid_exact_evm_payload_authorization_value_mismatch',
    meet: async () => pay(world, { value: (await priceOf(world.url)) + 1n }),
  },
  EXPIRED: { word: VALID_BEFORE, meet: () => pay(world, { validBefore: seconds() + 5n }) },
  NOT_YET_VALID: {
    word: 'invalid_exact_evm_payload_authorization_valid_after',
    meet: () => pay(world, { validAfter: seconds() + 60n }),
  },
  WINDOW_TOO_LONG: { word: VALID_BEFORE, meet: () => pay(world, { validBefore: seconds() + 3_660n }) },
  BAD_SIGNATURE: { word: 'invalid_exact_evm_signature', meet: () => pay(world, { from: OTHER }) },
  ERC6492_NOT_SUPPORTED: { word: 'eip6492_factory_not_allowed', meet: wrappedSignature },
  INSUFFICIENT_FUNDS: {
    word: 'invalid_exact_evm_insufficient_balance',
    meet: async () => call(world.url, v2(await signed(world.url, await world.payer((await priceOf(world.url)) - 1n)))),
  },
  PAYER_BLOCKED: {
    word: SIMULATION,
    meet: async () => {
      const payer = await world.payer()
      await asOwner(world.chain, { functionName: 'blacklist', args: [payer.address] })
      return call(world.url, v2(await signed(world.url, payer)))
    },
  },
  SIMULATION_FAILED: {
    word: SIMULATION,
    meet: async () => {
      const answer = await withTokenCode(() => shoutingToken('<script>'))
      assert.ok(!answer.text.includes('<script>'))
      return answer
    },
  },
  REPLAY: { word: 'invalid_exact_evm_nonce_already_used', meet: usedElsewhere },
  NONCE_BOUND: { status: 409, meet: () => paidThen((headers) => call(world.url, headers, { input: { iban: 'another' } })) },
  RATE_LIMITED: { status: 429, meet: () => paidThen(mismatching) },
  PAYER_SHUT_OUT: { status: 429, meet: shutOut },
  PAYMENT_PENDING: { status: 202, charged: 'unknown', meet: () => pending },
  PAYMENT_ALREADY_USED: {
    status: 409,
    charged: true,
    meet: () => paidThen((headers) => call(world.url, headers, { client: '192.0.2.1' })),
  },
  ANSWER_EXPIRED: { status: 410, charged: true, meet: () => paidThen(expiredAnswer) },
  ANSWER_NOT_FOUND: { status: 404, meet: () => read(`${world.url}/v1/answers/${'0'.repeat(64)}`) },
  SETTLEMENT_FAILED: { charged: 'unknown', meet: async () => failing(await world.payer(0n)) },
  SETTLEMENT_UNAVAILABLE: { status: 503, meet: () => apart(emptyGasWallet) },
  VERIFICATION_BUSY: { status: 503, meet: crowd },
  ASSET_NOT_DEPLOYED: { status: 503, word: 'asset_not_deployed_contract', meet: () => withTokenCode(() => '0x') },
  ASSET_MISCONFIGURED: { status: 503, word: 'invalid_exact_evm_token_name_mismatch', meet: () => withTokenCode(misnamed) },
  EIP3009_NOT_SUPPORTED: { status: 503, word: 'invalid_exact_evm_eip3009_not_supported', meet: () => withTokenCode(() => MUTE_CONTRACT) },
  TOKEN_PAUSED: {
    status: 503,
    word: SIMULATION,
    meet: () =>
      apart(async (own) => {
        const payment = await signed(own.url, await own.payer())
        await asOwner(own.chain, { functionName: 'pause' })
        return call(own.url, v2(payment))
      }),
  },
  RECIPIENT_BLOCKED: {
    status: 503,
    word: SIMULATION,
    meet: () =>
      apart(async (own) => {
        await asOwner(own.chain, { functionName: 'blacklist', args: [own.chain.pay_to] })
        return pay(own)
      }),
  },
  SETTLEMENT_NOT_CONFIGURED: { status: 503, meet: notConfigured },
}

function withTokenCode(change: (code: string) => string): Promise<Answered> {
  return apart(async ({ url, payer, chain: { rpc, token } }) => {
    const payment = await signed(url, await payer())
    const code = String(await rpc('eth_getCode', [token, 'latest']))
    await rpc('anvil_setCode', [token, change(code)])
    return call(url, v2(payment))
  })
}

for (const [code, { status = 402, word = null, charged = false, meet }] of Object.entries(CASES)) {
  // attack: settlements that fail on chain
  test(`${code} is met by a request`, async () => {
    const answer = await meet()
    const { body } = answer
    assert.deepEqual({ code: body['code'], status: answer.status, charged: body['charged'] }, { code, status, charged })
    assertWords(code, answer, word)
    await assertListed(world, code, status)
    // No other payment is asked for while this one may still be executed.
    if (status === 402 && charged === false) await assertTerms(world, answer)
    else assert.equal(answer.headers.get('payment-required'), null)
  })
}

test('a wallet with code that refuses (EIP-1271) has not signed', async () => {
  const answer = await refusingWallet()
  assert.deepEqual([answer.body['code'], answer.body['invalid_reason']], ['BAD_SIGNATURE', 'invalid_exact_evm_signature'])
})

test('version 1 has its own word for another price', async () => {
  const answer = await call(world.url, v1(await signed(world.url, await world.payer(), { value: 1n })))
  assert.deepEqual([answer.body['code'], answer.body['invalid_reason']], ['PRICE_MISMATCH', 'invalid_exact_evm_authorization_value'])
})
