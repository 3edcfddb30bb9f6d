import { createChain } from '../adapters/chain/rpc.ts'
import { chainLimits } from '../adapters/chain/limits.ts'
import { anvilBinary, SandboxChainError } from '../adapters/chain/sandbox-binary.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { httpFacilitator } from '../adapters/facilitator/http.ts'
import { readGasKeys } from '../adapters/gas-wallet/key-file.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import { StartError } from '../assembly/identity.ts'
import type { Chain, ChainReadResult, ChainSender } from '../ports/chain.ts'
import { decodeBool, decodeString, decodeUint } from '../pure/payments/abi.ts'
import { blacklistedCall, NAME_CALL, PAUSED_CALL, VERSION_CALL } from '../pure/payments/token-calls.ts'
import { BATCH_ITEMS_MAX, BATCH_SETTLER, batchGas } from '../pure/contracts/batch-settler.ts'
import type { Settings } from '../service/config.ts'
import { feesFor } from '../service/payments/gas-budget.ts'
import { USDC_DECIMALS, usdcOn } from '../pure/payments/usdc.ts'
import { attempt, type Check, type Found } from './doctor-checks.ts'

/** decimals() of EIP-20: the first four bytes of keccak-256 of the signature. */
const DECIMALS_CALL = '0x313ce567'
/** As long as the raw transaction of a full batch, without zeros, which cost less. */
const FULL_BATCH_RAW = `0x${'ab'.repeat(15_000)}`
/** Full batches that a gas wallet should hold; one that holds less than one is not used. */
const COMFORT_BATCHES = 20n

type LiveChain = Chain & ChainSender

/** What payments depend on. Endpoints are called by their number or host: their URLs often carry a key. */
export async function checkPayments(settings: Settings): Promise<Check[]> {
  if (settings.ASSAY_MODE === 'sandbox') return [await attempt('chain', checkSandbox)]
  const urls = settings.ASSAY_RPC_URLS
  const endpoints = urls.map((url, index) => attempt('rpc', () => checkEndpoint(settings, url, index + 1)))
  const onChain = (work: (chain: LiveChain) => Promise<Found>) => () => work(chainOf(settings, urls))
  return Promise.all([
    ...endpoints,
    attempt(
      'token',
      onChain((chain) => checkToken(settings, chain)),
    ),
    attempt(
      'pay-to',
      onChain((chain) => checkPayTo(settings, chain)),
    ),
    ...(settings.ASSAY_GAS_KEY_FILE === '' ? [] : await gasChecks(settings, () => chainOf(settings, urls))),
    ...settings.ASSAY_FACILITATOR_URLS.map((url) => attempt('facilitator', () => checkFacilitator(settings, url))),
  ])
}

function chainOf({ ASSAY_CHAIN_ID }: Settings, urls: readonly string[]): LiveChain {
  return createChain({ urls, chain_id: ASSAY_CHAIN_ID, clock: systemClock })
}

/** Without its chain a sandbox starts all the same, and takes no payments. */
function checkSandbox(): Found {
  try {
    anvilBinary()
  } catch (error) {
    if (!(error instanceof SandboxChainError)) throw error
    return { state: 'warning', words: `${error.message} Until then no payments are taken.` }
  }
  return { state: 'ok', words: 'The program of the sandbox chain is installed.' }
}

/** The chain adapter itself refuses an endpoint of another chain. */
async function checkEndpoint(settings: Settings, url: string, number: number): Promise<Found> {
  const name = `Endpoint ${number} of ${settings.ASSAY_RPC_URLS.length}, ${URL.parse(url)?.hostname ?? 'no URL'},`
  const head = await chainOf(settings, [url])
    .head()
    .catch((error: unknown) => {
      throw new StartError(`${name} does not serve: ${wordsOf(error).replace('endpoint 1: ', '')}`)
    })
  const age_ms = systemClock.now_ms() - head.timestamp_s * 1_000
  const words = `${name} serves chain ${settings.ASSAY_CHAIN_ID}; block ${head.number} is ${Math.max(0, Math.round(age_ms / 1_000))} s old.`
  if (age_ms > chainLimits.stale_ms)
    return { state: 'failed', words: `${words} That is stale: the node lags behind, or this clock is wrong.` }
  return { state: 'ok', words }
}

/** A payment signed for another name or version than the token's own would never settle. */
async function checkToken({ ASSAY_CHAIN_ID }: Settings, chain: LiveChain): Promise<Found> {
  const token = usdcOn(ASSAY_CHAIN_ID)
  const [name, version, decimals, paused] = await callsTo(chain, token.address, [NAME_CALL, VERSION_CALL, DECIMALS_CALL, PAUSED_CALL])
  const found = { name: textOf(name), version: textOf(version), decimals: uintOf(decimals) }
  const said = `${token.address} says name ${found.name ?? 'none'}, version ${found.version ?? 'none'}, decimals ${found.decimals ?? 'none'}`
  if (found.name !== token.name || found.version !== token.version || found.decimals !== BigInt(USDC_DECIMALS)) {
    return { state: 'failed', words: `${said}, where ${token.name}, ${token.version} and ${USDC_DECIMALS} belong: this is not USDC.` }
  }
  if (boolOf(paused) !== false) return { state: 'failed', words: `${said}; it is paused, so that nobody can pay.` }
  return { state: 'ok', words: `${said}.` }
}

async function checkPayTo({ ASSAY_CHAIN_ID, ASSAY_PAY_TO }: Settings, chain: LiveChain): Promise<Found> {
  const [blacklisted] = await callsTo(chain, usdcOn(ASSAY_CHAIN_ID).address, [blacklistedCall(ASSAY_PAY_TO)])
  const found = boolOf(blacklisted)
  if (found === null) return { state: 'failed', words: `The token does not say whether ${ASSAY_PAY_TO} may be paid.` }
  if (found) return { state: 'failed', words: `The token has ${ASSAY_PAY_TO} on its blacklist: it cannot be paid.` }
  return { state: 'ok', words: `${ASSAY_PAY_TO} is not on the blacklist of the token.` }
}

/** The key file first: without keys there is nothing to look at on the chain. */
async function gasChecks(settings: Settings, chain: () => LiveChain): Promise<Promise<Check>[]> {
  const read = readGasKeys(settings.ASSAY_GAS_KEY_FILE)
  if (!read.ok) return [attempt('gas', () => ({ state: 'failed', words: read.message }))]
  const signing = await chooseSigning()
  const wallets = read.keys.map((key) => signing.signer(key).address)
  return [
    ...wallets.map((wallet) => attempt('gas', () => checkWallet(settings, chain(), wallet))),
    attempt('batches', () => checkBatch(chain())),
  ]
}

/** Counts as the service does: a full batch at the highest fee that it would offer now, with its data fee. */
async function checkWallet({ ASSAY_PAY_TO }: Settings, chain: LiveChain, wallet: string): Promise<Found> {
  if (wallet === ASSAY_PAY_TO) {
    return {
      state: 'failed',
      words: `The gas wallet ${wallet} is pay-to: its key lies on this machine, so use another address for one of them.`,
    }
  }
  const [balance_wei, fees, data_fee_wei] = await Promise.all([chain.balance_wei(wallet), chain.fees(), chain.data_fee_wei(FULL_BATCH_RAW)])
  const batch_wei = batchGas(BATCH_ITEMS_MAX) * feesFor(fees).max_fee_wei + data_fee_wei
  const batches = batch_wei === 0n ? COMFORT_BATCHES : balance_wei / batch_wei
  const words = `${wallet} holds ${etherText(balance_wei)} ETH, enough for at least ${batches * BigInt(BATCH_ITEMS_MAX)} payments in full batches, at twice the base fee of now.`
  if (batches === 0n) return { state: 'failed', words: `${words} It settles nothing until it holds ${etherText(batch_wei)} ETH.` }
  if (batches < COMFORT_BATCHES) return { state: 'warning', words: `${words} Send it more.` }
  return { state: 'ok', words }
}

async function checkBatch(chain: LiveChain): Promise<Found> {
  const [code] = await chain.read([{ kind: 'code', address: BATCH_SETTLER.address }])
  if (code?.ok !== true) throw new StartError('The node does not say whether the batch contract is there.')
  if (code.data !== '0x') return { state: 'ok', words: `The batch contract is at ${BATCH_SETTLER.address}.` }
  return {
    state: 'warning',
    words: `No batch contract is at ${BATCH_SETTLER.address} yet; until it is, each payment settles alone, for more gas.`,
  }
}

async function checkFacilitator({ ASSAY_CHAIN_ID }: Settings, url: string): Promise<Found> {
  const facilitator = httpFacilitator({ url, clock: systemClock })
  const network = `eip155:${ASSAY_CHAIN_ID}`
  const host = new URL(facilitator.url).hostname
  if (await facilitator.supports(network)) return { state: 'ok', words: `${host} settles exact payments on ${network}.` }
  return { state: 'failed', words: `${host} does not answer, or does not settle exact payments on ${network}.` }
}

async function callsTo(chain: LiveChain, to: string, calls: readonly string[]): Promise<ChainReadResult[]> {
  return chain.read(calls.map((data) => ({ kind: 'call', to: to.toLowerCase(), data })))
}

function textOf(result: ChainReadResult | undefined): string | null {
  return result?.ok === true ? decodeString(result.data) : null
}

function uintOf(result: ChainReadResult | undefined): bigint | null {
  return result?.ok === true ? decodeUint(result.data) : null
}

function boolOf(result: ChainReadResult | undefined): boolean | null {
  return result?.ok === true ? decodeBool(result.data) : null
}

/** Wei as ether with six decimals, rounded down. */
function etherText(wei: bigint): string {
  const millionths = (wei / 1_000_000_000_000n).toString().padStart(7, '0')
  return `${millionths.slice(0, -6)}.${millionths.slice(-6)}`
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason'
}
