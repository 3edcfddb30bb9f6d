import { BUNDLE_LIMITS, readBundle, type AuditBundle } from '../pure/audit/bundle.ts'
import { verifyBundle, withChecks, type AuditorKeys, type BundleCheck, type BundleReport } from '../pure/audit/verify-bundle.ts'
import { linkIn, resultIn } from '../pure/receipts/chain.ts'
import { verifyReceipt } from '../pure/receipts/verify.ts'
import { referenceTableHashes } from '../assembly/reference-tables.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit } from './errors.ts'
import { replayAnswer } from './replay.ts'
import { headlineMark, paint, printable, say, table, terminalWidth, wantsJson, wrap } from './terminal.ts'

/** Verifies an audit bundle offline, replays the answers of deterministic tools, and prints the report. */
export async function verifyBundleFile(invocation: Invocation, document: unknown, keys: Omit<AuditorKeys, 'datasets'>): Promise<Exit> {
  const read = readBundle(document)
  if (!read.ok) throw new CliError('data', `The bundle cannot be read at ${printable(read.pointer)}: ${read.reason}`)
  const { bundle } = read
  const report = verifyBundle(bundle, { ...keys, datasets: referenceTableHashes() })
  const replays = invocation.flag('no-replay') ? [] : await replayChecks(bundle)
  const whole = withChecks(report, replays, keys.keys !== null)
  say(
    wantsJson(invocation)
      ? JSON.stringify({ document: 'audit-bundle', verified: whole.outcome === 'verified', ...whole })
      : renderBundle(whole),
  )
  return EXITS[whole.outcome]
}

const EXITS = { verified: 'ok', issuer_unknown: 'undecided', failed: 'negative' } as const satisfies Record<BundleReport['outcome'], Exit>

/** Runs each tool again whose receipt is valid and whose input is in the bundle. */
async function replayChecks(bundle: AuditBundle): Promise<BundleCheck[]> {
  const datasets = bundle.datasets.flatMap(({ text }) => (text === undefined ? [] : [text]))
  const checks: BundleCheck[] = []
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
): Promise<Pick<BundleCheck, 'state' | 'message'>> {
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

const KIND_WORDS: Readonly<Record<BundleCheck['kind'], string>> = {
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
