import assert from 'node:assert/strict'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { Store } from '../../src/ports/store.ts'
import { readKeyList } from '../../src/pure/receipts/keys.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { proveLedger } from '../../src/service/payments/prove-ledger.ts'
import type { Anvil } from './anvil.ts'
import { witnessOf, type Live } from './faults-live.ts'
import type { Load, PaidCall } from './fault-load.ts'
import { FREE_DAILY, type Pair } from './fault-pair.ts'
import { query } from './postgres.ts'
import { until } from './until.ts'

/** Rows may wait for the reconciler, which looks every ten seconds. */
const CLOSED_MS = 60_000

/** Whatever happened: what was paid was answered, once and for the price; the ledger is what the chain says; nobody had a fourth free call. */
export async function assertNothingLost(pair: Pair, load: Load): Promise<void> {
  const { anvil, live, store } = pair
  await until('no payment is open', async () => (await openRows(store)).length === 0, CLOSED_MS)
  await assertReceipts(pair.urls()[0] ?? '', load.paid)
  await assertChargedOnce(anvil, live, load)
  await assertLedgerProved(anvil, live, await openStore(store), load.paid.length)
  for (const [client, answered] of load.free) assert.ok(answered <= FREE_DAILY, `${client} had ${answered} free answers`)
  assert.deepEqual(await query(store, `select client, used from allowance where bucket = 'general' and used > ${FREE_DAILY}`), [])
}

async function openRows(store: string): Promise<unknown[]> {
  return query(store, `select payer, nonce, state from payment where state in ('claimed', 'prepared', 'settling', 'unknown')`)
}

/** Each answer is whole, its receipt holds by the published keys, and it is the receipt of this payment. */
async function assertReceipts(url: string, paid: readonly PaidCall[]): Promise<void> {
  const keys = readKeyList(await (await fetch(`${url}/.well-known/xdr-1.json`)).json()) ?? assert.fail('no keys')
  for (const { signed, answer } of paid) {
    const receipt = answer['receipt'] as Record<string, string>
    const { valid, signer_published } = verifyReceipt(receipt, keys)
    assert.deepEqual([valid, signer_published, (answer['result'] as { valid: boolean }).valid], [true, true, true])
    const { nonce, from, value } = signed.message
    assert.deepEqual([receipt['nonce'], receipt['payer']], [nonce, from.toLowerCase()])
    const settlement = answer['settlement'] as { amount_minor: string }
    assert.equal(settlement.amount_minor, String(value))
  }
}

/** On the chain each payer used exactly the authorizations that were answered, each once, and sent exactly their sum. */
async function assertChargedOnce(anvil: Anvil, { pay_to }: Live, { paid, payers }: Load): Promise<void> {
  const witness = witnessOf(anvil)
  for (const { address } of payers) {
    const mine = paid.map(({ signed }) => signed.message).filter(({ from }) => from === address)
    const used = (await witness.used(address)).map(({ value }) => value)
    assert.deepEqual(used.toSorted(), mine.map(({ nonce }) => nonce).toSorted())
    const sent = (await witness.transfers(address, pay_to)).map(({ value }) => value)
    assert.equal(sent.length, mine.length)
    assert.equal(sum(sent), sum(mine.map(({ value }) => value)))
  }
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

/** The proof of the command line: every settled row has its transfer, and there is no other money. Closes the store. */
export async function assertLedgerProved(anvil: Anvil, { pay_to }: Pick<Live, 'pay_to'>, store: Store, settled: number): Promise<void> {
  const chain = createChain({ urls: [anvil.rpc_url], chain_id: anvil.chain_id, clock: systemClock })
  const source = {
    payments: store.payments,
    channels: { store: store.channels, chain },
    chain,
    token: anvil.token.toLowerCase(),
    pay_to: pay_to.toLowerCase(),
    onProgress: () => undefined,
  }
  try {
    const { proved, rows, foreign, differences } = await proveLedger(source)
    assert.deepEqual(
      { proved, rows: rows.count, foreign: foreign.count, differences: differences.first },
      { proved: true, rows: settled, foreign: 0, differences: [] },
    )
  } finally {
    await store.close()
  }
}

/** One line for people: how much was done under the faults, and what the callers met. */
export function figuresOf(load: Load): string {
  const met = [...load.met].toSorted(([a], [b]) => a.localeCompare(b)).map(([status, count]) => `${status}: ${count}`)
  return `${load.paid.length} payments answered, ${load.free.size} free clients; statuses ${met.join(', ')}; longest answer ${Math.round(load.longest_ms)} ms`
}
