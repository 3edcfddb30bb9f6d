import { open, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { readFeedFile } from '../adapters/feeds/reader.ts'
import { createLog } from '../adapters/log/pino.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { describeDatasets, feedReader } from '../assembly/reference-tables.ts'
import type { DatasetStore } from '../ports/datasets.ts'
import { datasetDefinition, datasetOf, DATASET_IDS, type DatasetId } from '../pure/datasets/datasets.ts'
import { compareSnapshots, readSnapshot, updateFault } from '../pure/datasets/definition.ts'
import { dataDate } from '../pure/datasets/table.ts'
import { FEED_NAMES, FEEDS, type FeedName } from '../pure/datasets/feeds.ts'
import {
  createDatasetService,
  type DatasetService,
  describeOffer,
  readFeed,
  type UpdateBounds,
} from '../service/datasets/dataset-service.ts'
import { datasetLimits } from '../service/limits.ts'
import type { Invocation } from './commands.ts'
import { markMode, readEnvironment, withLedger } from './deployment.ts'
import { CliError, type Exit, unknownName } from './errors.ts'
import { printable, say, table, terminalWidth, wantsJson } from './terminal.ts'

const ACTIONS = ['status', 'refresh', 'import', 'accept', 'diff', 'pin', 'unpin'] as const
type Action = (typeof ACTIONS)[number]
const ARGUMENTS: Readonly<Record<Action, string | null>> = {
  status: null,
  refresh: null,
  import: 'a file: the document of a publisher that a feed reads, or a snapshot such as a file of data/ or of GET /v1/datasets/{sha256}',
  accept:
    'a file that "assay data import" refused because of the number of rows that it removes or changes, after you compared it with "assay data diff"',
  diff: 'a file or the SHA-256 of a stored snapshot',
  pin: 'the SHA-256 of a stored snapshot',
  unpin: 'a dataset, such as ofac_addresses',
}

interface Desk {
  store: DatasetStore
  service: DatasetService
  json: boolean
}

/** `assay data status | refresh | import | accept | diff | pin | unpin`: reference data of this deployment that is newer than the release. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [word = 'status', argument] = invocation.words
  const action = ACTIONS.find((known) => known === word)
  if (action === undefined) throw unknownName('action', word, ACTIONS, `The actions are ${ACTIONS.join(', ')}.`)
  const expected = ARGUMENTS[action]
  if (expected === null && argument !== undefined) throw new CliError('usage', `${action} takes no argument.`)
  if (expected !== null && argument === undefined) throw new CliError('usage', `${action} takes ${expected}.`)
  const settings = readEnvironment()
  markMode(settings)
  return withLedger<Exit>(settings, async ({ store: { datasets: store } }) => {
    const { log } = createLog('silent', systemClock)
    const service = createDatasetService({ store, clock: systemClock, log })
    await service.refresh()
    const desk = { store, service, json: wantsJson(invocation) }
    switch (action) {
      case 'status':
        return showStatus(desk)
      case 'refresh': {
        const { reader } = feedReader(settings)
        const states = []
        for (const feed of FEED_NAMES) {
          const state = await readFeed({ store, service, reader, clock: systemClock, log }, feed)
          if (state !== null) states.push(state)
        }
        if (desk.json) say(JSON.stringify({ feeds: states }))
        else for (const { feed, outcome, detail } of states) say(`${feed}: ${outcome}. ${printable(detail)}`)
        return states.some(({ outcome }) => outcome === 'failed' || outcome === 'refused') ? 'negative' : 'ok'
      }
      case 'import':
        return importFile(desk, argument ?? '', 'checked')
      case 'accept':
        return importFile(desk, argument ?? '', 'accepted')
      case 'diff':
        return showDifference(desk, argument ?? '')
      case 'pin':
        return pin(desk, argument ?? '')
      case 'unpin':
        return unpin(desk, argument ?? '')
    }
  })
}

async function showStatus({ store, service, json }: Desk): Promise<Exit> {
  const datasets = describeDatasets(service, () => systemClock.now_ms()).list()
  const [feeds, stored] = await Promise.all([store.feeds(), store.snapshots(datasetLimits.listed)])
  if (json) {
    say(JSON.stringify({ datasets, feeds, stored }))
    return 'ok'
  }
  const rows = datasets.map(({ id, published_at, compiled_at, age_days, limit_days, rows: count, origin, pinned, sha256 }) => [
    id,
    published_at ?? `compiled ${compiled_at ?? ''}`,
    `${age_days} of ${limit_days} days`,
    `${count} rows`,
    pinned ? 'pinned' : origin,
    sha256.slice(0, 12),
  ])
  say(table([['dataset', 'date', 'age', 'size', 'origin', 'sha256'], ...rows], terminalWidth()).join('\n'))
  for (const { feed, outcome, detail, read_ms } of feeds)
    say(`feed ${feed}: ${outcome}, ${new Date(read_ms).toISOString()}. ${printable(detail)}`)
  for (const { dataset, sha256, published_at, rows: count } of stored) say(`stored ${dataset} ${published_at}: ${count} rows, ${sha256}`)
  return 'ok'
}

/** A snapshot and the dataset to which it belongs. */
interface OfferedSnapshot {
  id: DatasetId
  text: string
}

/** Snapshots in a file: one of our own JSON files, or a publisher's document. */
async function snapshotsIn(path: string): Promise<OfferedSnapshot[]> {
  const found = await stat(path).catch(() => null)
  if (found === null || !found.isFile()) throw new CliError('no_input', `There is no file ${printable(path)}.`)
  const whole = FEED_NAMES.find((name) => FEEDS[name].format !== 'xml' && FEEDS[name].file === basename(path))
  if (!/\.xml$/i.test(path) && whole === undefined) {
    if (found.size > datasetLimits.snapshot_bytes)
      throw new CliError('data', `${printable(path)} is larger than ${datasetLimits.snapshot_bytes} bytes.`)
    return [ownSnapshot(await readFile(path, 'utf8'), printable(path))]
  }
  const today = new Date(systemClock.now_ms()).toISOString().slice(0, 10)
  const read = await readFeedFile(whole ?? (await feedOfFile(path)), path, today)
  if (read.kind === 'failed') throw new CliError('data', `${printable(path)}: ${read.reason}`)
  return read.kind === 'read' ? read.snapshots.map(({ dataset, text }) => ({ id: dataset as DatasetId, text })) : []
}

const HEAD_BYTES = 4_096

/** The root element says whose document it is. */
async function feedOfFile(path: string): Promise<FeedName> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    const root = /<([A-Za-z_][\w.-]*)[\s>]/.exec(buffer.toString('utf8', 0, bytesRead))?.[1]
    const feed = FEED_NAMES.find((name) => FEEDS[name].root === root)
    if (feed !== undefined) return feed
    const expected = FEED_NAMES.filter((name) => FEEDS[name].format === 'xml')
      .map((name) => `<${FEEDS[name].root}> (${FEEDS[name].file})`)
      .join(', ')
    throw new CliError('data', `${printable(path)} begins with <${printable(root ?? '')}>; expected one of ${expected}.`)
  } finally {
    await file.close()
  }
}

/** The schema of a snapshot says to which dataset it belongs. */
function ownSnapshot(text: string, name: string): OfferedSnapshot {
  const id = datasetOf(text)
  if (id !== null) return { id, text }
  const expected = DATASET_IDS.map((one) => datasetDefinition(one).schema).join(', ')
  throw new CliError('data', `${name} is not a snapshot; expected a JSON object that begins with "schema" and one of ${expected}.`)
}

async function importFile({ service, json }: Desk, path: string, bounds: UpdateBounds): Promise<Exit> {
  const offers = []
  for (const { id, text } of await snapshotsIn(path)) offers.push({ dataset: id, ...(await service.offer(id, text, bounds)) })
  if (json) say(JSON.stringify({ offers }))
  else for (const offer of offers) say(`${offer.dataset}: ${describeOffer(offer)}`)
  return offers.some(({ kind }) => kind === 'refused') ? 'negative' : 'ok'
}

const SHA256 = /^[0-9a-f]{64}$/

async function storedSnapshot({ service }: Desk, sha256: string): Promise<OfferedSnapshot> {
  const text = SHA256.test(sha256) ? await service.text(sha256) : null
  if (text === null) throw new CliError('no_input', `The store has no snapshot ${printable(sha256)}; "assay data status" lists them.`)
  return ownSnapshot(text, sha256)
}

const SHOWN = 20

async function showDifference(desk: Desk, argument: string): Promise<Exit> {
  const offered = SHA256.test(argument) ? [await storedSnapshot(desk, argument)] : await snapshotsIn(argument)
  const differences = offered.map(({ id, text }) => {
    const definition = datasetDefinition(id)
    const found = readSnapshot(definition, text, '9999-12-31')
    if (!found.ok) throw new CliError('data', found.reason)
    const before = desk.service.active().find((active) => active.id === id)
    const difference = compareSnapshots(definition, before?.snapshot ?? null, found.snapshot)
    const fault = before === undefined ? null : updateFault(definition, before.snapshot, found.snapshot, difference)
    return { id, before, offered: dataDate(found.snapshot), difference, fault }
  })
  if (desk.json) {
    const members = differences.map(({ id, before, difference, fault }) => ({
      dataset: id,
      active: before?.sha256 ?? null,
      ...difference,
      refused: fault,
    }))
    say(JSON.stringify({ differences: members }))
    return 'ok'
  }
  for (const { id, before, offered: date, difference, fault } of differences) {
    const active = before === undefined ? 'none is active' : `active since ${dataDate(before.snapshot)}`
    say(`${id}: ${active}, offered ${date}.`)
    for (const [word, keys] of Object.entries(difference)) {
      const more = keys.length > SHOWN ? ` and ${keys.length - SHOWN} more` : ''
      say(`${word} ${keys.length}${keys.length === 0 ? '' : `: ${keys.slice(0, SHOWN).map(printable).join(', ')}${more}`}`)
    }
    if (fault !== null) say(`It would be refused. ${fault}`)
  }
  return 'ok'
}

async function pin(desk: Desk, sha256: string): Promise<Exit> {
  const { id } = await storedSnapshot(desk, sha256)
  await desk.store.activate({ dataset: id, sha256, pinned: true, activated_ms: systemClock.now_ms() })
  say(
    desk.json
      ? JSON.stringify({ dataset: id, sha256, pinned: true })
      : `${id} is pinned to ${sha256}; running services use it within 10 s.`,
  )
  return 'ok'
}

async function unpin(desk: Desk, dataset: string): Promise<Exit> {
  const chosen = (await desk.store.active()).find((active) => active.dataset === dataset)
  if (chosen === undefined) throw new CliError('no_input', `No snapshot of ${printable(dataset)} is active in the store.`)
  // Feeds may have stored newer snapshots meanwhile.
  const known = (await desk.store.snapshots(datasetLimits.listed)).filter((snapshot) => snapshot.dataset === dataset)
  const newest = known.toSorted((one, other) => (one.published_at < other.published_at ? 1 : -1))[0]
  const sha256 = newest?.sha256 ?? chosen.sha256
  await desk.store.activate({ dataset, sha256, pinned: false, activated_ms: systemClock.now_ms() })
  say(desk.json ? JSON.stringify({ dataset, sha256, pinned: false }) : `${dataset} uses ${sha256}; feeds replace it again.`)
  return 'ok'
}
