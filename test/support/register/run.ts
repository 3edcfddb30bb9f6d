import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SCARCE_RESOURCES } from '../../../src/service/scarce/register.ts'
import type { ScarceResource } from '../../../src/service/scarce/resource.ts'
import {
  answerOf,
  FREE_CALL,
  openLoop,
  PAID_CALL,
  startAttack,
  type AttackOptions,
  type HostileAnswer,
  type HostileRequest,
  type Measured,
} from '../hostile.ts'
import { PAYMENT_HEADER } from '../bulk-payments.ts'
import { newMerchant, signCreation } from '../invoicing.ts'
import { randomBytes } from 'node:crypto'
import { SHAPES, type Flood, type RowAttack, type RowAttacks, type Shape } from './attack.ts'
import { JSON_TYPE, startSide, type Side } from './sides.ts'

// All of 127.0.0.0/8 is this machine on Linux alone.
const skip = process.platform !== 'linux' && 'needs several loopback networks'

const SECONDS = 1.5
const SHARE_MIN = 0.95
/** Latencies say something on a machine that does nothing else: with TEST_LATENCY=1 they are judged, otherwise only shown by `--test-reporter=spec`. */
const JUDGE_LATENCY = process.env['TEST_LATENCY'] === '1'
const RATIO_MAX = 5
/** Times of the control below this are taken for this: with so few requests, one pause of the system is their 99th percentile. */
const CONTROL_MIN_MS = 50
/** Requests of an attack in a second, if its requests are answered. */
const RATE = 300
const CONNECTIONS = 32
/** Requests that must suffice to be refused. */
const PROBES = 400
const PROBES_AT_ONCE = 40

/** Words of a problem that say whose limit was reached. */
const WHOSE =
  /\b(?:you|your|clients?|address|networks?|provider|merchant|account|payer|owner|process|service|deployment|sandbox|register|host|invoice)\b/i

const VICTIMS = ['payer', 'free caller', 'merchant'] as const
type Victims = Record<(typeof VICTIMS)[number], Measured>

/** Requests a second of each victim. */
const RATES = { payer: 4, free: 20, merchant: 4 }

/** What three clients of networks that attack nothing see; `number` gives them networks of their own. */
async function prepareVictims(side: Side, number: number, seconds: number): Promise<() => Promise<Victims>> {
  const address = (host: number) => `127.${110 + (number % 100)}.${Math.floor(number / 100)}.${host}`
  const ask = async (request: HostileRequest, from: string) => {
    const { status } = await answerOf(side.port, request, from)
    return { status: status === 201 ? 200 : status }
  }
  const nextMerchantRequest = await merchantRequests(side, address(3), RATES.merchant * seconds)
  return async () => {
    const paid = () => ({ ...PAID_CALL, headers: { ...JSON_TYPE, [PAYMENT_HEADER]: side.payments.pop() ?? '' } })
    const [payer, free, merchant] = await Promise.all([
      openLoop(RATES.payer, seconds, () => ask(paid(), address(1))),
      openLoop(RATES.free, seconds, () => ask({ ...FREE_CALL, headers: JSON_TYPE }, address(2))),
      openLoop(RATES.merchant, seconds, () => ask(nextMerchantRequest(), address(3))),
    ])
    return { payer, 'free caller': free, merchant }
  }
}

/** A merchant that signs an invoice, reads the one before, signs the next. */
async function merchantRequests(side: Side, address: string, count: number): Promise<() => HostileRequest> {
  const merchant = newMerchant()
  const creations = await Promise.all(
    Array.from({ length: Math.ceil(count / 2) + 1 }, async () => {
      const key = randomBytes(8).toString('hex')
      const signature = await signCreation(side.chain, merchant, key)
      const body = JSON.stringify({ amountUsdc: '10', merchant: merchant.address, signature })
      return { path: '/api/invoice/create', headers: { ...JSON_TYPE, 'idempotency-key': key }, body }
    }),
  )
  const first = await answerOf(side.port, creations.pop() ?? { path: '/' }, address)
  if (first.status !== 201) throw new Error(first.text)
  const { invoice_id } = JSON.parse(first.text) as { invoice_id: string }
  let asked = 0
  return () => {
    const creation = asked++ % 2 === 0 ? creations.pop() : undefined
    return creation ?? { method: 'GET', path: `/api/invoice/${invoice_id}`, headers: { accept: 'application/json' } }
  }
}

let measurements = 0

/** Runs each attack of the table in each shape, against one service while a second one, attacked by nothing, is the control. */
export function testAttacks(attacks: RowAttacks): void {
  const sides: Side[] = []
  let idle: Victims | undefined
  before(async () => {
    if (skip !== false) return
    sides.push(...(await Promise.all([startSide(), startSide()])))
    for (const side of sides) await (await prepareVictims(side, measurements++, 1))()
    const [, quiet] = sides
    if (quiet !== undefined) idle = await (await prepareVictims(quiet, measurements++, SECONDS))()
  })
  after(() => Promise.all(sides.map((side) => side.stop())))
  for (const [id, attack] of Object.entries(attacks)) {
    if ('shown_by' in attack) continue
    test(`${id}: ${attack.by}`, { skip }, async (t) => {
      const row = rowOf(id)
      const own = attack.settings === undefined ? [] : await Promise.all([startSide(attack.settings), startSide(attack.settings)])
      try {
        const [attacked, quiet] = own.length > 0 ? own : sides
        assert.ok(attacked !== undefined && quiet !== undefined)
        const found: HostileAnswer[] = []
        const seen = new Map<Shape, Seen>()
        for (const shape of SHAPES) {
          const one = await attackOnce({ attacked, quiet, row, attack, shape })
          found.push(...one.refused)
          seen.set(shape, one)
          for (const line of tableLines(id, shape, { idle, ...one })) t.diagnostic(line)
        }
        assert.deepEqual(faultsOf(seen), [])
        if (row.code !== null && attack.refused !== null) assertRefused(row, found)
      } finally {
        await Promise.all(own.map((side) => side.stop()))
      }
    })
  }
}

function rowOf(id: string): ScarceResource {
  return SCARCE_RESOURCES.find((row) => row.id === id) ?? assert.fail(`${id} is no row of the register`)
}

interface Seen {
  control: Victims
  attacked: Victims
  /** Answers to the attackers, by status. */
  answers: Record<string, number>
  opened: number
  refused: HostileAnswer[]
}

interface Run {
  attacked: Side
  quiet: Side
  row: ScarceResource
  attack: RowAttack
  shape: Shape
}

async function attackOnce({ attacked, quiet, row, attack, shape }: Run): Promise<Seen> {
  const addresses = addressesOf(shape, SCARCE_RESOURCES.indexOf(row))
  const flood = await attack.flood(attacked, shape)
  const [ofAttacked, ofQuiet] = await Promise.all([attacked, quiet].map((side) => prepareVictims(side, measurements++, SECONDS)))
  assert.ok(ofAttacked !== undefined && ofQuiet !== undefined)
  const running = await startAttack(specOf(attacked, flood, addresses))
  try {
    // The control runs at the same time, so that the load of the machine is the same.
    const [under_attack, control] = await Promise.all([ofAttacked(), ofQuiet()])
    const asked = row.code === null || attack.refused === null ? [] : [(await attack.refused?.(attacked)) ?? flood.requests]
    const refused = await probe(attacked, asked.flat(), addresses, row)
    const { answers, opened } = await running.counts()
    assert.ok(opened > 0, 'no connection of the attack was opened')
    return { control, attacked: under_attack, answers, opened, refused }
  } finally {
    await running.stop()
  }
}

const NETWORKS = 400
const WIDE_NETWORKS = 40
const ADDRESSES = 250

/** Addresses of the loopback networks; those of two rows are in different networks. */
function addressesOf(shape: Shape, row: number): string[] {
  if (shape === 'one address') return [`127.10.${row}.1`]
  if (shape === 'one /24') return Array.from({ length: ADDRESSES }, (_, index) => `127.11.${row}.${index + 1}`)
  return Array.from(
    { length: NETWORKS },
    (_, index) => `127.${20 + (index % WIDE_NETWORKS)}.${Math.floor(index / WIDE_NETWORKS) + 10 * (row % 25)}.${1 + Math.floor(row / 25)}`,
  )
}

/** What the attacker sends: at most `RATE` requests a second, unless the attack says otherwise. */
function specOf(side: Side, { direct = false, ...flood }: Flood, addresses: string[]): AttackOptions {
  if (direct) {
    const connections = flood.connections ?? 1
    return { port: side.port, addresses, pause_ms: (1_000 * connections * addresses.length) / RATE, ...flood, connections }
  }
  const { connections = CONNECTIONS } = flood
  const requests = Array.from({ length: Math.max(addresses.length, flood.requests.length) }, (_, at) => {
    const request = flood.requests[at % flood.requests.length] ?? assert.fail()
    return { ...request, headers: { ...request.headers, 'x-forwarded-for': addresses[at % addresses.length] ?? '' } }
  })
  return { port: side.port, addresses: ['127.0.0.1'], pause_ms: (1_000 * connections) / RATE, ...flood, connections, requests }
}

/** Sends requests from the first address of the attack until one is refused with the code of the row. */
async function probe(side: Side, requests: readonly HostileRequest[], [from = '']: readonly string[], { code }: ScarceResource) {
  for (let sent = 0; sent < PROBES && requests.length > 0; sent += PROBES_AT_ONCE) {
    const some = Array.from({ length: PROBES_AT_ONCE }, (_, at) => requests[(sent + at) % requests.length] ?? assert.fail())
    const answers = await Promise.all(some.map((request) => answerOf(side.port, request, from)))
    const refused = answers.filter(({ text }) => text.includes(`"${code}"`))
    if (refused.length > 0) return refused
  }
  return []
}

function assertRefused({ code }: ScarceResource, found: readonly HostileAnswer[]): void {
  const [answer] = found
  assert.ok(answer !== undefined, `no request was refused with ${code}`)
  const detail = /"(?:detail|message)":\s*"((?:[^"\\]|\\.)*)"/.exec(answer.text)?.[1] ?? answer.text
  assert.match(detail, WHOSE)
}

function faultsOf(seen: ReadonlyMap<Shape, Seen>): string[] {
  return VICTIMS.flatMap((victim) => {
    const shares = [...seen].flatMap(([shape, { attacked }]) => {
      const { share, statuses } = attacked[victim]
      return share >= SHARE_MIN ? [] : [`${shape}: ${victim}: ${JSON.stringify(statuses)}`]
    })
    // Of all shapes together: one of them has less than a hundred requests.
    const p99 = (side: 'attacked' | 'control') => Math.max(...[...seen.values()].map((one) => one[side][victim].p99_ms))
    const [under_attack, control] = [p99('attacked'), p99('control')]
    const late = JUDGE_LATENCY && under_attack > RATIO_MAX * Math.max(CONTROL_MIN_MS, control)
    return late ? [...shares, `${victim}: p99 ${under_attack} ms, control ${control} ms`] : shares
  })
}

/** Rows of a Markdown table: row, shape, answers to the attacker by status, victim; then right answers, p50 and p99 when idle, of the control, attacked. */
function tableLines(id: string, shape: Shape, { idle, control, attacked, answers }: Seen & { idle: Victims | undefined }): string[] {
  const of = (measured: Measured | undefined) =>
    measured === undefined ? '' : `${(100 * measured.share).toFixed(0)} %, ${measured.p50_ms.toFixed(0)} / ${measured.p99_ms.toFixed(0)} ms`
  return VICTIMS.map((victim, index) => {
    const first = index === 0 ? [id, shape, JSON.stringify(answers).replaceAll(/[{}"]/g, '')] : ['', '', '']
    return `| ${[...first, victim, ...[idle, control, attacked].map((one) => of(one?.[victim]))].join(' | ')} |`
  })
}
