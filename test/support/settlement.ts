import { randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { Hex } from 'viem'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { gasWallet } from '../../src/adapters/gas-wallet/wallet.ts'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import type { Clock, SteadyClock } from '../../src/ports/clock.ts'
import type { Chain, ChainSender } from '../../src/ports/chain.ts'
import type { GasWallet } from '../../src/ports/gas-wallet.ts'
import type { Payment } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import { BATCH_SETTLER } from '../../src/pure/contracts/deployment.ts'
import type { EvidenceSource } from '../../src/service/payments/settlement.ts'
import { reconcile, type ReconcileSummary } from '../../src/service/payments/reconcile.ts'
import { createSelfSettler, type SelfSettler, type SelfSettlerOptions } from '../../src/service/payments/wallet-writer.ts'
import { startAnvil, type Anvil } from './anvil.ts'
import { authorization, signTransfer } from './authorization.ts'
import { openSealed, sqliteDriver, type StoreDriver } from './store-drivers.ts'

/** Where the service's clock stands, ahead of the machine's. */
interface MovableClock extends Clock, SteadyClock {
  ahead_ms: number
}

interface Draft {
  value_minor?: bigint
  valid_before_s?: bigint
  contract_payer?: boolean
  method?: 'self' | 'facilitator'
  settler?: string
  signature?: Hex
}

/** A chain, a store and what pays for gas: everything real but the clock, which can be put forward. */
export interface SettlementBench {
  anvil: Anvil
  store: Store
  chain: Chain & ChainSender
  clock: MovableClock
  wallet: GasWallet
  source: EvidenceSource
  pay_to: Hex
  logged: string[]
  options(change?: Partial<SelfSettlerOptions>): SelfSettlerOptions
  settler(change?: Partial<SelfSettlerOptions>): SelfSettler
  payer(balance_minor?: bigint): Promise<PrivateKeyAccount>
  /** A payment of this payer whose row says settling. */
  settling(payer: PrivateKeyAccount, draft?: Draft): Promise<Payment>
  /** A chain of its own view, as another process has it. */
  freshChain(): Chain & ChainSender
  row(payment: Payment): Promise<Payment>
  reconcile(): Promise<ReconcileSummary>
  held(account: string): Promise<bigint>
  stop(): Promise<void>
}

/** Fast enough for tests; the proportions are those of the service. */
export const QUICK = { gather_ms: 60, poll_ms: 25, idle_ms: 100, rebroadcast_ms: 150, gap_ms: 200, lease_ms: 5_000 }

export async function startSettlement(): Promise<SettlementBench> {
  const [anvil, driver] = await Promise.all([startAnvil({ accounts: 1 }), sqliteDriver()])
  const { target } = await driver.fresh()
  const store = await openSealed(target)
  const clock = movable()
  const freshChain = () => createChain({ urls: [anvil.rpc_url], chain_id: anvil.chain_id, clock })
  const chain = freshChain()
  const wallet = await newWallet(anvil)
  const pay_to = privateKeyToAccount(generatePrivateKey()).address.toLowerCase() as Hex
  const source: EvidenceSource = { chain, token: anvil.token.toLowerCase(), assets: [null], finality: { by: 'depth', blocks: 2n } }
  const logged: string[] = []
  let minted: Promise<void> = Promise.resolve()
  const log = loggerInto(logged)
  const options = (change: Partial<SelfSettlerOptions> = {}): SelfSettlerOptions => ({
    wallets: [wallet],
    chain,
    sender: chain,
    store,
    token: anvil.token,
    finality: source.finality,
    batch: BATCH_SETTLER,
    clock,
    log,
    reach: async () => {},
    ...change,
    rules: { ...QUICK, ...change.rules },
  })
  return {
    anvil,
    store,
    chain,
    clock,
    wallet,
    source,
    pay_to,
    logged,
    options,
    freshChain,
    settler: (change) => createSelfSettler(options(change)),
    async payer(balance_minor = 1_000_000n) {
      const account = privateKeyToAccount(generatePrivateKey())
      // One after the other: the node picks the account nonce of the owner, and two at once may get the same.
      minted = minted.then(() => (balance_minor > 0n ? anvil.mint(account.address, balance_minor) : undefined))
      await minted
      return account
    },
    settling: (payer, draft = {}) => settlingRow({ store, anvil, clock, pay_to, wallet }, payer, draft),
    row: (payment) => present(store, payment),
    reconcile: () => reconcile({ store, source, clock, log, rules: { recheck_ms: -1_000, settling_ms: -1_000 } }),
    held: async (account) => BigInt(String(await anvil.rpc('eth_call', [balanceOf(anvil.token, account), 'latest']))),
    stop: () => stopAll(store, driver, anvil),
  }
}

/** A funded gas wallet with a random key. */
export async function newWallet(anvil: Anvil, wei = 10n ** 18n): Promise<GasWallet> {
  const wallet = gasWallet(nobleSigner(randomBytes(32)), anvil.chain_id)
  await anvil.setBalance(wallet.address, wei)
  return wallet
}

/** Resolves when the condition holds; rejects with the words after ten seconds. */
export async function until(words: string, holds: () => Promise<boolean> | boolean, within_ms = 10_000): Promise<void> {
  const deadline = AbortSignal.timeout(within_ms)
  while (!(await holds())) {
    if (deadline.aborted) throw new Error(`not in time: ${words}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function movable(): MovableClock {
  const clock = {
    ahead_ms: 0,
    now_ms: () => systemClock.now_ms() + clock.ahead_ms,
    steady_ms: () => systemClock.steady_ms() + clock.ahead_ms,
  }
  return clock
}

function loggerInto(lines: string[]) {
  const write = (fields: Record<string, unknown>, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  return { info: write, warn: write, error: write }
}

type Ground = Pick<SettlementBench, 'store' | 'anvil' | 'clock' | 'pay_to' | 'wallet'>

/** Through every state that the service takes a payment through. */
async function settlingRow({ store, anvil, clock, pay_to, wallet }: Ground, payer: PrivateKeyAccount, draft: Draft): Promise<Payment> {
  const { value_minor = 10_000n, contract_payer = false, method = 'self', settler = wallet.address } = draft
  const now_ms = clock.now_ms()
  const valid_before_s = draft.valid_before_s ?? BigInt(Math.floor(now_ms / 1_000) + 600)
  const message = authorization(payer.address, pay_to, value_minor, { validBefore: valid_before_s })
  const signature = draft.signature ?? (await signTransfer(payer, anvil.chain_id, anvil.token, message))
  const key = { payer: payer.address.toLowerCase(), nonce: message.nonce }
  const binding = { purpose: 'call' as const, subject: 'iban-check', input_hash: hash32() }
  const terms = { to: pay_to, value_minor, valid_after_s: 0n, valid_before_s, signature, contract_payer, price_class: 'check' }
  const claimed = {
    balance_minor: 2n ** 62n,
    now_ms,
    claim_until_ms: now_ms + 30_000,
    token_hash: hash32(),
    network_hash: null,
    identifier_hash: null,
    asset: null,
  }
  const claim = await store.payments.claim({ ...key, ...binding, ...terms, ...claimed })
  if (claim.kind !== 'claimed') throw new Error(`the claim was ${claim.kind}`)
  await store.payments.prepare(key, claim.fence, { sealed: 'c2VhbGVk', expires_ms: now_ms + 86_400_000 }, now_ms)
  await store.payments.begin_settling(key, claim.fence, { method, settler }, now_ms)
  return present(store, key)
}

async function present(store: Store, key: Pick<Payment, 'payer' | 'nonce'>): Promise<Payment> {
  const row = await store.payments.find(key)
  if (row === null) throw new Error('the payment is not there')
  return row
}

function hash32(): string {
  return `0x${randomBytes(32).toString('hex')}`
}

/** balanceOf(address) */
function balanceOf(token: string, account: string): { to: string; data: string } {
  return { to: token, data: `0x70a08231${account.slice(2).toLowerCase().padStart(64, '0')}` }
}

async function stopAll(store: Store, driver: StoreDriver, anvil: Anvil): Promise<void> {
  await store.close()
  await driver.stop()
  await anvil.stop()
}
