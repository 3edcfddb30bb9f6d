import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../adapters/clock/system.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import type { ReceiptCrypto } from '../pure/receipts/crypto.ts'
import { BUNDLED_ADDRESSES, createScreening, type Screening } from '../pure/checks/ofac.ts'
import { dataDate, datasetDate } from '../pure/datasets/table.ts'
import { bindTables, datasetDefinition, datasetOf, TABLE_IDS, TABLES, type BoundTable, type DatasetId } from '../pure/datasets/datasets.ts'
import { readSnapshot, snapshotHash, type Snapshot } from '../pure/datasets/definition.ts'
import type { OfacRow } from '../pure/datasets/sanctions-lists.ts'
import { isObject } from '../pure/is-object.ts'
import { datasetLimits, REGISTER_IDS } from '../service/limits.ts'
import { valueHash } from '../pure/receipts/receipt.ts'
import { verifyReceipt } from '../pure/receipts/verify.ts'
import { decodeInput } from '../service/catalogue/decode.ts'
import type { SourceName, Tool } from '../service/catalogue/define.ts'
import { loadCatalogue } from '../service/catalogue/load.ts'
import { NAMES_ANSWER } from '../service/catalogue/schemas.ts'
import { type NameSource, noNameScreening, statedNames } from '../service/catalogue/names.ts'
import { registerAnswerIn, resultWithRegister, withRegisters } from '../service/registers.ts'
import type { Invocation } from './commands.ts'
import { localSources } from './deployment.ts'
import { CliError, type Exit } from './errors.ts'
import { readJsonFile, readReceipt, type ReceiptFile } from './input.ts'
import { outcomeMark, paint, printable, say, wantsJson } from './terminal.ts'

/** Outcomes of a replay of the same tool in the same version. */
const OUTCOMES = {
  agrees: { exit: 'ok', reason: 'The tool gives the result that the receipt covers.' },
  agrees_offline: {
    exit: 'ok',
    reason:
      'The tool gives the offline result that the receipt covers. The answer of the live register or screening engine in it is as it was signed: it cannot be asked for again.',
  },
  output_differs: { exit: 'negative', reason: 'The tool gives another result than the one that the receipt covers.' },
  input_differs: { exit: 'negative', reason: 'The input is not the one that the receipt covers.' },
  receipt_invalid: { exit: 'negative', reason: 'The receipt does not verify, so there is nothing to compare with.' },
  other_version: {
    exit: 'undecided',
    reason: 'The tool is here in another version than the receipt names, so its result may rightly differ.',
  },
  not_reproducible: {
    exit: 'undecided',
    reason: 'The tool reads what changes, such as a chain, prices or kept records, so its result cannot be found again.',
  },
  time_unknown: {
    exit: 'undecided',
    reason: 'The result says when it was made, to the millisecond. A receipt alone does not: give the whole answer, as it came.',
  },
  dataset_missing: {
    exit: 'undecided',
    reason:
      'The result relies on a dataset that is not part of this release. Download it from the issuer, GET /v1/datasets/{sha256} with the 12 digits ' +
      'behind sha256: in data_as_of, and give the file, or a folder of such files, with --dataset.',
  },
  unknown_tool: { exit: 'undecided', reason: 'The tool that the receipt names is not here.' },
} as const satisfies Record<string, { exit: Exit; reason: string }>

interface Replayed {
  outcome: keyof typeof OUTCOMES
  tool: string
  /** Version in the receipt and version here. */
  tool_version: string
  version_here: string | null
  output_hash: string
  /** Null if the tool was not run. */
  output_hash_here: string | null
  /** Given datasets from which the result was not given, each with what the answer names instead. */
  datasets_not_used: { id: DatasetId; given: string; answer_names: string | null }[]
}

/** Signed fields that a replay uses; text after the receipt was verified. */
interface SignedCall {
  tool: string
  tool_version: string
  input_hash: string
  output_hash: string
  ts: number
}

/** `assay replay receipt.json input.json`. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [receipt_name, input_name] = invocation.words
  if (receipt_name === undefined || input_name === undefined) throw new CliError('usage', 'Name two files: the receipt, then the input.')
  if (receipt_name === '-' && input_name === '-') throw new CliError('usage', 'Only one file can come from standard input.')
  const file = await readReceipt(receipt_name)
  const dataset_name = invocation.text('dataset')
  const datasets = dataset_name === null ? [] : await readDatasets(dataset_name)
  const replayed = await replay(file, await readJsonFile(input_name), datasets)
  const { reason, exit } = OUTCOMES[replayed.outcome]
  if (wantsJson(invocation)) say(JSON.stringify({ agrees: exit === 'undecided' ? null : exit === 'ok', ...replayed, reason }))
  else say(render(replayed))
  return exit
}

/** Replays one answer of which the receipt is valid. `datasets` are texts; those of tables that come with the release are not needed. */
export async function replayAnswer(file: ReceiptFile, input: unknown, datasets: readonly string[]) {
  const given = datasets.flatMap((text) => {
    const read = datasetIn(text)
    return read?.ok === true ? [read.dataset] : []
  })
  const replayed = await replay(file, input, given)
  return { ...replayed, ...OUTCOMES[replayed.outcome] }
}

async function replay(file: ReceiptFile, given: unknown, datasets: readonly GivenDataset[]): Promise<Replayed> {
  const [{ crypto }, catalogue] = await Promise.all([chooseSigning(), loadCatalogue().then((tools) => withRegisters(tools, REGISTER_IDS))])
  const signed = file.receipt as SignedCall
  const found = (outcome: Replayed['outcome'], here: Partial<Replayed> = {}): Replayed => {
    const { tool, tool_version, output_hash } = signed
    const datasets_not_used = notUsed(statedResult(file, signed.output_hash, crypto), datasets)
    return { outcome, tool, tool_version, version_here: null, output_hash, output_hash_here: null, datasets_not_used, ...here }
  }
  if (!verifyReceipt(signed, undefined, crypto).valid)
    throw new CliError('negative', OUTCOMES.receipt_invalid.reason, ['"assay verify" says why.'])
  const tool = catalogue.find(signed.tool)
  if (tool === undefined) return found('unknown_tool')
  const version_here = tool.version
  if (version_here !== signed.tool_version) return found('other_version', { version_here })
  const input = coveredInput(tool, given, signed.input_hash, crypto)
  if (input === null) return found('input_differs', { version_here })
  if (!tool.sources.every((name) => REPEATABLE.has(name))) return found('not_reproducible', { version_here })
  const stated = statedResult(file, signed.output_hash, crypto)
  const register = input['register'] === true ? registerAnswerIn(stated) : null
  if (input['register'] === true && register === null) return found('not_reproducible', { version_here })
  const told_ms = statedTime(stated)
  const clock = { ...systemClock, now_ms: () => told_ms ?? signed.ts * 1_000 }
  const local = localSources(catalogue, null)
  const lists = tool.sources.includes('screening') ? listsOf(stated, datasets) : local.screening.active()
  if (lists === null) return found('dataset_missing', { version_here })
  const tables = tablesOf(stated, datasets)
  if (tables === null) return found('dataset_missing', { version_here })
  const screening = { ...local.screening, active: () => lists }
  // The answer of a screening engine is as it was signed: it cannot be asked for again.
  const names = statedNamesOf(stated)
  const offline = await withTables(tables, () => tool.execute(input, { ...local, clock, screening, names }))
  const result = register === null ? offline : resultWithRegister(tool, offline, register)
  const output_hash_here = valueHash(result, crypto)
  if (output_hash_here === signed.output_hash.toLowerCase())
    return found(register === null && !screenedOutside(stated) ? 'agrees' : 'agrees_offline', { version_here, output_hash_here })
  const timeless = told_ms === null && tool.sources.includes('clock')
  return found(timeless ? 'time_unknown' : 'output_differs', { version_here, output_hash_here })
}

/** Sources that return the same values again; the clock is set to the time of the call. */
const REPEATABLE: ReadonlySet<SourceName> = new Set<SourceName>(['clock', 'crypto', 'catalogue', 'screening', 'schemas', 'names'])

/** Input that the receipt covers: as given, or under the key `input` as in a call body. */
function coveredInput(tool: Tool, given: unknown, input_hash: string, crypto: ReceiptCrypto): Record<string, unknown> | null {
  const wrapped = typeof given === 'object' && given !== null && 'input' in given ? [given.input] : []
  for (const candidate of [given, ...wrapped]) {
    const decoded = decodeInput(tool, candidate)
    if (decoded.ok && valueHash(decoded.input, crypto) === input_hash.toLowerCase()) return decoded.input
  }
  return null
}

/** Returns whether a stated result contains the answer of a screening engine. */
function screenedOutside(stated: Record<string, unknown> | null): boolean {
  const names = stated?.['names']
  return isObject(names) && names['engine'] !== null
}

/** The screening of a name in a stated result. */
function statedNamesOf(stated: Record<string, unknown> | null): NameSource {
  const read = NAMES_ANSWER.safeParse(stated?.['names'])
  return read.success && read.data !== null ? statedNames(read.data) : noNameScreening
}

/** Result that the receipt covers; null if the file has none. */
function statedResult({ result }: ReceiptFile, output_hash: string, crypto: ReceiptCrypto): Record<string, unknown> | null {
  return isObject(result) && valueHash(result, crypto) === output_hash.toLowerCase() ? result : null
}

/** Time of the call as a covered result states it; null if there is no such result or it contains no time. */
function statedTime(stated: Record<string, unknown> | null): number | null {
  const evaluated_at = stated?.['evaluated_at']
  const told_ms = typeof evaluated_at === 'string' ? Date.parse(evaluated_at) : NaN
  return Number.isNaN(told_ms) ? null : told_ms
}

/** Lists from which the result was given: those of this release and of the given files; null if it names others. */
function listsOf(result: Record<string, unknown> | null, datasets: readonly GivenDataset[]): Screening | null {
  const data_as_of = result?.['data_as_of']
  const stated = isObject(data_as_of) ? data_as_of : {}
  const bundled = { id: 'ofac_addresses' as const, snapshot: BUNDLED_ADDRESSES, sha256: snapshotHash(BUNDLED_ADDRESSES) }
  const isStated = ({ snapshot, sha256 }: Omit<GivenDataset, 'id'>) =>
    stated['ofac_addresses'] === undefined || datasetDate(dataDate(snapshot), sha256) === stated['ofac_addresses']
  const addresses = [...datasets.filter(({ id }) => id === 'ofac_addresses'), bundled].find(isStated)
  return addresses === undefined ? null : createScreening(addresses.snapshot as Snapshot<OfacRow>, addresses.sha256)
}

/** Dates that a result states for its datasets; those of a batch are in its items. */
function statedDates(result: Record<string, unknown> | null): Record<string, unknown> {
  const items = Array.isArray(result?.['results']) ? result['results'] : []
  const parts = [...items.map((item: unknown) => (isObject(item) ? item['result'] : null)), result]
  return Object.assign({}, ...parts.map((part) => (isObject(part) && isObject(part['data_as_of']) ? part['data_as_of'] : {})))
}

/** Given tables from which the result was given; null if it names one that is neither given nor of this release. */
function tablesOf(result: Record<string, unknown> | null, datasets: readonly GivenDataset[]): BoundTable[] | null {
  const stated = statedDates(result)
  const tables: BoundTable[] = []
  for (const id of TABLE_IDS) {
    // Answers of earlier versions state a date only.
    const date = stated[id]
    if (typeof date !== 'string' || !/ sha256:[0-9a-f]{12}$/.test(date) || date === TABLES[id].date()) continue
    const found = datasets.find((one) => one.id === id && datasetDate(dataDate(one.snapshot), one.sha256) === date)
    if (found === undefined) return null
    tables.push({ id, snapshot: found.snapshot, sha256: found.sha256 })
  }
  return tables
}

/** Given datasets that the answer does not name: the result was not given from them, and neither was the replay. */
function notUsed(result: Record<string, unknown> | null, datasets: readonly GivenDataset[]): Replayed['datasets_not_used'] {
  const named = statedDates(result)
  return datasets.flatMap(({ id, snapshot, sha256 }) => {
    const given = datasetDate(dataDate(snapshot), sha256)
    const stated = named[id]
    return stated === given ? [] : [{ id, given, answer_names: typeof stated === 'string' ? stated : null }]
  })
}

async function withTables<Result>(tables: readonly BoundTable[], work: () => Result): Promise<Awaited<Result>> {
  const before = bindTables(tables)
  try {
    return await work()
  } finally {
    bindTables(before)
  }
}

interface GivenDataset {
  id: DatasetId
  snapshot: Snapshot
  sha256: string
}

/** Most files of a folder with datasets. */
const DATASET_FILES_MAX = 24

/** A downloaded dataset, or the JSON files of a folder. */
async function readDatasets(name: string): Promise<GivenDataset[]> {
  const found = await stat(name).catch(() => null)
  if (found?.isDirectory() !== true) return [await readDataset(name)]
  const files = (await readdir(name)).filter((file) => file.endsWith('.json')).toSorted()
  if (files.length > DATASET_FILES_MAX)
    throw new CliError('data', `${printable(name)} has ${files.length} JSON files; at most ${DATASET_FILES_MAX} are read.`)
  const datasets: GivenDataset[] = []
  for (const file of files) datasets.push(await readDataset(join(name, file)))
  return datasets
}

async function readDataset(name: string): Promise<GivenDataset> {
  const found = await stat(name).catch(() => null)
  if (found === null || !found.isFile()) throw new CliError('no_input', `There is no file ${printable(name)}.`)
  if (found.size > datasetLimits.snapshot_bytes)
    throw new CliError('data', `${printable(name)} is larger than ${datasetLimits.snapshot_bytes} bytes.`)
  const read = datasetIn(await readFile(name, 'utf8'))
  if (read === null) throw new CliError('data', `${printable(name)} is not a dataset; expected a file from GET /v1/datasets/{sha256}.`)
  if (!read.ok) throw new CliError('data', `${printable(name)}: ${read.reason}`)
  return read.dataset
}

/** Dataset that can be replaced while a service runs; null for any other text. */
function datasetIn(text: string): { ok: true; dataset: GivenDataset } | { ok: false; reason: string } | null {
  const id = datasetOf(text)
  if (id === null) return null
  const read = readSnapshot(datasetDefinition(id), text, '9999-12-31')
  return read.ok ? { ok: true, dataset: { id, snapshot: read.snapshot, sha256: snapshotHash(read.snapshot) } } : read
}

function render({ outcome, tool, tool_version, version_here, output_hash, output_hash_here, datasets_not_used }: Replayed): string {
  const { exit, reason } = OUTCOMES[outcome]
  const mark =
    exit === 'undecided' ? paint('unverifiable', '◐ cannot be judged') : outcomeMark(exit === 'ok', exit === 'ok' ? 'agrees' : 'disagrees')
  const versions = outcome === 'other_version' ? [`receipt ${printable(tool_version)}, here ${version_here ?? ''}`] : []
  const hashes = outcome === 'output_differs' ? [`receipt ${output_hash}`, `here    ${output_hash_here ?? ''}`] : []
  const unused = datasets_not_used.map(({ id, given, answer_names }) => {
    const named = answer_names === null ? 'the answer file names no such table' : `the answer names ${printable(answer_names)}`
    return `--dataset ${id} ${given} was not used: ${named}.`
  })
  return [`${mark}  ${printable(`${tool} ${tool_version}`)}`, reason, ...versions, ...hashes, ...unused].join('\n')
}
