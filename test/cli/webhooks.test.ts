/** The operator's command for webhook subscriptions, over the store of a deployment that is running. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { newMerchant, send } from '../support/invoicing.ts'
import { openDesk, parsed } from './run-cli.ts'

interface Shown {
  subscription_id: string
  owner: string
  url: string
  network_hash: string
  provider_hash: string
  state: string
}

test('webhooks list filters by owner, host, network and dead; webhooks remove takes the same filters, and never all', async (t) => {
  const desk = await openDesk()
  const data_dir = desk.settings['ASSAY_DATA_DIR'] ?? ''
  const app = await startTestApp({ data_dir, settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } })
  t.after(async () => {
    await app.stop()
    await desk.clear()
  })
  const hosts = ['one.example.org', 'two.example.org', 'example.org', 'example.com']
  const owners: string[] = []
  for (const [index, host] of hosts.entries()) {
    const from = { 'x-forwarded-for': `10.1.${Math.floor(index / 2)}.1` }
    const made = await send(`${app.url}/api/invoice/create`, { amountUsdc: 49, merchant: newMerchant().address }, from)
    const { invoice_id, webhook_token } = made.body as { invoice_id: string; webhook_token: string }
    owners.push(invoice_id)
    const request = { url: `https://${host}/hooks`, invoice_id, invoice_token: webhook_token }
    assert.equal((await send(`${app.url}/v1/webhooks`, request, from)).status, 201)
  }
  const list = async (...filters: string[]) => {
    const { code, stdout } = await desk.run(['webhooks', 'list', ...filters, '--json'])
    assert.equal(code, 0)
    return (parsed(stdout)['subscriptions'] as Shown[]).toSorted((a, b) => owners.indexOf(a.owner) - owners.indexOf(b.owner))
  }
  const ownersOf = async (...filters: string[]) => (await list(...filters)).map(({ owner }) => owner)
  const all = await list()
  assert.deepEqual(
    all.map(({ owner, url }) => [owner, url]),
    owners.map((owner, index) => [owner, `https://${hosts[index]}/hooks`]),
  )
  assert.ok(!JSON.stringify(all).includes('secret'))
  assert.deepEqual(await ownersOf('--owner', owners[2] ?? ''), [owners[2]])
  assert.deepEqual(await ownersOf('--host', 'example.org'), owners.slice(0, 3))
  assert.deepEqual(await ownersOf('--host', 'TWO.example.org'), [owners[1]])
  assert.deepEqual(await ownersOf('--network-hash', all[0]?.network_hash ?? ''), owners.slice(0, 2))
  assert.deepEqual(await ownersOf('--network-hash', all[0]?.provider_hash ?? ''), owners)
  assert.deepEqual(await ownersOf('--network-hash', all[0]?.network_hash ?? '', '--host', 'one.example.org'), [owners[0]])
  assert.deepEqual(
    await ownersOf('--dead'),
    all.filter(({ state }) => state === 'expired' || state === 'refused').map(({ owner }) => owner),
  )
  assert.match((await desk.run(['webhooks', 'list', '--text'])).stdout, /https:\/\/two\.example\.org\/hooks/)

  const removed = await desk.run(['webhooks', 'remove', '--host', 'example.org'])
  assert.deepEqual([removed.code, (parsed(removed.stdout)['removed'] as string[]).length], [0, 3])
  assert.deepEqual(await ownersOf(), [owners[3]])
  assert.equal((await desk.run(['webhooks', 'remove', '--host', 'example.org'])).code, 66)
  assert.equal((await desk.run(['webhooks', 'remove', all[3]?.subscription_id ?? ''])).code, 0)
  assert.deepEqual(await ownersOf(), [])
  for (const words of [['remove'], ['list', 'whs_1'], ['lst'], ['remove', '--host', ''], ['list', '--host', 'a b']])
    assert.equal((await desk.run(['webhooks', ...words])).code, 2, words.join(' '))
})
