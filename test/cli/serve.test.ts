import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { restCall } from '../support/app.ts'
import { openDesk, parsed, spawnCli, type Desk } from './run-cli.ts'

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

test('assay serve serves with the key of assay call, stops when asked, and refuses a taken port', async () => {
  const input = { iban: 'DE89370400440532013000' }
  const local = parsed((await desk.run(['call', 'iban-check', JSON.stringify(input)])).stdout) as {
    result: unknown
    receipt: { signer: string }
  }
  const child = spawnCli(['serve'], { settings: { ...desk.settings, ASSAY_PORT: '0' } })
  child.stdout?.resume()
  assert.ok(child.stderr !== null)
  let url = ''
  for await (const line of createInterface(child.stderr)) {
    url = /listens on (http\S+)/.exec(line)?.[1] ?? ''
    if (url !== '') break
  }
  const { status, body } = await restCall(url, 'iban-check', input)
  assert.equal(status, 200)
  assert.deepEqual(body['result'], local.result)
  assert.equal((body['receipt'] as { signer: string }).signer, local.receipt.signer)
  const second = await desk.run(['serve'], { settings: { ASSAY_PORT: new URL(url).port } })
  assert.equal(second.code, 78)
  assert.match(second.stderr, /set ASSAY_PORT/)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})
