/** Which deposits the gas wallet forwards, in which transactions, and within which limits. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { decodeFunctionData, keccak256, toBytes, type Hex } from 'viem'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { DEPOSIT_FACTORY, depositAddress, sweepGas } from '../../src/pure/contracts/deployment.ts'
import { createSweeper } from '../../src/service/invoices/deposits.ts'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { clockAt } from '../support/clock-at.ts'
import { contract } from '../support/contracts.ts'
import { sqliteDriver, type StoreDriver } from '../support/store-drivers.ts'

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
const ONE_USDC = 1_000_000n
const BOUNDS = { network_unsigned: 1_000, all_unsigned: 1_000, calls_unsigned: 1_000, merchant_signed: 1 }
const START_MS = Date.UTC(2026, 10, 24, 1)

let driver: StoreDriver
let store: Store
before(async () => {
  driver = await sqliteDriver()
  store = await openStore((await driver.fresh()).target)
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

/** An invoice with a deposit in a final block. */
async function deposited(amount_minor: bigint, merchant = hex(20)): Promise<Deposit> {
  const invoice_id = `inv_${randomBytes(10).toString('hex')}`
  const address = depositAddress({ invoice_id, merchant })
  const times = { created_ms: START_MS, expires_s: 2_000_000_000, watch_until_s: 2_000_000_000 }
  const origin = { nonces: [hex(32)], content_hash: hex(32), request_key: null, network: null, issue_signature: null, bank_reference: null }
  const invoice = { invoice_id, merchant, amount_minor, terms: '{}', deposit_address: address, ...times, ...origin }
  assert.equal((await store.invoices.keep(invoice, BOUNDS)).kind, 'created')
  const block = { block_number: 5, block_hash: hex(32), block_time_s: 1_000, confirmed: true, final: true }
  const seen = { transaction: hex(32), log_index: 0, payer: hex(20), nonce: null, matched_by: 'deposit' as const, ...block }
  assert.equal(await store.invoices.attribute({ ...seen, invoice_id, amount_minor }, START_MS), true)
  return { invoice_id, merchant }
}

/** A sweeper whose clock moves past the pause between searches with each call. Balances of addresses are 1 USDC, except those that are empty. */
function sweeper({ empty = new Set<string>(), has_factory = true, start_ms = START_MS } = {}) {
  let now_ms = start_ms
  const source = createSweeper({
    store,
    chain: {
      read: (asked) =>
        Promise.resolve(
          asked.map((one) => {
            const held = 'data' in one && ![...empty].some((address) => one.data.endsWith(address.slice(2)))
            return { ok: true as const, data: `0x${(held ? ONE_USDC : 0n).toString(16).padStart(64, '0')}` }
          }),
        ),
    },
    token: TOKEN,
    hasFactory: () => Promise.resolve(has_factory),
    clock: clockAt(() => now_ms),
    log: { warn: () => undefined } as never,
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
  return { next, salts, pass: (ms: number) => (now_ms += ms) }
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
  for (let count = 0; count < 120; count += 1) await deposited(2n * ONE_USDC, merchant)
  const { salts } = sweeper()
  const sizes: number[] = []
  const first = await salts()
  assert.equal(first[0], saltOf(large))
  sizes.push(first.length, (await salts()).length, (await salts()).length, (await salts()).length)
  assert.deepEqual(sizes, [50, 50, 1, 0])
  const tomorrow = sweeper({ start_ms: START_MS + 86_400_000 })
  assert.equal((await tomorrow.salts()).length, 50)
})
