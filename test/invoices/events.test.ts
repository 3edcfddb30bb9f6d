/** Following an invoice by server-sent events: over HTTP, and the bounds of the room behind it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { InvoiceView } from '../../src/service/invoices/invoice-view.ts'
import { createInvoiceLive, type InvoiceFollower } from '../../src/service/invoices/live.ts'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { invoiceUrl, issue, send, signAsMerchant, newMerchant } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { clockAt } from '../support/clock-at.ts'

interface Event {
  id: string | null
  name: string | null
  data: Record<string, unknown> | null
  comment: string | null
}

/** Reads a stream as a browser would, an event or comment at a time. */
async function* eventsOf(response: Response): AsyncGenerator<Event> {
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  let text = ''
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null
      const data = field('data')
      const comment =
        lines
          .find((line) => line.startsWith(':'))
          ?.slice(1)
          .trim() ?? null
      if (field('retry') === null)
        yield { id: field('id'), name: field('event'), data: data === null ? null : (JSON.parse(data) as Record<string, unknown>), comment }
    }
  }
}

async function next(events: AsyncGenerator<Event>): Promise<Event | null> {
  const { value, done } = await events.next()
  return done === true ? null : value
}

describe('over HTTP', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world.stop())

  const follow = (url: string, headers: Record<string, string> = {}) => fetch(`${url}/events`, { headers })

  test('the record at once, and again when it changed; who comes back is spared what it knows', async () => {
    const merchant = newMerchant()
    const invoice = await issue(world, '10', merchant.address)
    const url = invoiceUrl(world, invoice)
    const response = await follow(url)
    const etag = (await send(url)).headers.get('etag')
    const events = eventsOf(response)
    const first = await next(events)
    assert.deepEqual([first?.name, first?.id, first?.data?.['status']], ['invoice', etag, 'ISSUED'])
    await send(`${url}/void`, { signature: await signAsMerchant(world.chain, merchant, invoice, 'Void') })
    const second = await next(events)
    const now = await send(url)
    assert.deepEqual([second?.name, second?.id, second?.data], ['invoice', now.headers.get('etag'), now.body])
    assert.equal(second?.data?.['status'], 'VOID')
    const back = eventsOf(await follow(url, { 'last-event-id': now.headers.get('etag') ?? '' }))
    const known = await next(back)
    assert.deepEqual([known?.name, known?.comment], [null, 'nothing new'])
  })

  test('an unknown invoice is 404; a client that follows too many is told so', async () => {
    assert.equal((await follow(`${world.url}/api/invoice/inv_zzzzzzzzzzzz`)).status, 404)
    const url = invoiceUrl(world, await issue(world, '10'))
    const client = { 'x-forwarded-for': '198.51.100.77' }
    const open = await Promise.all(Array.from({ length: INVOICE_RULES.followers_client }, () => follow(url, client)))
    assert.ok(open.every(({ status }) => status === 200))
    const refused = await follow(url, client)
    assert.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [429, 'INVOICE_RATE_LIMITED'])
    assert.notEqual(refused.headers.get('retry-after'), null)
  })

  test('HEAD tells the headers and takes no place', async () => {
    const url = invoiceUrl(world, await issue(world, '10'))
    const headers = { 'x-forwarded-for': '198.51.100.78' }
    for (let asked = 0; asked <= INVOICE_RULES.followers_client; asked++) {
      const { status, headers: told } = await fetch(`${url}/events`, { method: 'HEAD', headers })
      assert.deepEqual([status, told.get('content-type')], [200, 'text/event-stream; charset=utf-8'])
    }
    const events = eventsOf(await follow(url, headers))
    assert.equal((await next(events))?.name, 'invoice')
    await events.return(undefined)
    assert.equal((await fetch(`${world.url}/api/invoice/inv_zzzzzzzzzzzz/events`, { method: 'HEAD', headers })).status, 404)
  })

  test('a stop ends the streams and waits for nobody', async () => {
    const own = await startWorld()
    const events = eventsOf(await follow(invoiceUrl(own, await issue(own, '10'))))
    assert.equal((await next(events))?.name, 'invoice')
    const stopped = own.stop()
    assert.deepEqual([(await next(events))?.name, await next(events)], ['end', null])
    await stopped
  })
})

describe('the room behind', () => {
  /** A desk whose record is what the test says, and a clock that the test moves. */
  function room() {
    const state = { now_ms: 0, text: 'a' }
    let reads = 0
    const desk = {
      read() {
        reads++
        return Promise.resolve({ record: { text: state.text } } as unknown as InvoiceView)
      },
    }
    const invoices = { was_paid: () => Promise.resolve(false) }
    const live = createInvoiceLive({ desk, invoices, clock: clockAt(() => state.now_ms) })
    const follow = (invoice_id: string, address: string, follower: InvoiceFollower) =>
      live.follow({ invoice_id, address, is_favoured: false, record_json: A, follower })
    return { state, live, follow, reads: () => reads }
  }
  const told = (): InvoiceFollower & { heard: string[] } => {
    const heard: string[] = []
    return { heard, changed: (text) => void heard.push(text), still: () => void heard.push('still'), end: () => void heard.push('end') }
  }
  const A = '{"text":"a"}'
  const B = '{"text":"b"}'

  test('one reading serves all who follow an invoice; each hears a change once, and something when nothing changes', async () => {
    const { state, live, follow, reads } = room()
    const followers = [told(), told()]
    for (const [index, one] of followers.entries()) follow('inv_1', `198.51.100.${index}`, one)
    await live.round()
    state.text = 'b'
    await Promise.all([live.round(), live.round()])
    assert.equal(reads(), 2)
    state.now_ms = INVOICE_RULES.heartbeat_ms
    await live.round()
    await live.round()
    assert.deepEqual(
      followers.map(({ heard }) => heard),
      [
        [B, 'still'],
        [B, 'still'],
      ],
    )
  })

  test('nobody follows for longer than is allowed, nor beyond the bounds, nor after the stop', async () => {
    const { state, live, follow } = room()
    const one = told()
    const most = INVOICE_RULES.followers - INVOICE_RULES.followers_kept
    const all = Array.from({ length: most - 1 }, (_, index) => follow('inv_1', addressOf(index), told()))
    assert.ok(all.every(({ kind }) => kind === 'followed'))
    assert.equal(follow('inv_2', '203.0.113.1', one).kind, 'followed')
    assert.deepEqual(follow('inv_2', '203.1.113.1', told()), { kind: 'refused', limit: 'service' })
    const [first] = all
    if (first?.kind === 'followed') first.leave()
    assert.equal(follow('inv_2', '203.1.113.1', told()).kind, 'followed')
    state.now_ms = INVOICE_RULES.follow_longest_ms
    await live.round()
    assert.deepEqual(one.heard, ['still', 'end'])
    const last = told()
    follow('inv_1', '198.51.100.1', last)
    live.stop()
    assert.deepEqual([last.heard, follow('inv_1', '198.51.100.1', told())], [['end'], { kind: 'refused', limit: 'stopping' }])
  })
})

/** Addresses of as many providers. */
function addressOf(index: number): string {
  return `${1 + (index >> 8)}.${index & 255}.0.1`
}
