/** `assay call --url` pays within its cap; an answer that is lost is fetched with the payment that the command wrote. */
import assert from 'node:assert/strict'
import { chmod } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startProxy, type Proxy } from '../client/proxy.ts'
import { authorizationsUsed } from '../support/paying-chain.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { fund } from '../support/paying.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

const IBAN = '{"iban":"GB82 WEST 1234 5698 7654 32"}'

let world: World
let proxy: Proxy
let desk: Desk
before(async () => {
  desk = await openDesk()
  world = await startWorld()
  proxy = await startProxy(world.url)
})
after(async () => {
  await proxy.stop()
  await world.stop()
  await desk.clear()
})

async function payer(): Promise<{ address: `0x${string}`; options: string[] }> {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await fund(world.chain.rpc_url, world.chain.token, address, 1_000_000n)
  const file = await desk.file(`${address}.key`, key)
  await chmod(file, 0o600)
  return { address, options: ['--url', proxy.url, '--payer-key-file', file] }
}

test('within the cap the call is paid once, above it nothing is signed', async () => {
  const { address, options } = await payer()
  const dear = await desk.run(['call', 'iban-check', IBAN, ...options, '--max-usdc', '0.004'])
  assert.deepEqual([dear.code, (parsed(dear.stdout)['problem'] as { code: string }).code], [78, 'ABOVE_CALL_CAP'])
  assert.equal((await authorizationsUsed(world.chain, address)).length, 0)
  const paid = await desk.run(['call', 'iban-check', IBAN, ...options, '--max-usdc', '0.005'])
  assert.equal(paid.code, 0, paid.stderr)
  assert.equal((parsed(paid.stdout)['receipt'] as { payer: string }).payer, address.toLowerCase())
  const uncapped = await desk.run(['call', 'iban-check', IBAN, ...options])
  assert.deepEqual([uncapped.code, /--max-usdc/.test(uncapped.stderr)], [2, true])
  assert.equal((await authorizationsUsed(world.chain, address)).length, 1)
})

test('a payment whose answer never comes is written, and resumed by another run without a key', async () => {
  const { address, options } = await payer()
  const page = { kind: 'instead', status: 202, headers: { 'retry-after': '999' }, body: PENDING } as const
  proxy.plan({ kind: 'change', change: () => undefined }, page)
  const lost = await desk.run(['call', 'iban-check', IBAN, ...options, '--max-usdc', '0.005'])
  assert.match(lost.stderr, /--resume/)
  assert.equal((parsed(lost.stdout)['payment'] as { payer: string }).payer, address.toLowerCase())
  const file = await desk.file('lost.json', lost.stdout)
  const resumed = await desk.run(['call', '--url', proxy.url, '--resume', file])
  assert.equal(resumed.code, 0, resumed.stderr)
  assert.equal((parsed(resumed.stdout)['receipt'] as { payer: string }).payer, address.toLowerCase())
  assert.equal((await authorizationsUsed(world.chain, address)).length, 1)
})

/** The service asks for a longer pause than the client's patience. */
const PENDING = JSON.stringify({ code: 'PAYMENT_PENDING', detail: 'Pending.', retryable: true, charged: 'unknown' })
