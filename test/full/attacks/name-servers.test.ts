/** Host names whose name servers stay silent, ordered by one client for nothing, delay no payment. */
// attack: hosts whose name servers stay silent, so that look-ups of payments wait

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generatePrivateKey } from 'viem/accounts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { insurer } from '../../support/insurer.ts'
import { send } from '../../support/invoicing.ts'
import { type NameServer, startNameServer } from '../../support/name-server.ts'
import { call, signed, v2 } from '../../support/paying-calls.ts'
import { startLiveWorld, type World } from '../../support/paying-world.ts'

// row: name_queries

const HOSTS = 30
const PAID = 10

let anvil: Anvil
let names: NameServer
let world: World
before(async () => {
  anvil = await startAnvil()
  names = await startNameServer(() => 'silent')
  // The endpoint is a name, so that its look-ups share the threads of the process with all others of the system resolver.
  const rpc_url = anvil.rpc_url.replace('127.0.0.1', 'localhost')
  world = await startLiveWorld({ anvil, rpc_url, settings: { ASSAY_NAME_SERVERS: names.place } })
})
after(async () => {
  await world.stop()
  await names.stop()
  await anvil.stop()
})

test(`${HOSTS} proof files on silent hosts, and ${PAID} paid calls meanwhile`, async () => {
  const now_s = Math.floor(Date.now() / 1_000)
  const card = { name: 'Silent Re', rate_bps: 0, min_premium_minor: '0', valid_until: now_s + 300 * 86_400 }
  const registrations = Array.from({ length: HOSTS }, async (_, index) => {
    const one = insurer(generatePrivateKey())
    const body = await one.registration(world.url, now_s, { ...card, terms_uri: `https://host${index}.silent${index}.com/terms` })
    const { status } = await send(`${world.url}/api/insurance/register`, body, { 'x-forwarded-for': '203.0.113.7' })
    return status
  })
  const payer = await world.payer()
  const statuses: number[] = []
  for (let index = 0; index < PAID; index++) {
    const { status } = await call(world.url, v2(await signed(world.url, payer)), { client: `198.51.100.${index}` })
    statuses.push(status)
  }
  assert.deepEqual(
    statuses,
    Array.from({ length: PAID }, () => 200),
  )
  // Every registration ends: listed as unproven within the network's share, refused beyond it.
  const ends = await Promise.all(registrations)
  assert.deepEqual(
    ends.filter((status) => status !== 201 && status !== 429),
    [],
  )
  assert.ok(names.asked.length > 1, `${names.asked.length} names were asked for`)
})
