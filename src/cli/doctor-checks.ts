import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import { OFAC_LIST_DAYS } from '../pure/checks/ofac.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { chooseSigning, type Signing } from '../adapters/signer/choose.ts'
import { readRingFile } from '../adapters/signer/keyring-file.ts'
import { openStore } from '../adapters/store/open.ts'
import { cardsOf } from '../assembly/credits.ts'
import {
  activeOf,
  checkBoundSecret,
  identityOf,
  isLoopback,
  localOrigin,
  permissionFault,
  places,
  ringOf,
  secretFiles,
  secretOf,
  StartError,
  type SecretFile,
} from '../assembly/identity.ts'
import { readAhead } from '../assembly/start.ts'
import { loadCatalogue } from '../service/catalogue/load.ts'
import { isPostgres, strayOverride, type Settings } from '../service/config.ts'
import { dateText } from './terminal.ts'

/** `warning` is worth knowing and stops nothing. */
export interface Check {
  name: string
  state: 'ok' | 'warning' | 'failed'
  words: string
}

/** Oldest Node.js that runs TypeScript as it lies, with the modules that the service uses. */
const NODE_MAJOR_MIN = 24

/** What holds whatever the settings say. */
export async function checkProgram(): Promise<Check[]> {
  const tables = await Promise.all(tableNames().map((name) => attempt('data', () => checkTable(name))))
  return [checkNode(), await attempt('tools', checkTools), ...tables, await attempt('clock', checkClock)]
}

/** What the settings name. */
export async function checksOf(settings: Settings): Promise<Check[]> {
  const signing = await chooseSigning()
  return [
    await attempt('details', () => checkDetails(settings)),
    checkSigner(signing),
    checkFolder(settings),
    await attempt('keys', () => checkKeys(settings, signing)),
    await attempt('secret', () => checkSecret(settings)),
    ...(await Promise.all(secretFiles(settings).map((file) => attempt('permissions', () => checkPermissions(file))))),
    await attempt('store', () => checkStore(settings)),
    ...(settings.ASSAY_MODE === 'live' ? [checkOrigins(settings)] : []),
    await checkPort('port', settings.ASSAY_PORT, settings.ASSAY_HOST, 'ASSAY_PORT', 'ASSAY_HOST'),
    ...(settings.ASSAY_ADMIN_PORT === 'off' ? [] : [await checkAdminPort(settings)]),
  ]
}

export type Found = Omit<Check, 'name'>

/** The check of this name; work that throws has failed, and its message says why. */
export async function attempt(name: string, work: () => Found | Promise<Found>): Promise<Check> {
  try {
    return { name, ...(await work()) }
  } catch (error) {
    return { name, state: 'failed', words: error instanceof Error ? error.message : 'Unknown reason.' }
  }
}

function checkNode(): Check {
  const good = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN
  const words = `Node.js ${process.versions.node} on ${process.platform} ${process.arch}.`
  return {
    name: 'node',
    state: good ? 'ok' : 'failed',
    words: good ? words : `${words} Version ${NODE_MAJOR_MIN} is needed; "npm start" brings it.`,
  }
}

async function checkTools(): Promise<Found> {
  const { tools } = await loadCatalogue()
  return { state: tools.length > 0 ? 'ok' : 'failed', words: `${tools.length} tools are in the catalogue.` }
}

const DATA_FOLDER = new URL('../../data/', import.meta.url)

/** What a reference table says of itself. */
interface TableHead {
  published_at: string | null
  compiled_at?: string | null
  retrieved_at: string
  count: number
  rows: unknown[]
}

function tableNames(): string[] {
  return readdirSync(DATA_FOLDER)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
}

function readTable(name: string): TableHead {
  return JSON.parse(readFileSync(new URL(name, DATA_FOLDER), 'utf8')) as TableHead
}

function checkTable(name: string): Found {
  const { published_at, compiled_at, retrieved_at, rows, count } = readTable(name)
  const dates = published_at === null ? `compiled by hand ${compiled_at ?? ''}` : `published ${published_at}`
  const age_days = Math.floor((systemClock.now_ms() - Date.parse(published_at ?? compiled_at ?? retrieved_at)) / DAY_MS)
  const words = `${name}: ${dates}, ${age_days} days ago; retrieved ${retrieved_at}.`
  if (rows.length !== count) return { state: 'failed', words: `${words} It has ${rows.length} rows and should have ${count}.` }
  const limit_days = SCREENED.has(name) ? OFAC_LIST_DAYS : OLD_DAYS
  return age_days <= limit_days
    ? { state: 'ok', words }
    : {
        state: 'warning',
        words: `${words} It is older than ${limit_days} days; refresh it with scripts/refresh-${name.replace('.json', '.ts')}.`,
      }
}

const DAY_MS = 86_400_000
/** Age of a table at which an operator should look for a newer one. */
const OLD_DAYS = 400
/** Lists whose clean answers are refused, or marked, when they are older. */
const SCREENED = new Set(['ofac-addresses.json', 'prohibited-jurisdictions.json'])

/** Receipts carry the date of this machine; a clock that lies before the data was fetched is certainly wrong. */
function checkClock(): Found {
  const now = dateText(Math.floor(systemClock.now_ms() / 1000)) ?? 'no date'
  const newest =
    tableNames()
      .map((name) => readTable(name).retrieved_at)
      .toSorted()
      .at(-1) ?? ''
  if (now >= newest) return { state: 'ok', words: `It is ${now}.` }
  return { state: 'failed', words: `It is ${now}, before the data tables were retrieved (${newest}): set the clock.` }
}

/** What a start reads before it opens anything. */
async function checkDetails(settings: Settings): Promise<Found> {
  readAhead(settings)
  await cardsOf(settings, null)
  const stray = strayOverride(settings, (await loadCatalogue()).tools)
  if (stray !== null) throw new StartError(stray)
  return { state: 'ok', words: 'Proxies, bank account, cards, witnesses and free calls can be read.' }
}

function checkSigner({ implementation, keccak, refusals }: Signing): Check {
  const words = [`Signatures by ${implementation}, hashes by ${keccak}.`, ...refusals].join(' ')
  return { name: 'signer', state: refusals.length === 0 ? 'ok' : 'warning', words }
}

/** The folder, or the nearest one above it that is there, must be writable. */
function checkFolder({ ASSAY_DATA_DIR }: Settings): Check {
  const path = resolve(ASSAY_DATA_DIR)
  const nearest = existing(path)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
  } catch {
    return { name: 'data folder', state: 'failed', words: `${nearest} is not writable: give this user access, or set ASSAY_DATA_DIR.` }
  }
  return { name: 'data folder', state: 'ok', words: nearest === path ? `${path} is writable.` : `${path} will be made at the first start.` }
}

function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path))
}

const MADE_LATER: Found = { state: 'ok', words: 'Not there yet; the first start makes it.' }

function checkKeys(settings: Settings, signing: Signing): Found {
  const known = settings.ASSAY_MODE === 'live' || settings.ASSAY_SECRET_FILE !== '' || existsSync(places.secret(settings))
  const path = places.receiptKeys(settings)
  if (!existsSync(path)) {
    if (settings.ASSAY_RECEIPT_KEY_FILE === '') return MADE_LATER
    return { state: 'warning', words: 'The file that ASSAY_RECEIPT_KEY_FILE names is not there; a start would make a new key.' }
  }
  if (!known) return keysWithoutSecret(path)
  const identity = identityOf(settings, signing)
  const ring = ringOf(settings, identity)
  const active = activeOf(ring)
  const place = `${identity.mode}, chain ${identity.chain_id}, pay-to ${identity.pay_to}`
  return { state: 'ok', words: `${active.address} signs, of ${ring.keys.length} on file, for ${place}.` }
}

/** In the sandbox the payee follows from the secret: a start without it makes another one, whose keys these are not. */
function keysWithoutSecret(path: string): Found {
  const read = readRingFile(path)
  if (read !== null && !read.ok) throw new StartError(read.message)
  if (read?.file.identity !== null) throw new StartError(`${path} belongs to a deployment whose secret is not here: restore that as well.`)
  return { state: 'ok', words: `${path} can be read and belongs to whoever starts with it.` }
}

function checkSecret(settings: Settings): Found {
  if (settings.ASSAY_SECRET_FILE === '' && !existsSync(places.secret(settings))) return MADE_LATER
  secretOf(settings)
  return { state: 'ok', words: 'The secret of the deployment is readable.' }
}

/** The same rule by which a start refuses. */
function checkPermissions(file: SecretFile): Found {
  const fault = permissionFault(file)
  if (fault !== null) return { state: 'failed', words: fault }
  const { setting, path } = file
  return {
    state: 'ok',
    words: existsSync(path) ? `${setting}: only the service can read ${path}.` : `${setting}: ${path} is not there yet.`,
  }
}

async function checkStore(settings: Settings): Promise<Found> {
  const target = places.store(settings)
  if (!isPostgres(target) && !existsSync(target)) return MADE_LATER
  const store = await openStore(target)
  try {
    await store.ping()
    if (settings.ASSAY_SECRET_FILE !== '' || existsSync(places.secret(settings)))
      await checkBoundSecret(store, settings, secretOf(settings))
    const found = Object.entries(await store.settings()).map(([name, value]) => `${name} ${value}`)
    return { state: 'ok', words: `${store.kind} answers; ${found.join(', ')}.` }
  } finally {
    await store.close()
  }
}

const ORIGINS = ['ASSAY_BASE_URL', 'ASSAY_API_URL', 'ASSAY_SITE_URL', 'ASSAY_MCP_URL'] as const

/** Outsiders read these in 402s, receipts, cards and discovery documents: an origin of this machine leads them nowhere. */
function checkOrigins(settings: Settings): Check {
  const own = localOrigin(settings.ASSAY_HOST, settings.ASSAY_PORT)
  const local = ORIGINS.filter((name) => isLoopback(new URL(settings[name] || own).hostname.replace(/^\[|\]$/g, '')))
  if (local.length === 0) return { name: 'origins', state: 'ok', words: 'The public origins name other machines than this one.' }
  const words = `${local.join(', ')}: the origin is of this machine alone, so nobody outside can follow it; set the public https origin.`
  return { name: 'origins', state: 'warning', words }
}

function checkAdminPort({ ASSAY_ADMIN_PORT, ASSAY_ADMIN_HOST }: Settings): Promise<Check> {
  return checkPort('admin port', Number(ASSAY_ADMIN_PORT), ASSAY_ADMIN_HOST, 'ASSAY_ADMIN_PORT', 'ASSAY_ADMIN_HOST')
}

function checkPort(name: string, port: number, host: string, port_setting: string, host_setting: string): Promise<Check> {
  const place = `Port ${port} on ${host}`
  const found = (state: Check['state'], words: string): Check => ({ name, state, words: `${place} ${words}` })
  return new Promise((done) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EADDRINUSE') done(found('warning', `is taken; that is right if this service runs, else set ${port_setting}.`))
      else done(found('failed', `cannot be opened (${code ?? 'unknown reason'}); set ${host_setting} or ${port_setting}.`))
    })
    server.listen(port, host, () => server.close(() => done(found('ok', 'is free.'))))
  })
}
