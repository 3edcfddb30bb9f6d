/** A secret that other users of the machine can read or change stops the start; the doctor names each. */
// attack: key files that others can read or write
// in: outgoing requests and stored data
// asset: every secret
// attacker: user of the machine
// defence: refused at the start, by mode and owner

import assert from 'node:assert/strict'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readSettings } from '../../src/service/read-settings.ts'
import { start } from '../../src/assembly/start.ts'
import { openDesk, parsed } from '../cli/run-cli.ts'

const windows = process.platform === 'win32' ? 'Windows has no permission bits' : false

const folder = await mkdtemp(join(tmpdir(), 'assay-secrets-'))
await mkdir(join(folder, 'sandbox'))
after(() => rm(folder, { recursive: true, force: true }))

const named = (name: string, file: string) => ({ [name]: join(folder, file) })
const LIVE = { ASSAY_MODE: 'live', ASSAY_RPC_URLS: 'http://127.0.0.1:9', ASSAY_PAY_TO: `0x${'8'.repeat(40)}` }
const STRIPE = {
  ...named('ASSAY_STRIPE_SECRET_KEY_FILE', 'stripe.key'),
  ...named('ASSAY_STRIPE_WEBHOOK_SECRET_FILE', 'webhook.key'),
}

/** Each secret with the setting that names it, or the folder that it lies in, and settings under which a start reads it. */
const FILES: [setting: string, file: string, settings: Record<string, string>][] = [
  ['ASSAY_DATA_DIR', 'receipt-keys.json', {}],
  ['ASSAY_DATA_DIR', 'secret.key', {}],
  ['ASSAY_DATA_DIR', 'log.key', {}],
  ['ASSAY_DATA_DIR', 'sandbox/payer.key', {}],
  ['ASSAY_RECEIPT_KEY_FILE', 'own-receipt.key', named('ASSAY_RECEIPT_KEY_FILE', 'own-receipt.key')],
  ['ASSAY_SECRET_FILE', 'own-secret.key', named('ASSAY_SECRET_FILE', 'own-secret.key')],
  ['ASSAY_LOG_KEY_FILE', 'own-log.key', named('ASSAY_LOG_KEY_FILE', 'own-log.key')],
  ['ASSAY_GAS_KEY_FILE', 'gas.key', { ...LIVE, ...named('ASSAY_GAS_KEY_FILE', 'gas.key') }],
  ['ASSAY_STRIPE_SECRET_KEY_FILE', 'stripe.key', STRIPE],
  ['ASSAY_STRIPE_WEBHOOK_SECRET_FILE', 'webhook.key', STRIPE],
]

async function refusal(settings: Record<string, string>): Promise<string> {
  const read = readSettings({ ASSAY_PORT: '0', ASSAY_DATA_DIR: folder, ASSAY_LOG_LEVEL: 'silent', ...settings })
  assert.ok(read.ok)
  const started = await start(read.settings).catch((error: unknown) => error)
  if (started instanceof Error) return started.message
  await (started as Awaited<ReturnType<typeof start>>).stop()
  return 'it started'
}

test(
  'each secret file of mode 0666, 0640 or 0602 stops the start with its setting, its mode and the command',
  { skip: windows },
  async () => {
    for (const [setting, file, settings] of FILES) {
      const path = join(folder, file)
      await writeFile(path, 'ab'.repeat(32))
      for (const mode of [0o666, 0o640, 0o602]) {
        await chmod(path, mode)
        const message = await refusal(settings)
        const shown = `${setting}: the file ${path} has mode 0${mode.toString(8)}`
        assert.ok(message.startsWith(shown) && message.includes(`"chmod 600 ${path}"`), message)
        assert.ok(!message.includes('ababab') && !message.includes('\n'))
      }
      await rm(path)
    }
  },
)

test(
  'a secret file of another user stops the start',
  { skip: windows || (process.getuid?.() === 0 ? false : 'only root gives files away') },
  async () => {
    const path = join(folder, 'foreign.key')
    await writeFile(path, 'ab'.repeat(32), { mode: 0o600 })
    await chown(path, 12_345, 12_345)
    const message = await refusal({ ASSAY_SECRET_FILE: path })
    assert.match(message, /^ASSAY_SECRET_FILE: the file \S+ belongs to user 12345, and the service runs as user 0; run "chown 0 /)
  },
)

test('the doctor says of each secret whether its permissions are right', { skip: windows }, async () => {
  const desk = await openDesk()
  after(() => desk.clear())
  const [open, closed] = [await desk.file('open.key', 'ab'.repeat(32)), await desk.file('closed.key', 'cd'.repeat(32))]
  await chmod(open, 0o666)
  await chmod(closed, 0o600)
  const ended = await desk.run(['doctor'], { settings: { ASSAY_PORT: '0', ASSAY_SECRET_FILE: closed, ASSAY_LOG_KEY_FILE: open } })
  const checks = parsed(ended.stdout)['checks'] as { name: string; state: string; words: string }[]
  const found = checks.filter(({ name }) => name === 'permissions').map(({ state, words }) => `${words.split(':')[0]} ${state}`)
  assert.deepEqual(found, ['ASSAY_DATA_DIR ok', 'ASSAY_SECRET_FILE ok', 'ASSAY_LOG_KEY_FILE failed', 'ASSAY_DATA_DIR ok'])
  assert.equal(ended.code, 1)
})
