import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPublicClient, http, parseAbiItem, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { readSettings } from '../../src/service/read-settings.ts'
import { start, type Running, type StartOptions } from '../../src/assembly/start.ts'
import type { Anvil } from './anvil.ts'

/** A deployment in live mode over a test chain: its own folder, recipient and gas wallet. It runs nothing by itself. */
export interface Live {
  settings: Record<string, string>
  folder: string
  pay_to: Hex
  gas_wallet: Hex
  remove(): Promise<void>
}

const GAS_WEI = 10n ** 18n

export async function liveDeployment(anvil: Anvil, change: Record<string, string> = {}): Promise<Live> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-faults-'))
  const gas_key = generatePrivateKey()
  const gas_wallet = privateKeyToAccount(gas_key).address
  await anvil.setBalance(gas_wallet, GAS_WEI)
  await writeFile(join(folder, 'gas.key'), gas_key, { mode: 0o600 })
  const pay_to: Hex = `0x${randomBytes(20).toString('hex')}`
  const settings = {
    ASSAY_PORT: '0',
    ASSAY_MODE: 'live',
    ASSAY_CHAIN_ID: String(anvil.chain_id),
    ASSAY_RPC_URLS: anvil.rpc_url,
    ASSAY_PAY_TO: pay_to,
    ASSAY_GAS_KEY_FILE: join(folder, 'gas.key'),
    ASSAY_DATA_DIR: join(folder, 'data'),
    ASSAY_LOG_LEVEL: 'silent',
    ASSAY_FREE_DAILY: '0',
    ...change,
  }
  return {
    settings,
    folder,
    pay_to,
    gas_wallet,
    // A service that a test has killed may be writing its last file.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** The service in this process. */
export async function startLive({ settings }: Pick<Live, 'settings'>, options: StartOptions = {}): Promise<Running> {
  const read = readSettings(settings)
  if (!read.ok) throw new Error(read.message)
  return start(read.settings, options)
}

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')
const USED = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')

/** A log of the token that moved or used something, with the transaction that wrote it. */
interface Seen<Value> {
  value: Value
  transaction: Hex
}

/** What the chain itself says, asked without the service and read by viem. */
export interface Witness {
  /** All transfers from the payer to the recipient. */
  transfers(payer: Hex, pay_to: Hex): Promise<Seen<bigint>[]>
  /** Nonces of authorizations that the payer has used. */
  used(payer: Hex): Promise<Seen<Hex>[]>
  /** Sum of everything that the recipient was ever sent. */
  received(pay_to: Hex): Promise<bigint>
}

export function witnessOf({ rpc_url, token }: Pick<Anvil, 'rpc_url' | 'token'>): Witness {
  const client = createPublicClient({ transport: http(rpc_url) })
  const range = { address: token, fromBlock: 0n, strict: true } as const
  return {
    async transfers(from, to) {
      const logs = await client.getLogs({ ...range, event: TRANSFER, args: { from, to } })
      return logs.map(({ args, transactionHash }) => ({ value: args.value, transaction: transactionHash }))
    },
    async used(authorizer) {
      const logs = await client.getLogs({ ...range, event: USED, args: { authorizer } })
      return logs.map(({ args, transactionHash }) => ({ value: args.nonce, transaction: transactionHash }))
    },
    async received(to) {
      const logs = await client.getLogs({ ...range, event: TRANSFER, args: { to } })
      return logs.reduce((sum, { args }) => sum + args.value, 0n)
    },
  }
}

/** A row of the ledger, as it lies in the file of the store. */
export interface LedgerRow {
  payer: string
  nonce: string
  state: string
  reason: string | null
  value_minor: bigint
  answered: boolean
}

/** What the deployment's own SQLite file says, read beside the service. */
export function ledgerOf({ settings }: Pick<Live, 'settings'>): LedgerRow[] {
  const file = new DatabaseSync(join(settings['ASSAY_DATA_DIR'] ?? '', 'assay.sqlite'), { readOnly: true })
  try {
    const rows =
      file.prepare(`select p.payer, p.nonce, p.state, p.reason, cast(p.value_minor as text) as value, a.sealed is not null as answered
      from payment p left join payment_answer a on a.payment = p.number`)
    return rows.all().map(({ payer, nonce, state, reason, value, answered }) => ({
      payer: String(payer),
      nonce: String(nonce),
      state: String(state),
      reason: reason === null ? null : String(reason),
      value_minor: BigInt(String(value)),
      answered: answered === 1,
    }))
  } finally {
    file.close()
  }
}

/** Every row is closed, every settled one has its answer, and their sum is what the recipient was sent. */
export async function assertLedgerIsChain(anvil: Anvil, live: Live): Promise<void> {
  const rows = ledgerOf(live)
  const settled = rows.filter(({ state }) => state === 'settled')
  assert.deepEqual(
    rows.filter(({ state }) => ['claimed', 'prepared', 'settling', 'unknown'].includes(state)),
    [],
  )
  assert.ok(settled.every(({ answered }) => answered))
  const sum = settled.reduce((total, { value_minor }) => total + value_minor, 0n)
  assert.equal(await witnessOf(anvil).received(live.pay_to), sum)
}

/** Puts the chain's clock forward for good: every block from now on is so much ahead of the machine. */
export async function chainAhead(anvil: Anvil, ahead_ms: number): Promise<void> {
  await anvil.rpc('evm_increaseTime', [Math.ceil(ahead_ms / 1_000)])
  await anvil.mine()
}

/** Mines every two seconds, as Base does, so that the head stays fresh while nobody pays. */
export function heartbeat(anvil: Anvil): () => Promise<void> {
  let beat: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    beat = beat.then(() => anvil.mine())
  }, 2_000)
  return async () => {
    clearInterval(timer)
    await beat
  }
}
