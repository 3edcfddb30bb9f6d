import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createVictim,
  lasting,
  loopDelay,
  TARGET_SETTINGS,
  watchMemory,
  type Attack,
  type LoopDelay,
  type Measured,
  type Target,
  type VictimRates,
} from '../test/support/hostile.ts'
import { ATTACKS, type LoadAttack, type Scenario } from './hostile-attacks.ts'
import { atLeast, atMost, figures, type Gate, type RunOptions, type SuiteReport } from './report.ts'
import { startAssay, withFolder } from './server-process.ts'

const WARM_UP_S = 2
const SETTLE_S = 1
const READY_S = 1
const SHARE_MIN = 0.95
const RATIO_MAX = 5
const RSS_GROWTH_MAX_MB = 200
/** An attack ends before it takes the memory of the machine. */
const RSS_GROWTH_STOP_MB = 1_000
/** Beyond it the service refuses free calls. */
const LOOP_DELAY_MAX_MS = 200
const RATES: Required<Pick<VictimRates, 'free' | 'paid'>> = { free: 50, paid: 4 }

interface Found {
  rows: string[][]
  gates: Gate[]
  notes: string[]
}

/** Attacks on the service from other processes and addresses, and what is left of it for another client. */
export async function hostile({ seconds, attacks }: RunOptions): Promise<SuiteReport> {
  const numbers = attacks ?? Object.keys(ATTACKS)
  const found: Found[] = []
  for (const number of numbers) {
    for (const scenario of ATTACKS[number] ?? []) {
      process.stderr.write(`  ${number}: ${scenario.name}\n`)
      found.push(await runScenario(`${number}: ${scenario.name}`, scenario, seconds))
    }
  }
  return report(found, seconds)
}

/** A scenario that does not run is reported as such and ends nothing else. */
async function runScenario(name: string, scenario: Scenario, seconds: number): Promise<Found> {
  try {
    if (scenario.kind === 'load') return await withMemoryFolder((folder) => underLoad(name, scenario, folder, seconds))
    const within = scenario.on_disk === true ? withFolder : withMemoryFolder
    return await within((folder) => counted(name, scenario, folder, seconds))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return {
      rows: [],
      gates: [{ claim: `${name}: ran`, measured: reason.replaceAll(/\s+/g, ' ').slice(0, 300), passed: false }],
      notes: [],
    }
  }
}

async function counted(name: string, scenario: Extract<Scenario, { kind: 'count' }>, folder: string, seconds: number): Promise<Found> {
  const gates = await scenario.run(folder, seconds)
  return { rows: [], gates: gates.map((gate) => ({ ...gate, claim: `${name}: ${gate.claim}` })), notes: [] }
}

/** The victim without the attack, then with it, over the same service. */
async function underLoad(name: string, scenario: LoadAttack, folder: string, seconds: number): Promise<Found> {
  const server = await startAssay(folder, { ...TARGET_SETTINGS, ...scenario.settings }, 'any')
  const target: Target = { port: server.port, pid: server.pid, data_dir: folder }
  const running: Attack[] = []
  try {
    const rates = { ...(scenario.rates ?? RATES) }
    const warm = await createVictim(target, (rates.paid ?? 0) * WARM_UP_S)
    await warm.measure(rates, WARM_UP_S)
    const attack = await scenario.prepare(target)
    const victim = await createVictim(target, (rates.paid ?? 0) * 2 * seconds)
    const idle = await victim.measure(rates, seconds)
    await loopDelay(server.operator_port)
    let stopped = false
    const stopAll = () => Promise.all(running.splice(0).map((one) => one.stop()))
    const memory = watchMemory(server.pid, RSS_GROWTH_STOP_MB, () => {
      stopped = true
      void stopAll()
    })
    running.push(await attack())
    await lasting(READY_S)
    const attacked = await victim.measure(rates, seconds)
    const [counts] = await stopAll()
    const rss = memory.stop()
    await lasting(SETTLE_S)
    const delay = await loopDelay(server.operator_port)
    const notes = stopped ? [`${name}: stopped when the process had grown by ${RSS_GROWTH_STOP_MB} MB.`] : []
    const sent = counts === undefined ? '' : ` (${counts.opened} connections, answers ${JSON.stringify(counts.answers)})`
    process.stderr.write(`    attacker${sent}\n`)
    const measured = Object.entries(rates).map(([kind]) => ({
      kind,
      idle: idle[kind as keyof VictimRates],
      attacked: attacked[kind as keyof VictimRates],
    }))
    return { ...lines(name, measured, rss, delay, scenario), notes }
  } finally {
    await Promise.all(running.map((one) => one.stop()))
    await server.stop()
  }
}

interface Pair {
  kind: string
  idle: Measured
  attacked: Measured
}

function lines(
  name: string,
  pairs: readonly Pair[],
  rss: { before_mb: number; peak_mb: number },
  delay: LoopDelay | null,
  { bounds }: LoadAttack,
) {
  const rows = pairs.map(({ kind, idle, attacked }, index) => {
    const first = index === 0
    const ratio = attacked.p99_ms / idle.p99_ms
    const gates = [
      atLeast('ok', attacked.share, SHARE_MIN),
      ...(bounds.includes('p99') ? [atMost('p99', ratio, RATIO_MAX, 'x')] : []),
      ...(bounds.includes('rss') && first ? [atMost('growth', rss.peak_mb - rss.before_mb, RSS_GROWTH_MAX_MB, ' MB')] : []),
      ...(bounds.includes('loop') && first ? [atMost('delay', delay?.max_ms ?? null, LOOP_DELAY_MAX_MS, ' ms')] : []),
    ]
    return [
      first ? name : '',
      kind,
      ...shown(idle),
      ...shown(attacked),
      figures(ratio),
      first ? `${Math.round(rss.before_mb)} → ${Math.round(rss.peak_mb)}` : '',
      first && delay !== null ? `${figures(delay.p99_ms)} / ${figures(delay.max_ms)}` : '',
      gates.map(({ claim }) => claim).join(', '),
      gates.every(({ passed }) => passed === true) ? 'yes' : 'NO',
    ]
  })
  return { rows, gates: [] }
}

function shown({ share, p50_ms, p99_ms }: Measured): string[] {
  return [`${figures(share * 100)} %`, `${figures(p50_ms)} / ${figures(p99_ms)}`]
}

function report(found: readonly Found[], seconds: number): SuiteReport {
  return {
    title: 'Hostile clients',
    method: [
      `The service runs as \`npm start\` runs it, in the sandbox, with a fresh data folder${IN_MEMORY ? ' in memory, so that stalls of a disk are in no figure' : ''}, once for each attack. Attackers are separate processes, each network another address of 127.0.0.0/8. The victim is a client of another network in an open loop, ${RATES.free} free and ${RATES.paid} paid calls a second unless the row says otherwise, each on a new connection, for ${seconds} s without the attack and ${seconds} s with it; times count from when a call was due, and only those of right answers count. Paid calls wait for the sandbox's chain.`,
      'RSS is that of the process before the attack and its peak during it. Loop delay is the 99th percentile and the longest delay of the event loop during the attack, from /metrics.',
    ],
    header: [
      'attack',
      'victim',
      'idle ok',
      'idle p50 / p99 ms',
      'attacked ok',
      'attacked p50 / p99 ms',
      'p99 ratio',
      'RSS MB',
      'loop delay p99 / max ms',
      'required',
      'met',
    ],
    rows: found.flatMap(({ rows }) => rows),
    gates: found.flatMap(({ gates }) => gates),
    notes: found.flatMap(({ notes }) => notes),
  }
}

const MEMORY = '/dev/shm'
const IN_MEMORY = existsSync(MEMORY)

async function withMemoryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(IN_MEMORY ? MEMORY : tmpdir(), 'assay-hostile-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
