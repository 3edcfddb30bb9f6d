import { createChain } from '../adapters/chain/rpc.ts'
import { BATCH_ITEMS_MAX, BATCH_SETTLER, batchGas, DEPOSIT_FACTORY } from '../pure/contracts/deployment.ts'
import { chainLimits } from '../service/limits.ts'
import { anvilBinary, SandboxChainError } from '../adapters/chain/sandbox-process.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { httpFacilitator } from '../adapters/facilitator/http.ts'
import { readGasKeys } from '../adapters/gas-wallet/key-file.ts'
import { choosePrices } from '../adapters/prices/choose.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import { localOrigin, places, StartError } from '../assembly/identity.ts'
import type { Chain, ChainReadResult, ChainSender, FeesNow } from '../ports/chain.ts'
import {
  decodeBool,
  decodeString,
  decodeUint,
  blacklistedCall,
  NAME_CALL,
  PAUSED_CALL,
  VERSION_CALL,
} from '../pure/payments/token-calls.ts'
import { readDecimal } from '../pure/market/fraction.ts'
import { networkOf } from '../pure/networks.ts'
import { type CoinPrice, gasCost, gasVerdict } from '../pure/payments/gas-policy.ts'
import { readSettings } from '../service/read-settings.ts'
import { freeDaily, isPostgres, type Settings, SETTINGS } from '../service/config.ts'
import { CHEAPEST_CALL_MINOR } from '../service/payments/gas-watch.ts'
import { feesFor } from '../service/payments/writer-rules.ts'
import { USDC_DECIMALS, usdcDecimal, usdcOn } from '../pure/payments/usdc.ts'
import { runCheck, type DoctorCheck, checkProgram, checkSettings, type DoctorFinding } from './doctor-checks.ts'
import type { Invocation } from './commands.ts'
import type { Exit } from './errors.ts'
import { markMode } from './deployment.ts'
import { outcomeMark, paint, printable, say, table, terminalWidth, wantsJson } from './terminal.ts'

/** decimals() of EIP-20: the first four bytes of keccak-256 of the signature. */
const DECIMALS_CALL = '0x313ce567'
/** Raw transaction of a full batch; without zero bytes, which cost less gas. */
const FULL_BATCH_RAW = `0x${'ab'.repeat(15_000)}`
const FULL_BATCH_BYTES = 15_000n
/** Recommended number of full batches in a gas wallet; a wallet with less than one is not used. */
const COMFORT_BATCHES = 20n

type LiveChain = Chain & ChainSender

/** Checks of payments. Endpoints are named by number or host, because URLs often contain keys. */
export async function checkPayments(settings: Settings): Promise<DoctorCheck[]> {
  if (settings.ASSAY_MODE === 'sandbox') return [await runCheck('chain', checkSandbox)]
  const urls = settings.ASSAY_RPC_URLS
  const endpoints = urls.map((url, index) => runCheck('rpc', () => checkEndpoint(settings, url, index + 1)))
  const onChain = (work: (chain: LiveChain) => Promise<DoctorFinding>) => () => work(chainOf(settings, urls))
  return Promise.all([
    ...endpoints,
    runCheck(
      'token',
      onChain((chain) => checkToken(settings, chain)),
    ),
    runCheck(
      'pay-to',
      onChain((chain) => checkPayTo(settings, chain)),
    ),
    runCheck(
      'deposits',
      onChain((chain) => checkDeposits(chain)),
    ),
    ...(settings.ASSAY_GAS_KEY_FILE === '' ? [] : await gasChecks(settings, () => chainOf(settings, urls))),
    ...settings.ASSAY_FACILITATOR_URLS.map((url) => runCheck('facilitator', () => checkFacilitator(settings, url))),
    ...(await networkChecks(settings)).flat(),
  ])
}

/** Checks of each network of ASSAY_NETWORKS, with the same settings as far as they apply there. */
async function networkChecks(settings: Settings): Promise<Promise<DoctorCheck>[][]> {
  return Promise.all(
    settings.ASSAY_NETWORKS.map(async ({ chain_id, rpc_urls, gas_key_file }) => {
      const path = gas_key_file === '' ? settings.ASSAY_GAS_KEY_FILE : gas_key_file
      const here = { ...settings, ASSAY_CHAIN_ID: chain_id, ASSAY_RPC_URLS: [...rpc_urls], ASSAY_GAS_KEY_FILE: path }
      const chain = () => chainOf(here, rpc_urls)
      const checks = [
        ...rpc_urls.map((url, index) => runCheck('rpc', () => checkEndpoint(here, url, index + 1))),
        runCheck('token', () => checkToken(here, chain())),
        runCheck('pay-to', () => checkPayTo(here, chain())),
        ...(path === '' ? here.ASSAY_FACILITATOR_URLS.map((url) => runCheck('facilitator', () => checkFacilitator(here, url))) : []),
        ...(path === '' ? [] : await gasChecks(here, chain)),
      ]
      const name = networkOf(chain_id)?.name ?? `chain ${chain_id}`
      return checks.map(async (check) => ({ ...(await check), words: `${name}: ${(await check).words}` }))
    }),
  )
}

function chainOf({ ASSAY_CHAIN_ID }: Settings, urls: readonly string[]): LiveChain {
  return createChain({ urls, chain_id: ASSAY_CHAIN_ID, clock: systemClock })
}

/** A sandbox without its chain starts, but accepts no payments. */
function checkSandbox(): DoctorFinding {
  try {
    anvilBinary()
  } catch (error) {
    if (!(error instanceof SandboxChainError)) throw error
    return { state: 'warning', words: `${error.message} Until then no payments are taken.` }
  }
  return { state: 'ok', words: 'The program of the sandbox chain is installed.' }
}

/** The chain adapter refuses an endpoint of another chain. */
async function checkEndpoint(settings: Settings, url: string, number: number): Promise<DoctorFinding> {
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

/** A payment signed for another token name or version would never settle. */
async function checkToken({ ASSAY_CHAIN_ID }: Settings, chain: LiveChain): Promise<DoctorFinding> {
  const token = usdcOn(ASSAY_CHAIN_ID)
  const [name, version, decimals, paused] = await callsTo(chain, token.address, [NAME_CALL, VERSION_CALL, DECIMALS_CALL, PAUSED_CALL])
  const found = { name: textOf(name), version: textOf(version), decimals: uintOf(decimals) }
  const said = `${token.address} says name ${found.name ?? 'none'}, version ${found.version ?? 'none'}, decimals ${found.decimals ?? 'none'}`
  if (found.name !== token.name || found.version !== token.version || found.decimals !== BigInt(USDC_DECIMALS)) {
    return { state: 'failed', words: `${said}, where ${token.name}, ${token.version} and ${USDC_DECIMALS} belong: this is not USDC.` }
  }
  if (boolOf(paused) !== false) return { state: 'failed', words: `${said}; it is paused, so payments are not possible.` }
  return { state: 'ok', words: `${said}.` }
}

async function checkPayTo({ ASSAY_CHAIN_ID, ASSAY_PAY_TO }: Settings, chain: LiveChain): Promise<DoctorFinding> {
  const [blacklisted] = await callsTo(chain, usdcOn(ASSAY_CHAIN_ID).address, [blacklistedCall(ASSAY_PAY_TO)])
  const found = boolOf(blacklisted)
  if (found === null) return { state: 'failed', words: `The token does not say whether ${ASSAY_PAY_TO} may be paid.` }
  if (found) return { state: 'failed', words: `The token has ${ASSAY_PAY_TO} on its blacklist: it cannot be paid.` }
  return { state: 'ok', words: `${ASSAY_PAY_TO} is not on the blacklist of the token.` }
}

/** Checks the key file first: without keys there are no wallets to check. */
async function gasChecks(settings: Settings, chain: () => LiveChain): Promise<Promise<DoctorCheck>[]> {
  const read = readGasKeys(settings.ASSAY_GAS_KEY_FILE)
  if (!read.ok) return [runCheck('gas', () => ({ state: 'failed', words: read.message }))]
  const signing = await chooseSigning()
  const wallets = read.keys.map((key) => signing.signer(key).address)
  return [
    ...wallets.map((wallet) => runCheck('gas', () => checkWallet(settings, chain(), wallet))),
    runCheck('batches', () => checkBatch(chain())),
  ]
}

/** Costs as the service computes them: a full batch at the highest fee it would offer now, including the data fee. */
async function checkWallet(settings: Settings, chain: LiveChain, wallet: string): Promise<DoctorFinding> {
  const { ASSAY_PAY_TO, ASSAY_CHAIN_ID } = settings
  if (wallet === ASSAY_PAY_TO) {
    return {
      state: 'failed',
      words: `The gas wallet ${wallet} is pay-to: its key lies on this machine, so use another address for one of them.`,
    }
  }
  const [balance_wei, fees, data_fee_wei] = await Promise.all([chain.balance_wei(wallet), chain.fees(), chain.data_fee_wei(FULL_BATCH_RAW)])
  const batch_wei = batchGas(BATCH_ITEMS_MAX) * feesFor(fees).max_fee_wei + data_fee_wei
  const batches = batch_wei === 0n ? COMFORT_BATCHES : balance_wei / batch_wei
  const coin = networkOf(ASSAY_CHAIN_ID)?.gas.coin ?? 'ETH'
  const price = await gasAgainstPrice(settings, { ...fees, data_fee_wei })
  const words = `${wallet} holds ${etherText(balance_wei)} ${coin}, enough for at least ${batches * BigInt(BATCH_ITEMS_MAX)} payments in full batches, at twice the base fee of now.${price.words}`
  if (batches === 0n) return { state: 'failed', words: `${words} It settles nothing until it holds ${etherText(batch_wei)} ${coin}.` }
  if (batches < COMFORT_BATCHES) return { state: 'warning', words: `${words} Send it more.` }
  if (price.is_above) return { state: 'warning', words: `${words} The network leaves the terms while that lasts.` }
  return { state: 'ok', words }
}

/** Compares the gas of one payment with the cheapest call as the service does. Test networks have coins without a value. */
async function gasAgainstPrice(
  { ASSAY_CHAIN_ID, ASSAY_NATIVE_USD }: Settings,
  { base_fee_wei, priority_fee_wei, data_fee_wei }: FeesNow & { data_fee_wei: bigint },
): Promise<{ words: string; is_above: boolean }> {
  const network = networkOf(ASSAY_CHAIN_ID)
  if (network === null || network.is_testnet) return { words: '', is_above: false }
  const { coin, coin_asset_id, lowest_usd } = network.gas
  const fixed = readDecimal(ASSAY_NATIVE_USD[coin] ?? '')
  const spot = fixed === null ? await choosePrices('live', systemClock).spot(coin_asset_id) : null
  const found = fixed ?? (spot?.kind === 'priced' ? readDecimal(spot.price_usd) : null)
  const price: CoinPrice = { usd: found ?? lowest_usd, origin: fixed !== null ? 'setting' : found === null ? 'lowest' : 'price_source' }
  const byte_wei = data_fee_wei / FULL_BATCH_BYTES
  const cost_minor = gasCost('batch_item', { gas_wei: base_fee_wei + priority_fee_wei, byte_wei, coin: price })
  const is_above = gasVerdict(cost_minor, CHEAPEST_CALL_MINOR, price) === 'above'
  if (price.origin === 'lowest' && !is_above)
    return { words: ` The price of ${coin} is not known here, so gas is not compared with prices: set ASSAY_NATIVE_USD.`, is_above }
  const figures = `${usdcDecimal(cost_minor)} USDC, the cheapest call ${usdcDecimal(CHEAPEST_CALL_MINOR)} USDC`
  return { words: ` Gas for one payment costs ${figures}.`, is_above }
}

async function checkBatch(chain: LiveChain): Promise<DoctorFinding> {
  const [code] = await chain.read([{ kind: 'code', address: BATCH_SETTLER.address }])
  if (code?.ok !== true) throw new StartError('The node does not say whether the batch contract is there.')
  if (code.data !== '0x') return { state: 'ok', words: `The batch contract is at ${BATCH_SETTLER.address}.` }
  return {
    state: 'warning',
    words: `No batch contract is at ${BATCH_SETTLER.address} yet; until it is, each payment settles alone, for more gas.`,
  }
}

async function checkDeposits(chain: LiveChain): Promise<DoctorFinding> {
  const { address } = DEPOSIT_FACTORY
  const [code] = await chain.read([{ kind: 'code', address }])
  if (code?.ok !== true) throw new StartError('The node does not say whether the factory of deposit addresses is there.')
  if (code.data !== '0x') return { state: 'ok', words: `The factory of deposit addresses is at ${address}.` }
  const words = `No factory of deposit addresses is at ${address} yet, so unsigned invoices offer no plain transfer. "assay invoice factory" shows how to deploy it.`
  return { state: 'warning', words }
}

async function checkFacilitator({ ASSAY_CHAIN_ID }: Settings, url: string): Promise<DoctorFinding> {
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

/** Setting without secrets: keys in URLs are masked, and numbers that JSON cannot represent become text. */
export function shownSetting(
  value: string | number | bigint | null | readonly string[] | Readonly<Record<string, number | string>>,
): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return maskUrl(value)
  if (Array.isArray(value)) return value.map((one: string) => maskUrl(one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, typeof one === 'string' ? maskUrl(one) : one]))
}

function shownNetworks({ ASSAY_NETWORKS }: Settings): unknown {
  return ASSAY_NETWORKS.map(({ rpc_urls, gas_daily_wei, ...rest }) => ({
    ...rest,
    rpc_urls: rpc_urls.map(maskUrl),
    gas_daily_wei: gas_daily_wei.toString(),
  }))
}

/** Masks keys in the path, the query and the user part of a URL. */
function maskUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  const url = URL.parse(text)
  if (url === null) return '***'
  // User and database name of a PostgreSQL URL are not secret; in other URLs both places may contain keys.
  const database = /^postgres(?:ql)?:$/.test(url.protocol)
  const path = database || url.pathname === '/' ? url.pathname.replace(/^\/$/, '') : '/***'
  return `${url.protocol}//${maskedUser(url, database)}${url.host}${path}${url.search === '' ? '' : '?***'}`
}

function maskedUser({ username, password }: URL, database: boolean): string {
  if (username === '' && password === '') return ''
  return database ? `${username}${password === '' ? '' : ':***'}@` : '***@'
}

interface SettingRow {
  name: string
  value: unknown
  source: 'default' | 'environment'
  meaning: string
}

/** `assay doctor`: shows the settings of a start and checks that the things they name exist and work. Starts nothing. */
export async function run(invocation: Invocation): Promise<Exit> {
  const read = readSettings(process.env)
  const settings = read.ok ? settingRows(read.settings) : []
  const first: DoctorCheck = read.ok
    ? { name: 'settings', state: 'ok', words: 'They agree with one another.' }
    : { name: 'settings', state: 'failed', words: read.message }
  const checks = [
    first,
    ...(await checkProgram()),
    ...(read.ok ? [...(await checkSettings(read.settings)), ...(await checkPayments(read.settings))] : []),
  ]
  const ok = checks.every(({ state }) => state !== 'failed')
  if (wantsJson(invocation)) say(JSON.stringify({ ok, mode: read.ok ? read.settings.ASSAY_MODE : null, settings, checks }))
  else {
    if (read.ok) markMode(read.settings)
    say(render(settings, checks))
  }
  return ok ? 'ok' : 'negative'
}

function settingRows(settings: Settings): SettingRow[] {
  const effective = effectiveSettings(settings)
  return (Object.keys(SETTINGS) as (keyof Settings)[]).map((name) => ({
    name,
    value: name === 'ASSAY_NETWORKS' ? shownNetworks(effective) : shownSetting(effective[name]),
    source: (process.env[name] ?? '') === '' ? 'default' : 'environment',
    meaning: SETTINGS[name].meaning,
  }))
}

/** Settings with their defaults. */
function effectiveSettings(settings: Settings): Settings {
  const address = localOrigin(settings.ASSAY_HOST, settings.ASSAY_PORT)
  return {
    ...settings,
    ASSAY_STORE: places.store(settings),
    ASSAY_FREE_DAILY: freeDaily(settings),
    ASSAY_RECEIPT_KEY_FILE: places.receiptKeys(settings),
    ASSAY_SECRET_FILE: places.secret(settings),
    // With PostgreSQL there is no log without the key file.
    ASSAY_LOG_KEY_FILE: isPostgres(settings.ASSAY_STORE) ? settings.ASSAY_LOG_KEY_FILE : places.logKey(settings),
    ASSAY_BASE_URL: settings.ASSAY_BASE_URL || address,
    ASSAY_API_URL: settings.ASSAY_API_URL || address,
    ASSAY_SITE_URL: settings.ASSAY_SITE_URL || address,
    ASSAY_MCP_URL: settings.ASSAY_MCP_URL || address,
  }
}

function render(settings: readonly SettingRow[], checks: readonly DoctorCheck[]): string {
  const rows = settings.map(({ name, value, source }) => [name, source === 'default' ? '' : 'set', valueText(value)])
  const marks = { ok: outcomeMark(true, 'ok'), warning: paint('unverifiable', '◐ note'), failed: outcomeMark(false, 'failed') }
  const width = terminalWidth()
  const found = checks.flatMap(({ name, state, words }) => {
    const [head = '', ...rest] = table([[name.padEnd(NAME_CHARS), printable(words)]], width - MARK_CHARS)
    const mark = marks[state] + ' '.repeat(MARK_CHARS - MARK_LENGTHS[state])
    return [mark + head, ...rest.map((line) => ' '.repeat(MARK_CHARS) + line)]
  })
  const blocks = [paint('strong', 'Settings'), ...table(rows, width, ['muted']), '', paint('strong', 'Checks'), ...found]
  return (rows.length === 0 ? blocks.slice(2) : blocks).join('\n').trimStart()
}

const NAME_CHARS = 12
/** Length of the longest mark and two spaces. */
const MARK_CHARS = 10
const MARK_LENGTHS = { ok: 4, warning: 6, failed: 8 } as const

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : printable(value.join(', '))
  return typeof value === 'string' ? printable(value) || '(none)' : JSON.stringify(value)
}
