import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sandboxFiles, thisMachine, rpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { running, until } from '../support/until.ts'
import { CHAIN_ID, options, pay, PAYEE, record, service, startChain, usdcOf } from './chain.ts'
import { writeRecord } from '../../src/adapters/chain/sandbox.ts'

for (const keeping of ['guarded', 'bare'] as const) {
  test(`a service that is killed leaves no payment behind, and no chain (${keeping})`, async (t) => {
    const order = options(t, { keeping })
    const dying = await service(t, order)
    const { rpc_url } = await dying.start()
    const { pid, guard_pid } = record(order)
    const hash = await pay(rpc_url)
    await dying.kill()
    // Nobody watches over a bare chain; the next start takes its state and ends it.
    if (keeping === 'guarded') {
      await until('anvil to end', () => !running(pid))
      await until('its guard to end', () => guard_pid === null || !running(guard_pid))
    }
    const next = await startChain(t, order)
    assert.equal(next.owned, true)
    assert.equal(running(pid), false)
    const receipt = await rpcRequest(next.rpc_url)('eth_getTransactionReceipt', [hash])
    assert.equal((receipt as { status: string } | null)?.status, '0x1')
    assert.equal(await usdcOf(next.rpc_url, PAYEE), 1_000_000n)
  })
}

test('a start right after the kill waits for the old chain to write its state', async (t) => {
  const order = options(t)
  const dying = await service(t, order)
  const { rpc_url } = await dying.start()
  await pay(rpc_url)
  await dying.kill()
  const next = await startChain(t, order)
  assert.equal(await usdcOf(next.rpc_url, PAYEE), 1_000_000n)
})

test('a chain whose guard is killed ends too, and the next start goes on', async (t) => {
  const order = options(t)
  const first = await startChain(t, order)
  const { pid, guard_pid } = record(order)
  assert.ok(guard_pid !== null)
  process.kill(guard_pid, 'SIGKILL')
  await until('anvil to end', () => !running(pid))
  await first.stop()
  assert.equal((await startChain(t, order)).owned, true)
})

test('a second service joins the chain of the first, and leaves it running', async (t) => {
  const order = options(t)
  const first = await startChain(t, order)
  const second = await startChain(t, order)
  assert.deepEqual({ rpc_url: second.rpc_url, owned: second.owned }, { rpc_url: first.rpc_url, owned: false })
  const third = await service(t, order)
  assert.deepEqual(await third.start(), { rpc_url: first.rpc_url, owned: false })
  await second.stop()
  await third.stop()
  assert.equal(Number(await rpcRequest(first.rpc_url)('eth_chainId')), CHAIN_ID)
})

test('services that start at once in one folder end up on one chain', async (t) => {
  const order = options(t)
  const services = await Promise.all([service(t, order), service(t, order), service(t, order)])
  const got = await Promise.all(services.map((one) => one.start()))
  assert.equal(new Set(got.map(({ rpc_url }) => rpc_url)).size, 1)
  assert.equal(got.filter(({ owned }) => owned).length, 1)
  const { pid } = record(order)
  await Promise.all(services.map((one) => one.stop()))
  assert.equal(running(pid), false)
})

test('a stale record is removed, and the process that has the number now is left alone', async (t) => {
  const order = options(t)
  const files = sandboxFiles(order.directory)
  const stranger = await service(t, options(t))
  const numbers = { pid: stranger.process.pid ?? 0, guard_pid: stranger.process.pid ?? 0 }
  writeRecord(files.record, { ...numbers, rpc_url: 'http://127.0.0.1:9', chain_id: CHAIN_ID, instance_id: '0x00', ...here(order) })
  const chain = await startChain(t, order)
  assert.equal(chain.owned, true)
  assert.equal(running(numbers.pid), true)
  assert.notEqual(record(order).pid, numbers.pid)
  // A record that names another anvil, which does answer, is as stale.
  const other = options(t)
  writeRecord(sandboxFiles(other.directory).record, { ...record(order), guard_pid: null, instance_id: '0x00' })
  const second = await startChain(t, other)
  assert.notEqual(second.rpc_url, chain.rpc_url)
  assert.equal(running(record(order).pid), true)
})

test('a state that cannot be read stops the start with a word, and frees the folder', async (t) => {
  const order = options(t)
  const { state } = sandboxFiles(order.directory)
  writeFileSync(state, '{"half": ')
  await assert.rejects(startChain(t, order), { name: 'SandboxChainError', message: /did not start/ })
  rmSync(state)
  assert.equal((await startChain(t, order)).owned, true)
})

const here = ({ directory }: { directory: string }) => ({ machine: thisMachine(), folder: realpathSync(directory) })

for (const keeping of ['guarded', 'bare'] as const) {
  test(`a chain that is killed is started again on its port, with its state, and that is told (${keeping})`, async (t) => {
    const order = options(t, { keeping })
    const chain = await startChain(t, order)
    assert.deepEqual(chain.run(), { running: true, restarts: 0, restarted_at: null, stopped_because: null })
    const hash = await pay(chain.rpc_url)
    const saved_ms = () => statSync(sandboxFiles(order.directory).state, { throwIfNoEntry: false })?.mtimeMs ?? 0
    const before_ms = saved_ms()
    await until('the state with the payment to be saved', () => saved_ms() > before_ms)
    const { pid } = record(order)
    process.kill(pid, 'SIGKILL')
    await until('the chain to run again', () => chain.run()?.restarts === 1 && chain.run()?.running === true)
    assert.notEqual(record(order).pid, pid)
    assert.match(chain.run()?.restarted_at ?? '', /^\d{4}-\d\d-\d\dT/)
    const receipt = await rpcRequest(chain.rpc_url)('eth_getTransactionReceipt', [hash])
    assert.equal((receipt as { status: string } | null)?.status, '0x1')
    assert.equal(await usdcOf(chain.rpc_url, PAYEE), 1_000_000n)
    const second = await startChain(t, order)
    assert.deepEqual([second.rpc_url, second.owned], [chain.rpc_url, false])
  })
}

test('a copy of the folder, started elsewhere, leaves the chain of the first service alone', async (t) => {
  const order = options(t)
  const first = await startChain(t, order)
  await pay(first.rpc_url)
  const { pid } = record(order)
  const directory = mkdtempSync(join(tmpdir(), 'assay-sandbox-copy-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  cpSync(order.directory, directory, { recursive: true })
  const copy = await startChain(t, { ...order, directory })
  assert.deepEqual([copy.owned, copy.rpc_url === first.rpc_url], [true, false])
  await pay(copy.rpc_url)
  assert.equal(running(pid), true)
  assert.equal(await usdcOf(first.rpc_url, PAYEE), 1_000_000n)
  assert.deepEqual([first.run()?.running, first.run()?.restarts], [true, 0])
})
