/** Callers choose contracts, accounts and blocks; whatever a node makes of those, payments go on over the same endpoint. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { createChainFacts } from '../../src/adapters/chain/facts.ts'
import { createTransfers } from '../../src/adapters/chain/history.ts'
import { Pool } from '../../src/adapters/chain/pool.ts'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { FactRead, FinalizedRangeStore } from '../../src/ports/chain-facts.ts'
import { balanceCall } from '../../src/pure/payments/token-calls.ts'
import { startAnvil } from '../support/anvil.ts'
import { startFakeNode } from '../support/node.ts'
import { spanOf, startSyntheticNode, type SyntheticNode } from '../support/synthetic-node.ts'
import { clockAt } from '../support/clock-at.ts'

const CHAIN = 8453
const TOKEN = `0x${'70'.repeat(20)}`
const ME = `0x${'11'.repeat(20)}`
const FORGETFUL: FinalizedRangeStore = {
  stretches: async () => [],
  keep_stretches: async () => undefined,
  purge_stretches: async () => 0,
}
const never = new Promise<never>(() => undefined)
/** Beyond what is read of an answer, in hex. */
const TOO_LONG = `0x${'00'.repeat(5 * 1_048_576)}`

let node: SyntheticNode

before(async () => {
  node = await startSyntheticNode({ chain_id: CHAIN, head: 20_005_002, token: TOKEN, account: ME, log_range: 10_000 })
})
after(() => node.stop())
afterEach(() => {
  node.says = () => null
})

function usesOf(url: string, chain_id = CHAIN) {
  const pool = new Pool([url], chain_id, systemClock)
  const options = { pool, chain_id, clock: systemClock }
  return {
    payments: createChain({ ...options, urls: [] }),
    facts: createChainFacts(options),
    transfers: createTransfers({ ...options, store: FORGETFUL }),
  }
}

type Uses = ReturnType<typeof usesOf>

const call = (gas: bigint): FactRead => ({ kind: 'call', to: TOKEN, data: balanceCall(ME), gas })
const contract = ({ facts }: Uses) => facts.atOneBlock((at) => at.read([call(1_000_000n)]))
const history = ({ transfers }: Uses) => transfers.history(TOKEN, ME, 86_400)
const pending = ({ facts }: Uses) => facts.block('pending')

/** What a caller asks for, what the node says to it, and whether the caller is answered all the same. */
const CHOSEN: Record<string, { ask: (uses: Uses) => Promise<unknown>; says: SyntheticNode['says']; answered: boolean }> = {
  'a contract that returns more than is read': {
    ask: contract,
    says: ({ method }) => (method === 'eth_call' ? { result: TOO_LONG } : null),
    answered: false,
  },
  'a contract that runs longer than is waited': {
    ask: contract,
    says: ({ method }) => (method === 'eth_call' ? never : null),
    answered: false,
  },
  'a contract whose refusal speaks of limits': {
    ask: contract,
    says: ({ method }) => (method === 'eth_call' ? { error: { code: -32000, message: 'execution reverted: rate limit' } } : null),
    answered: true,
  },
  'an account whose logs no node finds in time': {
    ask: history,
    says: (asked) => (spanOf(asked) > 2_000 ? never : null),
    answered: true,
  },
  'an account whose logs are more than is read': {
    ask: history,
    says: (asked) => (spanOf(asked) > 2_000 ? { result: [TOO_LONG] } : null),
    answered: true,
  },
  'a pending block without a number': {
    ask: pending,
    says: ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'pending'
        ? {
            result: {
              number: null,
              hash: null,
              parentHash: `0x${'5'.repeat(64)}`,
              timestamp: '0x5',
              transactions: [],
              gasUsed: '0x0',
              gasLimit: '0x1',
            },
          }
        : null,
    answered: true,
  },
  'a node that answers what was not asked': {
    ask: contract,
    says: ({ method }) => (method === 'eth_call' ? { result: 'yes' } : null),
    answered: false,
  },
}

describe('payments read on, at once, after', () => {
  for (const [name, { ask, says, answered }] of Object.entries(CHOSEN)) {
    test(name, async () => {
      const uses = usesOf(node.url)
      node.says = says
      const asked = await Promise.allSettled([ask(uses), ask(uses), ask(uses), ask(uses)])
      for (const one of asked) {
        if (answered) assert.equal(one.status, 'fulfilled')
        else assert.ok(one.status === 'rejected' && one.reason.code === 'CHAIN_UNAVAILABLE')
      }
      node.says = () => null
      node.requests = 0
      assert.equal(await uses.payments.balance_wei(ME), 7n)
      assert.ok(node.requests <= 3, `${node.requests} requests`)
    })
  }
})

// attack: contracts, accounts and blocks for which a node answers too late or too long
// in: outgoing requests and stored data
// asset: payments
// attacker: client, author of a contract
// defence: separate circuit breakers for facts and payments
test('a pause that facts brought about is none for payments', async () => {
  const fake = await startFakeNode()
  try {
    const clock = clockAt(() => fake.head.timestamp_s * 1_000)
    const options = { pool: new Pool([fake.url], CHAIN, clock), chain_id: CHAIN, clock }
    // Read at the head itself, which this node gives as the block of every number.
    const facts = createChainFacts({ ...options, beforeRead: async () => undefined })
    fake.behave((calls, response) =>
      calls.some(({ method }) => method === 'eth_call') ? response.writeHead(429, { 'retry-after': '30' }).end() : null,
    )
    const ask = () => facts.atOneBlock((at) => at.read([call(1_000_000n)]))
    await assert.rejects(ask(), /too many requests/)
    fake.behave(undefined)
    assert.equal(await createChain({ ...options, urls: [] }).balance_wei(ME), 7n)
    await assert.rejects(ask(), /too many requests/)
  } finally {
    await fake.stop()
  }
})

// attack: contracts, accounts and blocks for which a node answers too late or too long
test('facts too go on after questions that were too long or too slow', async () => {
  for (const name of ['a contract that returns more than is read', 'a contract that runs longer than is waited'] as const) {
    const uses = usesOf(node.url)
    node.says = CHOSEN[name]?.says ?? node.says
    await Promise.allSettled([contract(uses), contract(uses), contract(uses), contract(uses)])
    node.says = () => null
    assert.equal((await uses.facts.block('latest'))?.number, 20_005_002n)
  }
})

test('an endpoint that died is taken out of service for facts as well: it does not name its chain', async () => {
  const other = await startSyntheticNode({ chain_id: CHAIN, head: 20_005_002, token: TOKEN, account: ME, log_range: 10_000 })
  const uses = usesOf(other.url)
  await contract(uses)
  await other.stop()
  await assert.rejects(contract(uses), { code: 'CHAIN_UNAVAILABLE' })
  for (let failure = 0; failure < 3; failure += 1) await assert.rejects(contract(uses), /connection failed/)
  await assert.rejects(contract(uses), /out of service/)
})

test('a contract that returns as much as its gas buys is read all the same: its calls fail, the rest stands', async () => {
  const anvil = await startAnvil()
  try {
    // GAS PUSH3 5,000,000 LT PUSH1 0f JUMPI, then RETURN of 688,128 bytes, or of 2,215,936 with more gas than that.
    const code = '0x5a624c4b4010600f57620a80005ff35b6221d0005ff3'
    const hungry = `0x${'ab'.repeat(20)}`
    await anvil.setCode(hungry, code)
    await anvil.mine(2)
    const uses = usesOf(anvil.rpc_url, anvil.chain_id)
    const calls = Array.from(
      { length: 24 },
      (_, index): FactRead => ({ ...call(index < 2 ? 10_000_000n : 1_000_000n), to: hungry }) as FactRead,
    )
    const said = await uses.facts.atOneBlock((at) => at.read([{ kind: 'code', address: hungry }, ...calls]))
    assert.deepEqual(said[0], { ok: true, data: code })
    assert.ok(said.slice(1).every(({ ok }) => !ok))
    assert.equal(said.length, 25)
  } finally {
    await anvil.stop()
  }
})
