import { readdirSync, readFileSync } from 'node:fs'
import { scanCode } from '../src/pure/evm/code-scan.ts'
import { readTokenContract } from '../src/pure/evm/token-facts.ts'
import { fixedChain } from '../test/support/fixed-chain.ts'
import { TOKENS } from '../test/support/fixed-tokens.ts'
import { atMost, figures, type Gate, type SuiteReport } from './report.ts'
import { race } from './stopwatch.ts'
import { ROOT } from './server-process.ts'

/** The most that a contract's code may have (EIP-170). */
const CODE_BYTES = 24_576
const SCAN_MS = 2
const ROUND_TRIPS = 3

/** Reading of a contract's code, and how often token-contract-risk asks the chain. */
export async function tokenScan(): Promise<SuiteReport> {
  const codes = {
    'contracts of OpenZeppelin, one after another': published(),
    'PUSH4 and EQ all over': hostile(),
    'JUMPDEST only': '0x' + '5b'.repeat(CODE_BYTES),
  }
  const times = Object.entries(codes).map(([title, code]) => ({ title, us: race({ scan: () => scanCode(code).selectors.size }).scan }))
  const trips = await Promise.all(Object.entries(TOKENS).map(async ([name, address]) => ({ name, ...(await roundTrips(address)) })))
  const most = trips.toSorted((a, b) => b.trips - a.trips)[0]
  const gates: Gate[] = [
    ...times.map(({ title, us }) => atMost(`scan of ${title}`, us / 1000, SCAN_MS, ' ms')),
    atMost('round trips of one call', most?.trips ?? null, ROUND_TRIPS),
    atMost('reads of one round trip', Math.max(...trips.map(({ reads }) => reads)), 40),
  ]
  return {
    title: 'Token contracts: the walk over code, and round trips',
    method: [
      `Milliseconds of thread CPU time a code of ${CODE_BYTES} bytes, hash included, median of 15 turns of 60 ms. Round trips are batches of reads.`,
    ],
    header: ['code', 'ms'],
    rows: times.map(({ title, us }) => [title, figures(us / 1000)]),
    gates,
    notes: [`Most round trips: ${most?.name ?? 'none'} with ${most?.trips ?? 0}. Finding the block to read at is not among them.`],
  }
}

/** Real code up to the size; what is cut in the middle is code all the same. */
function published(): string {
  const folder = `${ROOT}node_modules/@openzeppelin/contracts/build/contracts`
  const codes = readdirSync(folder).map((name) => {
    const { deployedBytecode = '0x' } = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as { deployedBytecode?: string }
    return deployedBytecode.slice(2)
  })
  return `0x${codes.join('').slice(0, 2 * CODE_BYTES)}`
}

/** Each PUSH4 has another constant, which is compared and followed by a jump. */
function hostile(): string {
  const one = (index: number) => `8063${index.toString(16).padStart(8, '0')}146100005700`
  return `0x5b${Array.from({ length: CODE_BYTES / 12 }, (_, index) => one(index)).join('')}`.slice(0, 2 + 2 * CODE_BYTES)
}

async function roundTrips(address: string): Promise<{ trips: number; reads: number }> {
  return fixedChain().atOneBlock(async (at) => {
    const reading = readTokenContract(address)
    let [trips, reads] = [0, 0]
    for (let step = reading.next(); step.done !== true; trips++) {
      reads = Math.max(reads, step.value.length)
      step = reading.next(await at.read(step.value))
    }
    return { trips, reads }
  })
}
