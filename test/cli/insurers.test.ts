/** The operator's command for the directory of underwriters, over the store of a deployment that is running. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generatePrivateKey } from 'viem/accounts'
import { startTestApp } from '../support/app.ts'
import { insurer } from '../support/insurer.ts'
import { openDesk, parsed } from './run-cli.ts'

test('insurers list shows proofs, insurers remove takes an entry out for good', async (t) => {
  const desk = await openDesk()
  const data_dir = desk.settings['ASSAY_DATA_DIR'] ?? ''
  const app = await startTestApp({ data_dir })
  t.after(async () => {
    await app.stop()
    await desk.clear()
  })
  const now_s = Math.floor(Date.now() / 1_000)
  const [proven, free] = [insurer(generatePrivateKey()), insurer(generatePrivateKey())]
  const post = async (body: unknown) =>
    (await fetch(`${app.url}/api/insurance/register`, { method: 'POST', body: JSON.stringify(body) })).status
  const elsewhere = await free.registration(app.url, now_s, { name: 'Lloyds of London', terms_uri: 'https://elsewhere.example/terms' })
  assert.deepEqual([await post(await proven.registration(app.url, now_s)), await post(elsewhere)], [201, 201])

  const list = async () => parsed((await desk.run(['insurers', 'list', '--json'])).stdout)['underwriters'] as Record<string, unknown>[]
  assert.deepEqual(
    (await list()).map(({ address, proven: is, proof_source }) => [address, is, proof_source]),
    [
      [proven.address.toLowerCase(), true, 'fixed_sample'],
      [free.address.toLowerCase(), false, null],
    ],
  )
  const shown = await desk.run(['insurers', 'list', '--text'])
  assert.match(shown.stdout, /Lloyds of London +not proven/)
  const removed = await desk.run(['insurers', 'remove', free.address])
  assert.deepEqual([removed.code, parsed(removed.stdout)], [0, { removed: free.address.toLowerCase() }])
  assert.equal((await list()).length, 1)
  // Anyone can send the signed entry again; only a later one of its underwriter is taken.
  assert.equal(await post(elsewhere), 400)
  assert.equal((await desk.run(['insurers', 'remove', free.address])).code, 66)
  for (const words of [['remove'], ['remove', 'lloyds'], ['list', free.address], ['lst']])
    assert.equal((await desk.run(['insurers', ...words])).code, 2, words.join(' '))
})
