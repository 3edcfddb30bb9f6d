import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openStore } from '../../src/adapters/store/open.ts'
import { bindSecret, checkBoundSecret, StartError } from '../../src/assembly/identity.ts'
import { readSettings } from '../../src/service/read-settings.ts'

/** A store belongs to one secret: with another one, paid answers would be told to be gone though they are there. */
test('a store is bound to the secret that it was begun with', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'assay-secret-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const read = readSettings({ ASSAY_DATA_DIR: folder, ASSAY_SECRET_FILE: join(folder, 'named.secret') })
  assert.ok(read.ok)
  const [one, other] = [randomBytes(32), randomBytes(32)]
  const store = await openStore(join(folder, 'assay.sqlite'))
  t.after(() => store.close())
  // Looking binds nothing.
  await checkBoundSecret(store, read.settings, other)
  await bindSecret(store, read.settings, one)
  await bindSecret(store, read.settings, one)
  await checkBoundSecret(store, read.settings, one)
  for (const compare of [bindSecret, checkBoundSecret]) {
    await assert.rejects(compare(store, read.settings, other), (error) => {
      assert.ok(error instanceof StartError)
      assert.match(error.message, /named\.secret.*ASSAY_SECRET_FILE.*ASSAY_STORE/)
      return true
    })
  }
  // What the store keeps says nothing of the secret.
  const note = await store.recall('secret-fingerprint')
  assert.match(note ?? '', /^[0-9a-f]{32}$/)
  assert.ok(!one.toString('hex').includes(note ?? ''))
})
