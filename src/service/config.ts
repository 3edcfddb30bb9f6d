import { isServerAddress } from './clients.ts'
import { readDecimal } from '../pure/market/fraction.ts'
import { isPlausiblePrice } from '../pure/payments/gas-policy.ts'
import { type FurtherNetwork, PRIMARY_NETWORKS, NETWORKS } from '../pure/networks.ts'
import type { RegisterId } from '../ports/registers.ts'
import { INVOICE_RULES, limits, REGISTER_IDS } from './limits.ts'
import { NETWORKS_EXAMPLE, readFurtherNetworks } from './further-networks.ts'
import { nearestName } from './catalogue/search.ts'
import { readEvmAddress } from '../pure/checks/evm-address.ts'
import { unpayableAddress } from '../pure/contracts/unpayable.ts'

/** Readers of the values of settings. Each message completes the sentence "ASSAY_X …". */

type SettingResult<T> = { ok: true; value: T } | { ok: false; message: string }

const accept = <T>(value: T): SettingResult<T> => ({ ok: true, value })
const reject = (message: string): { ok: false; message: string } => ({ ok: false, message })

const text = (value: string) => accept(value)
const splitList = (value: string) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
const list = (value: string) => accept(splitList(value))

function integer(min: number, max: number) {
  return (value: string): SettingResult<number> => {
    const number = /^\d{1,10}$/.test(value) ? Number(value) : NaN
    return number >= min && number <= max ? accept(number) : reject(`must be a whole number from ${min} to ${max}`)
  }
}

function portOrOff(value: string): SettingResult<number | 'off'> {
  if (value === 'off') return accept(value)
  const read = integer(0, 65_535)(value)
  return read.ok ? read : reject('must be a port from 0 to 65535, or off')
}

function oneOf<const T extends string>(...values: T[]) {
  return (value: string): SettingResult<T> => {
    const found = values.find((known) => known === value)
    return found === undefined ? reject(`must be ${values.join(' or ')}`) : accept(found)
  }
}

function address(value: string): SettingResult<string> {
  const read = /^0x[0-9a-fA-F]{40}$/.test(value) ? readEvmAddress(value) : null
  if (read === null) return reject('must be an address: 0x and 40 hexadecimal digits')
  if (read.checksum === 'broken')
    return reject('has a wrong checksum (EIP-55), so a digit or a capital is mistyped; copy the address again')
  const unpayable = unpayableAddress(read.address)
  if (unpayable === null) return accept(read.address)
  return reject(`must not be ${unpayable.name}, because money sent there is lost; set it to your own account`)
}

function addresses(value: string): SettingResult<string[]> {
  const found: string[] = []
  for (const part of splitList(value)) {
    const read = address(part)
    if (!read.ok) return reject(`must list addresses, separated by commas; number ${found.length + 1} ${read.message}`)
    found.push(read.value)
  }
  return accept(found)
}

/** The message never quotes a URL, which often carries a key. */
function urls(value: string): SettingResult<string[]> {
  const found = splitList(value)
  const wrong = found.findIndex((part) => !isHttpUrl(part))
  return wrong === -1
    ? accept(found)
    : reject(`must list http or https URLs, separated by commas, such as https://rpc.example; number ${wrong + 1} is not one`)
}

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  try {
    // User and password are sent as a Basic authorization header, for which they must decode.
    decodeURIComponent(`${url.username}:${url.password}`)
    return true
  } catch {
    return false
  }
}

/** Accepts only the normalised form that browsers and clients send, so that origins can be compared as text. */
function origin(value: string): SettingResult<string> {
  const url = /^https?:\/\/[^/?#\s]+$/.test(value) ? URL.parse(value) : null
  if (url === null || url.username !== '' || url.password !== '')
    return reject('must be an origin such as https://assay.example, without a path or a final slash')
  return url.origin === value ? accept(value) : reject(`must be in the normalised form ${url.origin}`)
}

/** Accepts a path or the URL of a PostgreSQL database; any other URL would be taken for the name of a file. */
function storeTarget(value: string): SettingResult<string> {
  return isPostgres(value) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)
    ? accept(value)
    : reject('must be a path of a SQLite file, such as var/assay.sqlite, or a postgres:// URL')
}

function overrides(value: string): SettingResult<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const part of value.split(',')) {
    const match = /^([a-z0-9-]{1,64})=(\d{1,9})$/.exec(part.trim())
    if (match?.[1] === undefined)
      return reject('must list tools with their free calls per day, such as token-contract-risk=5,iban-check=10')
    if (Object.hasOwn(found, match[1])) return reject(`names ${match[1]} twice`)
    found[match[1]] = Number(match[2])
  }
  return accept(found)
}

function packs(value: string): SettingResult<string[]> {
  const found = value.split(',').map((part) => part.trim())
  const fits = found.length <= 12 && found.every((part) => /^[1-9]\d{0,3}$/.test(part))
  return fits ? accept(found) : reject('must list at most 12 whole amounts of US dollars from 1 to 9999, such as 5,20,100')
}

/** DNS servers as `Resolver.setServers` takes them. */
function nameServers(value: string): SettingResult<string[]> {
  const servers = splitList(value)
  return servers.every(isServerAddress)
    ? accept(servers)
    : reject('must list IP addresses of DNS servers, such as 10.0.0.53 or [fd00::53]:5353')
}

function registers(value: string): SettingResult<readonly RegisterId[]> {
  const found = splitList(value).map((part) => REGISTER_IDS.find((id) => id === part))
  return found.includes(undefined) || new Set(found).size < found.length
    ? reject(`must list ${REGISTER_IDS.join(', ')}, each at most once, separated by commas`)
    : accept(found.filter((id) => id !== undefined))
}

function registerUrls(value: string): SettingResult<Partial<Record<RegisterId, string>>> {
  const found: Partial<Record<RegisterId, string>> = {}
  for (const part of splitList(value)) {
    const [, name, url = ''] = /^([a-z-]{1,40})=(.{1,500})$/.exec(part) ?? []
    const id = REGISTER_IDS.find((one) => one === name)
    if (id === undefined || id in found || !isHttpUrl(url) || /[@?#]/.test(url))
      return reject('must list registers with base URLs without user or query, such as gleif=https://mirror.example/api/v1/')
    found[id] = url
  }
  return accept(found)
}

function screeningUrl(value: string): SettingResult<string> {
  return value === '' || (isHttpUrl(value) && !/[@?#]/.test(value))
    ? accept(value)
    : reject('must be an http(s) URL without user or query, such as http://watchman:8084')
}

/** The messages never quote a value: URLs often carry keys. */
function furtherNetworks(value: string): SettingResult<readonly FurtherNetwork[]> {
  const read = readFurtherNetworks(value, limits.further_networks, isHttpUrl)
  return typeof read === 'string' ? reject(read) : accept(read)
}

/** Tokens of ASSAY_ASSETS. USDC is always among them, since prices are in US dollars and not every network has EURC. */
type Asset = 'usdc' | 'eurc'

function assets(value: string): SettingResult<readonly Asset[]> {
  const given = splitList(value.toLowerCase())
  const known = (['usdc', 'eurc'] as const).filter((name) => given.includes(name))
  return given.length === known.length && known.includes('usdc') ? accept(known) : reject('must be usdc or usdc,eurc')
}

/** Coins of ASSAY_NATIVE_USD. */
const COINS: readonly string[] = [...new Set(NETWORKS.map(({ gas }) => gas.coin))]

function coinPrices(value: string): SettingResult<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {}
  for (const part of splitList(value)) {
    const [, coin = '', price = ''] = /^([A-Z]{1,10})=([0-9]{1,7}(?:\.[0-9]{1,8})?)$/.exec(part) ?? []
    const usd = readDecimal(price)
    if (!COINS.includes(coin) || coin in found || usd === null || !isPlausiblePrice(usd))
      return reject(
        `must list prices of ${COINS.join(', ')} in US dollars from 0.001 to 1000000, each coin once, such as ETH=2450,POL=0.25`,
      )
    found[coin] = price
  }
  return accept(found)
}

export function isPostgres(store: string): boolean {
  return store.startsWith('postgres://') || store.startsWith('postgresql://')
}
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
  ASSAY_ASYNC_STANDBY: setting<'refuse' | 'accept'>(
    'accept: a live service starts although PostgreSQL has standbys and none is synchronous, so that a failover can lose payments and log entries.',
    'refuse',
    oneOf('refuse', 'accept'),
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
  ASSAY_NATIVE_USD: setting<Readonly<Record<string, string>>>(
    'Live mode with gas wallets: prices in US dollars of the coins that pay for gas, as coin=price, separated by commas, for example ETH=2450,POL=0.25; left out, those of public price sources.',
    {},
    coinPrices,
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
  ASSAY_BATCH_SETTLEMENT: setting<'on' | 'off' | null>(
    'on: calls can also be paid with vouchers of payment channels (x402 scheme batch-settlement), which needs a gas wallet; off: only the scheme exact; left out, on in the sandbox and off in live mode.',
    null,
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
    'on: the newer sanctions list of OFAC and newer tables (ISO 4217, ISBN, RDAP, IFSC, mail domains) are read from the publishers or from ASSAY_DATA_MIRROR; off: those of the release and imported ones are used.',
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
  ASSAY_SCREENING_URL: setting(
    'Base URL of the engine that screens names of parties (watchman or yente), for example http://watchman:8084; left out, names are not screened.',
    '',
    screeningUrl,
  ),
  ASSAY_SCREENING_ENGINE: setting<'watchman' | 'yente'>(
    'Kind of that engine: watchman (moov watchman, v2 search) or yente (OpenSanctions).',
    'watchman',
    oneOf('watchman', 'yente'),
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
    'Proxies whose X-Forwarded-For header is used: IP addresses, or networks that only proxies are in, separated by commas, for example 10.0.0.7,172.30.84.0/24. Left out, the header is ignored, and all callers behind one proxy are one client.',
    [],
    list,
  ),
  ASSAY_WIDE_PROXIES: setting<'refuse' | 'accept'>(
    'accept: a live service starts although ASSAY_TRUSTED_PROXIES has a network wider than an IPv4 /20 or IPv6 /64, whose every machine can then name any client.',
    'refuse',
    oneOf('refuse', 'accept'),
  ),
  ASSAY_NAME_SERVERS: setting<string[]>(
    'DNS servers that resolve host names given by callers (webhooks, proof files, vendor domains): IP addresses with or without a port, separated by commas, for example 10.0.0.53,[fd00::53]:5353; left out, those of the system.',
    [],
    nameServers,
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
  ASSAY_MERCHANT_WRITES_PER_MINUTE: setting(
    'Maximum number of signed writes of invoices (create, sign, void; a bank statement counts 5) per merchant and minute in each process, for example 1000.',
    INVOICE_RULES.merchant_per_minute,
    integer(1, 5_000),
  ),
  ASSAY_INVOICE_RETENTION_DAYS: setting(
    'Days for which the personal details of an invoice (names, memo, order number, return URL, bank details) are kept after it ended: after its due ' +
      'date and its last change, whichever is later. Amounts, hashes and transactions are kept (docs/operating/privacy.md).',
    INVOICE_RULES.retention_days,
    integer(1, 3_650),
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
  ASSAY_WEBHOOK_LOOPBACK: setting<'' | 'off' | 'on'>(
    'on: webhooks may be sent to 127.0.0.1, ::1 and localhost, over http and to any port, which a sandbox alone allows; left out, on in the sandbox ' +
      'and off in live mode.',
    '',
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

export type Settings = { readonly [Name in keyof SettingsTable]: SettingsTable[Name]['fallback'] }

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
