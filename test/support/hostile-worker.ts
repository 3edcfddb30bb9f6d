/** The attacker of one attack, in its own process, so that it shares no event loop with the victim. Its specification comes as the first message. */
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { chooseSigning } from '../../src/adapters/signer/choose.ts'
import { PAYMENT_HEADER, signedPayments } from './bulk-payments.ts'
import type { AttackCounts, AttackSpec, HostileRequest } from './hostile.ts'

const OPENED_AT_ONCE = 100
const OPENED_EVERY_MS = 10
const FILLER = Buffer.alloc(65_536, 'a')
const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = '0\r\n\r\n'
/** r = 5 is the x coordinate of no point of secp256k1, so that no account can be recovered. */
const NO_POINT = `0x${'5'.padStart(64, '0')}${'1'.padStart(64, '0')}1b`

const counts: AttackCounts = { opened: 0, closed: 0, sent: 0, sent_bytes: 0, answers: {} }

process.once('disconnect', () => process.exit())
process.on('message', (message: AttackSpec | 'counts' | 'stop') => {
  if (message === 'stop') process.send?.(counts, () => process.exit())
  else if (message === 'counts') process.send?.(counts)
  else void attack(message)
})

async function attack(spec: AttackSpec): Promise<void> {
  setTimeout(() => process.exit(), spec.seconds_max * 1_000)
  const claim = await claims(spec)
  const places = spec.addresses.flatMap((address) => Array.from({ length: spec.connections }, () => address))
  const [at_once, every_ms] = spec.open_every_ms === undefined ? [OPENED_AT_ONCE, OPENED_EVERY_MS] : [1, spec.open_every_ms]
  const open = (first: number) => {
    for (const [offset, address] of places.slice(first, first + at_once).entries()) hold(spec, address, first + offset, claim)
    const next = first + at_once
    if (next < places.length) setTimeout(() => open(next), every_ms)
    else whenOpened(places.length)
  }
  open(0)
}

const OPENED_MS_MAX = 5_000
/** Time for the service to read what was sent. */
const READ_MS = 500
const LOOK_MS = 20

/** Reports once each connection was opened or refused, or after a bound. */
function whenOpened(connections: number): void {
  const deadline_ms = performance.now() + OPENED_MS_MAX
  const looking = setInterval(() => {
    if (counts.opened + counts.closed < connections && performance.now() < deadline_ms) return
    clearInterval(looking)
    setTimeout(() => process.send?.('open'), READ_MS)
  }, LOOK_MS)
}

/** Payment headers of the kind that the attack uses; each of a new account. */
async function claims({ claim, terms }: AttackSpec): Promise<() => string> {
  if (claim === 'none') return () => ''
  if (claim === 'garbage') return () => 'x-payment: bm90IGEgcGF5bWVudA==\r\n'
  if (terms === undefined) throw new Error('a payment that is well formed needs terms')
  const signing = await chooseSigning()
  const forge = claim === 'nobody' ? () => NO_POINT : undefined
  return () => {
    const [payment = ''] = signedPayments({ signing, signers: [signing.signer(randomBytes(32))] }, terms, 1, forge)
    return `${PAYMENT_HEADER}: ${payment}\r\n`
  }
}

/** One connection of the attack; it is opened again when it was closed, or answered although it was to be held. */
function hold(spec: AttackSpec, address: string, index: number, claim: () => string): void {
  let number = index
  let over = false
  const socket = connect({ port: spec.port, host: '127.0.0.1', localAddress: address, noDelay: true })
  const again = () => {
    if (over) return
    over = true
    counts.closed++
    socket.destroy()
    setTimeout(() => hold(spec, address, number, claim), spec.again_ms)
  }
  const send = () => {
    const request = spec.requests[number++ % Math.max(1, spec.requests.length)]
    if (request !== undefined && !over) write(spec, socket, request, number, claim())
  }
  const answered = (status: number, closing: boolean) => {
    counts.answers[status] = (counts.answers[status] ?? 0) + 1
    if (spec.held || closing) again()
    else setTimeout(send, spec.pause_ms)
  }
  socket.once('connect', () => {
    counts.opened++
    send()
  })
  socket.on('data', answerReader(answered))
  socket.on('error', () => undefined)
  socket.on('close', again)
}

function write(spec: AttackSpec, socket: Socket, request: HostileRequest, number: number, claim: string): void {
  const { method = 'POST', path, headers = {}, body = '', fill_bytes = 0, declared_bytes = Buffer.byteLength(body) + fill_bytes } = request
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value.replaceAll('{n}', number.toString(16))}\r\n`)
  const length = method === 'GET' ? '' : `content-length: ${declared_bytes}\r\n`
  const head = `${method} ${path.replaceAll('{n}', String(number))} HTTP/1.1\r\nhost: 127.0.0.1:${spec.port}\r\n`
  socket.write(`${head}${lines.join('')}${claim}${length}\r\n${body}`)
  counts.sent++
  fill(spec, socket, fill_bytes)
  if (spec.drip_ms === undefined) return
  const dripping = setInterval(() => socket.write('a'), spec.drip_ms)
  socket.once('close', () => clearInterval(dripping))
}

/** Sends as much filler as the connection takes, within the bound of the whole attack. */
function fill(spec: AttackSpec, socket: Socket, fill_bytes: number): void {
  let left = fill_bytes
  const pump = () => {
    while (left > 0 && counts.sent_bytes < spec.sent_bytes_max && !socket.destroyed) {
      const part = left < FILLER.length ? FILLER.subarray(0, left) : FILLER
      left -= part.length
      counts.sent_bytes += part.length
      if (!socket.write(part)) return
    }
  }
  if (fill_bytes > 0) socket.on('drain', pump)
  pump()
}

/** Reads one answer after the other and keeps nothing of them. */
function answerReader(answered: (status: number, closing: boolean) => void): (bytes: Buffer) => void {
  let head = ''
  let status = 0
  let closing = false
  /** Null before the head was read, infinite while the body comes in chunks. */
  let missing: number | null = null
  let tail = ''
  return (bytes) => {
    let text = bytes.toString('latin1')
    if (missing === null) {
      head += text
      const end = head.indexOf(HEAD_END)
      if (end === -1) return
      text = head.slice(end + HEAD_END.length)
      const shown = head.slice(0, end + 2)
      head = ''
      status = Number(shown.slice(9, 12))
      closing = /\r\nconnection: *close\r\n/i.test(shown)
      const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(shown)?.[1]
      missing = length === undefined ? Infinity : Number(length)
      tail = ''
    }
    tail = `${tail}${text.slice(-LAST_CHUNK.length)}`.slice(-LAST_CHUNK.length)
    missing -= text.length
    if (missing > 0 && !(missing === Infinity && tail === LAST_CHUNK)) return
    missing = null
    answered(status, closing)
  }
}
