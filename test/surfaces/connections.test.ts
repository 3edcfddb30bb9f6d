/** The choice of the connection that makes room for a new one. Expected orders follow from the rules in SECURITY.md, worked out by hand. */
// attack: thousands of connections that are idle or stall
// attack: pipelined requests whose answers are never read
// in: requests
// asset: memory
// attacker: client
// defence: one answer at a time, 16 requests wait, then the connection is closed

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { trustedProxies } from '../../src/service/clients.ts'
import { limits } from '../../src/service/limits.ts'
import { Connections, type ConnectionBounds } from '../../src/surfaces/http/connections.ts'

const [A, B, C, PROXY] = ['192.0.2.1', '198.51.100.1', '203.0.113.1', '10.0.0.1'] as const

class Answer extends EventEmitter {
  req = { complete: true }
  headersSent = false
  writableEnded = false
  writableNeedDrain = false

  /** A request of which only the header has arrived. */
  static ofHalfRequest(): Answer {
    const answer = new Answer()
    answer.req.complete = false
    return answer
  }
}

/** A table of connections by name, and the names of those that it closed. */
function tableOf(bounds: ConnectionBounds) {
  const read = trustedProxies(['10.0.0.0/24'])
  assert.ok(read.ok)
  const table = new Connections(bounds, read.proxies)
  const closed: string[] = []
  const sockets = new Map<string, { destroy(): never }>()
  const socketOf = (name: string) => sockets.get(name) ?? assert.fail(name)
  return {
    table,
    closed,
    open(name: string, peer: string): boolean {
      // The table asks for nothing but this of a socket.
      const destroy = () => void closed.push(name) as never
      sockets.set(name, { destroy })
      return table.admit(socketOf(name), peer)
    },
    begin(name: string, answer = new Answer()): Answer {
      table.serve(socketOf(name), answer, () => undefined)
      return answer
    },
    leave: (name: string) => table.remove(socketOf(name)),
  }
}

test('beyond the bound of a network its longest idle connection makes room, whatever others hold', () => {
  const { open, closed, table } = tableOf({ total: 100, network: 3 })
  open('b', B)
  // One /24 of IPv4.
  for (const [name, peer] of [
    ['a1', '192.0.2.1'],
    ['a2', '192.0.2.2'],
    ['a3', '192.0.2.255'],
  ] as const)
    open(name, peer)
  assert.equal(open('a4', '::ffff:192.0.2.9'), true)
  assert.deepEqual(closed, ['a1'])
  assert.equal(open('other', '192.0.3.1'), true)
  assert.deepEqual([closed, table.count()], [['a1'], 5])
})

test('an IPv6 /48 is one network, and the next /48 another', () => {
  const { open, closed } = tableOf({ total: 100, network: 2 })
  open('1', '2001:db8:7:1::1')
  open('2', '2001:db8:7:ffff::1%eth0')
  open('3', '2001:db8:8::1')
  assert.deepEqual(closed, [])
  open('4', '2001:0db8:0007::9')
  assert.deepEqual(closed, ['1'])
})

test('a full server closes the longest idle connection of the network that holds the most', () => {
  const { open, closed } = tableOf({ total: 6, network: 4 })
  open('b1', B)
  for (const name of ['a1', 'a2', 'a3']) open(name, A)
  for (const name of ['c1', 'c2']) open(name, C)
  // b1 is idle for longest, but A holds three.
  open('b2', B)
  assert.deepEqual(closed, ['a1'])
})

test('idle counts from the last answer, and a header that never ends counts from the start of its connection', () => {
  const { open, begin, closed } = tableOf({ total: 3, network: 3 })
  for (const name of ['a1', 'a2', 'a3']) open(name, A)
  const [first, second] = [begin('a1'), begin('a1')]
  first.emit('close')
  open('a4', A)
  assert.deepEqual(closed, ['a2'])
  // The second of two pipelined requests has been answered as well: a1 is idle since now.
  second.emit('close')
  open('a5', A)
  assert.deepEqual(closed, ['a2', 'a3'])
  for (const name of ['a6', 'a7']) open(name, A)
  assert.deepEqual(closed, ['a2', 'a3', 'a4', 'a1'])
})

test('pipelined requests are served one after the other, and too many of them close their connection', () => {
  const { table, open, closed } = tableOf({ total: 2, network: 2 })
  const socket = { destroy: () => void closed.push('a') as never }
  table.admit(socket, A)
  const served: number[] = []
  const answers = Array.from({ length: limits.pipelined_requests + 2 }, () => new Answer())
  const serve = (index: number) => table.serve(socket, answers[index] ?? assert.fail(), () => void served.push(index))
  for (let index = 0; index <= limits.pipelined_requests; index++) serve(index)
  assert.deepEqual(served, [0])
  answers[0]?.emit('close')
  answers[1]?.emit('close')
  assert.deepEqual(served, [0, 1, 2])
  for (const _ of [1, 2]) serve(limits.pipelined_requests + 1)
  assert.deepEqual([closed, table.count()], [[], 1])
  serve(limits.pipelined_requests + 1)
  // What had waited is not served any more, and its place is free.
  answers[2]?.emit('close')
  assert.deepEqual([closed, served, table.count()], [['a'], [0, 1, 2], 0])
  assert.ok(open('b', B))
})

test('an answer under way is never cut: the new connection is refused', () => {
  const { open, begin, closed, table } = tableOf({ total: 3, network: 2 })
  for (const name of ['a1', 'a2']) {
    open(name, A)
    begin(name)
  }
  // The network is full, and another connection of it gains nothing by stalling.
  assert.equal(open('a3', A), false)
  open('b1', B)
  begin('b1')
  // The server is full of requests that it works on.
  assert.equal(open('c1', C), false)
  assert.deepEqual(closed, ['a3', 'c1'])
  assert.deepEqual([table.count(), table.closed()], [3, { idle: 0, stalled: 0, refused: 2 }])
})

test('where none is idle, a peer that stalls gives way to a network that holds less, and to no other', () => {
  for (const stall of [
    Answer.ofHalfRequest(),
    Object.assign(new Answer(), { headersSent: true, writableEnded: true }),
    Object.assign(new Answer(), { headersSent: true, writableNeedDrain: true }),
  ]) {
    const { open, begin, closed } = tableOf({ total: 4, network: 3 })
    for (const name of ['a1', 'a2', 'a3']) open(name, A)
    begin('a1')
    begin('a2', stall)
    begin('a3')
    open('b1', B)
    begin('b1', Answer.ofHalfRequest())
    // With one more, B would hold two: less than the three of A.
    assert.equal(open('b2', B), true)
    begin('b2')
    // With one more, B would hold three: more than the two of A.
    assert.equal(open('b3', B), false)
    assert.deepEqual(closed, ['a2', 'b3'])
  }
})

test('an early answer to an incomplete request is an answer under way', () => {
  const { open, begin, closed } = tableOf({ total: 2, network: 2 })
  for (const name of ['a1', 'a2']) {
    open(name, A)
    begin(name, Object.assign(Answer.ofHalfRequest(), { headersSent: true }))
  }
  assert.equal(open('b', B), false)
  assert.deepEqual(closed, ['b'])
})

test('trusted proxies have no bound of their own, and give way last', () => {
  const { open, closed, begin } = tableOf({ total: 6, network: 2 })
  for (const name of ['p1', 'p2', 'p3', 'p4']) assert.ok(open(name, PROXY))
  for (const name of ['a1', 'a2']) open(name, A)
  open('p5', '10.0.0.77')
  assert.deepEqual(closed, ['a1'])
  begin('a2')
  // Only proxies have idle connections left.
  open('b1', B)
  assert.deepEqual(closed, ['a1', 'p1'])
})

test('what has closed by itself is forgotten, and its place is free', () => {
  const { open, leave, begin, closed, table } = tableOf({ total: 2, network: 2 })
  open('a1', A)
  open('a2', A)
  const answer = begin('a1')
  leave('a1')
  answer.emit('close')
  assert.equal(open('b', B), true)
  leave('a1')
  assert.deepEqual([closed, table.count()], [[], 2])
})

test('among many networks that come and go, room is always made by one of those that hold the most', () => {
  const total = 200
  const { open, leave, closed } = tableOf({ total, network: total })
  const held = new Map<string, string[]>()
  const numbers = sequence(7)
  let evictions = 0
  for (let step = 0; step < 5_000; step++) {
    const network = `192.0.${Math.floor(numbers() ** 2 * 40)}.1`
    const mine = held.get(network) ?? []
    if (numbers() < 0.2 && mine.length > 0) {
      leave(mine.splice(Math.floor(numbers() * mine.length), 1)[0] ?? '')
      continue
    }
    const counts = [...held.values()].map(({ length }) => length)
    const full = counts.reduce((sum, count) => sum + count, 0) === total
    const name = `${network} ${step}`
    assert.ok(open(name, network))
    const victim = full ? (closed.at(-1) ?? '') : null
    if (victim !== null) {
      evictions++
      const owner = held.get(victim.split(' ')[0] ?? '') ?? []
      assert.deepEqual([owner.length, owner.shift()], [Math.max(...counts), victim])
    }
    assert.equal(closed.length, evictions)
    held.set(network, [...(held.get(network) ?? []), name])
  }
  assert.ok(evictions > 1_000)
})

/** Numbers from 0 to 1, the same in each run (Park and Miller, 1988). */
function sequence(seed: number): () => number {
  let state = seed
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}
