import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientAddress, type LoadResult, type LoadSpec } from './load-spec.ts'
import { cpuSeconds } from '../test/support/process-usage.ts'
import { onCore, withFolder, type Core } from './server-process.ts'

export type Generator = 'wrk' | 'own'

const OWN = fileURLToPath(new URL('load.ts', import.meta.url))

/** wrk where it is installed: it is written in C and needs less of its core than the generator of this folder. */
export function bestGenerator(): Generator {
  return spawnSync('wrk', ['-v']).error === undefined ? 'wrk' : 'own'
}

export function load(generator: Generator, spec: LoadSpec, core: Core = 'generator'): Promise<LoadResult> {
  return generator === 'wrk' ? withWrk(spec, core) : withOwn(spec, core)
}

async function withOwn(spec: LoadSpec, core: Core): Promise<LoadResult> {
  return JSON.parse(await output(core, process.execPath, [OWN, JSON.stringify(spec)])) as LoadResult
}

/** wrk knows no warm-up, so it runs twice; and it keeps no answers. It cannot send each request once. */
function withWrk(spec: LoadSpec, core: Core): Promise<LoadResult> {
  if (spec.each !== null) return Promise.reject(new Error('wrk sends its requests over and over'))
  return withFolder(async (folder) => {
    const script = join(folder, 'load.lua')
    writeFileSync(script, wrkScript(spec))
    const run = (seconds: number) => {
      const shape = ['-t1', `-c${spec.connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script]
      return output(core, 'wrk', [...shape, `http://127.0.0.1:${spec.port}${spec.path}`])
    }
    const warm_up = parse(await run(Math.max(1, Math.round(spec.warm_up_s))))
    const before_s = cpuSeconds(spec.server_pid)
    const own_before = childSeconds()
    const measured = parse(await run(spec.measured_s))
    const after_s = cpuSeconds(spec.server_pid)
    return {
      ...measured,
      wrong: measured.wrong + warm_up.wrong,
      first_wrong: null,
      server_cpu_s: before_s === null || after_s === null ? null : after_s - before_s,
      generator_cpu_s: childSeconds() - own_before,
      answers_ever: null,
      samples: [],
    }
  })
}

function childSeconds(): number {
  return cpuSeconds(process.pid, 'children') ?? Number.NaN
}

type WrkResult = Pick<LoadResult, 'answers' | 'seconds' | 'wrong' | 'p50_ms' | 'p99_ms' | 'max_ms'>

function parse(text: string): WrkResult {
  const [answers, duration_us, faults, p50_us, p99_us, max_us] = (/^RESULT (.*)$/m.exec(text)?.[1] ?? '').split(' ').map(Number)
  if (answers === undefined || !(answers > 0) || max_us === undefined) throw new Error(`wrk reported nothing:\n${text.slice(-500)}`)
  return {
    answers,
    seconds: (duration_us ?? Number.NaN) / 1e6,
    wrong: faults ?? 0,
    p50_ms: (p50_us ?? Number.NaN) / 1000,
    p99_ms: (p99_us ?? Number.NaN) / 1000,
    max_ms: max_us / 1000,
  }
}

function wrkScript({ path, headers, bodies, clients, status }: LoadSpec): string {
  const text = (value: string) => `[==[${value}]==]`
  // wrk counts as `status` what is 400 or more, and does not say which.
  const wrong = status < 400 ? 'e.status' : '(summary.requests - e.status)'
  const fixed = Object.entries(headers).map(([name, value]) => `[ ${text(name)} ] = ${text(value)}`)
  return `
local bodies = { ${bodies.map(text).join(', ')} }
local addresses = { ${Array.from({ length: clients }, (_, client) => text(clientAddress(client))).join(', ')} }
local requests = {}
local sent = 0
function init(args)
  for i, address in ipairs(addresses) do
    local headers = { ${[...fixed, '["x-forwarded-for"] = address'].join(', ')} }
    requests[i] = wrk.format("POST", ${text(path)}, headers, bodies[(i - 1) % #bodies + 1])
  end
end
function request()
  sent = sent % #requests + 1
  return requests[sent]
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %d %d %d %d\\n", summary.requests, summary.duration, e.connect + e.read + e.write + e.timeout + ${wrong},
    latency:percentile(50), latency:percentile(99), latency.max))
end
`
}

function output(core: Core, command: string, args: string[]): Promise<string> {
  const [program, all] = onCore(core, command, args)
  return new Promise((resolve, reject) => {
    const child = spawn(program, all, { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`${command} ended with ${code}`))))
  })
}
