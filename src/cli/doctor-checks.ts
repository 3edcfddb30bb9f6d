import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import { systemClock } from '../adapters/clock/system.ts'
import { chooseSigning, type Signing } from '../adapters/signer/choose.ts'
import { activeKey } from '../adapters/signer/keyring.ts'
import { openStore } from '../adapters/store/open.ts'
import { identityOf, places, ringOf, secretOf, StartError } from '../identity.ts'
import { loadCatalogue } from '../service/catalogue/load.ts'
import { isPostgres, type Settings } from '../service/config.ts'
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
  const tables = dataTables()
  return [checkNode(), await attempt('tools', checkTools), ...tables.map(checkTable), checkClock(tables)]
}

/** What the settings name. */
export async function checksOf(settings: Settings): Promise<Check[]> {
  const signing = await chooseSigning()
  return [
    checkSigner(signing),
    checkFolder(settings),
    await attempt('keys', () => checkKeys(settings, signing)),
    await attempt('secret', () => checkSecret(settings)),
    await attempt('store', () => checkStore(settings)),
    await checkPort(settings),
  ]
}

type Found = Omit<Check, 'name'>

async function attempt(name: string, work: () => Found | Promise<Found>): Promise<Check> {
  try {
    return { name, ...(await work()) }
  } catch (error) {
    return { name, state: 'failed', words: error instanceof Error ? error.message : 'Unknown reason.' }
  }
}

function checkNode(): Check {
  const good = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN
  const words = `Node.js ${process.versions.node} on ${process.platform} ${process.arch}.`
  return { name: 'node', state: good ? 'ok' : 'failed', words: good ? words : `${words} Version ${NODE_MAJOR_MIN} is needed; "npm start" brings it.` }
}

async function checkTools(): Promise<Found> {
  const { tools } = await loadCatalogue()
  return { state: tools.length > 0 ? 'ok' : 'failed', words: `${tools.length} tools are in the catalogue.` }
}

interface DataTable {
  name: string
  published_at: string
  retrieved_at: string
  complete: boolean
}

const DATA_FOLDER = new URL('../../data/', import.meta.url)

function dataTables(): DataTable[] {
  const names = readdirSync(DATA_FOLDER).filter((name) => name.endsWith('.json'))
  return names.toSorted().map((name) => {
    const read = JSON.parse(readFileSync(new URL(name, DATA_FOLDER), 'utf8')) as { count: number; rows: unknown[]; published_at: string; retrieved_at: string }
    return { name: name.slice(0, -5), published_at: read.published_at, retrieved_at: read.retrieved_at, complete: read.rows.length === read.count }
  })
}

function checkTable({ name, published_at, retrieved_at, complete }: DataTable): Check {
  const words = `${name}: published ${published_at}, retrieved ${retrieved_at}.`
  return { name: 'data', state: complete ? 'ok' : 'failed', words: complete ? words : `${words} Rows are missing or too many.` }
}

/** Receipts carry the date of this machine; a clock that lies before the data was fetched is certainly wrong. */
function checkClock(tables: readonly DataTable[]): Check {
  const now = dateText(Math.floor(systemClock.now_ms() / 1000)) ?? 'no date'
  const newest = tables.map(({ retrieved_at }) => retrieved_at).reduce((one, other) => (one > other ? one : other), '')
  const good = now >= newest
  return { name: 'clock', state: good ? 'ok' : 'failed', words: good ? `It is ${now}.` : `It is ${now}, before the data tables were retrieved (${newest}): set the clock.` }
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
  const made = existsSync(places.receiptKeys(settings)) && (settings.ASSAY_MODE === 'live' || existsSync(places.sandboxPayTo(settings)))
  if (!made && settings.ASSAY_RECEIPT_KEY_FILE === '') return MADE_LATER
  if (!made) return { state: 'warning', words: 'The file that ASSAY_RECEIPT_KEY_FILE names is not there; a start would make a new key.' }
  const identity = identityOf(settings, signing)
  const ring = ringOf(settings, identity)
  const active = activeKey(ring)
  if (active === undefined) throw new StartError('No receipt key is active; "assay keys rotate" makes one.')
  const place = `${identity.mode}, chain ${identity.chain_id}, pay-to ${identity.pay_to}`
  return { state: 'ok', words: `${active.address} signs, of ${ring.keys.length} on file, for ${place}.` }
}

function checkSecret(settings: Settings): Found {
  if (settings.ASSAY_SECRET_FILE === '' && !existsSync(places.secret(settings))) return MADE_LATER
  secretOf(settings)
  return { state: 'ok', words: 'The secret of the deployment is readable.' }
}

async function checkStore(settings: Settings): Promise<Found> {
  const target = places.store(settings)
  if (!isPostgres(target) && !existsSync(target)) return MADE_LATER
  const store = await openStore(target)
  try {
    await store.ping()
    const found = Object.entries(await store.settings()).map(([name, value]) => `${name} ${value}`)
    return { state: 'ok', words: `${store.kind} answers; ${found.join(', ')}.` }
  } finally {
    await store.close()
  }
}

function checkPort({ ASSAY_PORT, ASSAY_HOST }: Settings): Promise<Check> {
  const place = `Port ${ASSAY_PORT} on ${ASSAY_HOST}`
  const found = (state: Check['state'], words: string): Check => ({ name: 'port', state, words: `${place} ${words}` })
  return new Promise((done) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EADDRINUSE') done(found('warning', 'is taken; that is right if this service runs, else set ASSAY_PORT.'))
      else done(found('failed', `cannot be opened (${code ?? 'unknown reason'}); set ASSAY_HOST or ASSAY_PORT.`))
    })
    server.listen(ASSAY_PORT, ASSAY_HOST, () => server.close(() => done(found('ok', 'is free.'))))
  })
}
