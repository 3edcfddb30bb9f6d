/** One site with 65,536 networks (an IPv6 /48) is one client for every bound that protects others. */
// attack: 65,536 networks as so many clients
// in: requests
// asset: rates and free calls
// attacker: owner of an IPv6 /48
// defence: one /48 is one client in quotas; its free calls are bounded

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newPayers, PAYMENT_HEADER, signedPayments, termsIn } from '../support/bulk-payments.ts'
import { limits } from '../../src/service/limits.ts'
import { answerOf, answersOf, byStatus, FREE_CALL, type HostileRequest } from '../support/hostile.ts'
import { ofOneSite } from '../support/hostile-attacks.ts'
import { readRequired, signTerms } from '../support/paying.ts'
import { startWorld, type World } from '../support/paying-world.ts'

const TOGETHER = 16
const JSON_TYPE = { 'content-type': 'application/json' }
const PAID_CALL = { path: '/v1/tools/lei-check/call', body: '{"input":{"lei":"529900T8BM49AURSDO55"}}' }
const CLIENTS = 1_000
/** Free calls of all networks of one site in a day: three for each of as many clients as an IPv4 /24 has addresses. */
const SITE_CALLS_MAX = 256 * 3
/** A bound for each minute; a test may see two of them. */
const MINUTES = 2
const HOURS = 2

let world: World
let port: number
before(async () => {
  world = await startWorld({ free_daily: 3, settings: { ASSAY_FREE_DAILY_OVERRIDES: 'lei-check=0' } })
  port = Number(new URL(world.url).port)
})
after(() => world.stop())

/** The same request from another network of the site each time. */
function asSite(path: string, body: string, site = '2001:db8:7'): (number: number) => HostileRequest {
  return (number) => ({ path, body, headers: { ...JSON_TYPE, 'x-forwarded-for': `${site}:${number.toString(16)}::1` } })
}

test('the free calls of all networks of one /48 together are bounded', async () => {
  const answers = byStatus(await answersOf(port, CLIENTS, TOGETHER, asSite(FREE_CALL.path, FREE_CALL.body)))
  assert.ok((answers[200] ?? 0) <= SITE_CALLS_MAX, `granted: ${JSON.stringify(answers)}`)
  assert.equal(answers[402], CLIENTS - (answers[200] ?? 0))
  // Another site is another client.
  const other = await answerOf(port, asSite(FREE_CALL.path, FREE_CALL.body, '2001:db8:8')(1), '127.0.0.1')
  assert.equal(other.status, 200)
})

test('one /48 has the documents of one client to check in a minute', async () => {
  const answers = byStatus(await answersOf(port, 3 * limits.preflight_per_minute, TOGETHER, asSite('/v1/protocols/check', '{}')))
  const checked = 3 * limits.preflight_per_minute - (answers[429] ?? 0)
  assert.ok(checked <= MINUTES * limits.preflight_per_minute, `checked: ${JSON.stringify(answers)}`)
})

test('failed verifications of all networks of one /48 count together', async () => {
  const { status, headers } = await answerOf(port, { ...PAID_CALL, headers: JSON_TYPE })
  assert.equal(status, 402)
  const count = 4 * limits.failed_verifications_per_minute
  const payments = signedPayments(await newPayers(count), termsIn(String(headers['payment-required'])), count)
  const answers = byStatus(
    await answersOf(port, count, 4, (number) => ({
      ...PAID_CALL,
      headers: { ...JSON_TYPE, ...ofOneSite(number), [PAYMENT_HEADER]: payments[number] ?? '' },
    })),
  )
  assert.ok((answers[402] ?? 0) <= MINUTES * limits.failed_verifications_per_minute, `verified: ${JSON.stringify(answers)}`)
})

test('one /48 tries a payment with other requests no more often than one client', async () => {
  const { headers } = await answerOf(port, { ...PAID_CALL, headers: JSON_TYPE })
  const { v2 } = await signTerms(await world.payer(), readRequired(String(headers['payment-required'])))
  const paying = (number: number) => ({ ...JSON_TYPE, ...ofOneSite(number, '2001:db8:9'), [PAYMENT_HEADER]: v2 })
  assert.equal((await answerOf(port, { ...PAID_CALL, headers: paying(0) }, '127.0.0.1')).status, 200)
  const count = 4 * limits.mismatches_per_hour
  const tries = await answersOf(port, count, 4, (number) => ({
    path: PAID_CALL.path,
    body: JSON.stringify({ input: { lei: String(number) } }),
    headers: paying(number),
  }))
  const answers = byStatus(tries)
  assert.equal(answers[200], undefined)
  assert.ok(count - (answers[429] ?? 0) <= HOURS * limits.mismatches_per_hour, `tried: ${JSON.stringify(answers)}`)
})
