import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rpcBatch } from '../src/adapters/chain/sandbox-process.ts'
import { limits } from '../src/service/limits.ts'
import { WRITER_RULES } from '../src/service/payments/writer-rules.ts'
import { until } from '../test/support/until.ts'
import { firstWrong } from './duel.ts'
import { load } from './generators.ts'
import type { LoadResult } from './load-spec.ts'
import { newPayers, PAYMENT_HEADER, signedPayments, type Payers } from '../test/support/bulk-payments.ts'
import { CALL, termsOf, writePayments } from './payments.ts'
import { atLeast, atMost, figures, median, type RunOptions, type SuiteReport } from './report.ts'
import { CHAIN_ID, startChain, type BenchChain } from './settlement-chain.ts'
import { START_ARGUMENTS, startServer, withFolder, type ServerProcess } from './server-process.ts'
import { SANDBOX_OWNER } from '../src/adapters/chain/sandbox-contracts.ts'

const SERVER = fileURLToPath(new URL('settlement-server.ts', import.meta.url))

const PAYERS = 2_000
const BALANCE_MINOR = 100_000_000n
const MINTS_AT_ONCE = 200
const MINT_WEI = 1_000_000_000n
const GAS_WEI = 10n ** 20n
const BEAT_MS = 2_000

const BATCH = 20
const BATCHES = 6

const WARM_UP_S = 3
const CLIENTS = 10_000
/** Pause after an answer other than 200. */
const REST_MS = 1_000
/** Signed for each second: more than the service asks the chain to verify. */
const PER_S = 2 * limits.verification_round_trips_per_second

/** Transfer(address,address,uint256) */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

interface Rhythm {
  name: string
  in_flight: number
  /** Null: a block per transaction, immediately. */
  block_s: number | null
}

const RHYTHMS: Rhythm[] = [
  { name: 'a block for each transaction', in_flight: 128, block_s: null },
  { name: 'a block every 2 s', in_flight: 400, block_s: 2 },
]

interface Found {
  rhythm: Rhythm
  run: LoadResult
  /** Payments in each transaction that was mined during the run. */
  sizes: number[]
}

/** Real settlements on a separate chain with one gas wallet: cost and rate. */
export function settlement(options: RunOptions): Promise<SuiteReport> {
  return withFolder(async (folder) => {
    const anvil = await startChain()
    const beat = setInterval(() => void anvil.rpc('evm_mine').catch(() => undefined), BEAT_MS)
    try {
      const pay_to = `0x${randomBytes(20).toString('hex')}`
      const [service, payers] = [await startLive(anvil, folder, pay_to), await newPayers(PAYERS)]
      try {
        await mintAll(anvil, payers)
        const gas = await gasOfBatches(anvil, service, payers, pay_to)
        const found: Found[] = []
        for (const rhythm of RHYTHMS) found.push(await sustained({ anvil, service, payers, pay_to, folder }, rhythm, options))
        await service.stop()
        return report(found, gas, options, await assertLedger(anvil, pay_to, folder, found))
      } finally {
        await service.stop()
      }
    } finally {
      clearInterval(beat)
      await anvil.stop()
    }
  })
}

/** The service in live mode with one gas wallet. */
async function startLive(anvil: BenchChain, folder: string, pay_to: string): Promise<ServerProcess> {
  const key_file = join(folder, 'gas.key')
  const { signing } = await newPayers(0)
  const key = randomBytes(32)
  writeFileSync(key_file, key.toString('hex'), { mode: 0o600 })
  await anvil.rpc('anvil_setBalance', [signing.signer(key).address, hex(GAS_WEI)])
  return startServer([...START_ARGUMENTS.slice(0, -1), SERVER], {
    ASSAY_DATA_DIR: folder,
    ASSAY_PORT: '0',
    ASSAY_TRUSTED_PROXIES: '127.0.0.1',
    ASSAY_FREE_DAILY: '0',
    ASSAY_MODE: 'live',
    ASSAY_CHAIN_ID: String(CHAIN_ID),
    ASSAY_RPC_URLS: anvil.rpc_url,
    ASSAY_PAY_TO: pay_to,
    ASSAY_GAS_KEY_FILE: key_file,
  })
}

/** Real mints, each with the account nonce that it shall have, mined together: with a block for each, the node takes minutes. */
async function mintAll({ rpc_url, rpc, token }: BenchChain, { signers }: Payers): Promise<void> {
  await rpc('evm_setAutomine', [false])
  const first = Number(await rpc('eth_getTransactionCount', [SANDBOX_OWNER, 'latest']))
  const mints = signers.map(({ address }, index) => ({
    method: 'eth_sendTransaction',
    params: [
      {
        from: SANDBOX_OWNER,
        to: token,
        nonce: hex(first + index),
        gas: hex(200_000),
        maxFeePerGas: hex(MINT_WEI),
        maxPriorityFeePerGas: '0x0',
        data: `0x40c10f19${word(address)}${word(hex(BALANCE_MINOR))}`,
      },
    ],
  }))
  for (let at = 0; at < mints.length; at += MINTS_AT_ONCE) await rpcBatch(rpc_url, mints.slice(at, at + MINTS_AT_ONCE))
  await rpc('evm_setAutomine', [true])
  await until('all payers hold tokens', async () => {
    await rpc('evm_mine')
    const supply = await rpc('eth_call', [{ to: token, data: '0x18160ddd' }, 'latest'])
    return BigInt(String(supply)) >= BALANCE_MINOR * BigInt(signers.length)
  })
}

/** Gas of each payment in transactions that carry exactly twenty. A first payment fills the empty recipient, which costs more once. */
async function gasOfBatches(anvil: BenchChain, { port }: ServerProcess, payers: Payers, pay_to: string): Promise<number[]> {
  await payAtOnce(port, signedPayments(payers, await termsOf(port), 1))
  const from_block = BigInt(String(await anvil.rpc('eth_blockNumber'))) + 1n
  for (let batch = 0; batch < BATCHES; batch++) {
    process.stderr.write(`  batch ${batch + 1} of ${BATCHES}\n`)
    await payAtOnce(port, signedPayments(payers, await termsOf(port), BATCH))
  }
  const carried = transactionsOf(await transfersTo(anvil, pay_to, from_block))
  const full = [...carried].filter(([, count]) => count === BATCH).map(([transaction]) => transaction)
  const receipts = await Promise.all(full.map(async (hash) => anvil.rpc('eth_getTransactionReceipt', [hash])))
  return receipts.map((receipt) => Number((receipt as { gasUsed: string }).gasUsed) / BATCH)
}

async function payAtOnce(port: number, payments: readonly string[]): Promise<void> {
  const { path, headers, bodies } = CALL
  const answers = payments.map(async (payment) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { ...headers, [PAYMENT_HEADER]: payment },
      body: bodies[0] ?? '',
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`a payment was answered ${response.status}: ${text.slice(0, 500)}`)
  })
  await Promise.all(answers)
}

interface Scene {
  anvil: BenchChain
  service: ServerProcess
  payers: Payers
  pay_to: string
  folder: string
}

async function sustained({ anvil, service, payers, pay_to, folder }: Scene, rhythm: Rhythm, options: RunOptions): Promise<Found> {
  process.stderr.write(`  ${rhythm.name}\n`)
  const measured_s = measuredSeconds(options)
  const from_block = BigInt(String(await anvil.rpc('eth_blockNumber'))) + 1n
  if (rhythm.block_s !== null) await anvil.rpc('evm_setIntervalMining', [rhythm.block_s])
  const each = await writePayments(join(folder, 'payments'), payers, service.port, (WARM_UP_S + measured_s) * PER_S)
  const target = { ...CALL, each, status: 200, rest_ms: REST_MS, port: service.port, server_pid: service.pid, clients: CLIENTS }
  const run = await load('own', { ...target, connections: rhythm.in_flight, warm_up_s: WARM_UP_S, measured_s })
  const sizes = [...transactionsOf(await transfersTo(anvil, pay_to, from_block)).values()]
  if (rhythm.block_s !== null) await anvil.rpc('evm_setAutomine', [true])
  return { rhythm, run, sizes }
}

/** Twice the time of other suites: a block may take two seconds. */
function measuredSeconds({ seconds }: RunOptions): number {
  return 2 * seconds
}

interface Transfer {
  transactionHash: string
  data: string
}

async function transfersTo({ rpc, token }: BenchChain, pay_to: string, from_block: bigint): Promise<Transfer[]> {
  const topics = [TRANSFER, null, `0x${word(pay_to)}`]
  return (await rpc('eth_getLogs', [{ address: token, topics, fromBlock: hex(from_block), toBlock: 'latest' }])) as Transfer[]
}

function transactionsOf(transfers: readonly Transfer[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { transactionHash: hash } of transfers) counts.set(hash, (counts.get(hash) ?? 0) + 1)
  return counts
}

/** Throws unless answers, settled rows and transfers on chain are the same payments, and their values the same sum. */
async function assertLedger(anvil: BenchChain, pay_to: string, folder: string, found: readonly Found[]): Promise<string> {
  const answered = 1 + BATCHES * BATCH + found.reduce((sum, { run }) => sum + (run.answers_ever ?? Number.NaN), 0)
  const refused = found.reduce((sum, { run }) => sum + run.wrong, 0)
  const transfers = await transfersTo(anvil, pay_to, 0n)
  const moved_minor = transfers.reduce((sum, { data }) => sum + BigInt(data), 0n)
  const rows = settledRows(folder)
  const told = `${answered} answers, ${rows.settled} settled rows of ${rows.all}, ${transfers.length} transfers; ${rows.value_minor} minor units in the rows, ${moved_minor} on the chain`
  // A payment that was answered 202 settles without an answer of 200.
  const same = rows.settled === transfers.length && rows.value_minor === moved_minor && (refused > 0 || rows.all === rows.settled)
  if (!same || (refused === 0 ? rows.settled !== answered : rows.settled < answered))
    throw new Error(`The ledger does not add up: ${told}.`)
  return `After the stop: ${told}.`
}

function settledRows(folder: string): { settled: number; all: number; value_minor: bigint } {
  const database = new DatabaseSync(join(folder, 'assay.sqlite'), { readOnly: true })
  try {
    const rows = database.prepare('select state, value_minor from payment').all()
    const settled = rows.filter((found) => found['state'] === 'settled')
    return {
      settled: settled.length,
      all: rows.length,
      value_minor: settled.reduce((sum, found) => sum + BigInt(String(found['value_minor'])), 0n),
    }
  } finally {
    database.close()
  }
}

function report(found: readonly Found[], gas: readonly number[], options: RunOptions, ledger: string): SuiteReport {
  const [first] = found
  const wrong = found.filter(({ run }) => run.wrong > 0)
  return {
    title: 'Settlement on a chain',
    method: [
      `The service as \`npm start\` runs it, but for the gas budget of a day, which is lifted, in live mode over a separate anvil, with one gas wallet and a fresh store: simulation, settlement and evidence are real. ${PAYERS} funded payers in turn, each payment signed beforehand and sent once over REST, closed loop; measured for ${measuredSeconds(options)} s behind ${WARM_UP_S} s of warm-up.`,
      `Gas: ${BATCHES} times ${BATCH} payments sent simultaneously, gas used by each transaction that carried exactly ${BATCH}, divided by ${BATCH}. The token is the test USDC of the sandbox; USDC itself adds a proxy and a look at its black list to each transfer.`,
    ],
    header: [
      'chain',
      'in flight',
      'settled/s',
      'p50 ms',
      'p99 ms',
      'max ms',
      'payments a transaction',
      'not 200',
      'server busy',
      'generator busy',
    ],
    rows: found.map(row),
    gates: [
      atMost(`gas a payment, median of ${gas.length} batches of ${BATCH}`, gas.length === 0 ? null : median(gas), 46_000),
      atLeast('settled/s, a block for each transaction', first === undefined ? null : settledPerSecond(first), 100),
    ],
    notes: [
      `Gas a payment by batch: ${gas.map((value) => String(Math.round(value))).join(', ')}.`,
      ledger,
      `Bounds of the service that cap the rate: it asks the chain at most ${limits.verification_round_trips_per_second} times a second to verify (one payment takes one), gathers for ${WRITER_RULES.gather_ms} ms, looks for receipts every ${WRITER_RULES.poll_ms} ms, and has at most ${WRITER_RULES.open_max} transactions of ${WRITER_RULES.batch_items} payments on their way.`,
      ...wrong.map(({ rhythm, run }) => `${rhythm.name}: ${run.wrong} answers were not 200; ${firstWrong([run]).replaceAll(/\s+/g, ' ')}`),
      'The chain runs on any free core, and it shares the machine with service and generator: a node elsewhere would leave more to the service.',
    ],
  }
}

function settledPerSecond({ run }: Found): number {
  return run.answers / run.seconds
}

function row({ rhythm, run, sizes }: Found): string[] {
  const busy = (seconds: number | null) => (seconds === null ? '–' : `${Math.round((seconds / run.seconds) * 100)} %`)
  return [
    rhythm.name,
    String(rhythm.in_flight),
    figures(run.answers / run.seconds),
    figures(run.p50_ms),
    figures(run.p99_ms),
    figures(run.max_ms),
    figures(sizes.reduce((sum, size) => sum + size, 0) / sizes.length),
    String(run.wrong),
    busy(run.server_cpu_s),
    busy(run.generator_cpu_s),
  ]
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** 32 bytes of calldata, without 0x. */
function word(value: string): string {
  return value.slice(2).toLowerCase().padStart(64, '0')
}
