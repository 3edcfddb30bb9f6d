import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Chain, ChainLog, LogFilter, TransactionReceipt } from '../../src/ports/chain.ts'
import type { ClaimRequest, PaymentStore } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import { proveLedger, transfersTo } from '../../src/service/payments/prove-ledger.ts'
import { EPOCH, NOW_MS, paymentIn, word } from '../support/store-payments.ts'

const account = (digits: string) => `0x${digits.repeat(10)}`

/** A chain of one block every 2 s whose logs are given; it knows nothing else. */
const TOKEN = account('cccc')
const PAY_TO = account('2222')
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const HEAD = 5_000n
const topicOf = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}`
const blockHash = (block: bigint) => `0xbb${block.toString(16).padStart(62, '0')}`

interface Sent {
  payer: string
  nonce: string | null
  value_minor: bigint
  block: bigint
}

/** One transaction: AuthorizationUsed where there is a nonce, then Transfer. */
function receiptOf({ payer, nonce, value_minor, block }: Sent, number: number): TransactionReceipt {
  const transaction_hash = `0x7f${number.toString(16).padStart(62, '0')}`
  const log = (topics: string[], data: string, log_index: number): ChainLog => {
    return { address: TOKEN, topics, data, block_number: block, block_hash: blockHash(block), transaction_hash, log_index }
  }
  const used = nonce === null ? [] : [log([USED, topicOf(payer), nonce], '0x', 4)]
  const moved = log([TRANSFER, topicOf(payer), topicOf(PAY_TO)], `0x${value_minor.toString(16).padStart(64, '0')}`, 5)
  const place = { transaction_hash, block_number: block, block_hash: blockHash(block) }
  return { ...place, succeeded: true, gas_used: 1n, effective_gas_price: 1n, logs: [...used, moved] }
}

interface TestChain extends Pick<Chain, 'head' | 'header' | 'logs' | 'receipt'> {
  asked: LogFilter[]
  receipts: TransactionReceipt[]
}

function chainOf(sent: Sent[], logs_max = Number.POSITIVE_INFINITY): TestChain {
  const receipts = sent.map(receiptOf)
  const asked: LogFilter[] = []
  const header = async (at: bigint | 'safe' | 'finalized') => {
    const number = typeof at === 'bigint' ? at : HEAD
    const timestamp_s = NOW_MS / 1_000 - 2 * Number(HEAD - number)
    return number > HEAD ? null : { number, hash: blockHash(number), parent_hash: blockHash(number - 1n), timestamp_s }
  }
  return {
    asked,
    receipts,
    head: async () => (await header(HEAD)) ?? assert.fail(),
    header,
    receipt: async (transaction) => receipts.find(({ transaction_hash }) => transaction_hash === transaction) ?? null,
    async logs(filter) {
      asked.push(filter)
      const { from_block, to_block } = filter
      const found = receipts
        .flatMap(({ logs }) => logs)
        .filter(({ topics, block_number }) => topics[0] === TRANSFER && block_number >= from_block && block_number <= to_block)
      if (found.length > logs_max) throw new Error('too many logs')
      return found
    },
  }
}

test('the chain is read in ranges of at most 2,000 blocks that meet without gap, smaller where the node refuses', async () => {
  const sent = [1n, 2_000n, 2_001n, 4_999n].map((block) => ({ payer: account('aaaa'), nonce: null, value_minor: block, block }))
  for (const logs_max of [Number.POSITIVE_INFINITY, 1]) {
    const chain = chainOf(sent, logs_max)
    const values: bigint[] = []
    const ends: bigint[] = []
    for await (const part of transfersTo({ chain, token: TOKEN, pay_to: PAY_TO }, 1n, 5_000n)) {
      values.push(...part.transfers.map(({ value_minor }) => value_minor))
      ends.push(part.to_block)
    }
    assert.deepEqual(values, [1n, 2_000n, 2_001n, 4_999n])
    assert.equal(ends.at(-1), 5_000n)
    assert.ok(chain.asked.every(({ from_block, to_block }) => to_block - from_block < 2_000n))
    if (logs_max > 1) assert.deepEqual(ends, [2_000n, 4_000n, 5_000n])
  }
})

let folder: string
let opened = 0
const stores: Store[] = []
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-proof-'))
})
after(async () => {
  for (const store of stores) await store.close()
  rmSync(folder, { recursive: true, force: true })
})

async function newStore(): Promise<Store> {
  opened += 1
  const store = await openStore(join(folder, `${opened}.sqlite`))
  stores.push(store)
  return store
}

/** Settles a payment in the store where the chain has it, and says what the chain must be given for it. */
async function settle(store: Store, number: number, sent: Sent, changes: Partial<ClaimRequest> = {}): Promise<Sent> {
  const { payer, nonce, value_minor } = sent
  const key = { payer, nonce: nonce ?? assert.fail() }
  await paymentIn(store, 'settling', { ...key, value_minor, balance_minor: 10n ** 12n, to: PAY_TO, ...changes })
  const { transaction_hash: transaction, block_number, block_hash } = receiptOf(sent, number)
  const settled_at = { transaction, block_number: Number(block_number), block_hash }
  assert.deepEqual(await store.payments.apply_transitions([{ ...key, to: 'settled', settled_at }], EPOCH, NOW_MS), [true])
  return sent
}

const sentOf = (block: bigint, value_minor: bigint): Sent => ({ payer: account('aaaa'), nonce: word(), value_minor, block })

function prove(payments: Pick<PaymentStore, 'ledger' | 'find'>, chain: TestChain) {
  return proveLedger({ payments, chain, token: TOKEN, pay_to: PAY_TO, onProgress: () => undefined })
}

test('a ledger of more than one page is proved, whatever the order of blocks and rows', async () => {
  const store = await newStore()
  const sent: Sent[] = []
  for (let number = 0; number < 501; number += 1) {
    const one = sentOf(HEAD - BigInt((number * 7) % 50), 5_000n + BigInt(number))
    sent.push(await settle(store, number, one, { now_ms: NOW_MS - (number % 40) * 1_000 }))
  }
  const found = await prove(store.payments, chainOf(sent))
  // 501 payments of 5,000 and 0 to 500 more: 501 * 5,000 + 500 * 501 / 2.
  const all = { count: 501, value_minor: 2_630_250n }
  assert.deepEqual([found.proved, found.rows, found.transfers, found.foreign.count], [true, all, all, 0])
  assert.deepEqual([found.not_final.count, found.range?.to_block], [501, HEAD])
})

test('a proof says why a row is not borne out, and what became of authorizations without a settled row', async () => {
  const store = await newStore()
  const good = await settle(store, 0, sentOf(4_990n, 5_000n))
  await settle(store, 9, sentOf(4_991n, 6_000n))
  const less = await settle(store, 1, sentOf(4_992n, 7_000n))
  const refused = await paymentIn(store, 'refused', { to: PAY_TO, value_minor: 8_000n })
  const elsewhere = await settle(store, 3, sentOf(4_993n, 9_000n), { to: account('3333') })
  const chain = chainOf([
    good,
    { ...less, value_minor: 6_999n },
    { payer: refused.payer, nonce: refused.nonce, value_minor: 8_000n, block: 4_994n },
  ])
  const found = await prove(store.payments, chain)
  assert.equal(found.proved, false)
  assert.deepEqual(
    new Map(found.differences.first.map(({ kind, row: { value_minor } }) => [value_minor, kind])),
    new Map([
      [6_000n, 'no_transaction'],
      [7_000n, 'other_value'],
      [elsewhere.value_minor, 'no_transaction'],
    ]),
  )
  assert.deepEqual(
    found.foreign.first.map(({ state, value_minor }) => [state, value_minor]),
    [['refused', 8_000n]],
  )
  assert.deepEqual(
    [found.rows, found.to_others],
    [
      { count: 3, value_minor: 18_000n },
      { count: 1, value_minor: 9_000n },
    ],
  )
})

test('what changes while the proof runs is looked at again', async () => {
  const store = await newStore()
  const first = await settle(store, 0, sentOf(4_990n, 5_000n))
  const reorged = await settle(store, 1, sentOf(4_991n, 6_000n))
  const late = sentOf(4_992n, 7_000n)
  const newer = await settle(store, 3, sentOf(HEAD + 1n, 8_000n))
  const chain = chainOf([first, { ...first, nonce: null, value_minor: 0n }, late])
  const key = { payer: reorged.payer, nonce: reorged.nonce ?? '' }
  let asked = 0
  const found = await prove(
    {
      find: (one) => store.payments.find(one),
      async ledger(query) {
        const page = await store.payments.ledger(query)
        asked += 1
        if (asked === 2) {
          await store.payments.apply_transitions([{ ...key, to: 'unknown', reason: 'reorganised', transaction: null }], EPOCH, NOW_MS)
          await settle(store, 2, late)
        }
        return page
      },
    },
    chain,
  )
  assert.equal(found.proved, true)
  assert.deepEqual(
    [found.rows, found.newer],
    [
      { count: 2, value_minor: 12_000n },
      { count: 1, value_minor: newer.value_minor },
    ],
  )
  assert.deepEqual([found.foreign.count, found.foreign.value_minor], [1, 0n])
})

// attack: old state, reorganised blocks, hidden logs
test('a node that keeps a transfer from its logs is found out, and one whose blocks move stops the proof', async () => {
  const store = await newStore()
  const sent = await settle(store, 0, sentOf(4_990n, 5_000n))
  const silent = chainOf([sent])
  const found = await prove(store.payments, { ...silent, logs: async () => [] })
  assert.deepEqual([found.proved, ...found.differences.first.map(({ kind }) => kind)], [false, 'not_in_logs'])
  const moving = chainOf([sent])
  await assert.rejects(prove(store.payments, { ...moving, receipt: async () => null }), { name: 'ChainMovedError' })
})

test('without payments nothing is asked of the chain but its head', async () => {
  const store = await newStore()
  const chain = chainOf([sentOf(1n, 1n)])
  const found = await prove(store.payments, chain)
  assert.deepEqual([found.proved, found.range, chain.asked], [true, null, []])
})
