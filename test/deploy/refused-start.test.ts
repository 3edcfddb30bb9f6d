/** A start that is refused leaves nothing behind: no keys, no folders, no store. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readSettings } from '../../src/service/read-settings.ts'
import { start } from '../../src/assembly/start.ts'

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-refused-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}

async function begin(changes: Record<string, string>) {
  const read = readSettings({ ASSAY_PORT: '0', ASSAY_LOG_LEVEL: 'silent', ...changes })
  assert.ok(read.ok)
  return start(read.settings)
}

const REFUSED: Record<string, { settings: Record<string, string>; message: RegExp }> = {
  'an override of a tool that is none': { settings: { ASSAY_FREE_DAILY_OVERRIDES: 'no-such-tool=3' }, message: /no-such-tool/ },
  'a witness that is none': { settings: { ASSAY_LOG_WITNESSES: 'nobody' }, message: /ASSAY_LOG_WITNESSES/ },
  'a bank account that is none': { settings: { ASSAY_BANK_IBAN: 'DE00', ASSAY_BANK_NAME: 'Example' }, message: /ASSAY_BANK_IBAN/ },
  'a secret file that is missing': { settings: { ASSAY_SECRET_FILE: '/nonexistent/secret.key' }, message: /secret\.key/ },
  'a store that cannot be opened': { settings: { ASSAY_STORE: '/dev/null/store.sqlite' }, message: /ASSAY_STORE/ },
}

for (const [name, { settings, message }] of Object.entries(REFUSED)) {
  test(`nothing is left of a start that was refused for ${name}`, async (t) => {
    const folder = await folderFor(t)
    await assert.rejects(begin({ ASSAY_DATA_DIR: folder, ...settings }), { message })
    assert.deepEqual(existsSync(folder) ? readdirSync(folder, { recursive: true }) : [], [])
  })
}

test('nothing is left of a start whose port another program has', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const folder = await folderFor(t)
  const ASSAY_PORT = String((taken.address() as AddressInfo).port)
  await assert.rejects(begin({ ASSAY_DATA_DIR: folder, ASSAY_PORT, ASSAY_ADMIN_PORT: 'off' }), { message: /is taken.*ASSAY_PORT/ })
  assert.equal(existsSync(folder), false)
})

test('a folder without its secret, over a store of another, keeps what it had and gets no key', async (t) => {
  const folder = await folderFor(t)
  const first = await begin({ ASSAY_DATA_DIR: folder })
  await first.stop()
  await rm(join(folder, 'secret.key'))
  await rm(join(folder, 'sandbox'), { recursive: true })
  const before = readdirSync(folder)
  await assert.rejects(begin({ ASSAY_DATA_DIR: folder }), { message: /belongs to sandbox|another secret/ })
  assert.deepEqual(
    readdirSync(folder).filter((name) => !name.startsWith('assay.sqlite')),
    before.filter((name) => !name.startsWith('assay.sqlite')),
  )
})
