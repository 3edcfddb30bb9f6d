/**
 * Event loop delay of a live service while it reads and activates the next day of its sanctions lists and a newer table, under load from another thread.
 *
 * `node bench/swap.ts [entries] [seconds]`: entries of the generated SDN list (20,000 by default), seconds of load before the change (10).
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { setTimeout as pause } from 'node:timers/promises'
import addresses from '../data/ofac-addresses.json' with { type: 'json' }
import { TABLES } from '../src/pure/datasets/datasets.ts'
import { startTestApp } from '../test/support/app.ts'
import { sdnDocument } from '../test/support/sdn-document.ts'

const NEW = { address: `0x${'ab'.repeat(20)}`, entity: 'NEW & CO' }
const CLIENTS = 4
const RESOLUTION_MS = 1
const WAIT_MS = 180_000

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
const say = (line: string) => process.stdout.write(`${line}\n`)

/**
 * Longest turns of the event loop by the CPU time of its thread: what a step of the service takes, whether or not other programs of the machine had
 * the processor in between.
 */
function watchTurns() {
  const turns: number[] = []
  let last = process.threadCpuUsage()
  const timer = setInterval(() => {
    const used = process.threadCpuUsage(last)
    last = process.threadCpuUsage()
    turns.push((used.user + used.system) / 1_000)
  }, 1)
  return {
    report(): string {
      const sorted = turns.splice(0).toSorted((one, other) => other - one)
      return sorted
        .slice(0, 5)
        .map((ms) => ms.toFixed(1))
        .join(', ')
    },
    stop: () => clearInterval(timer),
  }
}

interface Tally {
  calls: number
  failed: number
  wrong: number
  lists: string[]
}

/** Load: addresses, names and IBANs; each answer must be right for the list that it names. */
async function load({ url, newest }: { url: string; newest: string }): Promise<void> {
  const tally: Tally = { calls: 0, failed: 0, wrong: 0, lists: [] }
  const lists = new Set<string>()
  const state = { stopped: false }
  parentPort?.once('message', () => (state.stopped = true))
  const ask = async (tool: string, input: object) => {
    tally.calls++
    const response = await fetch(`${url}/v1/tools/${tool}/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input }),
    })
    const body = (await response.json()) as { result?: { status?: string; valid?: boolean; data_as_of: Record<string, string> } }
    if (response.status !== 200 || body.result === undefined) tally.failed++
    return body.result ?? null
  }
  const client = async () => {
    while (!state.stopped) {
      const found = await ask('ofac-sdn-check', { subject: NEW.address, name: 'Mary Johnson' })
      const list = found?.data_as_of['ofac_addresses'] ?? ''
      if (list !== '') lists.add(list)
      if (found !== null && (found.status === 'match') !== list.startsWith(newest)) tally.wrong++
      const iban = await ask('iban-check', { iban: 'GB82WEST12345698765432' })
      if (iban !== null && iban.valid !== true) tally.wrong++
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  parentPort?.postMessage({ ...tally, lists: [...lists] } satisfies Tally, [])
}

async function main(entries: number, seconds: number): Promise<void> {
  const mirror = await mkdtemp(join(tmpdir(), 'assay-swap-'))
  const write = (day: string, rows: { address: string; entity: string }[]) =>
    writeFile(join(mirror, 'SDN_ENHANCED.XML'), sdnDocument({ day, rows, others: entries }))
  await write(dayBefore(2), addresses.rows)
  const app = await startTestApp({
    settings: {
      ASSAY_MODE: 'live',
      ASSAY_RPC_URLS: 'http://127.0.0.1:9',
      ASSAY_PAY_TO: `0x${'1'.repeat(40)}`,
      ASSAY_FACILITATOR_URLS: 'http://127.0.0.1:9',
      ASSAY_FREE_DAILY: '10000000',
      ASSAY_DATA_FEEDS: 'on',
      ASSAY_DATA_MIRROR: mirror,
    },
  })
  const listOf = async () => {
    const { datasets } = (await (await fetch(`${app.url}/v1/datasets`)).json()) as {
      datasets: { id: string; origin: string; published_at: string | null }[]
    }
    const dates = (id: string) => datasets.find((one) => one.id === id && one.origin === 'store')?.published_at ?? ''
    return [dates('ofac_addresses'), dates('rdap_bootstrap')]
  }
  const until = async (isDone: (dates: string[]) => boolean) => {
    const end_ms = performance.now() + WAIT_MS
    while (!isDone(await listOf())) {
      if (performance.now() > end_ms) throw new Error('the lists did not change in time')
      await pause(250)
    }
  }
  await until(([one]) => one === dayBefore(2))
  const thread = new Worker(new URL(import.meta.url), { workerData: { url: app.url, newest: dayBefore(1) } })
  await pause(3_000)
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const turns = watchTurns()
  const report = (phase: string) => {
    delay.disable()
    const ms = (ns: number) => (ns / 1e6).toFixed(1)
    say(
      `${phase}: loop delay p50 ${ms(delay.percentile(50))}, p99 ${ms(delay.percentile(99))}, max ${ms(delay.max)} ms; longest turns in CPU time: ${turns.report()} ms`,
    )
    delay.reset()
  }
  delay.enable()
  await pause(seconds * 1_000)
  report(`load alone, ${seconds} s`)
  delay.enable()
  const start_ms = performance.now()
  const services = TABLES.rdap_bootstrap.bundled().rows as { tld: string; url: string; origin: string }[]
  const named = services.filter(({ origin }) => origin === 'iana').map(({ tld, url }) => [[tld], [url]])
  await writeFile(join(mirror, 'dns.json'), JSON.stringify({ publication: `${dayBefore(1)}T00:00:00Z`, services: named }))
  await write(dayBefore(1), [...addresses.rows, NEW])
  await until((dates) => dates.every((date) => date === dayBefore(1)))
  const took_s = Math.round((performance.now() - start_ms) / 1_000)
  await pause(2_000)
  report(`the next day is read, checked, stored, loaded and indexed (${took_s} s)`)
  turns.stop()
  thread.postMessage('stop', [])
  const tally = await new Promise<Tally>((resolve) => thread.once('message', resolve))
  say(`calls ${tally.calls}, failed ${tally.failed}, wrong ${tally.wrong}; lists in answers: ${tally.lists.join(', ')}`)
  await app.stop()
  await rm(mirror, { recursive: true, force: true })
}

if (isMainThread) await main(Number(process.argv[2] ?? 20_000), Number(process.argv[3] ?? 10))
else await load(workerData as Parameters<typeof load>[0])
