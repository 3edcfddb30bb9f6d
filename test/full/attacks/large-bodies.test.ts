/** Large bodies that trickle from the addresses of one network leave the slots of payers and of other callers. */
// attack: large bodies on every endpoint, finished or not

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { call } from '../../support/paying-calls.ts'
import { startWorld, type World } from '../../support/paying-world.ts'
import { signTerms, termsOf } from '../../support/paying.ts'

const TOOL = 'clean-markdown-scraper'
const INPUT = { html: '<h1>Terms</h1>' + '<p>Payment is due within thirty days.</p>'.repeat(5_000) }
const ADDRESSES = 36
const VICTIMS = 8

let world: World
before(async () => {
  world = await startWorld({ free_daily: 1 })
})
after(() => world.stop())

/** Sends the start of a 2 MB body and then a few bytes ten times a second; begins again as soon as the service answers or ends the connection. */
async function trickle(address: string, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(world.url)
  while (!signal.aborted) {
    const socket = connect(Number(port), hostname)
    const stop = () => socket.destroy()
    signal.addEventListener('abort', stop, { once: true })
    socket.on('error', stop)
    const head = [`POST /v1/tools/${TOOL}/call HTTP/1.1`, 'Host: localhost', `X-Forwarded-For: ${address}`, 'Content-Length: 2097152']
    socket.write(`${head.join('\r\n')}\r\n\r\n{"input":{"html":"`)
    const timer = setInterval(() => socket.write('x'.repeat(140)), 100)
    socket.on('data', stop)
    await once(socket, 'close').catch(stop)
    clearInterval(timer)
    signal.removeEventListener('abort', stop)
  }
}

test(`${ADDRESSES} addresses of one /24 trickle bodies of 2 MB; documents of a payer and of free callers are served`, async () => {
  const payer = await world.payer()
  const document = { tool: TOOL, input: INPUT }
  // The payer has used its free call.
  await call(world.url, {}, { ...document, client: '127.0.0.1' })
  const terms = await termsOf(world.url, TOOL, { html: '<p>terms</p>' })
  const stop = new AbortController()
  const attackers = Array.from({ length: ADDRESSES }, (_, index) => trickle(`203.0.113.${index + 1}`, stop.signal))
  const statuses: string[] = []
  try {
    for (let index = 0; index < VICTIMS; index++) {
      const { v2 } = await signTerms(payer, terms)
      const paid = await call(world.url, { 'payment-signature': v2 }, { ...document, client: '127.0.0.1' })
      const free = await call(world.url, {}, { ...document, client: `192.0.2.${index + 1}` })
      statuses.push(`paid ${paid.status}`, `free ${free.status}`)
    }
  } finally {
    stop.abort()
  }
  await Promise.all(attackers)
  assert.deepEqual(statuses, Array.from({ length: VICTIMS }, () => ['paid 200', 'free 200']).flat())
})
