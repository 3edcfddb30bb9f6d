import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { rename, rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { DatabaseSync } from 'node:sqlite'
import {
  anvilBinary,
  type AnvilProcess,
  type Keeping,
  launchAnvil,
  rpcBatch,
  SandboxChainError,
  saveState,
  type SandboxRpcCall,
  rpcRequest,
  readRecord,
  sandboxFiles,
  thisMachine,
  writeRecord,
  type ChainRecord,
  type SandboxFiles,
} from './sandbox-process.ts'
import { DEPOSIT_FACTORY, BATCH_SETTLER, DETERMINISTIC_DEPLOYER } from '../../pure/contracts/deployment.ts'
import { CHANNEL_CONTRACTS, testUsdcCreation } from '../../pure/contracts/test-usdc.ts'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'

export interface SandboxOptions extends Placement {
  /** Folder of the chain's state, made when missing. */
  directory: string
  chain_id: number
  /** Guarded wherever there is a POSIX shell. */
  keeping?: Keeping
}

export interface SandboxChain {
  rpc_url: string
  /** False when another service on the same folder runs the chain, and will end it. */
  owned: boolean
  /** State of an owned chain; null for a chain of another service. */
  run(): SandboxRun | null
  /** Ends an owned chain, keeping its state, and leaves another's alone. */
  stop(): Promise<void>
}

const WAIT_MS = 25_000
const LOOK_MS = 20

/** Returns true when the record was written on this machine for this folder. */
function isOwnRecord({ machine, folder }: Pick<ChainRecord, 'machine' | 'folder'>, directory: string): boolean {
  return machine === thisMachine() && folder === realpathSync(directory)
}

/** Removes the record unless another chain has taken its place. */
function removeRecord(path: string, pid: number): void {
  if (readRecord(path)?.pid === pid) rmSync(path, { force: true })
}

interface Lock {
  release(): void
}

/**
 * Takes the lock, or returns null when another service, or another chain of this one, holds it. It is a lock of the operating system on
 * an SQLite file, so it ends with its holder, however that dies; a file that merely exists would outlive it.
 */
function takeLock(path: string): Lock | null {
  const database = new DatabaseSync(path)
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null
    throw error
  }
  return { release: () => database.close() }
}

const SQLITE_BUSY = 5

/**
 * A local EVM chain with a worthless USDC, a funded payer and a funded gas wallet. The first service on a folder starts it, others join;
 * it ends with the service that started it, in any case, and continues from its last block at the next start. Rejects with a
 * SandboxChainError when there is no anvil for this machine or it does not start.
 */
export async function startSandboxChain(options: SandboxOptions): Promise<SandboxChain> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 })
  const files = sandboxFiles(options.directory)
  const deadline = performance.now() + WAIT_MS
  while (performance.now() < deadline) {
    const lock = takeLock(files.lock)
    if (lock !== null) return own(options, files, lock.release)
    // The holder is starting its chain, ending it, or running it.
    const record = readRecord(files.record)
    if (record?.chain_id === options.chain_id && (await answers(record))) {
      return { rpc_url: record.rpc_url, owned: false, run: () => null, stop: () => Promise.resolve() }
    }
    await delay(LOOK_MS)
  }
  throw new SandboxChainError(`Another service holds ${files.lock}, but its chain does not answer as chain ${options.chain_id}.`)
}

async function own(options: SandboxOptions, files: SandboxFiles, release: () => void): Promise<SandboxChain> {
  try {
    await outlive(options.directory, files)
    const keeping = options.keeping ?? (process.platform === 'win32' ? 'bare' : 'guarded')
    // Loads Node's HTTP client while anvil starts, which takes about as long.
    void fetch('data:,')
    const launch = async (port: number) => {
      const anvil = await launchAnvil({ binary: anvilBinary(), files, chain_id: options.chain_id, keeping, port })
      await settleIn(options, files, anvil).catch(async (error: unknown) => {
        await anvil.stop()
        throw error
      })
      return anvil
    }
    const first = await launch(0)
    const port = Number(new URL(first.rpc_url).port)
    // On the same port, so that clients that know the address find the chain again.
    const keeper = keepRunning({ first, state_file: files.state, again: () => launch(port) })
    let stopping: Promise<void> | null = null
    const end = async () => {
      try {
        await keeper.stop()
        rmSync(files.record, { force: true })
      } finally {
        release()
      }
    }
    return { rpc_url: first.rpc_url, owned: true, run: () => keeper.run(), stop: () => (stopping ??= end()) }
  } catch (error) {
    release()
    throw error
  }
}

/** Turns a listening anvil into a sandbox. The record is written last, so that joining services find everything in place. */
async function settleIn(options: SandboxOptions, files: SandboxFiles, { rpc_url, pid, guard_pid }: AnvilProcess): Promise<void> {
  const [metadata] = await rpcBatch(rpc_url, [
    { method: 'anvil_metadata', params: [] },
    // Otherwise every request is written to the log.
    { method: 'anvil_setLoggingEnabled', params: [false] },
  ])
  const { instanceId } = metadata as { instanceId: string }
  await place(rpc_url, options)
  const place_of = { machine: thisMachine(), folder: realpathSync(options.directory) }
  writeRecord(files.record, { pid, guard_pid, rpc_url, chain_id: options.chain_id, instance_id: instanceId, ...place_of })
}

/**
 * Waits until the chain of a dead owner is gone, so that its last state is found. Ends it where nothing else would. The chain that the record
 * of a copied folder names belongs to the service of the first folder and is left alone.
 */
async function outlive(directory: string, files: SandboxFiles): Promise<void> {
  const record = readRecord(files.record)
  if (record === null || !isOwnRecord(record, directory)) return rmSync(files.record, { force: true })
  const deadline = performance.now() + WAIT_MS
  while (performance.now() < deadline && readRecord(files.record)?.pid === record.pid && guarded(record, files)) await delay(LOOK_MS)
  // An answer with the recorded instance id proves that the pid still belongs to this anvil.
  if (readRecord(files.record)?.pid === record.pid && (await answers(record))) {
    await saveState(record.rpc_url, files.state)
    process.kill(record.pid, 'SIGKILL')
  }
  removeRecord(files.record, record.pid)
}

function guarded({ guard_pid }: ChainRecord, files: SandboxFiles): boolean {
  if (guard_pid === null) return false
  const command_line = `/proc/${guard_pid}/cmdline`
  // After a restart of the machine the number may be another process's, which would never go away.
  if (existsSync('/proc/self/cmdline')) return existsSync(command_line) && readFileSync(command_line, 'utf8').includes(files.record)
  try {
    return process.kill(guard_pid, 0)
  } catch {
    return false
  }
}

async function answers({ rpc_url, instance_id }: ChainRecord): Promise<boolean> {
  try {
    const [metadata] = await rpcBatch(rpc_url, [{ method: 'anvil_metadata', params: [] }])
    return (metadata as { instanceId: string }).instanceId === instance_id
  } catch {
    return false
  }
}

/** Owner of the sandbox token. Its key is unknown; only the sandbox node, which acts for any address, can mint. */
export const SANDBOX_OWNER = '0x0000000000000000000000000053414e44424f58'

const PAYER_USDC_MINOR = 1_000_000_000n
const WALLET_WEI = 10n ** 19n
const MINT_GAS = 200_000n
const PROBE_MS = 2
const LOOKS = 5_000
const TOTAL_SUPPLY = '0x18160ddd'
const MINT = '0x40c10f19'

interface Placement {
  token: { address: string }
  /** Address of EURC; left out, there is none. */
  euro?: string | undefined
  payer_address: string
  gas_address: string
}

/** Puts token, contracts and money onto a new chain, and only what is missing onto another. */
async function place(rpc_url: string, { token, euro, payer_address, gas_address }: Placement): Promise<void> {
  const [supply] = await rpcBatch(rpc_url, [call({ to: token.address, data: TOTAL_SUPPLY })])
  // Minting comes last, so a supply means that all the rest is there. Without code the call returns nothing.
  const is_new = supply === '0x' || BigInt(String(supply)) === 0n
  if (is_new) {
    await placeCode(rpc_url, token.address, [payer_address, gas_address])
    await mint(rpc_url, token.address, payer_address, PAYER_USDC_MINOR)
  }
  // Also onto a chain of an earlier release, which has everything else.
  const is_placed = await placeDepositFactory(rpc_url)
  await placeChannelContracts(rpc_url)
  const is_euro_new = euro !== undefined && (await placeEuro(rpc_url, token.address, euro))
  if (is_euro_new) await mint(rpc_url, euro, payer_address, PAYER_USDC_MINOR)
  if (!is_new && !is_placed && !is_euro_new) return
  await rpcBatch(rpc_url, [{ method: 'anvil_stopImpersonatingAccount', params: [SANDBOX_OWNER] }])
}

/**
 * Places token and batch contract, gives each of `wallets` 10 ETH, and lets the node act as the token's owner. Creation code is run without a
 * transaction: what it returns is what a deployment would have stored, immutables filled.
 */
export async function placeCode(rpc_url: string, token: string, wallets: readonly string[]): Promise<void> {
  const creations = [testUsdcCreation(SANDBOX_OWNER), BATCH_SETTLER.creation_code]
  const [token_code, batch_code] = await rpcBatch(
    rpc_url,
    creations.map((data) => call({ data })),
  )
  await rpcBatch(rpc_url, [
    { method: 'anvil_setCode', params: [token, token_code] },
    { method: 'anvil_setCode', params: [BATCH_SETTLER.address, batch_code] },
    ...[SANDBOX_OWNER, ...wallets].map((address) => ({ method: 'anvil_setBalance', params: [address, quantity(WALLET_WEI)] })),
    { method: 'anvil_impersonateAccount', params: [SANDBOX_OWNER] },
  ])
}

/** Each text of the test token's code in hexadecimal digits, and that of EURC: name and symbol, the hash of the name, and the chain of the other name. */
const EURO_CODE = [
  [hexText('USDC'), hexText('EURC')],
  [nobleCrypto.keccak256Hex('USDC').slice(2), nobleCrypto.keccak256Hex('EURC').slice(2)],
  // PUSH2 8453: on Base, USDC is called USD Coin.
  ['612105', '61ffff'],
] as const

function hexText(text: string): string {
  return Buffer.from(text).toString('hex')
}

/** Places a token that is called EURC and otherwise is the test USDC, where it is missing; true when this call did. */
export async function placeEuro(rpc_url: string, token: string, euro: string): Promise<boolean> {
  const codes = await rpcBatch(
    rpc_url,
    [token, euro].map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  )
  if (codes[1] !== '0x') return false
  const code = EURO_CODE.reduce((text, [from, to]) => text.replaceAll(from, to), String(codes[0]))
  await rpcBatch(rpc_url, [
    { method: 'anvil_setCode', params: [euro, code] },
    { method: 'anvil_impersonateAccount', params: [SANDBOX_OWNER] },
  ])
  return true
}

/** A real mint with its Transfer event, mined before this resolves. The chain must mine by itself. */
export async function mint(rpc_url: string, token: string, to: string, amount_minor: bigint): Promise<void> {
  const data = `${MINT}${word(BigInt(to))}${word(amount_minor)}`
  await sendAsOwner(rpc_url, { to: token, data, gas: quantity(MINT_GAS) })
}

/** Runtime code of the deterministic deployer (github.com/Arachnid/deterministic-deployment-proxy, 1.0.0). */
const DEPLOYER_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'
const DEPLOY_GAS = 2_000_000n

/** Deploys the factory of deposit addresses where it is missing, through the deterministic deployer; true when this call did. */
export async function placeDepositFactory(rpc_url: string): Promise<boolean> {
  const { address, deploy_calldata } = DEPOSIT_FACTORY
  const [code] = await rpcBatch(rpc_url, [{ method: 'eth_getCode', params: [address, 'latest'] }])
  if (code !== '0x') return false
  await rpcBatch(rpc_url, [
    { method: 'anvil_setCode', params: [DETERMINISTIC_DEPLOYER, DEPLOYER_CODE] },
    { method: 'anvil_impersonateAccount', params: [SANDBOX_OWNER] },
  ])
  await sendAsOwner(rpc_url, { to: DETERMINISTIC_DEPLOYER, data: deploy_calldata, gas: quantity(DEPLOY_GAS) })
  return true
}

/** Places the contracts of payment channels at their addresses on public chains, where they are missing. */
export async function placeChannelContracts(rpc_url: string): Promise<void> {
  const codes = await rpcBatch(
    rpc_url,
    CHANNEL_CONTRACTS.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  )
  for (const [index, { address, creation_code }] of CHANNEL_CONTRACTS.entries()) {
    if (codes[index] !== '0x') continue
    const [code] = await rpcBatch(rpc_url, [call({ data: creation_code })])
    await rpcBatch(rpc_url, [{ method: 'anvil_setCode', params: [address, code] }])
  }
}

/** Resolves when the transaction is mined. */
async function sendAsOwner(rpc_url: string, transaction: { to: string; data: string; gas: string }): Promise<void> {
  const [hash] = await rpcBatch(rpc_url, [{ method: 'eth_sendTransaction', params: [{ from: SANDBOX_OWNER, ...transaction }] }])
  for (let look = 0; look < LOOKS; look += 1) {
    const [receipt] = await rpcBatch(rpc_url, [{ method: 'eth_getTransactionReceipt', params: [hash] }])
    if (receipt !== null) {
      if ((receipt as { status: string }).status !== '0x1') throw new Error('A transaction of the sandbox owner failed.')
      return
    }
    await delay(PROBE_MS)
  }
  throw new Error('The sandbox chain does not mine.')
}

function call(request: { to?: string; data: string }): SandboxRpcCall {
  return { method: 'eth_call', params: [request, 'latest'] }
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}

/** Interval between two checks for a new block, whose state is then saved. */
const WATCH_MS = 1_000
/** Saving may take one of so many parts of the time: the state of a long chain takes seconds. */
const SAVING_PARTS = 50
/** Waits before each new try to start the chain; after the last one it stays down. */
const PAUSES_MS = [0, 500, 2_000, 5_000, 15_000]
/** A chain that ran for so long begins with the first pause again. */
const STEADY_MS = 600_000

/** State of the sandbox chain. */
interface SandboxRun {
  running: boolean
  /** Number of restarts after it ended unexpectedly. */
  restarts: number
  /** Time of the last of them, RFC 3339; null before. */
  restarted_at: string | null
  /** Why it stays down; null while it runs or is started again. */
  stopped_because: string | null
}

interface Keeper {
  run(): SandboxRun
  /** Ends the chain, keeping its state, and starts it no more. */
  stop(): Promise<void>
}

interface KeeperParts {
  first: AnvilProcess
  /** File of the state from which the next start of the chain continues. */
  state_file: string
  /** Starts the chain again on the port of the first, ready for use. */
  again(): Promise<AnvilProcess>
}

const unpacked = promisify(gunzip)

/**
 * Restarts the chain when it ends unexpectedly, from the state of about a second before: payments of that second are settled again, as
 * after a reorganisation. A state that takes long to save is saved less often.
 */
function keepRunning(parts: KeeperParts): Keeper {
  const keeper = new ChainKeeper(parts)
  const watching = keeper.watch()
  return {
    run: () => ({ ...keeper.run }),
    async stop() {
      await keeper.stop()
      await watching
    },
  }
}

class ChainKeeper {
  readonly run: SandboxRun = { running: true, restarts: 0, restarted_at: null, stopped_because: null }
  readonly #parts: KeeperParts
  readonly #timer: NodeJS.Timeout
  #anvil: AnvilProcess
  #stopping = false
  #wake = (): void => undefined
  #saving: Promise<void> = Promise.resolve()
  #saved_head: unknown = null
  #save_from_ms = 0

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#anvil = parts.first
    this.#timer = setInterval(() => {
      // A chain that does not answer has ended, or is asked again.
      if (this.run.running && performance.now() >= this.#save_from_ms)
        this.#saving = this.#saving.then(() => this.#save()).catch(() => undefined)
    }, WATCH_MS)
    this.#timer.unref()
  }

  async #save(): Promise<void> {
    const request = rpcRequest(this.#anvil.rpc_url)
    const head = await request('eth_blockNumber')
    if (head === this.#saved_head) return
    const before_ms = performance.now()
    const dump = String(await request('anvil_dumpState'))
    const draft = `${this.#parts.state_file}.${process.pid}.saved`
    await writeFile(draft, await unpacked(Buffer.from(dump.slice(2), 'hex')), { mode: 0o600 })
    // The chain may have ended meanwhile and left a newer state itself.
    if (!this.#stopping && this.run.running) await rename(draft, this.#parts.state_file)
    else await rm(draft, { force: true })
    this.#saved_head = head
    this.#save_from_ms = performance.now() + SAVING_PARTS * (performance.now() - before_ms)
  }

  async watch(): Promise<void> {
    let since_ms = performance.now()
    let attempt = 0
    for (;;) {
      await this.#anvil.gone
      if (this.#stopping) return
      this.run.running = false
      if (performance.now() - since_ms >= STEADY_MS) attempt = 0
      const started = await this.#again(attempt)
      if (started === null) return
      attempt = started
      since_ms = performance.now()
    }
  }

  /** The attempt that the next one begins with; null when it was stopped meanwhile, or every try failed. */
  async #again(first_attempt: number): Promise<number | null> {
    let why = ''
    for (let attempt = first_attempt; attempt < PAUSES_MS.length; attempt++) {
      await this.#pause(PAUSES_MS[attempt] ?? 0)
      if (this.#stopping) return null
      try {
        this.#anvil = await this.#parts.again()
        if (this.#stopping) {
          await this.#anvil.stop()
          return null
        }
        this.run.running = true
        this.run.restarts++
        this.run.restarted_at = new Date(performance.timeOrigin + performance.now()).toISOString()
        return attempt + 1
      } catch (error) {
        why = error instanceof Error ? error.message : String(error)
      }
    }
    this.run.stopped_because =
      `The sandbox chain ended ${PAUSES_MS.length} times within ten minutes; stop and start the service. ${why}`.trim()
    return null
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      setTimeout(resolve, ms).unref()
    })
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearInterval(this.#timer)
    this.#wake()
    await this.#saving
    await this.#anvil.stop()
  }
}
