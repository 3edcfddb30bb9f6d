import { readEvmAddress } from '../pure/checks/evm-address.ts'
import { NETWORKS } from '../pure/networks.ts'
import { usdcOn } from '../pure/payments/usdc.ts'
import { ZERO_ADDRESS } from '../pure/receipts/receipt.ts'
import { limits } from './limits.ts'
import { nearest } from './nearest.ts'

const [LIVE] = NETWORKS
const SANDBOX = NETWORKS.find(({ is_testnet }) => is_testnet) ?? LIVE
const CHAIN_IDS = NETWORKS.map(({ chain_id }) => String(chain_id))

/** Every setting of the service, once: environment variables, all optional in the sandbox. */

type Reading<T> = { ok: true; value: T } | { ok: false; message: string }

interface Setting<T> {
  meaning: string
  fallback: T
  /** Reads the text of the variable; the message completes the sentence "ASSAY_X …". */
  read(text: string): Reading<T>
}

function setting<T>(meaning: string, fallback: T, read: (text: string) => Reading<T>): Setting<T> {
  return { meaning, fallback, read }
}

const good = <T>(value: T): Reading<T> => ({ ok: true, value })
const bad = (message: string): { ok: false; message: string } => ({ ok: false, message })

const text = (value: string) => good(value)
const partsOf = (value: string) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
const list = (value: string) => good(partsOf(value))

function integer(min: number, max: number) {
  return (value: string): Reading<number> => {
    const number = /^\d{1,10}$/.test(value) ? Number(value) : NaN
    return number >= min && number <= max ? good(number) : bad(`must be a whole number from ${min} to ${max}`)
  }
}

function portOrOff(value: string): Reading<number | 'off'> {
  if (value === 'off') return good(value)
  const read = integer(0, 65_535)(value)
  return read.ok ? read : bad('must be a port from 0 to 65535, or off')
}

function oneOf<const T extends string>(...values: T[]) {
  return (value: string): Reading<T> => {
    const found = values.find((known) => known === value)
    return found === undefined ? bad(`must be ${values.join(' or ')}`) : good(found)
  }
}

function address(value: string): Reading<string> {
  const read = /^0x[0-9a-fA-F]{40}$/.test(value) ? readEvmAddress(value) : null
  if (read === null) return bad('must be an address: 0x and 40 hexadecimal digits')
  if (read.checksum === 'broken') return bad('has capitals that do not fit its digits (EIP-55): one is mistyped; copy the address again')
  return read.address === ZERO_ADDRESS ? bad('must not be the zero address, of which nobody has the key') : good(read.address)
}

function addresses(value: string): Reading<string[]> {
  const found: string[] = []
  for (const part of partsOf(value)) {
    const read = address(part)
    if (!read.ok) return bad(`must list addresses, separated by commas; number ${found.length + 1} ${read.message}`)
    found.push(read.value)
  }
  return good(found)
}

/** The message never quotes a URL, which often carries a key. */
function urls(value: string): Reading<string[]> {
  const found = partsOf(value)
  const wrong = found.findIndex((part) => !isHttpUrl(part))
  return wrong === -1 ? good(found) : bad(`has at number ${wrong + 1} what is not an http or https URL; separate several by commas`)
}

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  try {
    // User and password are sent in a header, in plain.
    decodeURIComponent(`${url.username}:${url.password}`)
    return true
  } catch {
    return false
  }
}

/** Written as browsers and clients write it, so that it can be held against theirs letter for letter. */
function origin(value: string): Reading<string> {
  const url = /^https?:\/\/[^/?#\s]+$/.test(value) ? URL.parse(value) : null
  if (url === null || url.username !== '' || url.password !== '')
    return bad('must be an origin such as https://assay.example, without a path or a final slash')
  return url.origin === value ? good(value) : bad(`must be written as clients write it: ${url.origin}`)
}

/** A path, or the URL of a PostgreSQL database: what looks like the URL of anything else would become a file of that name. */
function storePlace(value: string): Reading<string> {
  return isPostgres(value) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? good(value) : bad('must be a path of SQLite or a postgres:// URL')
}

function overrides(value: string): Reading<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const part of value.split(',')) {
    const match = /^([a-z0-9-]{1,64})=(\d{1,9})$/.exec(part.trim())
    if (match?.[1] === undefined) return bad('must list tools with their daily free calls, such as token-contract-risk=5')
    if (Object.hasOwn(found, match[1])) return bad(`names ${match[1]} twice`)
    found[match[1]] = Number(match[2])
  }
  return good(found)
}

function packs(value: string): Reading<string[]> {
  const found = value.split(',').map((part) => part.trim())
  const fits = found.length <= 12 && found.every((part) => /^[1-9]\d{0,3}$/.test(part))
  return fits ? good(found) : bad('must list at most 12 whole amounts of US dollars from 1 to 9999, such as 5,20,100')
}

export const SETTINGS = {
  ASSAY_PORT: setting('Port to listen on.', 8402, integer(0, 65_535)),
  ASSAY_HOST: setting('Address to listen on.', '127.0.0.1', text),
  ASSAY_ADMIN_PORT: setting<number | 'off' | ''>(
    'Port for the operator, with /health, /metrics, balances and budgets; by default ASSAY_PORT + 1, off for none.',
    '',
    portOrOff,
  ),
  ASSAY_ADMIN_HOST: setting('Address of that port; never one that the public reaches.', '127.0.0.1', text),
  ASSAY_DATA_DIR: setting('Folder for the store, the keys and the sandbox.', 'var', text),
  ASSAY_STORE: setting('SQLite path or postgres:// URL; by default a file in the data folder.', '', storePlace),
  ASSAY_MODE: setting<'sandbox' | 'live'>('sandbox moves no real money; live does.', 'sandbox', oneOf('sandbox', 'live')),
  ASSAY_CHAIN_ID: setting('Chain id: 8453 is Base, 84532 is Base Sepolia and the sandbox.', 0, (value) =>
    CHAIN_IDS.includes(value) ? good(Number(value)) : bad(`must be ${CHAIN_IDS.join(' or ')}`),
  ),
  ASSAY_RPC_URLS: setting<string[]>('RPC endpoints of the chain, separated by commas (live).', [], urls),
  ASSAY_PAY_TO: setting('Address that is paid (live).', '', address),
  ASSAY_GAS_KEY_FILE: setting('File with the key of the gas wallet (live, self-settlement).', '', text),
  ASSAY_GAS_DAILY_WEI: setting('What each gas wallet may spend in a UTC day, in wei (live).', 50_000_000_000_000_000n, (value) =>
    /^\d{1,30}$/.test(value) ? good(BigInt(value)) : bad('must be a whole number of wei'),
  ),
  ASSAY_FACILITATOR_URLS: setting<string[]>('Facilitators that settle, in order of preference (live).', [], urls),
  ASSAY_RECEIPT_KEY_FILE: setting('File with the receipt keys; by default made once in the data folder.', '', text),
  ASSAY_SECRET_FILE: setting('File with the secret of this deployment; by default made once in the data folder.', '', text),
  ASSAY_LOG_KEY_FILE: setting(
    'File with the key of the public receipts log, 32 bytes as hex; with PostgreSQL no log is kept without it.',
    '',
    text,
  ),
  ASSAY_LOG_WITNESSES: setting<string[]>('Witnesses of that log as https://address|verifier-key, separated by commas.', [], list),
  ASSAY_WITNESSED_LOGS: setting<string[]>('Verifier keys of other logs whose checkpoints this service signs as a witness.', [], list),
  ASSAY_FREE_DAILY: setting<number | null>(
    `Free calls per client and UTC day; ${limits.free_daily}, in a sandbox ${limits.sandbox_free_daily}, if left out.`,
    null,
    integer(0, limits.free_daily_max),
  ),
  ASSAY_FREE_DAILY_OVERRIDES: setting<Record<string, number>>('Tools with a count of their own.', { 'token-contract-risk': 5 }, overrides),
  ASSAY_SOURCE_READS_DAILY: setting(
    'Free calls, and other requests without a payment, of all clients in a UTC day that read outside sources.',
    limits.source_reads_daily,
    integer(0, limits.free_daily_max),
  ),
  ASSAY_SOURCE_READS_DAILY_NETWORK: setting(
    'The same for one network: an IPv6 /48 or an IPv4 /24.',
    limits.source_reads_daily_network,
    integer(0, limits.free_daily_max),
  ),
  ASSAY_TRUSTED_PROXIES: setting<string[]>('Addresses or networks whose X-Forwarded-For is believed.', [], list),
  ASSAY_BASE_URL: setting('Public origin of the preflight; by default the listen address.', '', origin),
  ASSAY_API_URL: setting('Public origin of the REST interface.', '', origin),
  ASSAY_SITE_URL: setting('Public origin of the pages.', '', origin),
  ASSAY_MCP_URL: setting('Public origin of the MCP endpoint.', '', origin),
  ASSAY_PREFLIGHT_PER_MINUTE: setting(
    'Preflights per client and minute, in each process.',
    limits.preflight_per_minute,
    integer(1, 1_000_000),
  ),
  ASSAY_CLIENT_CALLS: setting(
    'Unpaid calls of one client (an IPv4 address or an IPv6 /48) in flight at once, in each process.',
    limits.client_calls,
    integer(1, 1_000_000),
  ),
  ASSAY_STRIPE_SECRET_KEY_FILE: setting('File with the secret key of Stripe; without it no credits are sold.', '', text),
  ASSAY_STRIPE_WEBHOOK_SECRET_FILE: setting('File with the signing secret of the webhook at /api/credits/webhook.', '', text),
  ASSAY_CREDIT_PACKS: setting<string[]>('Credits that are sold, in whole US dollars, separated by commas.', ['5', '20', '100'], packs),
  ASSAY_PILOT_CREDIT: setting<'off' | 'on'>('Whether create-ap2-pilot is offered; its credit must be set up.', 'off', oneOf('off', 'on')),
  ASSAY_BANK_NAME: setting('Holder of the bank account that invoices to ASSAY_BANK_MERCHANTS show.', '', text),
  ASSAY_BANK_IBAN: setting('IBAN of that account; without it no invoice shows one.', '', text),
  ASSAY_BANK_BIC: setting('BIC of that account.', '', text),
  ASSAY_BANK_INSTITUTION: setting('Name of the bank.', '', text),
  ASSAY_BANK_CURRENCY: setting('Currency of that account.', 'EUR', text),
  ASSAY_BANK_MERCHANTS: setting<string[]>(
    'Addresses whose bank account it is, separated by commas; ASSAY_PAY_TO by default.',
    [],
    addresses,
  ),
  ASSAY_TRACING: setting<'off' | 'on'>(
    'Whether calls are traced by the API of OpenTelemetry; the operator brings the SDK.',
    'off',
    oneOf('off', 'on'),
  ),
  ASSAY_LOG_LEVEL: setting<'info' | 'warn' | 'error' | 'silent'>('What is logged.', 'info', oneOf('info', 'warn', 'error', 'silent')),
}

type Table = typeof SETTINGS
type SettingName = keyof Table

export type Settings = { readonly [Name in SettingName]: Table[Name]['fallback'] }

export type SettingsRead = { ok: true; settings: Settings } | { ok: false; message: string }

/** Reads the settings; the message is one sentence that names the variable and the fix. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): SettingsRead {
  const names = Object.keys(SETTINGS) as SettingName[]
  const unknown = Object.keys(environment).find((name) => name.startsWith('ASSAY_') && !(name in SETTINGS))
  if (unknown !== undefined) return { ok: false, message: unknownSetting(unknown, names) }
  const found: Record<string, unknown> = {}
  for (const name of names) {
    const given = environment[name]
    const reading: Reading<unknown> = given === undefined || given === '' ? good(SETTINGS[name].fallback) : SETTINGS[name].read(given)
    if (!reading.ok) return { ok: false, message: `${name} ${reading.message}.` }
    found[name] = reading.value
  }
  return agree(found as Settings)
}

function unknownSetting(name: string, known: SettingName[]): string {
  const near = nearest(name, known)
  return `${name} is not a setting of this service${near === null ? '; "assay doctor" lists them' : `; did you mean ${near}`}.`
}

const LIVE_ONLY = ['ASSAY_RPC_URLS', 'ASSAY_PAY_TO', 'ASSAY_GAS_KEY_FILE', 'ASSAY_FACILITATOR_URLS'] as const

/** Settings that contradict one another stop the start. */
function agree(settings: Settings): SettingsRead {
  const live = settings.ASSAY_MODE === 'live'
  const stray = live ? undefined : LIVE_ONLY.find((name) => settings[name].length > 0)
  if (stray !== undefined) return { ok: false, message: `${stray} is set, but ASSAY_MODE is sandbox; set ASSAY_MODE=live or remove it.` }
  const missing = live ? missingLive(settings) : null
  if (missing !== null) return { ok: false, message: missing }
  const bank = settings.ASSAY_BANK_IBAN === '' ? strayBank(settings) : undefined
  if (bank !== undefined) return { ok: false, message: `${bank} is set without ASSAY_BANK_IBAN; set both or neither.` }
  if ((settings.ASSAY_STRIPE_SECRET_KEY_FILE === '') !== (settings.ASSAY_STRIPE_WEBHOOK_SECRET_FILE === '')) {
    return { ok: false, message: 'ASSAY_STRIPE_SECRET_KEY_FILE and ASSAY_STRIPE_WEBHOOK_SECRET_FILE are set together or not at all.' }
  }
  if (isPostgres(settings.ASSAY_STORE)) {
    const file = (['ASSAY_RECEIPT_KEY_FILE', 'ASSAY_SECRET_FILE'] as const).find((name) => settings[name] === '')
    if (file !== undefined) return { ok: false, message: `${file} must be set with a PostgreSQL store, since all instances share it.` }
  }
  const ASSAY_CHAIN_ID = settings.ASSAY_CHAIN_ID || (live ? LIVE : SANDBOX).chain_id
  if (settings.ASSAY_PAY_TO === usdcOn(ASSAY_CHAIN_ID).address.toLowerCase()) {
    return { ok: false, message: 'ASSAY_PAY_TO is the USDC contract itself, which gives nothing back; name an account of yours.' }
  }
  const { ASSAY_PORT } = settings
  const ASSAY_ADMIN_PORT = settings.ASSAY_ADMIN_PORT === '' ? ASSAY_PORT && ASSAY_PORT + 1 : settings.ASSAY_ADMIN_PORT
  if (ASSAY_ADMIN_PORT === 65_536)
    return { ok: false, message: 'ASSAY_ADMIN_PORT must be set, to a port or off: none follows ASSAY_PORT 65535.' }
  if (ASSAY_ADMIN_PORT === ASSAY_PORT && ASSAY_ADMIN_PORT !== 0)
    return { ok: false, message: 'ASSAY_ADMIN_PORT must differ from ASSAY_PORT; leave it out for the port after that.' }
  return { ok: true, settings: { ...settings, ASSAY_CHAIN_ID, ASSAY_ADMIN_PORT } }
}

const BANK_DETAILS = ['ASSAY_BANK_NAME', 'ASSAY_BANK_BIC', 'ASSAY_BANK_INSTITUTION', 'ASSAY_BANK_MERCHANTS', 'ASSAY_BANK_CURRENCY'] as const

/** The first detail that is set of a bank account that is not. */
function strayBank(settings: Settings): SettingName | undefined {
  return BANK_DETAILS.find((name) => settings[name].length > 0 && settings[name] !== SETTINGS[name].fallback)
}

/** The free calls of a client and UTC day. */
export function freeDaily({ ASSAY_MODE, ASSAY_FREE_DAILY }: Pick<Settings, 'ASSAY_MODE' | 'ASSAY_FREE_DAILY'>): number {
  return ASSAY_FREE_DAILY ?? (ASSAY_MODE === 'sandbox' ? limits.sandbox_free_daily : limits.free_daily)
}

/** Says which of the tools with free calls of their own is none of these; null when each is one. */
export function strayOverride({ ASSAY_FREE_DAILY_OVERRIDES }: Settings, tools: readonly { id: string }[]): string | null {
  const ids = tools.map(({ id }) => id)
  const stray = Object.keys(ASSAY_FREE_DAILY_OVERRIDES).find((id) => !ids.includes(id))
  if (stray === undefined) return null
  const near = nearest(stray, ids)
  return `ASSAY_FREE_DAILY_OVERRIDES names ${stray}, which is no tool${near === null ? '; "assay tools" lists them' : `; did you mean ${near}`}.`
}

function missingLive(settings: Settings): string | null {
  if (settings.ASSAY_RPC_URLS.length === 0) return 'ASSAY_RPC_URLS must name at least one RPC endpoint in live mode.'
  if (settings.ASSAY_PAY_TO === '') return 'ASSAY_PAY_TO must name the address that is paid in live mode.'
  const gas = settings.ASSAY_GAS_KEY_FILE !== ''
  const facilitators = settings.ASSAY_FACILITATOR_URLS.length > 0
  if (gas === facilitators) return 'Live mode needs either ASSAY_GAS_KEY_FILE or ASSAY_FACILITATOR_URLS, and not both.'
  return null
}

export function isPostgres(store: string): boolean {
  return store.startsWith('postgres://') || store.startsWith('postgresql://')
}
