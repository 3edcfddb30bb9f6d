/** Which deposits the gas wallet forwards, in which transactions, and within which limits. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { decodeFunctionData, keccak256, toBytes, type Hex } from 'viem'
import type { Store } from '../../src/ports/store.ts'
import { DEPOSIT_FACTORY, depositAddress, sweepGas } from '../../src/pure/contracts/deployment.ts'
import { type GasItem, gasMinimums, itemsWithin } from '../../src/pure/payments/gas-policy.ts'
import { createSweeper } from '../../src/service/invoices/deposits.ts'
import { createSponsoring } from '../../src/service/invoices/sponsored.ts'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { gasNotCompared } from '../../src/service/payments/gas-watch.ts'
import { clockAt } from '../support/clock-at.ts'
import { contract } from '../support/contracts.ts'
import { openSealed, sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'

// row: sweeps

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
const ONE_USDC = 1_000_000n
const BOUNDS = { network_unsigned: 1_000, all_unsigned: 1_000, calls_unsigned: 1_000, merchant_signed: 1 }
const START_MS = Date.UTC(2026, 10, 24, 1)

let driver: StoreDriver
let store: Store
before(async () => {
  driver = await sqliteDriver()
  store = await openSealed((await driver.fresh()).target)
})
after(async () => {
  await store.close()
  await driver.stop()
})

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`

interface Deposit {
  invoice_id: string
  merchant: string
}

/** Parties of a deposit; left out, parties of its own. */
interface Parties {
  merchant?: string
  /** Keyed hash of the network that created the invoice. */
  creator?: string
  funder?: string
}

/** An invoice with a deposit in a final block. */
async function deposited(amount_minor: bigint, parties: Parties = {}): Promise<Deposit> {
  const { merchant = hex(20), creator = hex(16), funder = hex(20) } = parties
  const invoice_id = `inv_${randomBytes(10).toString('hex')}`
  const address = depositAddress({ invoice_id, merchant })
  const times = { created_ms: START_MS, expires_s: 2_000_000_000, watch_until_s: 2_000_000_000 }
  const origin = {
    nonces: [hex(32)],
    content_hash: hex(32),
    request_key: null,
    network: null,
    creator,
    issue_signature: null,
    bank_reference: null,
  }
  const invoice = { invoice_id, merchant, amount_minor, terms: '{}', deposit_address: address, ...times, ...origin }
  assert.equal((await store.invoices.keep(invoice, BOUNDS)).kind, 'created')
  const block = { block_number: 5, block_hash: hex(32), block_time_s: 1_000, confirmed: true, final: true }
  const seen = { transaction: hex(32), log_index: 0, payer: funder, nonce: null, matched_by: 'deposit' as const, ...block }
  assert.equal(await store.invoices.attribute({ ...seen, invoice_id, amount_minor }, START_MS), true)
  return { invoice_id, merchant }
}

interface SweeperOptions {
  empty?: Set<string>
  has_factory?: boolean
  start_ms?: number
  /** Gas price in wei at 2,450 USD for one ETH, and the day's gas of the wallet. */
  gas?: { gas_wei: bigint; daily_gas_wei: bigint }
  /** Balance of each address. */
  held_minor?: bigint
}

/** A sweeper whose clock moves past the pause between searches with each call. Balances of addresses are 1 USDC, except those that are empty. */
function sweeper({ empty = new Set<string>(), has_factory = true, start_ms = START_MS, gas, held_minor = ONE_USDC }: SweeperOptions = {}) {
  let now_ms = start_ms
  const warned: Record<string, unknown>[] = []
  const source = createSweeper({
    store,
    chain: {
      read: (asked) =>
        Promise.resolve(
          asked.map((one) => {
            const held = 'data' in one && ![...empty].some((address) => one.data.endsWith(address.slice(2)))
            return { ok: true as const, data: `0x${(held ? held_minor : 0n).toString(16).padStart(64, '0')}` }
          }),
        ),
    },
    token: TOKEN,
    hasFactory: () => Promise.resolve(has_factory),
    clock: clockAt(() => now_ms),
    log: { warn: (fields: Record<string, unknown>) => void warned.push(fields) } as never,
    ...(gas === undefined ? {} : { sponsoring: sponsoringAt(gas, () => now_ms) }),
  })
  const next = async (affordable = true) => {
    now_ms += INVOICE_RULES.sweep_every_ms
    return source.next(() => Promise.resolve(affordable))
  }
  /** Salts of the deposits in the next transaction, which is checked. */
  const salts = async (): Promise<Hex[]> => {
    const call = await next()
    if (call === null) return []
    const { functionName, args } = decodeFunctionData({ abi: contract('deposit-factory').abi, data: call.data as Hex })
    const [token, items] = args as [string, { salt: Hex; merchant: Hex }[]]
    assert.deepEqual([call.kind, call.to, functionName, token.toLowerCase()], ['sweep', DEPOSIT_FACTORY.address, 'sweep', TOKEN])
    assert.equal(call.gas, sweepGas(items.length))
    return items.map(({ salt }) => salt)
  }
  return { next, salts, warned, pass: (ms: number) => (now_ms += ms) }
}

const saltOf = ({ invoice_id }: Deposit) => keccak256(toBytes(invoice_id))

test('nothing is sent while there is no factory or no gas for it, and the deposit is not put off by that', async () => {
  const deposit = await deposited(ONE_USDC)
  await deposited(ONE_USDC - 1n)
  assert.equal(await sweeper({ has_factory: false }).next(), null)
  const { next, salts } = sweeper()
  assert.equal(await next(false), null)
  assert.deepEqual(await salts(), [saltOf(deposit)])
})

test('an attempt is followed by a pause, which doubles while nothing was forwarded', async () => {
  const deposit = await deposited(ONE_USDC)
  const { salts, pass } = sweeper()
  assert.deepEqual(await salts(), [saltOf(deposit)])
  assert.deepEqual(await salts(), [])
  pass(INVOICE_RULES.sweep_pause_ms)
  assert.ok((await salts()).includes(saltOf(deposit)))
  pass(INVOICE_RULES.sweep_pause_ms)
  assert.ok(!(await salts()).includes(saltOf(deposit)))
  pass(INVOICE_RULES.sweep_pause_ms)
  assert.ok((await salts()).includes(saltOf(deposit)))
})

test('a deposit that another sweep has forwarded already is not sent', async () => {
  const deposit = await deposited(ONE_USDC)
  assert.deepEqual(await sweeper({ empty: new Set([depositAddress(deposit)]) }).salts(), [])
})

test('fifty deposits share a transaction, the largest first, and one merchant has a hundred a day', async () => {
  const merchant = hex(20)
  // Long before the pauses of the other tests end.
  const large = await deposited(9n * ONE_USDC)
  for (let count = 0; count < 120; count += 1) await deposited(2n * ONE_USDC, { merchant })
  const { salts } = sweeper()
  const sizes: number[] = []
  const first = await salts()
  assert.equal(first[0], saltOf(large))
  sizes.push(first.length, (await salts()).length, (await salts()).length, (await salts()).length)
  assert.deepEqual(sizes, [50, 50, 1, 0])
  const tomorrow = sweeper({ start_ms: START_MS + 86_400_000 })
  assert.equal((await tomorrow.salts()).length, 50)
})

/** The share of the day's gas that sweeps may use is half of it. */
function sponsoringAt({ gas_wei, daily_gas_wei }: { gas_wei: bigint; daily_gas_wei: bigint }, read: () => number) {
  const prices = { gas_wei, byte_wei: 0n, coin: { usd: { numerator: 2_450n, denominator: 1n }, origin: 'setting' } } as const
  const view = gasNotCompared(8453, 'eip155:8453', '').now()
  const gas = {
    now: () => ({ ...view, prices, minimums: gasMinimums(prices) }),
    itemsWithin: (budget_wei: bigint, item: GasItem, most: number) => itemsWithin(budget_wei, item, prices, most),
  }
  return createSponsoring({ gas, daily_gas_wei, store, clock: clockAt(read) })
}

/** Every transaction of a day until nothing more is sent, as salts. */
async function sweptOn({ salts }: ReturnType<typeof sweeper>): Promise<Set<Hex>> {
  const all: Hex[] = []
  for (;;) {
    const some = await salts()
    if (some.length === 0) return new Set(all)
    all.push(...some)
  }
}

const DAY_MS = 86_400_000

// attack: many small deposits or payments of own money that use up the forwards of the day
// in: money and signatures
// asset: invoice relay, sweeps
// attacker: client, payer
// defence: shares of the creator's network, the sender and the merchant; half is kept for larger amounts
test('one actor with many merchants, senders and invoices uses up its share alone: what is larger or of others is forwarded', async () => {
  const start_ms = START_MS + 40 * DAY_MS
  const creator = hex(16)
  const merchants = Array.from({ length: 11 }, () => hex(20))
  const own: Deposit[] = []
  for (let count = 0; count < 330; count += 1)
    own.push(await deposited(ONE_USDC, { creator, merchant: merchants[count % merchants.length] ?? '', funder: hex(20) }))
  const today = sweeper({ start_ms })
  const swept = await sweptOn(today)
  // A fifth of a thousand, of which amounts below 10 USDC may use half.
  assert.equal(own.filter((one) => swept.has(saltOf(one))).length, 100)
  assert.ok(today.warned.length > 0)
  const honest = await deposited(50n * ONE_USDC)
  const small = await deposited(ONE_USDC)
  const neighbour = await deposited(50n * ONE_USDC, { creator })
  const later = await sweptOn(today)
  assert.deepEqual(
    [honest, small, neighbour].map((one) => later.has(saltOf(one))),
    [true, true, true],
  )
  const waiting = own.find((one) => !swept.has(saltOf(one))) ?? assert.fail()
  const midnight = start_ms - (start_ms % DAY_MS) + DAY_MS
  assert.equal((await store.invoices.deposit_origin(waiting.invoice_id))?.put_off_ms, midnight)
  assert.ok((await sweptOn(sweeper({ start_ms: midnight }))).size >= 100)
})

test('one sender has a tenth of the day, whatever networks and merchants the invoices are of', async () => {
  const start_ms = START_MS + 80 * DAY_MS
  await sweptOn(sweeper({ start_ms: start_ms - DAY_MS }))
  const funder = hex(20)
  const own: Deposit[] = []
  for (let count = 0; count < 130; count += 1) own.push(await deposited(ONE_USDC, { funder }))
  const swept = await sweptOn(sweeper({ start_ms }))
  assert.equal(own.filter((one) => swept.has(saltOf(one))).length, 100)
})

test('shares and the smallest deposit follow from gas', async () => {
  const start_ms = START_MS + 120 * DAY_MS
  await sweptOn(sweeper({ start_ms: start_ms - DAY_MS }))
  // Half of 0.05 ETH pays for 219 sweeps of 57,000 gas at 2 gwei: a fifth is 43, of which amounts below 10 USDC may use 21.
  const gas = { gas_wei: 2_000_000_000n, daily_gas_wei: 50_000_000_000_000_000n }
  const creator = hex(16)
  const own: Deposit[] = []
  for (let count = 0; count < 60; count += 1) own.push(await deposited(9n * ONE_USDC, { creator }))
  // Twenty times 0.2793 USDC, in steps of 0.01.
  const below = await deposited(5_580_000n)
  const least = await deposited(5_590_000n)
  const all = await sweptOn(sweeper({ start_ms, gas, held_minor: 9n * ONE_USDC }))
  assert.equal(own.filter((one) => all.has(saltOf(one))).length, 21)
  assert.deepEqual([all.has(saltOf(least)), all.has(saltOf(below))], [true, false])
  // Gas falls within the day: the rest is tried again after an hour, not after midnight.
  const cheaper = await sweptOn(
    sweeper({ start_ms: start_ms + 3_600_000, gas: { ...gas, gas_wei: 2_000_000n }, held_minor: 9n * ONE_USDC }),
  )
  assert.ok(own.every((one) => all.has(saltOf(one)) || cheaper.has(saltOf(one))))
})
