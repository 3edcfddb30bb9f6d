/**
 * `npm run soak [-- --minutes=20 --folder=/tmp]`: runs the service in its sandbox under free calls, payment terms and paid calls at seven
 * tenths of its capacity. Exit code 1 if memory, latency or open handles grew. Progress on standard error, report on standard output.
 * Every answer waits for the disk, so each window also shows the longest small durable write of that time. In a memory folder
 * (`--folder=/dev/shm`) the latencies are those of the service alone.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fundedPayer } from '../test/support/paying.ts'
import { watchDisk } from './support/soak-disk.ts'
import { answersOf, createLoad, KINDS, PAID_TOOL, quantile, type Tally } from './support/soak-load.ts'
import { startSoaked, type Look, type SoakedService } from './support/soak-service.ts'

const SHARE = 0.7
const SATURATE_S = 20
const WINDOW_S = 120
const WARM_UP_S = 300
const PAYERS = 16
const BALANCE_MINOR = 10n ** 12n
/** Time between two blocks of the sandbox's chain. */
const BLOCK_S = 2
/** Number of windows whose median represents the start and the end; at most half of all windows each. */
const LOOKS = 3

/** Maximum growth. */
const RSS_RATIO_MAX = 1.05
const P99_RATIO_MAX = 2
const HANDLES_MORE_MAX = 8

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '20' }, folder: { type: 'string', default: tmpdir() } } })
const asked_s = Number(values.minutes) * 60
if (!(asked_s >= 60)) throw new RangeError('--minutes takes a number of 1 or more')
/** A short run has short windows: five of them, the first of which warms up. */
const window_s = Math.min(WINDOW_S, asked_s / 5)
const windows_asked = Math.round(asked_s / window_s)
const warm_up_windows = Math.ceil(Math.min(WARM_UP_S, asked_s / 4) / window_s)

const folder = await mkdtemp(join(values.folder, 'assay-soak-'))
const service = await startSoaked({
  ASSAY_DATA_DIR: folder,
  ASSAY_FREE_DAILY: '1000000000',
  ASSAY_FREE_DAILY_OVERRIDES: `${PAID_TOOL}=0`,
  ASSAY_TRUSTED_PROXIES: '127.0.0.1',
})
try {
  process.exitCode = (await soak(service)) ? 0 : 1
} finally {
  await service.stop()
  await rm(folder, { recursive: true, force: true })
}

async function soak({ url, look, ended }: SoakedService): Promise<boolean> {
  const { sandbox } = (await (await fetch(`${url}/health`)).json()) as { sandbox: { rpc_url: string; usdc: string } }
  const payers = []
  for (let count = 0; count < PAYERS; count++) payers.push(await fundedPayer(sandbox.rpc_url, sandbox.usdc, BALANCE_MINOR))
  // Like Base. With a block per payment, the chain would hash all earlier payments each time, which would dominate the run.
  await askChain(sandbox.rpc_url, 'evm_setIntervalMining', [BLOCK_S])
  const load = createLoad(url, payers)
  const most = await load.saturate(SATURATE_S)
  const rate = (SHARE * answersOf(most)) / most.seconds
  say(`saturated at ${Math.round(answersOf(most) / most.seconds)} answers/s; keeping ${Math.round(rate)} for ${asked_s} s`)
  const disk = await watchDisk(folder)
  const windows: Window[] = []
  try {
    await load.keep(rate, windows_asked, window_s, async (tally) => {
      const window = { ...tally, sync_ms: disk.longest_ms(), look: await look() }
      windows.push(window)
      say(`${windows.length}: ${row(window).join('  ')}`)
    })
  } finally {
    await disk.stop()
    load.stop()
  }
  return report(rate, most, windows, ended())
}

interface Window extends Tally {
  /** Longest durable write in the same window. */
  sync_ms: number
  /** State of the idle service after the window. */
  look: Look
}

function report(rate: number, most: Tally, windows: readonly Window[], ended: string | null): boolean {
  const warm = windows.slice(warm_up_windows).map(({ look }) => look)
  const few = Math.max(1, Math.min(LOOKS, Math.floor(warm.length / 2)))
  const [early, late] = [warm.slice(0, few), warm.slice(-few)]
  const grown = (of: (one: Look) => number) => [median(early.map(of)), median(late.map(of))] as const
  const [rss, heap, resources] = [grown((one) => one.rss_mb), grown((one) => one.heap_mb), grown((one) => one.resources)]
  const descriptors = grown((one) => one.descriptors ?? 0)
  // The first window is of code that is still being compiled.
  const measured = windows.slice(1)
  const spread = KINDS.map((kind) => {
    const all = measured.map(({ latencies }) => quantile(latencies[kind], 0.99))
    return { kind, ratio: Math.max(...all) / median(all), median_ms: median(all) }
  })
  const wrong = windows.reduce((sum, one) => sum + one.wrong, 0)
  const gates: [string, string, boolean][] = [
    ['the service lives', ended ?? 'yes', ended === null],
    ['wrong answers = 0', `${wrong} ${windows.find(({ first_wrong }) => first_wrong !== null)?.first_wrong ?? ''}`, wrong === 0],
    [
      `RSS, end to minute ${((warm_up_windows * window_s) / 60).toFixed(1)} ≤ ${RSS_RATIO_MAX}`,
      `${rss[0].toFixed(1)} → ${rss[1].toFixed(1)} MB`,
      rss[1] <= rss[0] * RSS_RATIO_MAX,
    ],
    ...spread.map(({ kind, ratio, median_ms }): [string, string, boolean] => [
      `p99 of ${kind} calls, highest window to the median one < ${P99_RATIO_MAX}`,
      `${ratio.toFixed(2)} (median ${median_ms.toFixed(1)} ms)`,
      ratio < P99_RATIO_MAX,
    ]),
    [
      `open descriptors, more at the end ≤ ${HANDLES_MORE_MAX}`,
      `${descriptors[0]} → ${descriptors[1]}`,
      descriptors[1] - descriptors[0] <= HANDLES_MORE_MAX,
    ],
    [
      `active resources, more at the end ≤ ${HANDLES_MORE_MAX}`,
      `${resources[0]} → ${resources[1]}`,
      resources[1] - resources[0] <= HANDLES_MORE_MAX,
    ],
  ]
  const lines = [
    '# Soak',
    `${asked_s / 60} minutes at ${Math.round(rate)} calls/s, ${SHARE * 100} % of the ${Math.round(answersOf(most) / most.seconds)} that were reached in ${SATURATE_S} s; free, terms and paid calls 35:4:1. Heap after collection ${heap[0].toFixed(1)} → ${heap[1].toFixed(1)} MB.`,
    table(
      ['window', 'answers/s', ...KINDS.map((kind) => `p99 ${kind} ms`), 'pending', 'wrong', 'longest write alone ms', 'RSS MB'],
      windows.map((one, index) => [String(index + 1), ...row(one)]),
    ),
    table(
      ['gate', 'measured', ''],
      gates.map(([claim, found, passed]) => [claim, found, passed ? 'pass' : 'FAIL']),
    ),
  ]
  process.stdout.write(`${lines.join('\n\n')}\n`)
  return gates.every(([, , passed]) => passed)
}

async function askChain(url: string, method: string, params: readonly unknown[]): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  if (Object.hasOwn((await answer.json()) as object, 'error')) throw new Error(`the chain refused ${method}`)
}

function row(one: Window): string[] {
  const p99 = KINDS.map((kind) => quantile(one.latencies[kind], 0.99).toFixed(1))
  const counts = [String(one.pending), String(one.wrong), one.sync_ms.toFixed(1), one.look.rss_mb.toFixed(0)]
  return [String(Math.round(answersOf(one) / one.seconds)), ...p99, ...counts]
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const high = sorted[sorted.length >> 1] ?? Number.NaN
  return sorted.length % 2 === 1 ? high : (high + (sorted[(sorted.length >> 1) - 1] ?? Number.NaN)) / 2
}

function say(words: string): void {
  process.stderr.write(`soak: ${words}\n`)
}
