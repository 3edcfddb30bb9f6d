import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStoreClock } from '../adapters/clock/store.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import { openStore } from '../adapters/store/open.ts'
import { createOutsideResolver } from '../adapters/public-https/outside-names.ts'
import { openTracing } from '../adapters/tracing/open-telemetry.ts'
import type { Log } from '../ports/log.ts'
import type { Store, StoreIdentity } from '../ports/store.ts'
import type { Tracing } from '../ports/tracing.ts'
import { loadCatalogue, type Catalogue } from '../service/catalogue/load.ts'
import { isPostgres, unknownToolInOverrides, type Settings } from '../service/config.ts'
import { createSourceBudget, createOutsideReads } from '../service/payments/allowance.ts'
import { createFailureCount, ON_CHAIN_LIMITS } from '../service/payments/reserved-balances.ts'
import { createPriceBook } from '../service/payments/price-book.ts'
import { judgeReplication } from '../service/replication.ts'
import { withRegisters } from '../service/registers.ts'
import type { Origins } from '../surfaces/http/reply.ts'
import { type ChainBase, type Deployment, VERSION, type FurtherBase } from './deployment.ts'
import { activeOf, bindSecret, identityOf, places, ringOf, secretOf, StartError, secretFiles, orStop, type SecretFile } from './identity.ts'
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { createChainFacts, noChain } from '../adapters/chain/facts.ts'
import { createTransfers } from '../adapters/chain/history.ts'
import { Pool } from '../adapters/chain/pool.ts'
import { createChain } from '../adapters/chain/rpc.ts'
import { ChainWatch } from '../adapters/chain/watch.ts'
import { readGasKeys } from '../adapters/gas-wallet/key-file.ts'
import { gasWallet } from '../adapters/gas-wallet/wallet.ts'
import { readWalletKey } from '../adapters/secret/file.ts'
import { createSealer } from '../adapters/secret/sealer.ts'
import type { ChainFacts, Transfers } from '../ports/chain-facts.ts'
import type { BlockHeader } from '../ports/chain.ts'
import { createAuthorizationDigest } from '../pure/payments/eip3009.ts'
import { usdcOn, type UsdcToken } from '../pure/payments/usdc.ts'
import { toHex } from '../pure/receipts/crypto.ts'
import { type FurtherNetwork, networkOf } from '../pure/networks.ts'
import type { GasWallet } from '../ports/gas-wallet.ts'
import type { SandboxInfo } from '../surfaces/deps.ts'

/** Settings → keys, tools, store and chain. A start that is refused leaves nothing half made. Rejects with a StartError. */
export async function openDeployment(settings: Settings, log: Log): Promise<Deployment> {
  const tracing = settings.ASSAY_TRACING === 'on' ? await openTracing(VERSION) : null
  const signing = await chooseSigning()
  const opened = await openKept({ settings, signing, log, tracing })
  const { store, secret } = opened
  const clock = systemClock
  const listening = { url: '' }
  const failures = createFailureCount(clock, ON_CHAIN_LIMITS)
  const sources = createSourceBudget(store, clock, secret, sourceReads(settings))
  return {
    ...opened,
    clock,
    lease_clock: await openStoreClock(store),
    prices: createPriceBook({ store, clock }),
    origins: originsOf(settings, listening),
    listening,
    failures,
    reads: createOutsideReads({ clock, sources, failures }),
    outside_names: createOutsideResolver(clock, settings.ASSAY_NAME_SERVERS),
  }
}

/**
 * Removes the secret files and folders that are made from now on, for a start that is refused before its store was bound to them. What was there
 * before stays.
 */
function madeFromNowOn(settings: Settings): () => void {
  const folders = [join(settings.ASSAY_DATA_DIR, 'sandbox')]
  const missing = [...secretFiles(settings).map(({ path }) => path), ...folders].filter((path) => !existsSync(path))
  const is_new = !existsSync(settings.ASSAY_DATA_DIR)
  return () => {
    for (const path of missing) rmSync(path, { recursive: true, force: true })
    if (is_new && existsSync(settings.ASSAY_DATA_DIR) && readdirSync(settings.ASSAY_DATA_DIR).length === 0)
      rmdirSync(settings.ASSAY_DATA_DIR)
  }
}

/** Everything that is kept on disk or on a chain; what a refused start has made of it is removed again. */
async function openKept(given: Pick<Deployment, 'settings' | 'signing' | 'log' | 'tracing'>) {
  const { settings, signing } = given
  const undo = madeFromNowOn(settings)
  try {
    const identity = identityOf(settings, signing)
    const ring = ringOf(settings, identity)
    const active = activeOf(ring)
    const keys = { ...given, identity, ring, active, receipt_signer: signing.signer(active.private_key), secret: secretOf(settings) }
    // The chain of the sandbox needs a moment to start; everything else is made ready meanwhile.
    return { ...keys, ...(await openTogether(keys, tracedChain(given.tracing, openChain(keys)))) }
  } catch (error) {
    undo()
    throw error
  }
}

type Bare = Pick<Deployment, 'settings' | 'identity' | 'secret' | 'log' | 'tracing'>

export function sourceReads({ ASSAY_SOURCE_READS_DAILY_NETWORK, ASSAY_SOURCE_READS_DAILY }: Settings) {
  return { network: ASSAY_SOURCE_READS_DAILY_NETWORK, all: ASSAY_SOURCE_READS_DAILY }
}

export function around<Target extends object>(tracing: Tracing | null, name: string, target: Target): Target {
  return tracing === null ? target : tracing.around(name, target)
}

async function tracedChain(tracing: Tracing | null, base: Promise<ChainBase | null>): Promise<ChainBase | null> {
  const opened = await base
  return opened === null ? null : { ...opened, chain: around(tracing, 'chain', opened.chain) }
}

/**
 * Loads the catalogue and opens store and chain concurrently. When one of them fails, the others are closed again so that the process can
 * end.
 */
async function openTogether(
  bare: Bare,
  chain: Promise<ChainBase | null>,
): Promise<{ catalogue: Catalogue; store: Store; base: ChainBase | null }> {
  const opening = [loadKnown(bare.settings), openChecked(bare), chain] as const
  try {
    const [catalogue, store, base] = await Promise.all(opening)
    return { catalogue, store, base }
  } catch (error) {
    const [, store, base] = await Promise.allSettled(opening)
    if (base.status === 'fulfilled') await base.value?.stop()
    if (store.status === 'fulfilled') await store.value.close()
    throw error
  }
}

/** The tools, among which are all that the settings name. Throws a StartError for a name that is none. */
export async function loadKnown(settings: Settings): Promise<Catalogue> {
  const catalogue = withRegisters(await loadCatalogue(), settings.ASSAY_REGISTERS)
  const stray = unknownToolInOverrides(settings, catalogue.tools)
  if (stray !== null) throw new StartError(stray)
  return catalogue
}

/** The store, once it is known to belong to this deployment. */
async function openChecked({ settings, identity, secret, log, tracing }: Bare): Promise<Store> {
  const target = places.store(settings)
  const store = await openStore(target, { sealer: createSealer(secret) }).catch((error: unknown) => {
    log.error({ error: String(error) }, 'the store did not open')
    throw new StartError(`ASSAY_STORE cannot be opened: ${error instanceof Error ? error.message : 'unknown reason'}`)
  })
  await assertReplication(store, settings, log).catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  const written = await store.identity(identity)
  const mine = written.mode === identity.mode && written.chain_id === identity.chain_id && written.pay_to === identity.pay_to
  if (mine) {
    await bindSecret(store, settings, secret).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    return around(tracing, 'store', store)
  }
  await store.close()
  const describe = (one: StoreIdentity) => `${one.mode}, chain ${one.chain_id}, pay-to ${one.pay_to}`
  throw new StartError(
    `The store belongs to ${describe(written)}, the settings to ${describe(identity)}; use another ASSAY_STORE or${isPostgres(target) ? ' database or' : ''} restore the settings.`,
  )
}

/** Refuses a live start over a database whose failover can lose payments, unless the operator accepts that. Throws a StartError. */
async function assertReplication(store: Store, { ASSAY_MODE, ASSAY_ASYNC_STANDBY }: Settings, log: Log): Promise<void> {
  const { state, words } = judgeReplication(await store.replication())
  if (ASSAY_MODE !== 'live' || state === 'none' || state === 'synchronous') return
  if (state === 'asynchronous' && ASSAY_ASYNC_STANDBY === 'refuse') throw new StartError(words)
  log.warn({ state }, words)
}

/** The public origins; what is not set is the address that the server listens on, known once it does. */
function originsOf(settings: Settings, listening: { url: string }): Origins {
  const origin = (value: string) => ({ enumerable: true, get: () => value || listening.url })
  return Object.defineProperties({} as Origins, {
    base_url: origin(settings.ASSAY_BASE_URL),
    api_url: origin(settings.ASSAY_API_URL),
    site_url: origin(settings.ASSAY_SITE_URL),
    mcp_url: origin(settings.ASSAY_MCP_URL),
  })
}

/** Starts the sandbox's chain, or speaks to that of the settings. Null when this machine has no sandbox chain; live settings never give null. */
async function openChain(keys: Keys): Promise<ChainBase | null> {
  return keys.settings.ASSAY_MODE === 'live' ? liveChain(keys) : sandboxChain(keys)
}

type Keys = Pick<Deployment, 'settings' | 'identity' | 'signing' | 'secret' | 'log'>

function liveChain(keys: Keys): ChainBase {
  const { settings, identity } = keys
  const { chain_id } = identity
  const urls = settings.ASSAY_RPC_URLS
  const pool = new Pool(urls, chain_id, systemClock)
  return {
    chain: createChain({ urls, chain_id, clock: systemClock, pool }),
    pool,
    beforeRead: undefined,
    wallets: walletsOn(keys, chain_id, 'ASSAY_GAS_KEY_FILE', settings.ASSAY_GAS_KEY_FILE),
    further: settings.ASSAY_NETWORKS.map((network) => furtherChain(keys, network)),
    sandbox: null,
    stop: () => Promise.resolve(),
  }
}

/** Network of ASSAY_NETWORKS: its own endpoints, and the gas wallets with their own account nonces there. */
function furtherChain(keys: Keys, network: FurtherNetwork): FurtherBase {
  const { chain_id, rpc_urls: urls, gas_key_file } = network
  const [setting, path] =
    gas_key_file === '' ? (['ASSAY_GAS_KEY_FILE', keys.settings.ASSAY_GAS_KEY_FILE] as const) : (['ASSAY_NETWORKS', gas_key_file] as const)
  return {
    network,
    chain: createChain({ urls, chain_id, clock: systemClock }),
    wallets: walletsOn(keys, chain_id, setting, path),
  }
}

/** Gas wallets of a key file; none without a file. Throws a StartError. */
function walletsOn({ identity, signing }: Keys, chain_id: number, setting: SecretFile['setting'], path: string): GasWallet[] {
  const keys = path === '' ? [] : orStop(readGasKeys(path, setting)).keys
  const signers = keys.map((key) => signing.signer(key))
  if (signers.some(({ address }) => address === identity.pay_to)) {
    throw new StartError(
      `${setting} holds the key of ASSAY_PAY_TO; the gas wallet must be another account, which holds gas and nothing else.`,
    )
  }
  const account = (address: string) => (chain_id === identity.chain_id ? address : `eip155:${chain_id}:${address}`)
  return signers.map((signer) => gasWallet(signer, chain_id, signing.crypto.keccak256, account(signer.address)))
}

async function sandboxChain({ settings, identity: { chain_id, pay_to }, signing, secret, log }: Keys): Promise<ChainBase | null> {
  const { startSandboxChain } = await import('../adapters/chain/sandbox.ts')
  const { sandboxNode } = await import('../adapters/chain/sandbox-node.ts')
  const { freshener } = await import('../adapters/chain/sandbox-process.ts')
  const { rpcRequest } = await import('../adapters/chain/sandbox-process.ts')
  const derived = (use: string) => createHmac('sha256', createSecretKey(secret)).update(use).digest()
  const own = join(settings.ASSAY_DATA_DIR, 'sandbox')
  // Instances that share a database must share the chain that its payments are on: the first to start runs it for all.
  const directory = isPostgres(settings.ASSAY_STORE)
    ? join(tmpdir(), `assay-sandbox-${derived('sandbox chain').toString('hex', 0, 8)}`)
    : own
  const payer_key = orStop(readWalletKey(join(own, 'payer.key'), derived('sandbox demo payer'))).secret
  const payer = signing.signer(payer_key).address
  const gas_key = derived('sandbox gas wallet')
  const wallet = gasWallet(signing.signer(gas_key), chain_id, signing.crypto.keccak256)
  const token = { address: usdcOn(chain_id).address }
  // Placed whether calls can be paid in it or not: the faucet gives it.
  const euro = networkOf(chain_id)?.eurc?.address ?? ''
  try {
    const started = await startSandboxChain({ directory, chain_id, token, euro, payer_address: payer, gas_address: wallet.address })
    const { rpc_url } = started
    const beforeRead = freshener(rpcRequest(rpc_url), systemClock)
    const pool = new Pool([rpc_url], chain_id, systemClock)
    return {
      chain: createChain({ urls: [rpc_url], chain_id, clock: systemClock, beforeRead, pool }),
      pool,
      beforeRead,
      wallets: [wallet],
      further: [],
      sandbox: {
        rpc_url,
        chain_id,
        usdc: token.address,
        eurc: euro,
        payer,
        pay_to,
        sign_payment: testWallet(signing, payer_key, usdcOn(chain_id), pay_to),
        node: sandboxNode({ rpc_url, tokens: { usdc: token.address, eurc: euro } }),
        get chain() {
          return started.run()
        },
      },
      stop: () => started.stop(),
    }
  } catch (error) {
    log.warn({ error: String(error) }, 'the sandbox chain did not start; no payments are taken')
    return null
  }
}

/** Seconds for which a payment of the test wallet is valid. */
const TEST_PAYMENT_S = 120

/** Returns the test wallet of the sandbox: it pays only the recipient of this deployment, in tokens without value. */
function testWallet(
  { signer, crypto }: Keys['signing'],
  private_key: Uint8Array,
  { name, version, chain_id, address }: UsdcToken,
  pay_to: string,
): SandboxInfo['sign_payment'] {
  const wallet = signer(private_key)
  const digest = createAuthorizationDigest({ name, version, chain_id, verifying_contract: address }, crypto.keccak256)
  return (value_minor, now_s) => {
    const valid_before_s = BigInt(now_s + TEST_PAYMENT_S)
    const nonce = toHex(randomBytes(32))
    const authorization = { from: wallet.address, to: pay_to.toLowerCase(), value_minor, valid_after_s: 0n, valid_before_s, nonce }
    const { from, to } = authorization
    return {
      authorization: { from, to, value: `${value_minor}`, validAfter: '0', validBefore: `${valid_before_s}`, nonce },
      signature: wallet.sign(digest(authorization)),
    }
  }
}

/** Requests that the dearest tool of facts takes; a call is let in when the budget holds them. */
const FACTS_REQUESTS = 6

/** The chain as a source of facts, and whether it can be read now. */
export interface ChainSources {
  chain: ChainFacts
  transfers: Transfers
  probes: { chain(): Promise<boolean>; transfers(): Promise<boolean> }
  /** Newest block that the probe has seen; sends no request. */
  head(): BlockHeader | null
  /** Starts probing a live chain, so that calls can check whether the chain answers without a request. */
  start(): void
  stop(): void
}

export function chainSources({ base, identity: { chain_id, pay_to }, store }: Deployment): ChainSources {
  if (base === null) {
    const never = () => Promise.resolve(false)
    return {
      ...noChain(chain_id),
      probes: { chain: never, transfers: never },
      head: () => null,
      start: () => undefined,
      stop: () => undefined,
    }
  }
  const { pool, beforeRead } = base
  const token = usdcOn(chain_id).address.toLowerCase()
  const watch = new ChainWatch({ pool, clock: systemClock, token, account: pay_to, sandbox: beforeRead !== undefined })
  // Reads of the sandbox's own chain have no budget: they cost no provider's quota.
  const spend = (requests: number) => (beforeRead === undefined ? watch.spend(requests) : undefined)
  const options = { pool, chain_id, clock: systemClock, beforeRead, spend }
  return {
    chain: createChainFacts(options),
    transfers: createTransfers({ ...options, store: store.finalized_ranges }),
    probes: { chain: () => watch.ready(FACTS_REQUESTS), transfers: () => watch.history_ready() },
    head: () => watch.head(),
    start: () => watch.start(),
    stop: () => watch.stop(),
  }
}
