/** `npm run bench [suite …]`: runs the suites and prints a Markdown report on standard output, progress on standard error. */
import { parseArgs } from 'node:util'
import { bestGenerator } from './generators.ts'
import { installPeers } from './install-peers.ts'
import { circumstances, loadText, markdown, type RunOptions, type SuiteReport } from './report.ts'

const USAGE = `usage: npm run bench -- [suite …] [--rounds=3] [--seconds=10] [--generator=wrk|own] [--attacks=1,2] [--raise]
suites: free-call, mcp, payment-challenge, paid-call, voucher-call, settlement, checks, json, start, idle, token-scan, markdown, iso20022,
        reconcile, two-instances, pages, hostile; all of them when none is named
        gate [--raise]: fails where the hot path is worse than bench/baseline.json; --raise writes better figures into it
`

type Suite = (options: RunOptions) => Promise<SuiteReport>

/** Loaded one by one, so that nothing of one suite is in the process of another's measurement. */
const SUITES: Record<string, () => Promise<Suite>> = {
  'free-call': async () => (await import('./free-call.ts')).freeCall,
  mcp: async () => (await import('./mcp.ts')).mcp,
  'payment-challenge': async () => (await import('./payment-challenge.ts')).paymentChallenge,
  'paid-call': async () => (await import('./paid-call.ts')).paidCall,
  'voucher-call': async () => (await import('./voucher-call.ts')).voucherCall,
  settlement: async () => (await import('./settlement.ts')).settlement,
  checks: async () => (await import('./checks.ts')).checks,
  json: async () => (await import('./json.ts')).json,
  start: async () => (await import('./start.ts')).start,
  idle: async () => (await import('./idle.ts')).idle,
  reconcile: async () => (await import('./reconcile.ts')).reconcile,
  iso20022: async () => (await import('./iso20022.ts')).iso20022,
  markdown: async () => (await import('./markdown.ts')).markdown,
  'two-instances': async () => (await import('./two-instances.ts')).twoInstances,
  'token-scan': async () => (await import('./token-scan.ts')).tokenScan,
  pages: async () => (await import('./pages.ts')).pages,
  hostile: async () => (await import('./hostile.ts')).hostile,
  gate: async () => (await import('./gate.ts')).gate,
}

/** Suites that need nothing to be installed. */
const PEERLESS: ReadonlySet<string> = new Set(['pages', 'hostile'])

const asked = readArguments()
if (asked === null) {
  process.stderr.write(USAGE)
  process.exitCode = 64
} else if (asked.suites.every((name) => PEERLESS.has(name)) || installPeers()) await runAll(asked.suites, asked.options)
else process.exitCode = 1

function readArguments(): { suites: string[]; options: RunOptions } | null {
  try {
    const string = (fallback: string) => ({ type: 'string', default: fallback }) as const
    const options = {
      rounds: string('3'),
      seconds: string('10'),
      generator: string(bestGenerator()),
      attacks: string(''),
      raise: { type: 'boolean', default: false } as const,
    }
    const { values, positionals } = parseArgs({ allowPositionals: true, options })
    const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
    const { generator } = values
    const known = positionals.every((name) => Object.hasOwn(SUITES, name)) && (generator === 'wrk' || generator === 'own')
    if (!known || !Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seconds) || seconds < 1) return null
    const attacks = values.attacks === '' ? {} : { attacks: values.attacks.split(',') }
    const every = Object.keys(SUITES).filter((name) => name !== 'gate')
    return {
      suites: positionals.length > 0 ? positionals : every,
      options: { rounds, seconds, generator, raise: values.raise, ...attacks },
    }
  } catch {
    return null
  }
}

async function runAll(suites: string[], options: RunOptions): Promise<void> {
  print(['# Benchmarks', ...circumstances(new Date()).map((line) => `- ${line}`)].join('\n'))
  for (const name of suites) {
    process.stderr.write(`bench: ${name}\n`)
    try {
      const suite = await SUITES[name]?.()
      if (suite !== undefined) print(markdown(await suite(options)))
    } catch (error) {
      process.exitCode = 1
      print(`## ${name} did not run\n\n${error instanceof Error ? error.message : String(error)}`)
    }
  }
  print(`Load average after: ${loadText()}`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`)
}
