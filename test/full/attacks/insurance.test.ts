/** A thousand registrations from one network leave the directory open to an underwriter that is proven. */
// attack: a thousand entries from one network, names of others at no premium

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generatePrivateKey } from 'viem/accounts'
import { restCall, startTestApp, type TestApp } from '../../support/app.ts'
import { asList } from '../../support/documents.ts'
import { insurer } from '../../support/insurer.ts'
import { send } from '../../support/invoicing.ts'
import { startProofServer, type ProofServer } from '../../support/proof-server.ts'

// row: proof_files

let app: TestApp
let files: ProofServer
before(async () => {
  files = await startProofServer()
  app = await startTestApp({ settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' }, start: { underwriter_proofs: files.proofs } })
})
after(async () => {
  await app.stop()
  await files.server.stop()
})

const register = (body: unknown, client: string) => send(`${app.url}/api/insurance/register`, body, { 'x-forwarded-for': client })

test('1,000 signed entries of one /48 in a row', async () => {
  const now_s = Math.floor(Date.now() / 1_000)
  let taken = 0
  for (let batch = 0; batch < 1_000; batch += 50) {
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const one = insurer(generatePrivateKey())
        const valid_until = now_s + 365 * 86_400
        const card = { name: 'Lloyds of London', rate_bps: 0, min_premium_minor: '0', valid_until }
        const body = await one.registration(app.url, now_s, { ...card, terms_uri: 'https://many.test-flood.com/terms' })
        return (await register(body, `2001:db8:7:${(batch + index).toString(16)}::1`)).status
      }),
    )
    taken += statuses.filter((status) => status === 201).length
  }
  assert.equal(taken, 5)
  // What the flood was allowed to fetch is one file, which is read at most once in ten seconds.
  assert.ok(files.server.asked.length < 50, `${files.server.asked.length} fetches`)
  const proven = insurer(generatePrivateKey())
  files.serve('honest-rueck.com', { underwriters: [proven.address] })
  const card = { name: 'Honest Rueck', terms_uri: 'https://honest-rueck.com/terms' }
  const { status, body } = await register(await proven.registration(app.url, now_s, card), '198.51.100.9')
  assert.deepEqual([status, body['proven']], [201, true])
  const quote = (await restCall(app.url, 'quote-3rd-party-insurance', { amount: 20_000 })).body['result'] as Record<string, unknown>
  assert.deepEqual(
    asList(quote['quotes']).map(({ name }) => name),
    ['Honest Rueck'],
  )
  assert.deepEqual((quote['excluded'] as Record<string, unknown>)['not_proven'], 5)
})
