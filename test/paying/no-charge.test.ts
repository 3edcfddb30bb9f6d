/** What costs nothing: after each of these the money is where it was, and the very same authorization still buys its answer. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { catalogueOf } from '../../src/service/catalogue/load.ts'
import { defineTool, PURE, type Tool } from '../../src/service/catalogue/define.ts'
import { limits } from '../../src/service/limits.ts'
import { createPriceBook } from '../../src/service/payments/price-book.ts'
import { call, INPUT, priceOf, read, statusUrl, TOOL, v2, type Answered, type CallOptions } from '../support/paying-calls.ts'
import { authorizationsUsed, received, spendElsewhere } from '../support/paying-chain.ts'
import { loseOnce, rejectOnce } from '../support/paying-faults.ts'
import { serveVariant, startWorld, type World } from '../support/paying-world.ts'
import { headersOf, held, signTerms, termsOf, type Signed } from '../support/paying.ts'

let world: World
let price: bigint

before(async () => {
  world = await startWorld()
  price = await priceOf(world.url)
})
after(() => world.stop())

/** A failing way to use the payment, told what to send. */
type Attempt = (headers: Record<string, string>, payment: Signed) => Promise<Answered>

interface Expected {
  status: number
  code: string
  charged?: 'unknown'
}

interface Where {
  url?: string
  request?: CallOptions
  /** Makes the payment usable again, as time would. */
  mend?: (payment: Signed) => Promise<unknown>
}

/** The payer holds the price once: what was taken, or reserved and not given back, would be missed at the end. */
async function chargesNothing(attempt: Attempt, expected: Expected, { url = world.url, request = {}, mend }: Where = {}): Promise<void> {
  const { tool = TOOL, input = INPUT } = request
  const payer = await world.payer(price)
  const payment = await signTerms(payer, await termsOf(url, tool, input))
  const balances = () => Promise.all([payer.address, world.chain.pay_to].map((one) => held(world.chain.rpc_url, world.chain.token, one)))
  const before_minor = await balances()
  const { status, body } = await attempt(v2(payment), payment)
  assert.deepEqual({ status, code: body['code'], charged: body['charged'] }, { charged: false, ...expected })
  assert.deepEqual(await balances(), before_minor)
  assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 0)
  if (expected.charged === undefined && mend === undefined) assert.match(await stateOf(payment), /^(unpaid|released)$/)
  await mend?.(payment)
  const good = await call(url, v2(payment), request)
  assert.equal(good.status, 200, good.text)
  assert.equal(good.body['tier'], 'paid')
  assert.deepEqual(await balances(), [0n, (before_minor[1] ?? 0n) + price])
  assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 1)
}

async function stateOf(payment: Signed): Promise<string> {
  return String((await read(statusUrl(world.url, payment))).body['state'])
}

const REQUESTS: Record<string, Expected & { request: CallOptions }> = {
  'input that is none': { request: { input: { iban: 7 } }, status: 400, code: 'INPUT_SCHEMA_INVALID' },
  'a field too many': { request: { input: { ...INPUT, colour: 'red' } }, status: 400, code: 'INPUT_SCHEMA_INVALID' },
  'a body that is no JSON': { request: { raw: '{"input":' }, status: 400, code: 'PARSE_ERROR' },
  'a tool that is none': { request: { tool: 'nothing' }, status: 404, code: 'TOOL_NOT_FOUND' },
  'a body too large': { request: { raw: `"${'a'.repeat(limits.body_bytes)}"` }, status: 413, code: 'PAYLOAD_TOO_LARGE' },
}

for (const [name, { request, ...expected }] of Object.entries(REQUESTS)) {
  test(`nothing is charged for ${name}`, () => chargesNothing((headers) => call(world.url, headers, request), expected))
}

test('nothing is charged where the receipt before is misnamed', () =>
  chargesNothing((headers) => call(world.url, { ...headers, 'x-prev-receipt-hash': 'latest' }), {
    status: 400,
    code: 'PREV_RECEIPT_HASH_INVALID',
  }))

test('nothing is charged for a payment that was cut, or that another hand signed', async () => {
  const cut: Attempt = (_, { v2: value }) => call(world.url, v2({ v2: value.slice(0, -8) }))
  await chargesNothing(cut, { status: 400, code: 'PAYMENT_UNDECODABLE' })
  const forged: Attempt = async (_, { message }) => {
    const required = await termsOf(world.url, TOOL, INPUT)
    const { signature } = await signTerms(await world.payer(0n), required, message)
    return call(world.url, v2(headersOf(required, message, signature)))
  }
  await chargesNothing(forged, { status: 402, code: 'BAD_SIGNATURE' })
})

/** A tool whose first run fails in this way, and whose others do not. */
function failingOnce(fail: () => Promise<never>): Tool {
  let runs = 0
  return defineTool({
    id: 'fails-once',
    title: 'Fails once',
    description: 'Fails the first time.',
    family: 'text',
    version: '1.0.0',
    price: 'check',
    annotations: PURE,
    scope: { checked: [], not_checked: [] },
    sources: ['clock'],
    input: z.strictObject({}),
    output: z.strictObject({}),
    example: {},
    async run() {
      runs += 1
      return runs === 1 ? fail() : {}
    },
  })
}

async function withTool(tool: Tool, more: Parameters<typeof serveVariant>[1], attempt: (url: string) => Promise<void>): Promise<void> {
  const variant = await serveVariant(world, { catalogue: catalogueOf([tool]), ...more })
  try {
    await attempt(variant.url)
  } finally {
    await variant.stop()
  }
}

test('nothing is charged when the tool fails, also when the claim cannot be given back at once', async (context) => {
  const request = { tool: 'fails-once', input: {} }
  const failed = { status: 500, code: 'INTERNAL_ERROR' }
  await withTool(
    failingOnce(() => Promise.reject(new Error('on purpose'))),
    {},
    (url) => chargesNothing((headers) => call(url, headers, request), failed, { url, request }),
  )
  await withTool(
    failingOnce(() => Promise.reject(new Error('on purpose'))),
    {},
    (url) => {
      rejectOnce(context, world.payments, 'release')
      return chargesNothing((headers) => call(url, headers, request), failed, { url, request, mend: runOut })
    },
  )
})

test('nothing is charged when a source of the tool is down', async () => {
  const request = { tool: 'fails-once', input: {} }
  // Up when the terms are asked for, down when the payment comes.
  const answers = [true, false]
  const probes = { clock: () => Promise.resolve(answers.shift() ?? true) }
  await withTool(
    failingOnce(() => Promise.resolve({} as never)),
    { probes },
    (url) => chargesNothing((headers) => call(url, headers, request), { status: 503, code: 'UPSTREAM_RPC_UNAVAILABLE' }, { url, request }),
  )
})

/** The time for which a claim is held is over. */
function runOut({ message }: Signed): Promise<unknown> {
  const text = 'update payment set claim_until_ms = 1 where nonce = ?'
  return Promise.resolve(world.sql((database) => database.prepare(text).run(message.nonce)))
}

const DOWN_503 = { status: 503, code: 'STORE_UNAVAILABLE' }
const plain: Attempt = (headers) => call(world.url, headers)

test('nothing is charged when the store fails before the call runs', async (context) => {
  rejectOnce(context, world.payments, 'find')
  // Nobody can tell then whether the same payment was settled before.
  await chargesNothing(plain, { ...DOWN_503, charged: 'unknown' })
  rejectOnce(context, world.payments, 'claim')
  await chargesNothing(plain, DOWN_503)
  loseOnce(context, world.payments, 'claim')
  await chargesNothing(plain, DOWN_503, { mend: runOut })
})

test('nothing is charged when the store cannot say what prices were asked', async (context) => {
  const { payments } = world.running.app.deps.call
  assert.ok(payments !== null)
  for (const method of ['price_marks', 'sales'] as const) {
    // A book that was just opened asks for everything.
    const prices = createPriceBook({ store: world.store, clock: systemClock })
    const variant = await serveVariant(world, { payments: { ...payments, prices } })
    const attempt: Attempt = (headers) => {
      rejectOnce(context, world.payments, method)
      return call(variant.url, headers)
    }
    await chargesNothing(attempt, DOWN_503).finally(() => void variant.stop())
  }
})

test('nothing is charged when the store cannot say how the payer did lately', async (context) => {
  // Only asked where something was refused today.
  await refusedOnChain()
  rejectOnce(context, world.payments, 'refused_since')
  await chargesNothing(plain, DOWN_503)
})

test('nothing is charged when the store fails after the call has run, and before anything is sent', async (context) => {
  rejectOnce(context, world.store, 'used')
  await chargesNothing(plain, DOWN_503)
  rejectOnce(context, world.payments, 'prepare')
  await chargesNothing(plain, DOWN_503)
  loseOnce(context, world.payments, 'prepare')
  await chargesNothing(plain, DOWN_503)
})

test('a store that fails right before the sending leaves it open, and takes the same payment later', async (context) => {
  rejectOnce(context, world.payments, 'begin_settling')
  await chargesNothing(plain, { status: 202, code: 'PAYMENT_PENDING', charged: 'unknown' }, { mend: runOut })
})

test('a store whose word for sending is lost settles all the same, once', async (context) => {
  const payer = await world.payer(price)
  const payment = await signTerms(payer, await termsOf(world.url, TOOL, INPUT))
  loseOnce(context, world.payments, 'begin_settling')
  const { status, body } = await call(world.url, v2(payment))
  assert.deepEqual([status, body['code'], body['charged']], [202, 'PAYMENT_PENDING', 'unknown'])
  assert.equal((await call(world.url, v2(payment))).status, 200)
  assert.equal((await authorizationsUsed(world.chain, payer.address)).length, 1)
})

/** The payer passes verification and then spends the money elsewhere. */
async function refusedOnChain(): Promise<{ payment: Signed; answer: Answered }> {
  const payer = await world.payer(price)
  const payment = await signTerms(payer, await termsOf(world.url, TOOL, INPUT))
  world.at('after_prepare', () => spendElsewhere(world.chain, payer, price))
  return { payment, answer: await call(world.url, v2(payment)) }
}

test('a settlement that the chain refuses is not charged, which is said when its authorization has run out', async () => {
  const { payment, answer } = await refusedOnChain()
  const { validBefore, from, nonce } = payment.message
  assert.deepEqual([answer.status, answer.body['code'], answer.body['charged']], [402, 'SETTLEMENT_FAILED', 'unknown'])
  assert.equal(answer.body['valid_before'], Number(validBefore))
  assert.match(String(answer.body['detail']), /do not sign another before then; this one may still be executed/)
  // Terms would ask for another signature.
  assert.deepEqual([answer.headers.get('payment-required'), answer.body['accepts']], [null, undefined])
  assert.equal(await stateOf(payment), 'pending')
  const past = 'update payment set valid_before_s = 1 where nonce = ?'
  world.sql((database) => database.prepare(past).run(nonce))
  assert.equal(await stateOf(payment), 'released')
  assert.ok((await received(world.chain)).every((transfer) => transfer.from !== from.toLowerCase()))
})
