/** The tools that read the chain, over a live service whose only node fails in every way: the right answer, or 503 and nothing charged. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import type { Running } from '../../src/assembly/start.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { restCall } from '../support/app.ts'
import { html, oldHead, reorganises, truncated, unavailable, wrongChain } from '../support/faults-facts.ts'
import { liveDeployment, startLive, type Live } from '../support/faults-live.ts'
import { faults, startRpcProxy, type Fault, type RpcProxy } from '../support/faults-rpc.ts'
import { until } from '../support/until.ts'

const HOLDER = '0x00000000000000000000000000000000000a11ce'

let anvil: Anvil
let proxy: RpcProxy
let live: Live
let running: Running

before(async () => {
  anvil = await startAnvil()
  await anvil.mint(HOLDER, 12_345_678n)
  await anvil.mine(3)
  await anvil.rpc('evm_setIntervalMining', [1])
  proxy = await startRpcProxy(anvil.rpc_url)
  live = await liveDeployment(anvil, { ASSAY_RPC_URLS: proxy.url, ASSAY_FREE_DAILY: '1000' })
  running = await startLive(live)
  await until('the chain was looked at', async () => (await ask('tx-activity', { address: HOLDER })).status === 200)
})
after(async () => {
  await running.stop()
  await proxy.stop()
  await live.remove()
  await anvil.stop()
})
afterEach(async () => {
  proxy.misbehave(undefined)
  await until('the chain answers again', async () => (await ask('tx-activity', { address: HOLDER })).status === 200)
})

const ask = (tool: string, input: Record<string, unknown>) => restCall(running.url, tool, input)

/** Each tool, an input, and what holds of a right answer, from what was done on the chain. */
const TOOLS: readonly [string, Record<string, unknown>, (result: Record<string, unknown>) => unknown, unknown][] = [
  ['balance-check', { address: HOLDER }, ({ token }) => (token as { formatted: string }).formatted, '12.345678'],
  ['erc20-balance', { address: HOLDER, token_address: '' }, ({ raw }) => raw, '12345678'],
  ['tx-activity', { address: HOLDER }, ({ account_kind }) => account_kind, 'empty'],
  ['block-info', { block: '1' }, ({ number }) => number, '1'],
  ['settlement-history-check', { address: HOLDER }, ({ received }) => (received as { total: string }).total, '12.345678'],
]

const FAULTS: Readonly<Record<string, () => Fault>> = {
  html: () => html,
  unavailable: () => unavailable,
  truncated: () => truncated,
  wrongChain: () => wrongChain,
  limited: () => faults.limited,
  error: () => faults.error,
  oldHead: () => oldHead(120),
  reorganises: () => reorganises(1_000),
}

function remaining({ headers }: { headers: Headers }): number {
  return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
}

test('each tool answers rightly, with a receipt that verifies', async () => {
  for (const [tool, input, fact, expected] of TOOLS) {
    const { status, body } = await ask(tool, named(input))
    assert.equal(status, 200, tool)
    assert.equal(fact(body['result'] as Record<string, unknown>), expected, tool)
    assert.equal(verifyReceipt(body['receipt']).valid, true, tool)
  }
})

for (const [name, fault] of Object.entries(FAULTS)) {
  test(`a node that fails (${name}): the right answer, or 503 and nothing charged`, async () => {
    const before_all = remaining(await ask('iban-check', { iban: 'GB82WEST12345698765432' }))
    let answered = 0
    for (const [tool, input, fact, expected] of TOOLS) {
      proxy.misbehave(fault())
      const { status, body } = await ask(tool, named(input))
      if (status === 200) {
        assert.equal(fact(body['result'] as Record<string, unknown>), expected, tool)
        answered += 1
      } else {
        assert.deepEqual([status, body['code'], body['charged'], body['retryable']], [503, 'UPSTREAM_RPC_UNAVAILABLE', false, true], tool)
        assert.equal(body['valid'], null)
        assert.match(String(body['reason']), /^[a-z_]+$/)
      }
    }
    proxy.misbehave(undefined)
    const after_all = remaining(await ask('iban-check', { iban: 'GB82WEST12345698765432' }))
    assert.equal(before_all - after_all, answered + 1)
  })
}

function named(input: Record<string, unknown>): Record<string, unknown> {
  return input['token_address'] === '' ? { ...input, token_address: anvil.token } : input
}
