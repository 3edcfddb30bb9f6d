import { type FurtherNetwork, networkOf, NETWORKS, NETWORKS_EXAMPLE, PRIMARY_NETWORKS } from '../pure/networks.ts'
import { usdcOn } from '../pure/payments/usdc.ts'
import type { RegisterId } from '../ports/registers.ts'
import { limits, REGISTER_IDS } from './limits.ts'
import { nearestName } from './catalogue/search.ts'
import {
  accept,
  reject,
  text,
  list,
  integer,
  portOrOff,
  oneOf,
  address,
  addresses,
  urls,
  origin,
  storeTarget,
  overrides,
  packs,
  registers,
  registerUrls,
  furtherNetworks,
  assets,
  isPostgres,
  type Asset,
  type SettingResult,
} from './setting-values.ts'

export { isPostgres }

const [LIVE] = NETWORKS
const SANDBOX = NETWORKS.find(({ is_testnet }) => is_testnet) ?? LIVE
const CHAIN_IDS = PRIMARY_NETWORKS.map(({ chain_id }) => String(chain_id))

/** All settings of the service: environment variables, all optional in the sandbox. docs/settings.md is made from this file. */

interface Setting<T> {
  meaning: string
  fallback: T
  /** Reads the text of the variable; the message completes the sentence "ASSAY_X …". */
  read(text: string): SettingResult<T>
}

function setting<T>(meaning: string, fallback: T, read: (text: string) => SettingResult<T>): Setting<T> {
  return { meaning, fallback, read }
}

export const SETTINGS = {
  ASSAY_PORT: setting('TCP port of the service, for example 8402.', 8402, integer(0, 65_535)),
  ASSAY_HOST: setting('IP address on which the service listens, for example 0.0.0.0 for all interfaces.', '127.0.0.1', text),
  ASSAY_ADMIN_PORT: setting<number | 'off' | ''>(
    'TCP port of the operator server with /health, /metrics, balances and budgets, for example 8403; left out, ASSAY_PORT + 1; off for no operator server.',
    '',
    portOrOff,
  ),
  ASSAY_ADMIN_HOST: setting(
    'IP address of the operator server, for example 10.0.0.5; the public must not be able to reach it.',
    '127.0.0.1',
    text,
  ),
  ASSAY_DATA_DIR: setting('Folder for the store, the keys and the sandbox chain, for example /var/lib/assay.', 'var', text),
  ASSAY_STORE: setting(
    'SQLite path or PostgreSQL URL, for example postgres://assay@db.example/assay; left out, assay.sqlite in ASSAY_DATA_DIR.',
    '',
    storeTarget,
  ),
  ASSAY_MODE: setting<'sandbox' | 'live'>(
    'sandbox: payments on a local test chain, without real money; live: payments in USDC.',
    'sandbox',
    oneOf('sandbox', 'live'),
  ),
  ASSAY_CHAIN_ID: setting(
    'EIP-155 chain id: 8453 for Base (left out in live mode), 84532 for Base Sepolia (left out in the sandbox).',
    0,
    (value) => (CHAIN_IDS.includes(value) ? accept(Number(value)) : reject(`must be ${CHAIN_IDS.join(' or ')}`)),
  ),
  ASSAY_RPC_URLS: setting<string[]>(
    'Live mode: URLs of JSON-RPC endpoints of the chain, separated by commas, for example https://one.example/key,https://two.example.',
    [],
    urls,
  ),
  ASSAY_PAY_TO: setting(
    'Live mode: address that receives the payments, 0x and 40 hexadecimal digits, for example 0x1000000000000000000000000000000000000001.',
    '',
    address,
  ),
  ASSAY_GAS_KEY_FILE: setting(
    'Live mode, without a facilitator: file with the private keys of the gas wallets, 64 hexadecimal digits per line, for example /run/secrets/gas.',
    '',
    text,
  ),
  ASSAY_GAS_DAILY_WEI: setting(
    'Live mode: maximum gas cost of each gas wallet per UTC day, in wei, for example 50000000000000000 for 0.05 ETH.',
    50_000_000_000_000_000n,
    (value) => (/^\d{1,30}$/.test(value) ? accept(BigInt(value)) : reject('must be a whole number of wei, such as 50000000000000000')),
  ),
  ASSAY_FACILITATOR_URLS: setting<string[]>(
    'Live mode, without gas wallets: URLs of x402 facilitators in order of preference, separated by commas, for example https://facilitator.example.',
    [],
    urls,
  ),
  ASSAY_NETWORKS: setting<readonly FurtherNetwork[]>(
    `Live mode: further networks on which calls can be paid in USDC, as JSON with chain_id, rpc_urls and optionally gas_key_file, gas_daily_wei and confirmations, for example ${NETWORKS_EXAMPLE}. Invoices and credits stay on ASSAY_CHAIN_ID.`,
    [],
    furtherNetworks,
  ),
  ASSAY_ASSETS: setting<readonly Asset[]>(
    'Tokens in which calls can be paid, separated by commas: usdc, or usdc,eurc for EURC as well on the networks where Circle issues it, at the rate of public price sources (fixed in the sandbox).',
    ['usdc'],
    assets,
  ),
  ASSAY_BATCH_SETTLEMENT: setting<'on' | 'off'>(
    'on: calls can also be paid with vouchers of payment channels (x402 scheme batch-settlement), which needs a gas wallet; off: only the scheme exact.',
    'off',
    oneOf('on', 'off'),
  ),
  ASSAY_RECEIPT_KEY_FILE: setting(
    'File with the keys that sign receipts, for example /run/secrets/receipt-keys.json; left out, created in ASSAY_DATA_DIR on the first start.',
    '',
    text,
  ),
  ASSAY_SECRET_FILE: setting(
    'File with the secret of the deployment, 32 bytes as hex, for example /run/secrets/assay; left out, created in ASSAY_DATA_DIR on the first start.',
    '',
    text,
  ),
  ASSAY_LOG_KEY_FILE: setting(
    'File with the key of the public receipts log, 32 bytes as hex, for example /run/secrets/log. Left out: with SQLite created in ASSAY_DATA_DIR, with PostgreSQL there is no log.',
    '',
    text,
  ),
  ASSAY_DATA_FEEDS: setting<'on' | 'off'>(
    'on: newer sanctions lists (OFAC, UN, UK) and tables (ISO 4217, ISBN, RDAP, IFSC, mail domains) are read from the publishers or from ASSAY_DATA_MIRROR; off: those of the release and imported ones are used.',
    'off',
    oneOf('on', 'off'),
  ),
  ASSAY_DATA_MIRROR: setting(
    "Folder or http(s) URL with copies of the publishers' files, such as SDN_ENHANCED.XML, for example /srv/lists; left out, the publishers' servers.",
    '',
    text,
  ),
  ASSAY_REGISTERS: setting<readonly RegisterId[]>(
    'Live registers that calls may ask with register: true, separated by commas: vies (VAT numbers), gleif (LEI), companies-house (UK companies); left out, none.',
    [],
    registers,
  ),
  ASSAY_REGISTER_URLS: setting<Readonly<Partial<Record<RegisterId, string>>>>(
    'Base URLs of mirrors of these registers, as register=URL, separated by commas, for example gleif=https://mirror.example/api/v1/; left out, the publishers.',
    {},
    registerUrls,
  ),
  ASSAY_COMPANIES_HOUSE_KEY_FILE: setting(
    'File with the API key of Companies House, for example /run/secrets/companies-house; required with companies-house in ASSAY_REGISTERS.',
    '',
    text,
  ),
  ASSAY_LOG_WITNESSES: setting<string[]>(
    'Witnesses that cosign the receipts log, each as URL|name+id+key, separated by commas, for example https://witness.example|witness.example+c0ffee00+BASE64.',
    [],
    list,
  ),
  ASSAY_WITNESSED_LOGS: setting<string[]>(
    'Verifier keys of other logs whose checkpoints this service cosigns, each as name+id+key, separated by commas, for example log.example+c0ffee00+BASE64.',
    [],
    list,
  ),
  ASSAY_FREE_DAILY: setting<number | null>(
    `Free calls per client and UTC day over all tools without an override, for example 5; left out, ${limits.free_daily} in live mode and ${limits.sandbox_free_daily} in the sandbox.`,
    null,
    integer(0, limits.free_daily_max),
  ),
  ASSAY_FREE_DAILY_OVERRIDES: setting<Record<string, number>>(
    'Separate free calls of single tools per client and UTC day, as tool=calls, separated by commas, for example token-contract-risk=5,iban-check=10.',
    { 'token-contract-risk': 5 },
    overrides,
  ),
  ASSAY_SOURCE_READS_DAILY: setting(
    'Maximum number of free calls, and of other requests without a payment, of all clients per UTC day that read outside sources, for example 20000.',
    limits.source_reads_daily,
    integer(0, limits.free_daily_max),
  ),
  ASSAY_SOURCE_READS_DAILY_NETWORK: setting(
    'The same maximum for one network (an IPv4 /24 or an IPv6 /48), for example 300.',
    limits.source_reads_daily_network,
    integer(0, limits.free_daily_max),
  ),
  ASSAY_TRUSTED_PROXIES: setting<string[]>(
    'Proxies whose X-Forwarded-For header is used: IP addresses or networks, separated by commas, for example 10.0.0.0/8,192.0.2.7.',
    [],
    list,
  ),
  ASSAY_BASE_URL: setting(
    'Public origin of the protocol preflight, for example https://check.assay.example; left out, the address on which the service listens.',
    '',
    origin,
  ),
  ASSAY_API_URL: setting(
    'Public origin of the REST interface, for example https://api.assay.example; left out, the address on which the service listens.',
    '',
    origin,
  ),
  ASSAY_SITE_URL: setting(
    'Public origin of the pages, for example https://assay.example; left out, the address on which the service listens.',
    '',
    origin,
  ),
  ASSAY_MCP_URL: setting(
    'Public origin of the MCP endpoint, for example https://mcp.assay.example; left out, the address on which the service listens.',
    '',
    origin,
  ),
  ASSAY_PREFLIGHT_PER_MINUTE: setting(
    'Maximum number of preflights per client and minute in each process, for example 60.',
    limits.preflight_per_minute,
    integer(1, 1_000_000),
  ),
  ASSAY_CLIENT_CALLS: setting(
    'Maximum number of unpaid calls of one client (an IPv4 address or an IPv6 /48) in flight in each process, for example 256.',
    limits.client_calls,
    integer(1, 1_000_000),
  ),
  ASSAY_STRIPE_SECRET_KEY_FILE: setting(
    'File with the secret key of Stripe, for example /run/secrets/stripe; left out, no credits are sold.',
    '',
    text,
  ),
  ASSAY_STRIPE_WEBHOOK_SECRET_FILE: setting(
    'File with the signing secret of the Stripe webhook at /api/credits/webhook, for example /run/secrets/stripe-webhook.',
    '',
    text,
  ),
  ASSAY_CREDIT_PACKS: setting<string[]>(
    'Sizes of the credits that are sold, in whole US dollars, separated by commas, for example 5,20,100.',
    ['5', '20', '100'],
    packs,
  ),
  ASSAY_PILOT_CREDIT: setting<'off' | 'on'>(
    'on: the tool create-ap2-pilot is offered; its credit must be set up.',
    'off',
    oneOf('off', 'on'),
  ),
  ASSAY_WEBHOOK_LOOPBACK: setting<'off' | 'on'>(
    'on: webhooks may be sent to this machine, over http and to any port; for tests of a sandbox.',
    'off',
    oneOf('off', 'on'),
  ),
  ASSAY_BANK_NAME: setting('Holder of the bank account that invoices of ASSAY_BANK_MERCHANTS show, for example Example GmbH.', '', text),
  ASSAY_BANK_IBAN: setting(
    'IBAN of the bank account, for example DE89370400440532013000; left out, invoices show no bank account.',
    '',
    text,
  ),
  ASSAY_BANK_BIC: setting('BIC of the bank account, for example COBADEFFXXX.', '', text),
  ASSAY_BANK_INSTITUTION: setting('Name of the bank, for example Example Bank.', '', text),
  ASSAY_BANK_CURRENCY: setting('Currency of the bank account, an ISO 4217 code, for example EUR.', 'EUR', text),
  ASSAY_BANK_MERCHANTS: setting<string[]>(
    'Merchant addresses whose invoices show the bank account, separated by commas, for example 0x1000000000000000000000000000000000000001; left out, ASSAY_PAY_TO.',
    [],
    addresses,
  ),
  ASSAY_TRACING: setting<'off' | 'on'>(
    'on: calls are traced with the OpenTelemetry API; the operator installs the SDK.',
    'off',
    oneOf('off', 'on'),
  ),
  ASSAY_LOG_LEVEL: setting<'info' | 'warn' | 'error' | 'silent'>(
    'Least severe level that is logged; silent for no log.',
    'info',
    oneOf('info', 'warn', 'error', 'silent'),
  ),
}

type SettingsTable = typeof SETTINGS
type SettingName = keyof SettingsTable

export type Settings = { readonly [Name in SettingName]: SettingsTable[Name]['fallback'] }

export type SettingsRead = { ok: true; settings: Settings } | { ok: false; message: string }

/** Reads the settings; the message is one sentence that names the variable and the fix. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): SettingsRead {
  const names = Object.keys(SETTINGS) as SettingName[]
  const unknown = Object.keys(environment).find((name) => name.startsWith('ASSAY_') && !(name in SETTINGS))
  if (unknown !== undefined) return { ok: false, message: unknownSetting(unknown, names) }
  const found: Record<string, unknown> = {}
  for (const name of names) {
    const given = environment[name]
    const result: SettingResult<unknown> =
      given === undefined || given === '' ? accept(SETTINGS[name].fallback) : SETTINGS[name].read(given)
    if (!result.ok) return { ok: false, message: `${name} ${result.message}.` }
    found[name] = result.value
  }
  return checkTogether(found as Settings)
}

function unknownSetting(name: string, known: SettingName[]): string {
  const near = nearestName(name, known)
  return `${name} is not a setting of this service${near === null ? '; "assay doctor" lists them' : `; did you mean ${near}`}.`
}

const LIVE_ONLY = ['ASSAY_RPC_URLS', 'ASSAY_PAY_TO', 'ASSAY_GAS_KEY_FILE', 'ASSAY_FACILITATOR_URLS', 'ASSAY_NETWORKS'] as const

/** Checks that the settings do not contradict one another, and fills in the defaults that depend on other settings. */
function checkTogether(settings: Settings): SettingsRead {
  const live = settings.ASSAY_MODE === 'live'
  const stray = live ? undefined : LIVE_ONLY.find((name) => settings[name].length > 0)
  if (stray !== undefined) return { ok: false, message: `${stray} is set, but ASSAY_MODE is sandbox; set ASSAY_MODE=live or remove it.` }
  if (live && settings.ASSAY_WEBHOOK_LOOPBACK === 'on')
    return { ok: false, message: 'ASSAY_WEBHOOK_LOOPBACK is on, which only a sandbox allows; remove it or set it to off.' }
  const missing = live ? missingLive(settings) : null
  if (missing !== null) return { ok: false, message: missing }
  const bank = settings.ASSAY_BANK_IBAN === '' ? bankDetailWithoutIban(settings) : undefined
  if (bank !== undefined) return { ok: false, message: `${bank} is set without ASSAY_BANK_IBAN; set both or neither.` }
  if ((settings.ASSAY_STRIPE_SECRET_KEY_FILE === '') !== (settings.ASSAY_STRIPE_WEBHOOK_SECRET_FILE === '')) {
    return {
      ok: false,
      message: 'ASSAY_STRIPE_SECRET_KEY_FILE and ASSAY_STRIPE_WEBHOOK_SECRET_FILE must be set together; set both or neither.',
    }
  }
  if (isPostgres(settings.ASSAY_STORE)) {
    const file = (['ASSAY_RECEIPT_KEY_FILE', 'ASSAY_SECRET_FILE'] as const).find((name) => settings[name] === '')
    if (file !== undefined) return { ok: false, message: `${file} must be set with a PostgreSQL store, since all instances share it.` }
  }
  const ASSAY_CHAIN_ID = settings.ASSAY_CHAIN_ID || (live ? LIVE : SANDBOX).chain_id
  if (settings.ASSAY_PAY_TO === usdcOn(ASSAY_CHAIN_ID).address.toLowerCase()) {
    return { ok: false, message: 'ASSAY_PAY_TO is the USDC contract itself, which cannot return payments; set it to your own account.' }
  }
  const fault = networksFault(settings, ASSAY_CHAIN_ID) ?? registersFault(settings)
  if (fault !== null) return { ok: false, message: fault }
  const { ASSAY_PORT } = settings
  const ASSAY_ADMIN_PORT = settings.ASSAY_ADMIN_PORT === '' ? ASSAY_PORT && ASSAY_PORT + 1 : settings.ASSAY_ADMIN_PORT
  if (ASSAY_ADMIN_PORT === 65_536)
    return {
      ok: false,
      message: 'ASSAY_ADMIN_PORT must be set to a port or off: its default, ASSAY_PORT + 1, is not a port when ASSAY_PORT is 65535.',
    }
  if (ASSAY_ADMIN_PORT === ASSAY_PORT && ASSAY_ADMIN_PORT !== 0)
    return { ok: false, message: 'ASSAY_ADMIN_PORT must differ from ASSAY_PORT; leave it out to use ASSAY_PORT + 1.' }
  return { ok: true, settings: { ...settings, ASSAY_CHAIN_ID, ASSAY_ADMIN_PORT } }
}

function registersFault({ ASSAY_REGISTERS, ASSAY_REGISTER_URLS, ASSAY_COMPANIES_HOUSE_KEY_FILE }: Settings): string | null {
  const stray = REGISTER_IDS.find((id) => id in ASSAY_REGISTER_URLS && !ASSAY_REGISTERS.includes(id))
  if (stray !== undefined) return `ASSAY_REGISTER_URLS names ${stray}, which is not in ASSAY_REGISTERS; add it there or remove the URL.`
  return ASSAY_REGISTERS.includes('companies-house') === (ASSAY_COMPANIES_HOUSE_KEY_FILE !== '')
    ? null
    : 'ASSAY_COMPANIES_HOUSE_KEY_FILE and companies-house in ASSAY_REGISTERS must be set together; set both or neither.'
}

/** Contradiction between further networks and the rest; null for none. Tokens without value must not pay where others have value. */
function networksFault({ ASSAY_NETWORKS, ASSAY_PAY_TO, ASSAY_ASSETS }: Settings, primary: number): string | null {
  const euro = ASSAY_ASSETS.includes('eurc') ? [primary, ...ASSAY_NETWORKS.map(({ chain_id }) => chain_id)] : []
  const own = euro.find((chain_id) => networkOf(chain_id)?.eurc?.address.toLowerCase() === ASSAY_PAY_TO)
  if (own !== undefined)
    return `ASSAY_PAY_TO is the EURC contract of chain ${own}, which cannot return payments; set it to your own account.`
  const is_testnet = networkOf(primary)?.is_testnet
  for (const { chain_id } of ASSAY_NETWORKS) {
    if (chain_id === primary) return `ASSAY_NETWORKS names chain ${chain_id}, which is ASSAY_CHAIN_ID already; list further networks only.`
    if (networkOf(chain_id)?.is_testnet !== is_testnet)
      return `ASSAY_NETWORKS names chain ${chain_id}, but ASSAY_CHAIN_ID is ${primary}; test networks and others cannot be offered together.`
    if (ASSAY_PAY_TO === usdcOn(chain_id).address.toLowerCase())
      return `ASSAY_PAY_TO is the USDC contract of chain ${chain_id}, which cannot return payments; set it to your own account.`
  }
  return null
}

const BANK_DETAILS = ['ASSAY_BANK_NAME', 'ASSAY_BANK_BIC', 'ASSAY_BANK_INSTITUTION', 'ASSAY_BANK_MERCHANTS', 'ASSAY_BANK_CURRENCY'] as const

/** First bank detail that is set although ASSAY_BANK_IBAN is not. */
function bankDetailWithoutIban(settings: Settings): SettingName | undefined {
  return BANK_DETAILS.find((name) => settings[name].length > 0 && settings[name] !== SETTINGS[name].fallback)
}

/** Free calls of a client and UTC day. */
export function freeDaily({ ASSAY_MODE, ASSAY_FREE_DAILY }: Pick<Settings, 'ASSAY_MODE' | 'ASSAY_FREE_DAILY'>): number {
  return ASSAY_FREE_DAILY ?? (ASSAY_MODE === 'sandbox' ? limits.sandbox_free_daily : limits.free_daily)
}

/** Returns an error message for the first id in ASSAY_FREE_DAILY_OVERRIDES that is not among these tools; null when there is none. */
export function unknownToolInOverrides({ ASSAY_FREE_DAILY_OVERRIDES }: Settings, tools: readonly { id: string }[]): string | null {
  const ids = tools.map(({ id }) => id)
  const stray = Object.keys(ASSAY_FREE_DAILY_OVERRIDES).find((id) => !ids.includes(id))
  if (stray === undefined) return null
  const near = nearestName(stray, ids)
  return `ASSAY_FREE_DAILY_OVERRIDES names ${stray}, which is not a tool${near === null ? '; "assay tools" lists them' : `; did you mean ${near}`}.`
}

function missingLive(settings: Settings): string | null {
  if (settings.ASSAY_RPC_URLS.length === 0) return 'ASSAY_RPC_URLS must name at least one RPC endpoint in live mode.'
  if (settings.ASSAY_PAY_TO === '') return 'ASSAY_PAY_TO must name the address that is paid in live mode.'
  const gas = settings.ASSAY_GAS_KEY_FILE !== ''
  const facilitators = settings.ASSAY_FACILITATOR_URLS.length > 0
  if (gas === facilitators) return 'Live mode needs either ASSAY_GAS_KEY_FILE or ASSAY_FACILITATOR_URLS, and not both.'
  return null
}
