/** When receivers get their challenges, and what ends a subscription: real stores and receivers, and a clock that the test moves. */
// attack: events or streams of requests to a server that did not ask for them
// in: outgoing requests and stored data
// asset: servers of others
// attacker: client
// defence: a receiver returns the text of a signed challenge first; what it does not accept has a low rate by host, domain and address
//   in all

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { createDerivation } from '../../src/adapters/derivation/hmac.ts'
import { systemResolve } from '../../src/adapters/public-https/guarded-request.ts'
import type { Resolve } from '../../src/adapters/public-https/outside-names.ts'
import { createWebhookSender } from '../../src/adapters/public-https/webhook-sender.ts'
import { createNonceSource } from '../../src/adapters/random/system.ts'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import type { Store } from '../../src/ports/store.ts'
import { WEBHOOK_EVENTS } from '../../src/ports/webhooks.ts'
import { WEBHOOK_RULES } from '../../src/service/limits.ts'
import { createReceiverRate } from '../../src/service/webhooks/receiver-rate.ts'
import { secretContext } from '../../src/service/webhooks/secret-context.ts'
import { challengeFault, createWebhookChallenger } from '../../src/service/webhooks/webhook-challenges.ts'
import { clockAt } from '../support/clock-at.ts'
import { openSealed, STORE_DRIVERS, type StoreDriver } from '../support/store-drivers.ts'
import { WIDE_BOUNDS } from '../support/webhooks.ts'
import { until } from '../support/until.ts'

const RULES = WEBHOOK_RULES.challenge
const secret_key = randomBytes(32)

test('only the text itself, or JSON with it as challenge, is an answer', () => {
  const text = 'a'.repeat(64)
  const faultOf = (answer: string, status = 200) => challengeFault({ kind: 'answered', status, text: answer }, text)
  for (const answer of [text, `${text}\n`, `{"challenge":"${text}"}`, ` {"challenge": "${text}", "more": 1}\r\n`])
    assert.equal(faultOf(answer), null)
  const sent = `{"type":"webhook.challenge","data":{"challenge":"${text}"}}`
  for (const answer of [
    '',
    'ok',
    `x${text}`,
    `${text} ${text}`,
    sent,
    `[${sent}]`,
    `<p>${text}</p>`,
    'null',
    `"${text}"`,
    '{"challenge":null}',
  ])
    assert.equal(faultOf(answer), 'wrong_answer', answer)
  assert.equal(faultOf(text, 500), 'status_500')
  assert.equal(faultOf(text, 302), 'status_302')
  assert.equal(challengeFault({ kind: 'too_long' }, text), 'too_long')
})

for (const open of STORE_DRIVERS) {
  describe(`challenges of receivers: ${open.name}`, () => {
    let driver: StoreDriver
    let store: Store
    const receivers: Server[] = []
    // A day of its own for each test, so that budgets of one are not those of another.
    let now_ms = 1_795_262_400_123
    before(async () => {
      driver = await open()
      store = await openSealed((await driver.fresh()).target)
    })
    after(async () => {
      for (const receiver of receivers) receiver.close()
      await store.close()
      await driver.stop()
    })

    function challenger(resolve?: Resolve) {
      const rate = createReceiverRate(clockAt(() => now_ms))
      const made = createWebhookChallenger({
        store: store.webhooks,
        budgets: store,
        sender: createWebhookSender({ loopback: resolve === undefined, resolve: resolve ?? systemResolve, rate }),
        rate,
        sealer: createSealer(secret_key),
        derive: createDerivation(secret_key),
        clock: clockAt(() => now_ms),
        log: { info: () => undefined, warn: () => undefined, error: (_, message) => assert.fail(message) },
        random: createNonceSource(),
      })
      return made
    }

    async function subscribed(url: string, network = randomBytes(8).toString('hex')): Promise<string> {
      const subscription_id = `whs_${randomBytes(16).toString('hex')}`
      const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
      const owner = `0x${randomBytes(20).toString('hex')}`
      const sealed = createSealer(secret_key).seal(secret, secretContext(subscription_id))
      const times = { created_ms: now_ms, issued_s: 0, challenge_until_ms: now_ms + RULES.expires_ms }
      const given = { subscription_id, owner, network, provider: network, url, events: WEBHOOK_EVENTS, secret: sealed, ...times }
      assert.equal((await store.webhooks.subscribe(given, null, WIDE_BOUNDS)).kind, 'created')
      return subscription_id
    }

    type Answer = { status?: number; location?: string; body: string }
    /** A server that does not look at the time of a signature, since the clock of the test is not that of the receiver. */
    async function receiverOf(answer: (text: string, request: number) => Answer = (text) => ({ body: text })) {
      let requests = 0
      const server = createServer((request, response) => {
        const reply = async () => {
          const { type, data } = (await json(request)) as { type: string; data: { challenge: string } }
          assert.equal(type, 'webhook.challenge')
          requests += 1
          const { status = 200, location, body } = answer(data.challenge, requests)
          response.writeHead(status, location === undefined ? {} : { location }).end(body)
        }
        void reply()
      })
      receivers.push(server)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, requests: () => requests }
    }

    const find = async (subscription_id: string) => {
      const found = await store.webhooks.subscription(subscription_id)
      assert.ok(found !== null)
      return found
    }

    test('a few challenges within the hour, then the subscription expires with the reason of the last', async () => {
      now_ms += 86_400_000
      const receiver = await receiverOf(() => ({ status: 404, body: 'no such page' }))
      const id = await subscribed(receiver.url)
      const began_ms = now_ms
      const { round } = challenger()
      const times_s: number[] = []
      for (;;) {
        const { state, challenge_due_ms, challenges } = await find(id)
        if (state !== 'pending') break
        assert.ok(challenge_due_ms !== null)
        now_ms = challenge_due_ms
        await until('the challenge, or the end', async () => {
          await round()
          const now = await find(id)
          return now.state !== 'pending' || (now.challenges > challenges && receiver.requests() === now.challenges)
        })
        times_s.push((now_ms - began_ms) / 1_000)
      }
      let at_s = 0
      assert.deepEqual(times_s, [0, ...RULES.retry_s.map((wait_s) => (at_s += wait_s)), RULES.expires_ms / 1_000])
      const { state, challenge_fault, challenge_due_ms } = await find(id)
      assert.deepEqual([state, challenge_fault, challenge_due_ms], ['expired', 'status_404', null])
      assert.equal(receiver.requests(), RULES.retry_s.length + 1)
      await round()
      assert.deepEqual(await store.webhooks.challenges_due(now_ms + 86_400_000, 10), [])
    })

    test('a name that leads to a private address is refused at the first challenge, whatever else it leads to', async () => {
      now_ms += 86_400_000
      const resolved: string[] = []
      const answers: Record<string, string[]> = {
        '127.0.0.1.nip.io': ['127.0.0.1'],
        'metadata.example.com': ['169.254.169.254'],
        'both.example.com': ['93.184.216.34', '10.0.0.1'],
        'six.example.com': ['::ffff:127.0.0.1'],
      }
      const { round } = challenger((host) => {
        resolved.push(host)
        return Promise.resolve((answers[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
      })
      const ids = await Promise.all(Object.keys(answers).map((host) => subscribed(`https://${host}/hooks`)))
      await round()
      await until('all are refused', async () => (await Promise.all(ids.map(find))).every(({ state }) => state !== 'pending'))
      for (const id of ids) {
        const { state, challenge_fault, challenge_due_ms, challenges } = await find(id)
        assert.deepEqual([state, challenge_fault, challenge_due_ms, challenges], ['refused', 'not_public', null, 1])
      }
      assert.deepEqual(resolved.toSorted(), Object.keys(answers).toSorted())
    })

    test('a redirect is not followed, a long answer not read; both may be mended', async () => {
      now_ms += 86_400_000
      const target = await receiverOf()
      const { round } = challenger()
      for (const [answer, fault] of [
        [{ status: 302, location: target.url, body: '' }, 'redirect'],
        [{ body: 'a'.repeat(WEBHOOK_RULES.response.answer_bytes + 1) }, 'too_long'],
      ] as const) {
        const receiver = await receiverOf((text, request) => (request === 1 ? answer : { body: text }))
        const id = await subscribed(receiver.url)
        await round()
        await until(fault, async () => (await find(id)).challenge_fault === fault)
        now_ms += 5_000
        await round()
        await until('it is verified', async () => (await find(id)).state === 'verified')
      }
      assert.equal(target.requests(), 0)
    })

    test('challenges are bounded by network, by network and host, and by host; those beyond wait for the next hour', async () => {
      now_ms += 86_400_000
      const receiver = await receiverOf()
      const { round } = challenger()
      const networks = Array.from({ length: RULES.host_hourly / RULES.network_host_hourly }, () => randomBytes(8).toString('hex'))
      const within: string[] = []
      for (const network of networks)
        for (let number = 0; number < RULES.network_host_hourly; number++)
          within.push(await subscribed(`${receiver.url}/${within.length}`, network))
      const settled = async (ids: readonly string[]) => {
        const ended = async () => {
          await round()
          // Those that wait for the rate of the receiver.
          now_ms += 1_000
          return (await Promise.all(ids.map(find))).every(
            ({ state, challenge_fault }) => state === 'verified' || ![null, 'host_rate'].includes(challenge_fault),
          )
        }
        await until('each has a result', ended, 60_000)
        return Promise.all(ids.map(find))
      }
      assert.ok((await settled(within)).every(({ state }) => state === 'verified'))
      const elsewhere = (await receiverOf()).url
      const [of_network, of_host, other_host] = await settled([
        await subscribed(`${receiver.url}/more`, networks[0]),
        await subscribed(`${receiver.url}/other`),
        await subscribed(elsewhere, networks[0]),
      ])
      const next_hour_ms = (Math.floor(now_ms / 3_600_000) + 1) * 3_600_000
      assert.deepEqual(
        [of_network, of_host].map((one) => [one?.challenge_fault, one?.challenge_due_ms, one?.challenges]),
        [
          ['network_budget', next_hour_ms, 0],
          ['host_budget', next_hour_ms, 0],
        ],
      )
      assert.equal(other_host?.state, 'verified')
      assert.equal(receiver.requests(), RULES.host_hourly)
      now_ms = next_hour_ms
      await until('those that waited', async () => {
        await round()
        const both = await Promise.all([of_network, of_host].map((one) => find(one?.subscription_id ?? '')))
        return both.every(({ state }) => state === 'verified')
      })
    })
  })
}
