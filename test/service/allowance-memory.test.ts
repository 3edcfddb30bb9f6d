import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AllowanceGrant, AllowanceRequest } from '../../src/ports/store.ts'
import { clientHasher, networkHasher } from '../../src/service/clients.ts'
import { createAllowance, SPENT_REMEMBERED_MS } from '../../src/service/payments/allowance.ts'
import { createRecentMap } from '../../src/service/recent.ts'

const NOON_MS = Date.UTC(2026, 10, 21, 12)
const DAY_MS = 86_400_000
const SECRET = new Uint8Array(32).fill(7)
const ADDRESS = '198.51.100.7'

/** A store that counts its transactions, and may hold an answer back. */
function countingStore() {
  const used = new Map<string, number>()
  const asked = { take: 0, give_back: 0, used: 0 }
  const clients = new Set<string>()
  const keyOf = ({ day, bucket, client }: AllowanceRequest) => `${day}|${bucket}|${client}`
  const held: { grant: Promise<void> | null } = { grant: null }
  return {
    asked,
    clients,
    held,
    async take(request: AllowanceRequest): Promise<AllowanceGrant> {
      asked.take++
      clients.add(request.client)
      const before = used.get(keyOf(request)) ?? 0
      const granted = before < request.limit
      if (granted) used.set(keyOf(request), before + 1)
      await held.grant
      return { granted, used: granted ? before + 1 : before }
    },
    async give_back(request: AllowanceRequest): Promise<void> {
      asked.give_back++
      await Promise.resolve()
      used.set(keyOf(request), Math.max(0, (used.get(keyOf(request)) ?? 0) - 1))
    },
    async used(request: AllowanceRequest): Promise<number> {
      asked.used++
      await Promise.resolve()
      return used.get(keyOf(request)) ?? 0
    },
  }
}

function service(overrides: Record<string, number> = {}) {
  const store = countingStore()
  const clock = { ms: NOON_MS, set_back_ms: 0 }
  const time = { now_ms: () => clock.ms - clock.set_back_ms, steady_ms: () => clock.ms }
  const open = () => createAllowance(store, time, SECRET, { free_daily: 3, overrides })
  return { store, clock, open, allowance: open() }
}

test('a flood of unpaid calls costs one transaction a second and client', async () => {
  const { store, clock, allowance } = service()
  for (let i = 0; i < 3; i++) assert.equal((await allowance.take('iban-check', ADDRESS)).granted, true)
  for (let i = 0; i < 500; i++) {
    const { granted, state } = await allowance.take('iban-check', ADDRESS)
    assert.deepEqual([granted, state.limit, state.remaining, state.resets_at], [false, 3, 0, '2026-11-22T00:00:00Z'])
  }
  assert.equal(store.asked.take, 4)
  clock.ms += SPENT_REMEMBERED_MS - 1
  await allowance.take('iban-check', ADDRESS)
  assert.equal(store.asked.take, 4)
  clock.ms += 1
  await allowance.take('iban-check', ADDRESS)
  assert.equal(store.asked.take, 5)
})

test('looking costs no transaction either, and what is left is always asked for', async () => {
  const { store, allowance } = service()
  assert.equal((await allowance.peek('iban-check', ADDRESS)).remaining, 3)
  for (let i = 0; i < 4; i++) await allowance.take('iban-check', ADDRESS)
  for (let i = 0; i < 50; i++) assert.equal((await allowance.peek('iban-check', ADDRESS)).remaining, 0)
  assert.equal(store.asked.used, 1)
})

test('nobody else is touched: another client, another bucket, another day', async () => {
  const { clock, allowance } = service({ 'lei-check': 5 })
  for (let i = 0; i < 4; i++) await allowance.take('iban-check', ADDRESS)
  assert.equal((await allowance.take('iban-check', '198.51.100.8')).granted, true)
  assert.equal((await allowance.take('lei-check', ADDRESS)).granted, true)
  // Within the second, but across midnight.
  clock.ms = NOON_MS + DAY_MS / 2 - 1
  for (let i = 0; i < 2; i++) assert.equal((await allowance.take('iban-check', ADDRESS)).granted, false)
  clock.ms += 1
  assert.equal((await allowance.take('iban-check', ADDRESS)).granted, true)
})

test('a unit that comes back here can be taken at once', async () => {
  const { allowance } = service()
  const taken = [await allowance.take('iban-check', ADDRESS), await allowance.take('iban-check', ADDRESS)]
  await allowance.take('iban-check', ADDRESS)
  assert.equal((await allowance.take('iban-check', ADDRESS)).granted, false)
  await taken[0]?.give_back()
  assert.equal((await allowance.take('iban-check', ADDRESS)).granted, true)
})

test('an answer that was on its way while a unit came back is not remembered', async () => {
  const { store, allowance } = service()
  const taken = await allowance.take('iban-check', ADDRESS)
  for (let i = 0; i < 2; i++) await allowance.take('iban-check', ADDRESS)
  let let_go = () => {}
  store.held.grant = new Promise<void>((resolve) => (let_go = resolve))
  const slow = allowance.take('iban-check', ADDRESS)
  await taken.give_back()
  let_go()
  assert.equal((await slow).granted, false)
  assert.equal((await allowance.take('iban-check', ADDRESS)).granted, true)
})

test('a unit that another instance gave back is there after a second, and never two for one', async () => {
  const { clock, allowance, open } = service()
  const other = open()
  const taken = await other.take('iban-check', ADDRESS)
  for (let i = 0; i < 2; i++) await other.take('iban-check', ADDRESS)
  assert.equal((await allowance.take('iban-check', ADDRESS)).granted, false)
  await taken.give_back()
  assert.equal((await allowance.take('iban-check', ADDRESS)).granted, false)
  clock.ms += SPENT_REMEMBERED_MS
  assert.equal((await allowance.take('iban-check', ADDRESS)).granted, true)
  assert.equal((await allowance.take('iban-check', ADDRESS)).granted, false)
  assert.equal((await other.take('iban-check', ADDRESS)).granted, false)
})

test('a refused call has nothing to give back', async () => {
  const { store, allowance } = service()
  for (let i = 0; i < 3; i++) await allowance.take('iban-check', ADDRESS)
  for (let i = 0; i < 3; i++) await (await allowance.take('iban-check', ADDRESS)).give_back()
  assert.equal(store.asked.give_back, 0)
  assert.equal((await allowance.take('iban-check', ADDRESS)).granted, false)
})

test('a clock that is set back makes no memory last longer', async () => {
  const { store, clock, allowance } = service()
  for (let i = 0; i < 5; i++) await allowance.take('iban-check', ADDRESS)
  assert.equal(store.asked.take, 4)
  clock.set_back_ms = 3_600_000
  clock.ms += SPENT_REMEMBERED_MS - 1
  await allowance.take('iban-check', ADDRESS)
  assert.equal(store.asked.take, 4)
  clock.ms += 1
  await allowance.take('iban-check', ADDRESS)
  assert.equal(store.asked.take, 5)
})

test('a remembered client has the name that the hash gives it, and another one each day', async () => {
  const { store, clock, allowance } = service()
  const hash = clientHasher(SECRET)
  const day = NOON_MS / DAY_MS
  for (const address of [ADDRESS, ADDRESS, '2001:db8::1', '2001:db8::2', ADDRESS]) await allowance.take('iban-check', address)
  // The /48 of an IPv6 address is counted as well.
  const names = [
    hash(Math.floor(day), ADDRESS),
    hash(Math.floor(day), '2001:db8::1'),
    networkHasher(SECRET)(Math.floor(day), '2001:db8::2'),
  ]
  assert.deepEqual([...store.clients], names)
  clock.ms += DAY_MS
  await allowance.take('iban-check', ADDRESS)
  assert.equal([...store.clients].at(-1), hash(Math.floor(day) + 1, ADDRESS))
})

// attack: maps that grow with requests
test('a memory keeps what was used last, and no more than it may', () => {
  const recent = createRecentMap<number>(3)
  for (const [index, key] of ['a', 'b', 'c'].entries()) recent.set(key, index)
  assert.equal(recent.get('a'), 0)
  recent.set('d', 3)
  recent.set('d', 4)
  assert.deepEqual(['a', 'b', 'c', 'd'].map(recent.get), [0, undefined, 2, 4])
  recent.delete('c')
  recent.set('e', 5)
  assert.deepEqual(['a', 'c', 'd', 'e'].map(recent.get), [0, undefined, 4, 5])
  recent.clear()
  assert.equal(recent.get('a'), undefined)
})
