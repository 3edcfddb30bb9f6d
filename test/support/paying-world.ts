import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { rpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { createApp } from '../../src/assembly/app.ts'
import type { PaymentStore } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import type { CallDeps } from '../../src/service/calls/call.ts'
import { toolSchemas } from '../../src/service/catalogue/wire-schemas.ts'
import { trustedProxies } from '../../src/service/clients.ts'
import { readSettings } from '../../src/service/read-settings.ts'
import type { FaultPoint } from '../../src/service/payments/settlement.ts'
import { start, type Running } from '../../src/assembly/start.ts'
import { createHttpServer } from '../../src/surfaces/http/node-server.ts'
import type { Anvil } from './anvil.ts'
import type { ChainView } from './paying-chain.ts'
import { fund } from './paying.ts'

/** The whole service in this process, with its chain and its store, and the levers that a test needs on either. */
export interface World {
  url: string
  data_dir: string
  running: Running
  chain: ChainView
  /** The store that the service works with, for faults put into it. */
  store: Store
  payments: PaymentStore
  /** Runs once, and is waited for, when the service next comes to this step. */
  at(point: FaultPoint, act: () => Promise<unknown>): void
  /** A new account that holds this much of the token. */
  payer(balance_minor?: bigint): Promise<PrivateKeyAccount>
  /** The store's own file, beside the service. */
  sql<Result>(work: (database: DatabaseSync) => Result): Result
  stop(): Promise<void>
}

export interface WorldOptions {
  free_daily?: number
  settings?: Record<string, string>
  /** An existing data folder; it is left in place. */
  data_dir?: string
}

/** The sandbox. Whoever calls it from here may name the client in X-Forwarded-For. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const made = await run(options, {})
  const { sandbox } = made.running.app.deps
  if (sandbox === null) throw new Error('the chain of the sandbox did not start')
  const { rpc_url, chain_id, usdc, pay_to } = sandbox
  return worldOf(made, { rpc_url, chain_id, token: usdc as Hex, pay_to: pay_to as Hex, rpc: rpcRequest(rpc_url) })
}

export interface LiveOptions extends WorldOptions {
  anvil: Anvil
  /** Where the service finds the chain, when it is not the node itself. */
  rpc_url?: string
}

/** Live mode, with a gas wallet of its own, over a chain that mines only what it is sent. */
export async function startLiveWorld({ anvil, rpc_url = anvil.rpc_url, ...options }: LiveOptions): Promise<World> {
  const folder = options.data_dir ?? (await mkdtemp(join(tmpdir(), 'assay-live-')))
  const key = `0x${randomBytes(32).toString('hex')}` as const
  await anvil.setBalance(privateKeyToAccount(key).address, 10n ** 19n)
  await writeFile(join(folder, 'gas.key'), key, { mode: 0o600 })
  const pay_to = (options.settings?.['ASSAY_PAY_TO'] ?? privateKeyToAccount(generatePrivateKey()).address) as Hex
  const live = {
    ASSAY_MODE: 'live',
    ASSAY_CHAIN_ID: String(anvil.chain_id),
    ASSAY_RPC_URLS: rpc_url,
    ASSAY_PAY_TO: pay_to,
    ASSAY_GAS_KEY_FILE: join(folder, 'gas.key'),
  }
  const made = await run({ ...options, data_dir: folder }, live)
  const { chain_id, token, rpc } = anvil
  const world = worldOf(made, { rpc_url: anvil.rpc_url, chain_id, token, pay_to: pay_to.toLowerCase() as Hex, rpc })
  const stop = async () => {
    await world.stop()
    if (options.data_dir === undefined) await rm(folder, { recursive: true, force: true })
  }
  return { ...world, stop }
}

interface Made {
  running: Running
  data_dir: string
  at: World['at']
  clear(): Promise<void>
}

async function run({ free_daily = 0, settings = {}, data_dir }: WorldOptions, mode: Record<string, string>): Promise<Made> {
  const folder = data_dir ?? (await mkdtemp(join(tmpdir(), 'assay-world-')))
  const read = readSettings({
    ASSAY_PORT: '0',
    ASSAY_DATA_DIR: folder,
    ASSAY_LOG_LEVEL: 'silent',
    ASSAY_TRUSTED_PROXIES: '127.0.0.1',
    ASSAY_FREE_DAILY: String(free_daily),
    ...mode,
    ...settings,
  })
  if (!read.ok) throw new Error(read.message)
  const acts = new Map<FaultPoint, () => Promise<unknown>>()
  const reach = async (point: FaultPoint) => {
    const act = acts.get(point)
    acts.delete(point)
    await act?.()
  }
  const running = await start(read.settings, { reach })
  const clear = () => (data_dir === undefined ? rm(folder, { recursive: true, force: true }) : Promise.resolve())
  return { running, data_dir: folder, at: (point, act) => void acts.set(point, act), clear }
}

function worldOf({ running, data_dir, at, clear }: Made, chain: ChainView): World {
  const store = running.app.deps.store as Store
  let minted: Promise<unknown> = Promise.resolve()
  return {
    url: running.url,
    data_dir,
    running,
    chain,
    store,
    payments: store.payments,
    at,
    async payer(balance_minor = 1_000_000n) {
      const account = privateKeyToAccount(generatePrivateKey())
      // One after the other: the node picks the account nonce of the token's owner, and two at once may get the same.
      if (balance_minor > 0n) minted = minted.then(() => fund(chain.rpc_url, chain.token, account.address, balance_minor))
      await minted
      return account
    },
    sql(work) {
      const database = new DatabaseSync(join(data_dir, 'assay.sqlite'), { timeout: 5_000 })
      try {
        return work(database)
      } finally {
        database.close()
      }
    },
    async stop() {
      await running.stop()
      await clear()
    },
  }
}

export interface Variant {
  url: string
  stop(): Promise<void>
}

/** The same service on another port, with other parts of its core in place; desk, store and chain stay the real ones. */
export async function serveVariant({ running }: World, change: Partial<CallDeps>): Promise<Variant> {
  const { deps } = running.app
  const proxies = trustedProxies(['127.0.0.1'])
  if (!proxies.ok) throw new Error(proxies.message)
  const core = { ...deps.call, ...change }
  const schemas = new Map(core.catalogue.tools.map((tool) => [tool.id, toolSchemas(tool)]))
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const server = createHttpServer(createApp({ ...deps, call: core, schemas }, proxies.proxies, silent))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the variant does not listen')
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return { url: `http://127.0.0.1:${address.port}`, stop }
}
