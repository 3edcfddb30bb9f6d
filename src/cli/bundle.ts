import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { systemClock } from '../adapters/clock/system.ts'
import {
  BUNDLE_ENTRIES_MAX,
  BUNDLE_FORMAT,
  BUNDLE_LIMITS,
  BUNDLE_VERSION,
  namedDatasets,
  readBundle,
  type AuditBundle,
  type BundledAnswer,
  type BundledDataset,
  type BundledLog,
} from '../pure/audit/bundle.ts'
import { bundleManifest, entryOf, isNamed, verifyBundle, type AuditorKeys, type BundleReport } from '../pure/audit/verify-bundle.ts'
import { isObject, jsonObject } from '../pure/is-object.ts'
import { readCheckpoint, readNote } from '../pure/log/checkpoint.ts'
import { readBounded } from '../pure/read-bounded.ts'
import { resultIn, linkIn } from '../pure/receipts/chain.ts'
import { valueHash } from '../pure/receipts/receipt.ts'
import { verifyReceipt } from '../pure/receipts/verify.ts'
import { datasetLimits, LOG_RULES } from '../service/limits.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit } from './errors.ts'
import { readJsonDocuments, readTextFile } from './input.ts'
import { printable, remark, say, headlineMark, paint, table, terminalWidth, wantsJson, wrap } from './terminal.ts'
import { referenceTableHashes } from '../assembly/reference-tables.ts'
import { serviceUrl } from './remote.ts'
import { replayAnswer } from './replay.ts'

/** `assay bundle`: puts answers, inputs and what the service proves about them into one file that verifies offline. */
export async function run(invocation: Invocation): Promise<Exit> {
  const origin = serviceUrl(invocation)
  const answers = await readAnswers(invocation.words)
  const inputs = invocation.text('inputs')
  if (inputs !== null) await addInputs(answers, inputs)
  const earlier = await readEarlier(invocation.text('checkpoint'))
  const datasets = await fetchDatasets(origin, answers, !invocation.flag('without-datasets'))
  const part = await fetchPart(origin, answers, datasets, earlier?.size ?? null)
  const log = part.log === null || earlier === null ? part.log : { ...part.log, earlier_checkpoint: earlier.text }
  const unsealed = { ...part, answers, log, datasets }
  const bundle: AuditBundle = { ...unsealed, manifest: bundleManifest(unsealed) }
  const text = bundleText(bundle)
  const bytes = Buffer.byteLength(text)
  if (bytes > BUNDLE_LIMITS.bytes)
    throw new CliError(
      'data',
      `The bundle has ${bytes} bytes; at most ${BUNDLE_LIMITS.bytes} are read. Give fewer answers, or --without-datasets.`,
    )
  const out = invocation.text('out')
  if (out === null) say(text)
  else await writeFile(out, `${text}\n`)
  return reportBundle(bundle)
}

/** JSON with one member, and one answer, per line. */
function bundleText({ answers, ...others }: AuditBundle): string {
  const listed = answers.map((one) => JSON.stringify(one)).join(',\n')
  const members = Object.entries(others).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  return `{\n${[...members, `"answers":[\n${listed}\n]`].join(',\n')}\n}`
}

/** Verifies the new bundle with its own keys, so that a fault is seen where it can still be corrected. */
function reportBundle(bundle: AuditBundle): Exit {
  const { outcome, checks } = verifyBundle(bundle)
  const found = checks.filter(({ state, kind }) => state === 'failed' || (state === 'not_checked' && kind !== 'keys' && kind !== 'log_key'))
  for (const { pointer, message } of found) remark(`assay: ${printable(pointer)}: ${printable(message)}`)
  const { length } = bundle.answers
  remark(
    `assay: bundle of ${length === 1 ? 'one answer' : `${length} answers`} of ${printable(bundle.service)}. Verify it with "assay verify".`,
  )
  return outcome === 'failed' ? 'negative' : 'ok'
}

async function readAnswers(names: readonly string[]): Promise<BundledAnswer[]> {
  if (names.length === 0) throw new CliError('usage', 'Name at least one file with answers or receipts, or - for standard input.')
  if (names.filter((name) => name === '-').length > 1)
    throw new CliError('usage', 'Only one file can be read from standard input. Use - once.')
  const answers = new Map<string, BundledAnswer>()
  for (const name of names) {
    let number = 0
    for await (const document of readJsonDocuments(name)) {
      number++
      const answer = answerIn(document)
      if (answer === null)
        throw new CliError(
          'data',
          `${printable(name)}, document ${number}: expected a receipt, an answer with a receipt, or {"input":…,"answer":…}.`,
        )
      const key = JSON.stringify(answer.answer['receipt'])
      if (answers.has(key)) remark(`assay: ${printable(name)}, document ${number}: this receipt was given before and is left out.`)
      else answers.set(key, answer)
      if (answers.size > BUNDLE_LIMITS.answers)
        throw new CliError('data', `There are more than ${BUNDLE_LIMITS.answers} answers; make several bundles.`)
    }
  }
  if (answers.size === 0) throw new CliError('data', 'The files contain no receipt.')
  return [...answers.values()]
}

/** A pair of input and answer, an answer, or a bare receipt; null for anything else. */
function answerIn(document: unknown): BundledAnswer | null {
  if (!isObject(document)) return null
  const { answer, receipt, input } = document
  if (isObject(answer) && isObject(answer['receipt'])) return input === undefined ? { answer } : withInput({ answer }, input)
  if (isObject(receipt)) return { answer: document }
  return typeof document['signature'] === 'string' && typeof document['input_hash'] === 'string' ? { answer: { receipt: document } } : null
}

/** Adds the input that the receipt covers: as given, or under `input` as in a call body. An input that it does not cover is added as it is. */
function withInput(one: BundledAnswer, given: unknown): BundledAnswer {
  const covered = coveredInput(one, given)
  return { input: covered === undefined ? given : covered, answer: one.answer }
}

function coveredInput({ answer }: BundledAnswer, given: unknown): unknown {
  const input_hash = isObject(answer['receipt']) ? answer['receipt']['input_hash'] : null
  const candidates = isObject(given) && Object.hasOwn(given, 'input') ? [given, given['input']] : [given]
  return candidates.find((candidate) => valueHash(candidate) === input_hash)
}

/** Gives each input to the receipts that cover it, in any order. */
async function addInputs(answers: BundledAnswer[], name: string): Promise<void> {
  let number = 0
  for await (const given of readJsonDocuments(name)) {
    number++
    if (number > BUNDLE_LIMITS.answers) throw new CliError('data', `${printable(name)} has more than ${BUNDLE_LIMITS.answers} inputs.`)
    const matching = answers.flatMap((one, index) => (coveredInput(one, given) === undefined ? [] : [index]))
    if (matching.length === 0)
      throw new CliError('data', `${printable(name)}, document ${number}: no receipt covers this input, so it would prove nothing.`)
    for (const index of matching) {
      const one = answers[index]
      if (one !== undefined) answers[index] = withInput(one, given)
    }
  }
}

async function readEarlier(name: string | null): Promise<{ text: string; size: number } | null> {
  if (name === null) return null
  const text = await readTextFile(name)
  const checkpoint = readCheckpoint(readNote(text)?.text ?? '')
  if (checkpoint === null) throw new CliError('data', `${printable(name)} is not a checkpoint, as /log/checkpoint of the service has it.`)
  return { text, size: checkpoint.size }
}

type ServicePart = Omit<AuditBundle, 'answers' | 'manifest'>

/** Part of the service. Waits while the log appends entries, at most for the time that it promises. */
async function fetchPart(
  origin: string,
  answers: readonly BundledAnswer[],
  datasets: readonly BundledDataset[],
  from_size: number | null,
): Promise<ServicePart> {
  const ages = new Map(answers.flatMap(({ answer }) => entryWithDate(answer)))
  const of_receipts = [...ages.keys()]
  const of_datasets = datasets.map(({ sha256 }) => sha256)
  const body = { entries: [...of_receipts, ...of_datasets].slice(0, BUNDLE_ENTRIES_MAX), ...(from_size === null ? {} : { from_size }) }
  const until_ms = systemClock.now_ms() + WAIT_S * 1_000
  for (let pause_ms = FIRST_PAUSE_MS; ; pause_ms = PAUSE_MS) {
    const part = await askPart(origin, body)
    // A receipt is queued for the log a moment after its answer.
    const young_s = systemClock.now_ms() / 1_000 - QUEUED_WITHIN_S
    const waiting = part.log?.unproved.filter(({ entry, state }) => state === 'waiting' || (ages.get(entry) ?? 0) > young_s).length ?? 0
    if (waiting === 0 || systemClock.now_ms() + pause_ms > until_ms) return withoutDatasets(part, new Set(of_datasets))
    remark(`assay: ${waiting} ${waiting === 1 ? 'receipt waits' : 'receipts wait'} for the log …`)
    await new Promise((resolve) => {
      setTimeout(resolve, pause_ms)
    })
  }
}

/** Log entry of a receipt with the date of the receipt. */
function entryWithDate({ receipt }: Record<string, unknown>): [entry: string, ts: number][] {
  if (!isObject(receipt)) return []
  const entry = entryOf(verifyReceipt(receipt).digest, receipt['signature'])
  return entry === null ? [] : [[entry, Number(receipt['ts'])]]
}

const QUEUED_WITHIN_S = 10
const WAIT_S = LOG_RULES.merge_s + 15
const FIRST_PAUSE_MS = 3_000
/** The service takes ten requests a minute. */
const PAUSE_MS = 7_000

/** Datasets of a release are not in the log, which says nothing about them. */
function withoutDatasets(part: ServicePart, hashes: ReadonlySet<string>): ServicePart {
  if (part.log === null) return part
  const log: BundledLog = { ...part.log, unproved: part.log.unproved.filter(({ entry }) => !hashes.has(entry)) }
  return { ...part, log }
}

async function askPart(origin: string, body: object): Promise<ServicePart> {
  const text = await load(`${origin}/v1/bundle`, BUNDLE_LIMITS.bytes, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const part = jsonObject(text)
  // Read as a bundle with a placeholder for what only the caller has.
  const read = readBundle({ ...part, answers: [{ answer: { receipt: {} } }], manifest: {} })
  if (!read.ok) throw new CliError('unavailable', `The service at --url gave no part of a bundle: ${read.pointer}: ${read.reason}`)
  const { format: _format, version: _version, schema, service, made_at, keys, log, datasets } = read.bundle
  return { format: BUNDLE_FORMAT, version: BUNDLE_VERSION, schema, service, made_at, keys, log, datasets }
}

/** The version of each dataset that an answer names, if the service still has it. */
async function fetchDatasets(origin: string, answers: readonly BundledAnswer[], with_texts: boolean): Promise<BundledDataset[]> {
  const named = answers.flatMap(({ answer }) => namedDatasets(resultIn(answer)))
  if (named.length === 0) return []
  const ids = [...new Set(named.map(({ id }) => id))].slice(0, BUNDLE_LIMITS.datasets)
  const { datasets: current } = await askPart(origin, { entries: [], datasets: ids })
  const stated = named.flatMap(({ id, sha256 }) => (sha256 === null ? [] : [{ id, sha256 }]))
  const found = new Map<string, BundledDataset>()
  let room_bytes = TEXT_BYTES
  for (const { id, sha256: digits } of [...stated, ...current]) {
    if ([...found.keys()].some((sha256) => sha256.startsWith(digits)) || found.size >= BUNDLE_LIMITS.datasets) continue
    const text = await load(`${origin}/v1/datasets/${digits}`, datasetLimits.snapshot_bytes, {}).catch(() => null)
    const sha256 = text === null ? '' : hash('sha256', text)
    const dataset = text === null || !sha256.startsWith(digits) ? null : { id, sha256, text }
    if (dataset === null || !named.some((one) => isNamed(dataset, one))) continue
    const bytes = Buffer.byteLength(dataset.text)
    const fits = with_texts && bytes <= room_bytes
    if (fits) room_bytes -= bytes
    found.set(sha256, fits ? dataset : { id, sha256 })
  }
  return [...found.values()]
}

/** Texts beyond this are named by their SHA-256, so that answers have room. */
const TEXT_BYTES = 2 * 1_048_576
const ANSWER_MS = 30_000

/** Body of a successful answer, up to a number of bytes. */
async function load(url: string, bytes: number, init: RequestInit): Promise<string> {
  const response = await globalThis.fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null)
  if (response === null) throw new CliError('unavailable', 'The service at --url does not answer.')
  const body = response.body === null ? new Uint8Array() : await readBounded(response.body, bytes)
  if (body === null) throw new CliError('unavailable', `The service at --url answered with more than ${bytes} bytes.`)
  const text = Buffer.from(body).toString('utf8')
  if (response.ok) return text
  const detail = jsonObject(text)?.['detail']
  throw new CliError(
    'unavailable',
    `The service at --url answered with ${response.status}${typeof detail === 'string' ? `: ${printable(detail)}` : '.'}`,
  )
}

/** Verifies an audit bundle offline, replays the answers of deterministic tools, and prints the report. */
export async function verifyBundleFile(invocation: Invocation, document: unknown, keys: Omit<AuditorKeys, 'datasets'>): Promise<Exit> {
  const read = readBundle(document)
  if (!read.ok) throw new CliError('data', `The bundle cannot be read at ${printable(read.pointer)}: ${read.reason}`)
  const { bundle } = read
  const replays = invocation.flag('no-replay') ? [] : await replayChecks(bundle)
  const whole = verifyBundle(bundle, { ...keys, datasets: referenceTableHashes() }, replays)
  say(
    wantsJson(invocation)
      ? JSON.stringify({ document: 'audit-bundle', verified: whole.outcome === 'verified', ...whole })
      : renderBundle(whole),
  )
  return EXITS[whole.outcome]
}

const EXITS = { verified: 'ok', issuer_unknown: 'undecided', failed: 'negative' } as const satisfies Record<BundleReport['outcome'], Exit>

/** Runs each tool again whose receipt is valid and whose input is in the bundle. */
async function replayChecks(bundle: AuditBundle): Promise<BundleReport['checks']> {
  const datasets = bundle.datasets.flatMap(({ text }) => (text === undefined ? [] : [text]))
  const checks: BundleReport['checks'] = []
  for (const [index, one] of bundle.answers.slice(0, BUNDLE_LIMITS.answers).entries()) {
    const { answer } = one
    if (!verifyReceipt(answer['receipt']).valid) continue
    checks.push({ kind: 'replay', pointer: `/answers/${index}`, ...(await replayOne(one, datasets)) })
  }
  return checks
}

async function replayOne(
  { answer, ...given }: AuditBundle['answers'][number],
  datasets: readonly string[],
): Promise<Pick<BundleReport['checks'][number], 'state' | 'message'>> {
  if (given.input === undefined) return { state: 'not_checked', message: 'Not run again: its input is not in the bundle.' }
  const file = { receipt: answer['receipt'], result: resultIn(answer), chain: linkIn(answer) }
  try {
    const { exit, reason } = await replayAnswer(file, given.input, datasets)
    return { state: exit === 'ok' ? 'valid' : exit === 'negative' ? 'failed' : 'not_checked', message: reason }
  } catch (error) {
    // A source that a tool needs may be missing on this machine.
    return { state: 'not_checked', message: `Not run again: ${error instanceof Error ? error.message : 'the tool failed.'}` }
  }
}

const TONES = { verified: 'good', issuer_unknown: 'caution', failed: 'bad' } as const
const WORDS = { verified: 'bundle verified', issuer_unknown: 'everything matches, issuer unknown', failed: 'bundle not verified' } as const
const STATE_TONES = { valid: 'good', not_checked: 'caution', failed: 'bad' } as const
const STATE_WORDS = { valid: 'valid', not_checked: 'not checked', failed: 'failed' } as const

/** Failures first, then what was not checked, then how many parts of each kind are valid. */
function renderBundle({ outcome, service, made_at, receipts, checks }: BundleReport): string {
  const width = terminalWidth()
  const rows = (['failed', 'not_checked'] as const).flatMap((state) =>
    checks
      .filter((check) => check.state === state)
      .map(({ kind, pointer, message }) => [
        headlineMark(STATE_TONES[state], STATE_WORDS[state]),
        `${KIND_WORDS[kind]} ${printable(pointer)}`,
        printable(message),
      ]),
  )
  const counts = Map.groupBy(
    checks.filter(({ state }) => state === 'valid'),
    ({ kind }) => kind,
  )
  const proved = [...counts].map(([kind, found]) => [headlineMark('good', 'valid'), KIND_WORDS[kind], `${found.length}`])
  return [
    `${headlineMark(TONES[outcome], WORDS[outcome])}  ${receipts.length} ${receipts.length === 1 ? 'answer' : 'answers'} of ${printable(service)}  ${paint('muted', `made ${printable(made_at)}`)}`,
    ...table(rows, width),
    ...table(proved, width),
    '',
    ...wrap(
      'Not proved: that results are right; that money moved; that the bundle holds every answer there is; who made the bundle. Its manifest shows changes, not authors.',
      width,
    ),
  ].join('\n')
}

const KIND_WORDS: Readonly<Record<BundleReport['checks'][number]['kind'], string>> = {
  manifest: 'manifest',
  keys: 'key list',
  receipt: 'receipt',
  input: 'input',
  result: 'result',
  tier: 'tier',
  link: 'link',
  log_key: 'log key',
  checkpoint: 'checkpoint',
  log_proof: 'log proof',
  consistency: 'consistency',
  dataset: 'dataset',
  replay: 'replay',
}
