import { accessSync, constants, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import { brokenTables, describeDatasets, registerReaders } from '../assembly/reference-tables.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { chooseSigning, type SigningBackend } from '../adapters/signer/choose.ts'
import { readRingFile } from '../adapters/signer/keyring.ts'
import { createLog } from '../adapters/log/pino.ts'
import { openStore } from '../adapters/store/open.ts'
import { cardsOf } from '../assembly/invoices.ts'
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
import { inspectLog, type LogInspection } from '../assembly/log.ts'
import { readAhead } from '../assembly/start.ts'
import type { FeedState } from '../ports/datasets.ts'
import type { RegisterId, RegisterNumber } from '../ports/registers.ts'
import { bundledScreening } from '../pure/checks/ofac.ts'
import { bindTables } from '../pure/datasets/datasets.ts'
import { refreshAdvice } from '../pure/datasets/feeds.ts'
import { createDatasetService, type DatasetService } from '../service/datasets/dataset-service.ts'
import { entriesText, lastStop, RESUME_ADVICE, stopWords } from '../service/log/log-history.ts'
import { loadCatalogue } from '../service/catalogue/load.ts'
import { registerLimits } from '../service/limits.ts'
import { judgeReplication } from '../service/replication.ts'
import { isPostgres, unknownToolInOverrides, type Settings } from '../service/config.ts'
import { dateText } from './terminal.ts'

/** A `warning` does not prevent a start. */
export interface DoctorCheck {
  name: string
  state: 'ok' | 'warning' | 'failed'
  words: string
}

/** Oldest Node.js version that runs TypeScript directly and has all modules that the service uses. */
const NODE_MAJOR_MIN = 24

/** Checks that do not depend on the settings. */
export async function checkProgram(): Promise<DoctorCheck[]> {
  return [checkNode(), await runCheck('tools', checkTools), await runCheck('tables', checkTables), await runCheck('clock', checkClock)]
}

/** Checks of the settings and of the files that they name. */
export async function checkSettings(settings: Settings): Promise<DoctorCheck[]> {
  const signing = await chooseSigning()
  return [
    await runCheck('details', () => checkDetails(settings)),
    checkSigner(signing),
    checkFolder(settings),
    await runCheck('keys', () => checkKeys(settings, signing)),
    await runCheck('secret', () => checkSecret(settings)),
    ...(await Promise.all(secretFiles(settings).map((file) => runCheck('permissions', () => checkPermissions(file))))),
    await runCheck('store', () => checkStore(settings)),
    ...(isPostgres(settings.ASSAY_STORE) ? [await runCheck('replication', () => checkReplication(settings))] : []),
    ...(await checkLog(settings)),
    ...(await checkDatasets(settings)),
    ...(await checkRegisters(settings)),
    ...(settings.ASSAY_MODE === 'live' ? [checkOrigins(settings)] : []),
    await checkPort('port', settings.ASSAY_PORT, settings.ASSAY_HOST, 'ASSAY_PORT', 'ASSAY_HOST'),
    ...(settings.ASSAY_ADMIN_PORT === 'off' ? [] : [await checkAdminPort(settings)]),
  ]
}

export type DoctorFinding = Omit<DoctorCheck, 'name'>

/** Runs one check; an exception is a failure, and its message is the reason. */
export async function runCheck(name: string, work: () => DoctorFinding | Promise<DoctorFinding>): Promise<DoctorCheck> {
  try {
    return { name, ...(await work()) }
  } catch (error) {
    return { name, state: 'failed', words: error instanceof Error ? error.message : 'Unknown reason.' }
  }
}

function checkNode(): DoctorCheck {
  const good = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN
  const words = `Node.js ${process.versions.node} on ${process.platform} ${process.arch}.`
  return {
    name: 'node',
    state: good ? 'ok' : 'failed',
    words: good ? words : `${words} Version ${NODE_MAJOR_MIN} is needed; "npm start" brings it.`,
  }
}

async function checkTools(): Promise<DoctorFinding> {
  const { tools } = await loadCatalogue()
  return { state: tools.length > 0 ? 'ok' : 'failed', words: `${tools.length} tools are in the catalogue.` }
}

function checkTables(): DoctorFinding {
  const broken = brokenTables()
  return {
    state: broken.length === 0 ? 'ok' : 'failed',
    words: broken.join(' ') || 'Each table of the release has the rows that it states.',
  }
}

/** Receipts are dated with the clock of this machine; a time before the data was fetched is wrong. */
function checkClock(): DoctorFinding {
  const now = dateText(Math.floor(systemClock.now_ms() / 1000)) ?? 'no date'
  const newest =
    describeDatasets(OF_RELEASE, () => systemClock.now_ms())
      .list()
      .map(({ retrieved_at }) => retrieved_at)
      .toSorted()
      .at(-1) ?? ''
  if (now >= newest) return { state: 'ok', words: `It is ${now}.` }
  return { state: 'failed', words: `It is ${now}, before the data tables were retrieved (${newest}): set the clock.` }
}

/** Reads the same settings and files as a start, without opening anything. */
async function checkDetails(settings: Settings): Promise<DoctorFinding> {
  readAhead(settings)
  await cardsOf(settings, null)
  const stray = unknownToolInOverrides(settings, (await loadCatalogue()).tools)
  if (stray !== null) throw new StartError(stray)
  return { state: 'ok', words: 'Proxies, bank account, cards, witnesses and free calls can be read.' }
}

function checkSigner({ implementation, keccak, refusals }: SigningBackend): DoctorCheck {
  const words = [`Signatures by ${implementation}, hashes by ${keccak}.`, ...refusals].join(' ')
  return { name: 'signer', state: refusals.length === 0 ? 'ok' : 'warning', words }
}

/** The folder, or the nearest existing parent, must be writable. */
function checkFolder({ ASSAY_DATA_DIR }: Settings): DoctorCheck {
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

const MADE_LATER: DoctorFinding = { state: 'ok', words: 'Not there yet; the first start makes it.' }

function checkKeys(settings: Settings, signing: SigningBackend): DoctorFinding {
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

/**
 * In the sandbox the payee is derived from the secret; a start without the secret file creates another one, and these keys do not belong
 * to it.
 */
function keysWithoutSecret(path: string): DoctorFinding {
  const read = readRingFile(path)
  if (read !== null && !read.ok) throw new StartError(read.message)
  if (read?.file.identity !== null) throw new StartError(`${path} belongs to a deployment whose secret is not here: restore that as well.`)
  return { state: 'ok', words: `${path} can be read and must belong to the user who starts the service.` }
}

function checkSecret(settings: Settings): DoctorFinding {
  if (settings.ASSAY_SECRET_FILE === '' && !existsSync(places.secret(settings))) return MADE_LATER
  secretOf(settings)
  return { state: 'ok', words: 'The secret of the deployment is readable.' }
}

/** Applies the permission rule that a start enforces. */
function checkPermissions(file: SecretFile): DoctorFinding {
  const fault = permissionFault(file)
  if (fault !== null) return { state: 'failed', words: fault }
  const { setting, path } = file
  return {
    state: 'ok',
    words: existsSync(path) ? `${setting}: only the service can read ${path}.` : `${setting}: ${path} is not there yet.`,
  }
}

async function checkStore(settings: Settings): Promise<DoctorFinding> {
  const target = places.store(settings)
  if (!isPostgres(target) && !existsSync(target)) return MADE_LATER
  const store = await openStore(target)
  try {
    await store.ping()
    if (settings.ASSAY_SECRET_FILE !== '' || existsSync(places.secret(settings)))
      await checkBoundSecret(store, settings, secretOf(settings))
    const found = Object.entries(await store.settings()).map(([name, value]) => `${name} ${value}`)
    const { dead } = await store.webhooks.counts()
    const words = `${store.kind} answers; ${found.join(', ')}.`
    if (dead === 0) return { state: 'ok', words }
    return {
      state: 'warning',
      words: `${words} ${dead} webhook deliveries were given up (dead letters): their subscribers have missed events.`,
    }
  } finally {
    await store.close()
  }
}

async function checkReplication({ ASSAY_STORE, ASSAY_MODE, ASSAY_ASYNC_STANDBY }: Settings): Promise<DoctorFinding> {
  const store = await openStore(ASSAY_STORE)
  try {
    const { state, words } = judgeReplication(await store.replication())
    if (state === 'synchronous') return { state: 'ok', words }
    if (state !== 'asynchronous') return { state: 'warning', words }
    if (ASSAY_ASYNC_STANDBY === 'accept') return { state: 'warning', words: `${words} It is accepted.` }
    return { state: ASSAY_MODE === 'live' ? 'failed' : 'warning', words }
  } finally {
    await store.close()
  }
}

/** A log that the store does not continue; none where no log was begun, and where `store` says that the store cannot be opened. */
async function checkLog(settings: Settings): Promise<DoctorCheck[]> {
  const target = places.store(settings)
  const store = isPostgres(target) || existsSync(target) ? await openStore(target).catch(() => null) : null
  if (store === null) return []
  try {
    const found = await inspectLog(settings, store)
    return found === null ? [] : [{ name: 'log', ...logFinding(found) }]
  } catch (error) {
    return [{ name: 'log', state: 'failed', words: error instanceof Error ? error.message : 'Unknown reason.' }]
  } finally {
    await store.close()
  }
}

function logFinding({ history, head, fault }: LogInspection): DoctorFinding {
  const stop = lastStop(history)?.stop ?? fault
  if (stop !== null) return { state: 'failed', words: `The log is stopped. ${stopWords(stop)} ${RESUME_ADVICE}` }
  const cuts = history.epoch - 1
  const words = `The store continues the published log, with ${entriesText(head?.size ?? 0)}`
  return { state: 'ok', words: cuts === 0 ? `${words}.` : `${words}; ${cuts} earlier ${cuts === 1 ? 'log is' : 'logs are'} retired.` }
}

/** Datasets without a store: those of the release. */
const OF_RELEASE: Pick<DatasetService, 'active' | 'screening' | 'text' | 'feeds'> = {
  active: () => [],
  screening: bundledScreening,
  text: () => Promise.resolve(null),
  feeds: () => [],
}

/** Ages of the datasets from which a start answers: those of the release, and newer ones that feeds and imports brought into the store. */
async function checkDatasets(settings: Settings): Promise<DoctorCheck[]> {
  const target = places.store(settings)
  let opened: Awaited<ReturnType<typeof openStore>> | null = null
  try {
    opened = isPostgres(target) || existsSync(target) ? await openStore(target) : null
    const { log } = createLog('silent', systemClock)
    const service = opened && createDatasetService({ store: opened.datasets, clock: systemClock, log, bind: bindTables })
    await service?.refresh()
    const source = service ?? OF_RELEASE
    const described = describeDatasets(source, () => systemClock.now_ms())
    return [...described.list().map(datasetCheck), { name: 'lists', ...listsFinding(settings, described.ages(), source.feeds()) }]
  } catch (error) {
    const words = error instanceof Error ? error.message : 'Unknown reason.'
    return [{ name: 'data', state: 'failed', words: `The ages of datasets cannot be read from the store: ${words}` }]
  } finally {
    await opened?.close()
  }
}

type DatasetDescriptions = ReturnType<typeof describeDatasets>

function datasetCheck({
  id,
  published_at,
  compiled_at,
  retrieved_at,
  origin,
  pinned,
  age_days,
  limit_days,
}: ReturnType<DatasetDescriptions['list']>[number]): DoctorCheck {
  const dates = published_at === null ? `compiled by hand ${compiled_at ?? ''}` : `published ${published_at}`
  const from = origin === 'store' ? (pinned ? ', pinned in the store' : ', from the store') : ''
  const words = `${id}: ${dates}, retrieved ${retrieved_at}${from}, ${age_days} of ${limit_days} days old.`
  return age_days <= limit_days
    ? { name: 'data', state: 'ok', words }
    : { name: 'data', state: 'warning', words: `${words} ${refreshAdvice(id)}` }
}

function listsFinding(
  { ASSAY_MODE, ASSAY_DATA_FEEDS }: Settings,
  ages: ReturnType<DatasetDescriptions['ages']>,
  feeds: readonly FeedState[],
): DoctorFinding {
  const words = ages.map(({ id, published_at, age_days, limit_days, state, refresh }) => {
    const text = `${id}: published ${published_at}, ${age_days} of ${limit_days} days old`
    if (refresh === null) return `${text}.`
    const effect = state === 'old' ? 'live clean answers from it are refused' : 'live clean answers from it will soon be refused'
    return `${text}; ${effect}. ${refresh}`
  })
  const bad = feeds.filter(({ outcome }) => outcome === 'failed' || outcome === 'refused')
  for (const { feed, detail } of bad) words.push(`Feed ${feed} was not accepted: ${detail}`)
  const off = ASSAY_MODE === 'live' && ASSAY_DATA_FEEDS === 'off'
  if (off) words.push('ASSAY_DATA_FEEDS is off, so only imports refresh the lists.')
  const good = !off && bad.length === 0 && ages.every(({ state }) => state === 'fresh')
  return { state: good ? 'ok' : 'warning', words: words.join(' ') }
}

/** The examples of the tools; a register that has no such record answers nevertheless. */
const REGISTER_SAMPLES: Readonly<Record<RegisterId, RegisterNumber>> = {
  vies: { country: 'BE', number: '0428759497' },
  gleif: { country: '', number: '5493001KJTIIGC8Y1R12' },
  'companies-house': { country: '', number: 'SC045551' },
}

/** Asks each live register once. One that does not answer fails no call. */
async function checkRegisters(settings: Settings): Promise<DoctorCheck[]> {
  if (settings.ASSAY_REGISTERS.length === 0) return []
  return Promise.all(
    settings.ASSAY_REGISTERS.map((id) => runCheck('register', () => checkRegister({ ...settings, ASSAY_REGISTERS: [id] }))),
  )
}

async function checkRegister(settings: Settings): Promise<DoctorFinding> {
  const [reader] = registerReaders(settings)
  if (reader === undefined) throw new StartError('No register is on.')
  const reading = await reader.read(REGISTER_SAMPLES[reader.id], AbortSignal.timeout(registerLimits.lookup_ms))
  if (reading.kind !== 'not_reached') return { state: 'ok', words: `${reader.id} answers.` }
  const words = `${reader.id} was not reached (${reading.fault}); calls are answered without it until it is.`
  return { state: 'warning', words: reading.fault === 'not_authorized' ? `${words} Replace the key in its file.` : words }
}

const ORIGINS = ['ASSAY_BASE_URL', 'ASSAY_API_URL', 'ASSAY_SITE_URL', 'ASSAY_MCP_URL'] as const

/** Public documents contain the origin, so it must be reachable from outside. */
function checkOrigins(settings: Settings): DoctorCheck {
  const own = localOrigin(settings.ASSAY_HOST, settings.ASSAY_PORT)
  const local = ORIGINS.filter((name) => isLoopback(new URL(settings[name] || own).hostname.replace(/^\[|\]$/g, '')))
  if (local.length === 0) return { name: 'origins', state: 'ok', words: 'The public origins name other machines than this one.' }
  const words = `${local.join(', ')}: the origin names this machine, so it cannot be reached from outside; set the public https origin.`
  return { name: 'origins', state: 'warning', words }
}

function checkAdminPort({ ASSAY_ADMIN_PORT, ASSAY_ADMIN_HOST }: Settings): Promise<DoctorCheck> {
  return checkPort('admin port', Number(ASSAY_ADMIN_PORT), ASSAY_ADMIN_HOST, 'ASSAY_ADMIN_PORT', 'ASSAY_ADMIN_HOST')
}

function checkPort(name: string, port: number, host: string, port_setting: string, host_setting: string): Promise<DoctorCheck> {
  const place = `Port ${port} on ${host}`
  const found = (state: DoctorCheck['state'], words: string): DoctorCheck => ({ name, state, words: `${place} ${words}` })
  return new Promise((done) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EADDRINUSE') done(found('warning', `is taken; that is right if this service runs, else set ${port_setting}.`))
      else done(found('failed', `cannot be opened (${code ?? 'unknown reason'}); set ${host_setting} or ${port_setting}.`))
    })
    server.listen(port, host, () => server.close(() => done(found('ok', 'is free.'))))
  })
}
