/** Several processes on one port: one store, one count, and a death that nobody notices but those who were under way. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { workersOf } from '../../src/cli/serve.ts'
import { readSettings } from '../../src/service/read-settings.ts'
import { startAnvil } from '../support/anvil.ts'
import { restCall } from '../support/app.ts'
import { running, until } from '../support/until.ts'
import { openDesk, spawnCli } from './run-cli.ts'

const IBAN = { iban: 'GB82WEST12345698765432' }
/** A connection that was kept to the killed process would be reset: its callers are those who notice. */
const CLOSE = { connection: 'close' }

/** Numbers of the processes that a process has started. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.trim().split(' ').filter(Boolean).map(Number)
}

test(
  'two processes serve one port, count as one, and a killed one is replaced',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  async () => {
    const chain = await startAnvil({ chain_id: 84_532 })
    const folder = await mkdtemp(join(tmpdir(), 'assay-workers-'))
    const gas = join(folder, 'gas.key')
    await writeFile(gas, `0x${'5'.repeat(64)}\n`, { mode: 0o600 })
    const settings = {
      ASSAY_MODE: 'live',
      ASSAY_CHAIN_ID: '84532',
      ASSAY_RPC_URLS: chain.rpc_url,
      ASSAY_PAY_TO: '0x1000000000000000000000000000000000000001',
      ASSAY_GAS_KEY_FILE: gas,
      ASSAY_DATA_DIR: join(folder, 'var'),
      ASSAY_PORT: '0',
      ASSAY_FREE_DAILY: '60',
      ASSAY_LOG_LEVEL: 'silent',
    }
    const child = spawnCli(['serve', '--workers', '2'], { settings })
    child.stdout?.resume()
    const lines = createInterface({ input: child.stderr ?? assert.fail('no error stream') })
    const said: string[] = []
    lines.on('line', (line) => said.push(line))
    try {
      await until('the first process listens', () => said.some((line) => line.includes('listens on')), 60_000)
      const url = /listens on (http\S+)/.exec(said.join('\n'))?.[1] ?? ''
      const pid = child.pid ?? 0
      // Where the only process that listens dies, those who wait at the port are cut off with it.
      await until('both processes listen', () => said.some((line) => line.includes('2 processes share the port')), 60_000)
      assert.equal(childrenOf(pid).length, 2)
      const answers = await Promise.all(Array.from({ length: 40 }, () => restCall(url, 'iban-check', IBAN, CLOSE)))
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
      const [victim = 0] = childrenOf(pid)
      process.kill(victim, 'SIGKILL')
      await until('the killed one is gone', () => !running(victim))
      for (let call = 0; call < 20; call++) assert.equal((await restCall(url, 'iban-check', IBAN, CLOSE)).status, 200)
      // Sixty calls were answered, by whichever process; the next one has none left.
      assert.equal((await restCall(url, 'iban-check', IBAN, CLOSE)).status, 402)
      await until('another one takes its place', () => childrenOf(pid).filter((one) => one !== victim).length === 2)
      child.kill('SIGTERM')
      assert.deepEqual(await once(child, 'exit'), [0, null])
    } finally {
      child.kill('SIGKILL')
      await chain.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
)

test('what cannot be is said before anything starts', async () => {
  const read = readSettings({})
  assert.ok(read.ok)
  for (const count of ['0', '65', '-1', '1.5', 'many', '']) {
    assert.throws(() => workersOf(count, read.settings), { exit: 'usage', message: /number from 1 to 64/ })
  }
  assert.deepEqual([workersOf(null, read.settings), workersOf('1', read.settings)], [1, 1])
  const desk = await openDesk()
  const { code, stderr } = await desk.run(['serve', '--workers', '2'])
  assert.equal(code, 2)
  assert.match(stderr, /sandbox serves from one process/)
  await desk.clear()
})
