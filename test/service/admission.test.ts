import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGate, type Entered } from '../../src/service/admission/gate.ts'
import { createHold } from '../../src/service/admission/hold.ts'
import { lagMeter } from '../../src/service/admission/lag.ts'
import { createPacer } from '../../src/service/admission/pacer.ts'
import { ADMISSION_RULES } from '../../src/service/admission/rules.ts'
import { limits } from '../../src/service/limits.ts'

const CLIENT_FREE = 64

/** A gate whose clock and lateness the test sets. */
function gated() {
  const now = { ms: 60_000_000, lag_ms: 0 }
  const gate = createGate({ lag_ms: () => now.lag_ms, time_ms: () => now.ms, client_free: CLIENT_FREE })
  return { gate, now }
}

const wordOf = (entered: Entered) => (entered.ok ? 'in' : `${entered.reason} ${entered.problem.code}`)
const client = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`

function leave(entered: Entered, failed_claim = false): void {
  assert.ok(entered.ok)
  entered.leave(failed_claim)
}

test('a flood of free calls leaves the places of those who pay', () => {
  const { gate } = gated()
  const { free_in_flight } = ADMISSION_RULES
  const free = Array.from({ length: 5_000 }, (_, index) => gate.enter(client(index), false))
  assert.equal(free.filter(({ ok }) => ok).length, free_in_flight)
  assert.equal(wordOf(gate.enter('192.0.2.1', false)), 'in_flight OVERLOADED')
  const paid = Array.from({ length: limits.calls_in_flight - free_in_flight }, (_, index) => gate.enter(client(9_000 + index), true))
  assert.ok(paid.every(({ ok }) => ok))
  assert.equal(wordOf(gate.enter('192.0.2.1', true)), 'in_flight OVERLOADED')
  for (const one of [...free, ...paid]) if (one.ok) one.leave(false)
  assert.deepEqual(gate.in_flight(), { free: 0, paid: 0 })
  assert.equal(gate.clients(), 0)
})

test('one client has a bound of its own: an IPv4 address, the /48 of IPv6; what it pays for counts apart', () => {
  const { gate } = gated()
  for (let call = 0; call < CLIENT_FREE; call++) {
    assert.equal(wordOf(gate.enter('198.51.100.1', false)), 'in')
    assert.equal(wordOf(gate.enter(`2001:db8:1:${call}::1`, false)), 'in')
  }
  assert.equal(wordOf(gate.enter('198.51.100.1', false)), 'client CLIENT_BUSY')
  assert.equal(wordOf(gate.enter('2001:db8:1:ffff::9', false)), 'client CLIENT_BUSY')
  assert.equal(wordOf(gate.enter('198.51.100.2', false)), 'in')
  assert.equal(wordOf(gate.enter('2001:db8:2::1', false)), 'in')
  for (let call = 0; call < ADMISSION_RULES.client_paid; call++) assert.equal(wordOf(gate.enter('198.51.100.1', true)), 'in')
  assert.equal(wordOf(gate.enter('198.51.100.1', true)), 'client CLIENT_BUSY')
})

test('a loop that runs late takes no more free calls, but for a few, and takes those that are paid for', () => {
  const { gate, now } = gated()
  now.lag_ms = ADMISSION_RULES.lag_ms + 1
  const few = Array.from({ length: ADMISSION_RULES.lag_spares }, (_, index) => gate.enter(client(index), false))
  assert.ok(few.every(({ ok }) => ok))
  assert.equal(wordOf(gate.enter('192.0.2.1', false)), 'lag OVERLOADED')
  assert.equal(wordOf(gate.enter('192.0.2.1', true)), 'in')
  now.lag_ms = ADMISSION_RULES.lag_ms
  assert.equal(wordOf(gate.enter('192.0.2.1', false)), 'in')
})

test('a client whose payments fail too often is believed again in the next minute', () => {
  const { gate, now } = gated()
  for (let call = 0; call < ADMISSION_RULES.failed_claims_per_minute; call++) leave(gate.enter('198.51.100.1', true), true)
  const next = gate.enter('198.51.100.1', true)
  assert.deepEqual(gate.in_flight(), { free: 1, paid: 0 })
  leave(next)
  leave(gate.enter('198.51.100.2', true))
  now.ms += 60_000
  gate.enter('198.51.100.1', true)
  assert.deepEqual(gate.in_flight(), { free: 0, paid: 1 })
})

test('one long turn is no lateness, three are', () => {
  const { tick, lag_ms } = lagMeter(50)
  const seen: number[] = []
  for (const at_ms of [0, 50, 1_050, 1_100, 1_400, 1_750, 2_050, 2_100]) {
    tick(at_ms)
    seen.push(lag_ms())
  }
  // Late by 0, 950, 0, 250, 300, 250 and 0 ms: the least of three in a row.
  assert.deepEqual(seen, [0, 0, 0, 0, 0, 0, 250, 0])
})

test('free calls begin in their order, few in a turn while somebody pays, and none waits for good', async () => {
  const pace = ADMISSION_RULES.turns.calls
  for (const [paying, share] of [
    [true, pace.beside_payers],
    [false, pace.most],
  ] as const) {
    let turn: (() => void) | null = null
    const pacer = createPacer({ payers: () => paying, nextTurn: (step) => (turn = step) }, pace)
    const begun: number[] = []
    let calls = 0
    for (; calls < 3 * share + 1; calls++) {
      const wait = pacer.begin()
      const call = calls
      if (wait === null) begun.push(call)
      else void wait.then(() => begun.push(call))
    }
    const after: number[] = []
    for (let count = 0; count < 4; count++) {
      after.push(begun.length)
      const step: (() => void) | null = turn
      turn = null
      ;(step as (() => void) | null)?.()
      await Promise.resolve()
    }
    assert.deepEqual([...after, begun.length], [share, 2 * share, 3 * share, 3 * share + 1, 3 * share + 1])
    assert.deepEqual(
      begun,
      Array.from({ length: calls }, (_, call) => call),
    )
    assert.equal(pacer.waiting(), 0)
  }
})

test('refusals are kept back for as long as is said, and no more of them than the bound', async () => {
  const pauses: { pause_ms: number; end(): void }[] = []
  const hold = createHold((pause_ms) => new Promise((end) => pauses.push({ pause_ms, end })))
  const held = Array.from({ length: ADMISSION_RULES.refusals_held }, hold)
  await hold()
  assert.equal(pauses.length, ADMISSION_RULES.refusals_held)
  assert.ok(pauses.every(({ pause_ms }) => pause_ms === ADMISSION_RULES.refusal_hold_ms))
  for (const { end } of pauses) end()
  await Promise.all(held)
  void hold()
  assert.equal(pauses.length, ADMISSION_RULES.refusals_held + 1)
})
