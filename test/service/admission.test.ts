import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBodies, type BodyAccount } from '../../src/service/admission/bodies.ts'
import { createRefusalDelay, createSlots, type Entered, createDelayMeter } from '../../src/service/admission/slots.ts'
import { createLanes, type LaneName } from '../../src/service/admission/lanes.ts'
import { ADMISSION_RULES, limits } from '../../src/service/limits.ts'
import { quotaClient, widerNetwork } from '../../src/service/clients.ts'

const CLIENT_FREE = 64

/** Slots whose clock, delay and waiting calls the test sets. */
function slotted() {
  const now = { ms: 60_000_000, lag_ms: 0 }
  /** Clients one of whose waiting calls was displaced; `may` says whether one waits. */
  const displaced: string[] = []
  const waiting = { may: false }
  const displace = (client: string) => {
    if (waiting.may) displaced.push(client)
    return waiting.may
  }
  const slots = createSlots({ lag_ms: () => now.lag_ms, time_ms: () => now.ms, client_free: CLIENT_FREE, displace })
  return { slots, now, displaced, waiting }
}

const wordOf = (entered: Entered) => (entered.ok ? entered.slot.kind() : `${entered.reason} ${entered.problem.code}`)
const client = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`

function slotOf(entered: Entered) {
  assert.ok(entered.ok)
  return entered.slot
}

// attack: more concurrent calls than one process serves
test('a flood of free calls leaves the slots of payers', () => {
  const { slots } = slotted()
  const { free_in_flight, unverified_in_flight } = ADMISSION_RULES
  const free = Array.from({ length: 5_000 }, (_, index) => slots.enter(client(index), false))
  assert.equal(free.filter(({ ok }) => ok).length, free_in_flight)
  assert.equal(wordOf(slots.enter('192.0.2.1', false)), 'in_flight OVERLOADED')
  const paid = Array.from({ length: limits.calls_in_flight - free_in_flight }, (_, index) => {
    const slot = slotOf(slots.enter(client(9_000 + index), true))
    slot.verify()
    return slot
  })
  assert.equal(paid.length, 256)
  assert.ok(unverified_in_flight < 256)
  assert.equal(wordOf(slots.enter('192.0.2.1', true)), 'in_flight OVERLOADED')
  for (const one of free) if (one.ok) one.slot.leave(false)
  for (const slot of paid) slot.leave(false)
  assert.deepEqual(slots.in_flight(), { free: 0, paid: 0 })
  assert.equal(slots.clients(), 0)
})

test('one client has a bound of its own', () => {
  const { slots } = slotted()
  for (let call = 0; call < CLIENT_FREE; call++) assert.equal(wordOf(slots.enter('198.51.100.1', false)), 'free')
  assert.equal(wordOf(slots.enter('198.51.100.1', false)), 'client CLIENT_BUSY')
  assert.equal(wordOf(slots.enter('198.51.100.2', false)), 'free')
})

test('a client of quotas is an IPv4 address or an IPv6 /48', () => {
  assert.equal(quotaClient('198.51.100.1'), '198.51.100.1')
  assert.equal(quotaClient('2001:db8:1:5::1'), quotaClient('2001:db8:1:ffff::9'))
  assert.notEqual(quotaClient('2001:db8:1::1'), quotaClient('2001:db8:2::1'))
})

// attack: thousands of connections with garbage or unfunded payments and unfinished bodies
test('eight unverified payments of a client hold slots of payers, its further ones wait with the free calls, and a verified one counts apart', () => {
  const { slots } = slotted()
  const entered = Array.from({ length: 10 }, () => slotOf(slots.enter('198.51.100.1', true)))
  // Issue: at most 8 unverified payer slots a client.
  assert.deepEqual(
    entered.map((slot) => slot.kind()),
    [...Array.from({ length: 8 }, () => 'claim'), 'free', 'free'],
  )
  entered[0]?.verify()
  entered[9]?.verify()
  assert.deepEqual([entered[0]?.kind(), entered[9]?.kind()], ['paid', 'paid'])
  assert.equal(wordOf(slots.enter('198.51.100.1', true)), 'claim')
  assert.equal(slotOf(slots.enter('198.51.100.1', true)).kind(), 'free')
})

test('unverified payments of many clients fill only their own share', () => {
  const { slots } = slotted()
  const { unverified_in_flight, client_unverified } = ADMISSION_RULES
  for (let index = 0; index < 2_000; index++) slots.enter(client(index % 250), true)
  const { paid } = slots.in_flight()
  assert.ok(paid <= unverified_in_flight && paid >= client_unverified, String(paid))
})

// attack: payments that fail, to take the priority of payers
// in: requests
// asset: response time of free callers
// attacker: client
// defence: only a verified payment gives priority
test('only a verified payment gives payers priority', () => {
  const { slots, now } = slotted()
  const claim = slotOf(slots.enter('198.51.100.1', true))
  assert.equal(slots.payers(), false)
  claim.leave(true)
  assert.equal(slots.payers(), false)
  const paid = slotOf(slots.enter('198.51.100.2', true))
  paid.verify()
  assert.equal(slots.payers(), true)
  paid.leave(false)
  assert.equal(slots.payers(), true)
  now.ms += ADMISSION_RULES.payer_lately_ms
  assert.equal(slots.payers(), false)
})

test('when the free slots are full, the client that holds the most gives up a waiting call for one that holds fewer', () => {
  const { slots, displaced, waiting } = slotted()
  const { free_in_flight } = ADMISSION_RULES
  for (let index = 0; index < free_in_flight; index++) slots.enter(client(index % 12), false)
  assert.equal(wordOf(slots.enter('192.0.2.1', false)), 'in_flight OVERLOADED')
  waiting.may = true
  assert.equal(wordOf(slots.enter('192.0.2.1', false)), 'free')
  assert.equal(displaced.length, 1)
  assert.match(displaced[0] ?? '', /^10\.0\.0\./)
  // One that holds as many as every other gets nothing of theirs.
  assert.equal(wordOf(slots.enter(displaced[0] ?? '', false)), 'client CLIENT_BUSY')
})

test('a payment that turns out to be none moves to the free slots, or is refused when they are full', () => {
  const { slots } = slotted()
  const claim = slotOf(slots.enter('198.51.100.1', true))
  assert.equal(claim.demote(), null)
  assert.equal(claim.kind(), 'free')
  assert.deepEqual(slots.in_flight(), { free: 1, paid: 0 })
  claim.leave(true)
  const late = slotOf(slots.enter('198.51.100.1', true))
  for (let index = 0; index < ADMISSION_RULES.free_in_flight; index++) slots.enter(client(index), false)
  assert.equal(late.demote()?.problem.code, 'OVERLOADED')
  late.leave(true)
  assert.deepEqual(slots.in_flight(), { free: ADMISSION_RULES.free_in_flight, paid: 0 })
})

test('a delayed event loop starts no more free calls, but for a few, and starts paid ones', () => {
  const { slots, now } = slotted()
  now.lag_ms = ADMISSION_RULES.lag_ms + 1
  const few = Array.from({ length: ADMISSION_RULES.lag_spares }, (_, index) => slots.enter(client(index), false))
  assert.ok(few.every(({ ok }) => ok))
  assert.equal(wordOf(slots.enter('192.0.2.1', false)), 'lag OVERLOADED')
  assert.equal(wordOf(slots.enter('192.0.2.1', true)), 'claim')
  now.lag_ms = ADMISSION_RULES.lag_ms
  assert.equal(wordOf(slots.enter('192.0.2.1', false)), 'free')
})

test('payments of a client that fail too often wait with the free calls until the next minute', () => {
  const { slots, now } = slotted()
  for (let call = 0; call < ADMISSION_RULES.failed_claims_per_minute; call++) slotOf(slots.enter('198.51.100.1', true)).leave(true)
  assert.equal(wordOf(slots.enter('198.51.100.1', true)), 'free')
  assert.equal(wordOf(slots.enter('198.51.100.2', true)), 'claim')
  now.ms += 60_000
  assert.equal(wordOf(slots.enter('198.51.100.1', true)), 'claim')
})

test('one long turn is no lateness, three are', () => {
  const { tick, lag_ms } = createDelayMeter(50)
  const seen: number[] = []
  for (const at_ms of [0, 50, 1_050, 1_100, 1_400, 1_750, 2_050, 2_100]) {
    tick(at_ms)
    seen.push(lag_ms())
  }
  // Late by 0, 950, 0, 250, 300, 250 and 0 ms: the least of three in a row.
  assert.deepEqual(seen, [0, 0, 0, 0, 0, 0, 250, 0])
})

/** Lanes over an event loop that the test turns: each request costs what the test says when it starts. */
function laned({ paying = false, busy = false } = {}) {
  const now = { ms: 0 }
  const steps: (() => void)[] = []
  const timers: { at_ms: number; step: () => void }[] = []
  const lanes = createLanes({
    payers: () => paying,
    busy: () => busy,
    time_ms: () => now.ms,
    nextTurn: (step) => steps.push(step),
    later: (step, delay_ms) => timers.push({ at_ms: now.ms + delay_ms, step }),
  })
  const started: string[] = []
  const refused: string[] = []
  const ask = (lane: LaneName, name: string, cost_ms: number) =>
    void lanes[lane].begin(name).then((begun) => {
      now.ms += cost_ms
      return (begun ? started : refused).push(name)
    })
  /** One turn of the loop: the steps that were asked for before it, with promises settled between them. */
  const turn = async () => {
    for (const step of steps.splice(0)) {
      step()
      await Promise.resolve()
      await Promise.resolve()
    }
  }
  const turns = async (most: number) => {
    for (let count = 0; count < most; count++) {
      const next = steps.length === 0 ? timers.shift() : undefined
      if (next !== undefined) {
        now.ms = Math.max(now.ms, next.at_ms)
        next.step()
      }
      await turn()
    }
  }
  return { lanes, now, started, refused, ask, turn, turns }
}

// attack: floods of unpaid calls, page views and lists
test('calls start in their order, few in a turn while somebody pays, and none waits for good', async () => {
  for (const paying of [true, false]) {
    const { most, while_paying } = ADMISSION_RULES.lanes.calls
    const share = paying ? while_paying : most
    const { ask, started, turn, lanes } = laned({ paying })
    for (let call = 0; call < 3 * share + 1; call++) ask('calls', client(call), 0)
    const after: number[] = []
    for (let count = 0; count < 4; count++) {
      await turn()
      after.push(started.length)
    }
    assert.deepEqual(after, [share, 2 * share, 3 * share, 3 * share + 1])
    assert.deepEqual(
      started,
      Array.from({ length: 3 * share + 1 }, (_, call) => client(call)),
    )
    assert.equal(lanes.calls.waiting(), 0)
  }
})

test('a turn starts nothing more once its slice of measured time is used', async () => {
  const { ask, started, turn } = laned()
  const { slice_ms } = ADMISSION_RULES.lanes.calls
  for (let call = 0; call < 30; call++) ask('calls', client(call), slice_ms / 2)
  await turn()
  assert.equal(started.length, 2)
  await turn()
  assert.equal(started.length, 4)
})

// attack: cheap requests that cost much
test('a client that did little goes before clients that did much, whatever order they came in and however many they ask', async () => {
  const { ask, started, turns } = laned()
  for (let call = 0; call < 200; call++) ask('calls', 'costly', 5)
  await turns(2)
  ask('calls', 'modest', 0.1)
  await turns(1)
  assert.ok(started.indexOf('modest') <= 8, `it started as number ${started.indexOf('modest')}`)
  await turns(500)
  assert.equal(started.length, 201)
})

test('work that is measured elsewhere counts as well, and is forgotten with time', async () => {
  const { lanes, ask, started, turns, now } = laned()
  lanes.charge('a', 100)
  for (const name of ['a', 'b']) ask('calls', name, 0)
  await turns(5)
  assert.deepEqual(started, ['b', 'a'])
  lanes.charge('b', 1)
  now.ms += 20 * ADMISSION_RULES.cost_half_life_ms
  lanes.charge('b', 1)
  for (const name of ['b', 'a']) ask('calls', name, 0)
  await turns(5)
  assert.deepEqual(started, ['b', 'a', 'a', 'b'])
})

test('reads rest twice as long as they worked while calls are in flight', async () => {
  for (const busy of [true, false]) {
    const { ask, started, turns, now } = laned({ busy })
    for (let read = 0; read < 40; read++) ask('reads', client(read), 2)
    await turns(1_000)
    assert.equal(started.length, 40)
    // 80 ms of work; while calls are in flight two thirds of the time are left to them, but for the rest behind the last slice.
    assert.ok(busy ? now.ms >= 3 * 80 - 12 : now.ms === 80, `${busy}: ${now.ms}`)
  }
})

test('a displaced request is refused, and the others keep their places', async () => {
  const { lanes, ask, started, refused, turns } = laned()
  for (const name of ['a', 'b', 'b']) ask('calls', name, 0)
  assert.equal(lanes.calls.displace('b'), true)
  assert.equal(lanes.calls.displace('c'), false)
  await turns(5)
  assert.deepEqual([started.toSorted(), refused], [['a', 'b'], ['b']])
  assert.equal(lanes.calls.waiting(), 0)
})

test('refusals are kept back for as long as is said, and no more of them than the bound', async () => {
  const pauses: { pause_ms: number; end(): void }[] = []
  const hold = createRefusalDelay((pause_ms) => new Promise((end) => pauses.push({ pause_ms, end })))
  const held = Array.from({ length: ADMISSION_RULES.refusals_held }, hold)
  await hold()
  assert.equal(pauses.length, ADMISSION_RULES.refusals_held)
  assert.ok(pauses.every(({ pause_ms }) => pause_ms === ADMISSION_RULES.refusal_hold_ms))
  for (const { end } of pauses) end()
  await Promise.all(held)
  void hold()
  assert.equal(pauses.length, ADMISSION_RULES.refusals_held + 1)
})

const SMALL = limits.unpaid_body_bytes

/** Bodies over a clock and a sweep that the test moves. */
function bodied() {
  const now = { ms: 0 }
  const sweeps: (() => void)[] = []
  const bodies = createBodies({ time_ms: () => now.ms, later: (step) => sweeps.push(step) })
  const received = new Map<BodyAccount, { bytes: number }>()
  const open = (name: string, declared_bytes: number | null) => {
    const seen = { bytes: 0 }
    const opened = bodies.open({ client: name, network: widerNetwork(name), declared_bytes, received_bytes: () => seen.bytes })
    if (!opened.ok) return { code: opened.problem.code, account: null }
    received.set(opened.account, seen)
    return { code: 'ok', account: opened.account }
  }
  const must = (name: string, declared_bytes: number | null) => {
    const { account, code } = open(name, declared_bytes)
    assert.ok(account !== null, code)
    return account
  }
  const sweep = () => {
    for (const step of sweeps.splice(0)) step()
  }
  const cutOf = (account: BodyAccount) => Promise.race([account.cut.then(({ code }) => code), Promise.resolve().then(() => 'not cut')])
  return {
    bodies,
    now,
    open,
    must,
    sweep,
    cutOf,
    receive: (account: BodyAccount, bytes: number) => ((received.get(account) ?? { bytes }).bytes = bytes),
  }
}

test('a body counts from its start, by client and in all, and gives its memory back at its end', () => {
  const { bodies, open, must } = bodied()
  const first = must('a', 40)
  assert.equal(bodies.held_bytes(), 40)
  const own = limits.client_body_bytes / SMALL
  const accounts = Array.from({ length: own - 1 }, () => must('a', 5 * 1_048_576))
  assert.equal(open('a', SMALL).code, 'CLIENT_BUSY')
  assert.equal(open('b', null).code, 'ok')
  first.close()
  assert.equal(open('a', SMALL).code, 'ok')
  for (const account of accounts) account.close()
  for (const account of accounts) account.close()
  assert.equal(bodies.held_bytes(), 2 * SMALL)
})

test('large bodies need a slot: eight of one client, twelve of one network, twenty-four in all, and eight more for payers', () => {
  const { must } = bodied()
  const big = (name: string, pays = false) => must(name, 5 * 1_048_576).enlarge(pays)?.code ?? 'ok'
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map(() => big('10.1.1.1')),
    ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'CLIENT_BUSY'],
  )
  assert.deepEqual(
    [2, 3, 4, 5, 6].map((last) => big(`10.1.1.${last}`)),
    ['ok', 'ok', 'ok', 'ok', 'CLIENT_BUSY'],
  )
  for (let index = 0; index < 12; index++) assert.equal(big(client(index * 256)), 'ok')
  for (let index = 0; index < 8; index++) assert.equal(big(client(index * 256), true), 'ok')
  // The network of twelve gives one up.
  assert.equal(big('192.0.2.1'), 'ok')
})

test('a payer has a slot while unpaid bodies of many networks hold theirs, and gives none up to them', async () => {
  const { now, must, cutOf } = bodied()
  const unpaid = limits.large_bodies - limits.paid_large_bodies
  const floods = Array.from({ length: unpaid }, (_, index) => must(client(index * 256), 2 * 1_048_576))
  for (const account of floods) assert.equal(account.enlarge(false), null)
  assert.equal(must('192.0.2.1', 200_000).enlarge(false)?.code, 'OVERLOADED')
  const payer = must('192.0.2.2', 200_000)
  assert.equal(payer.enlarge(true), null)
  payer.reading()
  now.ms += limits.body_grace_ms
  assert.equal(must('192.0.2.3', 200_000).enlarge(false)?.code, 'OVERLOADED')
  assert.equal(await cutOf(payer), 'not cut')
})

test('a large body that takes longer than the grace period gives its slot to the next one, the slowest first', async () => {
  const { now, must, cutOf, receive } = bodied()
  const floods = Array.from({ length: limits.large_bodies - limits.paid_large_bodies }, (_, index) =>
    must(client(index * 256), 2 * 1_048_576),
  )
  for (const account of floods) {
    account.enlarge(false)
    account.reading()
  }
  now.ms += limits.body_grace_ms
  for (const [index, account] of floods.entries()) receive(account, 1_000_000 - index)
  assert.equal(must('192.0.2.1', 200_000).enlarge(false), null)
  const codes = await Promise.all(floods.map(cutOf))
  assert.deepEqual(codes.indexOf('OVERLOADED'), floods.length - 1)
  assert.equal(codes.filter((code) => code !== 'not cut').length, 1)
})

// attack: slow headers, slow bodies
test('a large body arrives at a rate in proportion to its size', async () => {
  const { now, must, sweep, cutOf, receive } = bodied()
  const sizes = [100_000, 2 * 1_048_576, 5 * 1_048_576, null] as const
  const least = [10_000, 209_716, 209_716, 209_716]
  const [enough, few] = [0, 1].map((missing) =>
    sizes.map((bytes, index) => {
      const account = must(client((index + 4 * missing) * 256), bytes)
      account.reading()
      account.enlarge(false)
      receive(account, (least[index] ?? 0) - 1 - missing)
      return account
    }),
  )
  now.ms = limits.body_grace_ms + 1_000
  for (const [index, account] of (enough ?? []).entries()) receive(account, least[index] ?? 0)
  sweep()
  assert.deepEqual(await Promise.all((enough ?? []).map(cutOf)), ['not cut', 'not cut', 'not cut', 'not cut'])
  assert.deepEqual(
    await Promise.all((few ?? []).map(cutOf)),
    sizes.map(() => 'REQUEST_TIMEOUT'),
  )
})

// attack: large bodies on every endpoint, finished or not
test('when memory is full, the client that holds the most loses a body that is still arriving; what has arrived is kept', async () => {
  const { bodies, open, must, cutOf } = bodied()
  const owners = Array.from({ length: limits.bodies_bytes / limits.client_body_bytes }, (_, index) => client(index))
  const held = owners.flatMap((name) => Array.from({ length: limits.client_body_bytes / SMALL }, () => must(name, SMALL)))
  assert.equal(bodies.held_bytes(), limits.bodies_bytes)
  const arrived = held.filter((_, index) => index % 2 === 0)
  for (const account of arrived) account.arrived()
  const victim = must('192.0.2.1', SMALL)
  assert.deepEqual([await cutOf(victim), bodies.held_bytes()], ['not cut', limits.bodies_bytes])
  const cut = (await Promise.all(held.map(cutOf))).flatMap((code, index) => (code === 'not cut' ? [] : [[code, index % 2]]))
  assert.deepEqual(cut, [['OVERLOADED', 1]])
  assert.equal(open(owners[0] ?? '', SMALL).code === 'ok', false)
})

test('a body that arrives too slowly is cut off; one that waits to be read is not', async () => {
  const { now, must, sweep, cutOf, receive } = bodied()
  const [slow, steady, unread] = [must('a', 40), must('b', 60_000), must('c', 60_000)]
  slow.reading()
  steady.reading()
  receive(slow, 1)
  for (now.ms = 1_000; now.ms <= 2_000; now.ms += 1_000) sweep()
  assert.equal(await cutOf(slow), 'not cut')
  now.ms = 3_000
  receive(steady, 1_024)
  sweep()
  assert.deepEqual(await Promise.all([slow, steady, unread].map(cutOf)), ['REQUEST_TIMEOUT', 'not cut', 'not cut'])
})
