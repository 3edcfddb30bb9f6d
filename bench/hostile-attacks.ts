/** The numbered attacks of the `hostile` suite: those that are measured under load, and those whose effects are counted. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { privateKeyToAccount } from 'viem/accounts'
import { usdcOn } from '../src/pure/payments/usdc.ts'
import { newPayers, PAYMENT_HEADER, signedPayments } from '../test/support/bulk-payments.ts'
import {
  answerOf,
  answersOf,
  FREE_CALL,
  lasting,
  paidTerms,
  startAttack,
  TARGET_SETTINGS,
  throughputOf,
  type Attack,
  type HostileAnswer,
  type HostileRequest,
  type Target,
  type VictimRates,
} from '../test/support/hostile.ts'
import * as drivers from '../test/support/hostile-attacks.ts'
import { signAsMerchant, type InvoiceShown } from '../test/support/invoicing.ts'
import { atLeast, atMost, median, type Gate } from './report.ts'
import { startAssay, type ServerProcess } from './server-process.ts'
import { CHAIN_ID, startChain } from './settlement-chain.ts'

export interface LoadAttack {
  kind: 'load'
  name: string
  settings?: Record<string, string>
  /** Of the victim. */
  rates?: VictimRates
  /** Which bounds are required besides the success of the victim. */
  bounds: readonly ('p99' | 'rss' | 'loop')[]
  /** Makes ready what the attack needs; returns what starts it. */
  prepare(target: Target): Promise<() => Promise<Attack>>
}

interface CountedAttack {
  kind: 'count'
  name: string
  /** The data folder lies on a disk, where the service waits for each commit. */
  on_disk?: boolean
  run(folder: string, seconds: number): Promise<Gate[]>
}

export type Scenario = LoadAttack | CountedAttack

const SENT_BYTES_MAX = 2 ** 31
const TOGETHER = 16

/** An attack that needs nothing made ready. */
const plainly = (start: (port: number) => Promise<Attack>) => (target: Target) => Promise.resolve(() => start(target.port))

function load(name: string, bounds: LoadAttack['bounds'], prepare: LoadAttack['prepare'], more: Partial<LoadAttack> = {}): LoadAttack {
  return { kind: 'load', name, bounds, prepare, ...more }
}

const WORDS = { garbage: 'payment header is text', nobody: 'signature recovers to no account', unfunded: 'payer holds nothing' }

function held(crowd: drivers.Crowd, claim: 'garbage' | 'nobody' | 'unfunded', drip_ms?: number): LoadAttack {
  const slow = drip_ms === undefined ? '' : ', body at 1 byte/s'
  const dripping = drip_ms === undefined ? {} : { drip_ms }
  return load(`${crowd.networks} × ${crowd.each} calls without a body, ${WORDS[claim]}${slow}`, ['p99'], async ({ port }) => {
    const terms = await paidTerms(port)
    return () => drivers.heldCalls(port, crowd, { claim, terms, ...dripping })
  })
}

type Reader = keyof typeof drivers.BODY_READERS

function bodies(crowd: drivers.Crowd, readers: Reader[], name: string): LoadAttack {
  const all = `${crowd.networks * crowd.each} unfinished bodies on ${name}`
  return load(
    all,
    ['rss'],
    plainly((port) => drivers.heldBodies(port, crowd, readers, SENT_BYTES_MAX)),
  )
}

const THREE_HUNDRED = { networks: 3, each: 100 }
const EVERY_READER: Reader[] = ['rest', 'mcp', 'a2a', 'check', 'invoice']

function reads(name: string): LoadAttack {
  return load(
    `64 connections read ${name}`,
    ['p99'],
    async (target) => {
      const all = await readable(target)
      const request = all[name]
      if (request === undefined) throw new Error(`there is no ${name} to read`)
      return () => drivers.repeated(target.port, [request])
    },
    FROM_ANYWHERE,
  )
}

const FROM_ANYWHERE: Partial<LoadAttack> = { settings: { ASSAY_TRUSTED_PROXIES: '127.0.0.1' } }
const LOG_ENTRIES = 2_000
const LOG_MS = 3_000
const ENTRIES_MAX = 1_000

/** A log of some size, a full directory and an invoice. */
async function readable({ port }: Target): Promise<Record<string, HostileRequest>> {
  const call = { ...FREE_CALL, headers: { 'content-type': 'application/json' } }
  await answersOf(port, LOG_ENTRIES, TOGETHER, () => call)
  await fillDirectory(port)
  const [made] = await answersOf(port, 1, 1, () => drivers.unsignedInvoice(`0x${'4'.repeat(40)}`, 1))
  await lasting(LOG_MS / 1_000)
  return drivers.cheapReads((JSON.parse(made?.text ?? '{}') as { invoice_id: string }).invoice_id)
}

async function fillDirectory(port: number): Promise<HostileAnswer[]> {
  return answersOf(port, ENTRIES_MAX, TOGETHER, (number) => drivers.newUnderwriter(number, `http://127.0.0.1:${port}`))
}

/** By the numbers of the list of attacks in docs/benchmarks.md. */
export const ATTACKS: Record<string, readonly Scenario[]> = {
  1: [
    held({ networks: 2, each: 512 }, 'garbage'),
    held({ networks: 16, each: 128 }, 'garbage'),
    held({ networks: 16, each: 512 }, 'garbage'),
    held({ networks: 16, each: 128 }, 'nobody'),
    held({ networks: 16, each: 128 }, 'unfunded'),
    held({ networks: 16, each: 128 }, 'garbage', 1_000),
  ],
  2: [
    bodies(THREE_HUNDRED, ['mcp'], '/mcp'),
    bodies(THREE_HUNDRED, ['rest'], 'a document tool over REST'),
    bodies(THREE_HUNDRED, ['a2a'], '/a2a'),
    bodies(THREE_HUNDRED, ['check'], '/v1/protocols/check'),
    bodies(THREE_HUNDRED, ['invoice'], '/api/invoice/create'),
    bodies({ networks: 256, each: 16 }, EVERY_READER, 'all of them'),
  ],
  3: [
    load(
      '4,096 silent connections of one address',
      [],
      plainly((port) => drivers.idleConnections(port, 4_096)),
      {
        rates: { free: 50, health: 10 },
      },
    ),
  ],
  4: [{ ...count('a payment that fails every 0.7 s', failingPayers), on_disk: true }],
  5: ['log/consistency', 'invoice', 'insurance directory', 'openapi.json', 'docs', 'payments'].map(reads),
  6: [count('one /48 as many clients', oneSite)],
  8: [count('bad signatures of merchants and underwriters', badSignatures)],
  9: [load('two schemas of 5,000 branches over 60,000 keys', [], plainly(branches), { rates: { free: 20, heavy: 2 } })],
  10: (['rest', 'mcp', 'a2a'] as const).map((surface) =>
    load(
      `190,000 escaped keys over ${surface}`,
      ['loop'],
      plainly((port) => drivers.twice(port, [drivers.escapedKeys()[surface]])),
    ),
  ),
  11: [
    load(
      '500,000 Chinese characters to distill',
      ['loop'],
      plainly((port) => drivers.twice(port, [drivers.chineseText()])),
    ),
    load('the first brotli of /openapi.json', ['loop'], plainly(brotli)),
  ],
  12: [count('10,000 unsigned invoices name a merchant', invoiceFlood)],
  13: [count('1,000 entries in the directory of underwriters', fullDirectory)],
}

function count(name: string, run: CountedAttack['run']): CountedAttack {
  return { kind: 'count', name, run }
}

function branches(port: number): Promise<Attack> {
  return drivers.twice(port, [drivers.manyBranches()])
}

function brotli(port: number): Promise<Attack> {
  const headers = { 'accept-encoding': 'br' }
  return startAttack({ port, addresses: ['127.10.0.1'], requests: [{ method: 'GET', path: '/openapi.json', headers }] })
}

/** Runs the work on a sandbox service that believes X-Forwarded-For of this process. */
async function withService<Result>(folder: string, settings: Record<string, string>, work: (server: ServerProcess) => Promise<Result>) {
  const server = await startAssay(folder, settings, 'any')
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

const TURNS = 3

/** Free throughput by turns without and with the claims, over one service; the medians of the turns. */
function failingPayers(folder: string, seconds: number): Promise<Gate[]> {
  return withService(folder, TARGET_SETTINGS, async ({ port, pid }) => {
    const terms = await paidTerms(port)
    const free = await drivers.freeLoad(port)
    await lasting(2)
    const gates: Gate[] = []
    for (const claim of ['garbage', 'unfunded'] as const) {
      const [rates, costs]: [number[], number[]] = [[], []]
      for (let turn = 0; turn < TURNS; turn++) {
        const without = await throughputOf(free, pid, seconds / 2)
        const claims = await drivers.failingClaims(port, claim, terms)
        const beside = await throughputOf(free, pid, seconds / 2)
        await claims.stop()
        await lasting(1)
        rates.push(beside.answers_per_s / without.answers_per_s)
        costs.push(without.cpu_us / beside.cpu_us)
      }
      gates.push(atLeast(`${WORDS[claim]}: free calls a second, to without`, median(rates), 0.9))
      gates.push(atLeast(`${WORDS[claim]}: free calls for the same processor time, to without`, median(costs), 0.9))
    }
    await free.stop()
    return gates
  })
}

const SITE_CLIENTS = 4_096
/** Free calls of a day that one /48 may have in all. */
const SITE_CALLS_MAX = 256 * 3
const SITE_CHECKS = 1_000
const SITE_PAYMENTS = 300

/** Counts of a /48 that sends each request from another of its networks. */
function oneSite(folder: string): Promise<Gate[]> {
  return withService(folder, { ASSAY_FREE_DAILY: '3', ASSAY_FREE_DAILY_OVERRIDES: 'lei-check=0' }, async ({ port }) => {
    const found = (answers: readonly HostileAnswer[], status: number) => answers.filter((answer) => answer.status === status).length
    const post = (path: string, body: string) => (number: number) => ({
      path,
      body,
      headers: { ...JSON_TYPE, ...drivers.ofOneSite(number) },
    })
    const granted = found(await answersOf(port, SITE_CLIENTS, TOGETHER, post(FREE_CALL.path, FREE_CALL.body)), 200)
    const checks = await answersOf(port, SITE_CHECKS, TOGETHER, post('/v1/protocols/check', '{}'))
    const checked = SITE_CHECKS - found(checks, 429)
    const terms = await paidTerms(port)
    const { signing, signers } = await newPayers(SITE_PAYMENTS)
    const payments = signedPayments({ signing, signers }, terms, SITE_PAYMENTS)
    const pay = (number: number): HostileRequest => ({
      path: '/v1/tools/lei-check/call',
      body: '{"input":{"lei":"529900T8BM49AURSDO55"}}',
      headers: { ...JSON_TYPE, ...drivers.ofOneSite(number), [PAYMENT_HEADER]: payments[number] ?? '' },
    })
    const verified = found(await answersOf(port, SITE_PAYMENTS, TOGETHER, pay), 402)
    return [
      atMost(`free calls granted of ${SITE_CLIENTS}`, granted, SITE_CALLS_MAX),
      atMost(`documents checked of ${SITE_CHECKS}`, checked, 120),
      atMost(`payments without funds verified of ${SITE_PAYMENTS}`, verified, 60),
    ]
  })
}

const JSON_TYPE = { 'content-type': 'application/json' }
const BAD_REQUESTS = 200
const BAD_SIGNATURE = `0x${'1'.repeat(128)}1b`

/** Requests to the chain for each request with a bad signature, those that the service makes anyway taken off. */
async function badSignatures(folder: string, seconds: number): Promise<Gate[]> {
  const anvil = await startChain()
  const rpc = await countingProxy(anvil.rpc_url)
  const live = {
    ASSAY_MODE: 'live',
    ASSAY_CHAIN_ID: String(CHAIN_ID),
    ASSAY_RPC_URLS: rpc.url,
    ASSAY_PAY_TO: `0x${'1'.repeat(40)}`,
    ASSAY_FACILITATOR_URLS: 'http://127.0.0.1:9',
  }
  try {
    return await withService(folder, live, async ({ port }) => {
      const [made] = await answersOf(port, 1, 1, () => drivers.unsignedInvoice(`0x${'4'.repeat(40)}`, 1))
      const id = (JSON.parse(made?.text ?? '{}') as { invoice_id?: string }).invoice_id ?? ''
      await lasting(2)
      const quiet = rpc.requests()
      await lasting(seconds)
      const each_ms = (rpc.requests() - quiet) / (seconds * 1_000)
      const caused = async (requestOf: (number: number) => HostileRequest | Promise<HostileRequest>) => {
        const [before, begin_ms] = [rpc.requests(), performance.now()]
        await answersOf(port, BAD_REQUESTS, TOGETHER, requestOf)
        return Math.max(0, rpc.requests() - before - each_ms * (performance.now() - begin_ms)) / BAD_REQUESTS
      }
      const register = await caused(async (number) => {
        const good = await drivers.newUnderwriter(number, `http://127.0.0.1:${port}`)
        const body = JSON.stringify({ ...(JSON.parse(good.body ?? '{}') as object), signature: BAD_SIGNATURE })
        return { ...good, body }
      })
      const sign = await caused((number) => ({
        path: `/api/invoice/${id}/sign`,
        headers: { ...JSON_TYPE, ...drivers.ofAnyNetwork(number) },
        body: JSON.stringify({ signature: BAD_SIGNATURE }),
      }))
      return [
        atMost('requests to the chain for each registration', register, 0.5),
        atMost('requests to the chain for each signature of an invoice', sign, 0.5),
      ]
    })
  } finally {
    await rpc.stop()
    await anvil.stop()
  }
}

/** Passes requests on to an RPC endpoint and counts those within each batch. */
async function countingProxy(rpc_url: string): Promise<{ url: string; requests(): number; stop(): Promise<void> }> {
  let requests = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const asked: unknown = JSON.parse(body)
      requests += Array.isArray(asked) ? asked.length : 1
      const passed = fetch(rpc_url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      passed.then(async (answer) => response.end(await answer.text())).catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, requests: () => requests, stop }
}

const MERCHANT = privateKeyToAccount(`0x${'7'.repeat(64)}`)
const UNSIGNED = 10_000

/** Checks that the merchant that all the invoices name can still make one and sign it. */
function invoiceFlood(folder: string): Promise<Gate[]> {
  return withService(folder, { ...TARGET_SETTINGS, ASSAY_PREFLIGHT_PER_MINUTE: '1000000' }, async ({ port }) => {
    const flood = await answersOf(port, UNSIGNED, TOGETHER, (number) => drivers.unsignedInvoice(MERCHANT.address, number))
    const own = await answerOf(port, { ...drivers.unsignedInvoice(MERCHANT.address, 0), headers: JSON_TYPE })
    const kept = flood.filter(({ status }) => status === 201).length
    const signed = own.status === 201 ? await signedInvoice(port, JSON.parse(own.text) as InvoiceShown) : own.status
    return [
      atMost(`unsigned invoices kept of ${UNSIGNED}`, kept, UNSIGNED),
      { claim: 'the merchant makes an invoice and signs it: 201, 200', measured: `${own.status}, ${signed}`, passed: signed === 200 },
    ]
  })
}

async function signedInvoice(port: number, invoice: InvoiceShown): Promise<number> {
  const chain = { chain_id: 84_532, token: usdcOn(84_532).address }
  const signature = await signAsMerchant(chain, MERCHANT, invoice, 'Issue')
  const path = `/api/invoice/${invoice.invoice_id}/sign`
  return (await answerOf(port, { path, headers: JSON_TYPE, body: JSON.stringify({ signature }) })).status
}

/** Checks that an underwriter can still register when others filled the directory. */
function fullDirectory(folder: string): Promise<Gate[]> {
  return withService(folder, TARGET_SETTINGS, async ({ port }) => {
    const kept = (await fillDirectory(port)).filter(({ status }) => status === 201).length
    const fresh = await drivers.newUnderwriter(ENTRIES_MAX + 1, `http://127.0.0.1:${port}`)
    const { status } = await answerOf(port, { ...fresh, headers: JSON_TYPE })
    return [
      atMost(`entries of others of ${ENTRIES_MAX}`, kept, ENTRIES_MAX),
      { claim: 'a new underwriter registers: 201', measured: String(status), passed: status === 201 },
    ]
  })
}
