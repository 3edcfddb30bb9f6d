import type { ReceiptCrypto } from '../pure/receipts/crypto.ts'
import { judgeKey, type KeyList, readKeyList } from '../pure/receipts/keys.ts'
import { claimsPolicy, type Policy, type PolicyVerdict, verifyPolicy } from '../pure/rulebooks/pol1.ts'
import { judgeReceipt, OUTCOME_EXITS, OUTCOME_TONES, type ReceiptReport, type VerifyOutcome } from './receipt-report.ts'
import { dateText, headlineMark, paint, printable, say, table, terminalWidth, wantsJson, wrap } from './terminal.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import type { Invocation } from './arguments.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { readJsonFile } from './input.ts'
import { logFailures, type LogReport, readLogProof } from './log-report.ts'
import { readReceipts } from './receipt-file.ts'

/** What `assay verify` says of a POL-1 certificate. */
export interface PolicyReport extends PolicyVerdict {
  document: 'POL-1'
  /** The outcome is `verified`. */
  verified: boolean
  outcome: VerifyOutcome
  policy_id: string | null
  registrar_published: boolean | 'not_checked'
  not_proved: string[]
}

/** The certificate in a file: bare, or under `certificate` as services answer with it; null for anything else. */
export function policyIn(document: unknown): unknown {
  if (claimsPolicy(document)) return document
  const inner = typeof document === 'object' && document !== null ? (document as Record<string, unknown>)['certificate'] : null
  return claimsPolicy(inner) ? inner : null
}

/** Judges a certificate offline, with the key list of its registrar where there is one. */
export function judgePolicy(certificate: unknown, keys: KeyList | null, crypto: ReceiptCrypto): PolicyReport {
  const verdict = verifyPolicy(certificate, crypto)
  const { policy_id, issued_at } = certificate as Partial<Policy>
  const registrar_published =
    keys === null || verdict.registrar === null
      ? ('not_checked' as const)
      : judgeKey(keys, verdict.registrar, issued_at ?? 0).signer_valid_at_ts
  const outcome = !verdict.valid || registrar_published === false ? 'failed' : keys === null ? 'issuer_unknown' : 'verified'
  return {
    document: 'POL-1',
    verified: outcome === 'verified',
    outcome,
    policy_id: typeof policy_id === 'string' ? policy_id : null,
    ...verdict,
    registrar_published,
    not_proved: [
      'that the underwriter is an insurer, licensed or solvent',
      'that a premium was paid or a claim would be',
      ...(verdict.underwriter_signed ? [] : ['any cover: the underwriter has not countersigned']),
      ...(registrar_published === 'not_checked' ? ['whose key the registrar’s is'] : []),
    ],
  }
}

function wordOf({ outcome, valid }: PolicyReport): string {
  switch (outcome) {
    case 'verified':
      return 'verified'
    case 'issuer_unknown':
      return 'signatures valid, registrar unknown'
    case 'failed':
      return valid ? 'unknown registrar' : 'certificate altered or not valid'
  }
}

export function renderPolicy(report: PolicyReport): string {
  const { outcome, policy_id, digest, reason, registrar, underwriter, underwriter_signed, status_proved, registrar_published } = report
  const unlisted = report.valid ? 'not checked: give the key list of the registrar with --keys' : 'not checked: a signature is not valid'
  const published = registrar_published === 'not_checked' ? unlisted : registrar_published ? 'yes' : 'no, or not valid at the date of issue'
  const rows = [
    ['Signatures', reason],
    ['Status', status_proved ?? 'nothing is proved'],
    ['Registrar', registrar ?? 'unknown: no signature gives a key'],
    ['On the key list', published],
    [
      'Underwriter',
      `${underwriter ?? 'unknown: no signature gives a key'}${underwriter_signed ? ', countersigned' : ', has not countersigned'}`,
    ],
  ]
  const heading = `${headlineMark(OUTCOME_TONES[outcome], wordOf(report))}  ${printable(policy_id ?? 'POL-1')}  ${paint('muted', digest ?? 'no digest')}`
  return [
    heading,
    ...table(rows, terminalWidth(), ['muted']),
    '',
    ...wrap(`Not proved: ${report.not_proved.join('; ')}.`, terminalWidth()),
  ].join('\n')
}

/** `assay verify`: receipts, or a certificate POL-1, against their signatures, a key list, their inputs and results, and one another; offline. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [name] = invocation.words
  if (name === undefined)
    throw new CliError('usage', 'Give the file with the receipt, or - for standard input: assay verify <receipt.json | ->.')
  const files = ['keys', 'input', 'result'].map((option) => invocation.text(option))
  if ([name, ...files].filter((file) => file === '-').length > 1)
    throw new CliError('usage', 'Only one file can be read from standard input: use - once.')
  const [keys, input, result] = await Promise.all([readKeys(files[0]), readNamed(files[1]), readNamed(files[2])])
  const proof = await readLogProof(invocation)
  const { crypto } = await chooseSigning()
  const show = wantsJson(invocation) ? showJson : showText
  const seen = new Set<string>()
  let held: ReceiptReport | null = null
  let policy: unknown = null
  let count = 0
  const outcomes: Record<VerifyOutcome, number> = { verified: 0, issuer_unknown: 0, failed: 0 }
  for await (const file of readReceipts(name)) {
    if (policy !== null) throw new CliError('usage', 'A file with a POL-1 certificate must contain nothing else.')
    policy = count === 0 ? policyIn(file.receipt) : null
    if (policy !== null) continue
    if (count > 0 && (input !== undefined || result !== undefined || proof !== null))
      throw new CliError('usage', '--input, --result and --log need a file with a single receipt.')
    if (held !== null) show.several(held)
    held = judgeReceipt({ ...file, result: result ?? file.result, input }, { keys, crypto, seen, index: count++, proof })
    outcomes[held.outcome]++
  }
  if (policy !== null) return showPolicy(invocation, judgePolicy(policy, keys, crypto))
  if (held === null) throw new CliError('data', `${printable(name)} contains no receipt.`)
  if (count === 1) show.single(held)
  else {
    show.several(held)
    show.end(count, outcomes)
  }
  return OUTCOME_EXITS[worst(outcomes)]
}

function worst({ failed, issuer_unknown }: Record<VerifyOutcome, number>): VerifyOutcome {
  return failed > 0 ? 'failed' : issuer_unknown > 0 ? 'issuer_unknown' : 'verified'
}

function showPolicy(invocation: Invocation, report: PolicyReport): Exit {
  say(wantsJson(invocation) ? JSON.stringify(report) : renderPolicy(report))
  return OUTCOME_EXITS[report.outcome]
}

async function readNamed(name: string | null | undefined): Promise<unknown> {
  return name === null || name === undefined ? undefined : readJsonFile(name)
}

async function readKeys(name: string | null | undefined): Promise<KeyList | null> {
  if (name === null || name === undefined) return null
  const keys = readKeyList(await readJsonFile(name))
  if (keys === null)
    throw new CliError('data', `${printable(name)} is not a key list. The issuer publishes its key list at /.well-known/xdr-1.json.`)
  return keys
}

const showJson = {
  single: (report: ReceiptReport) => say(JSON.stringify(report)),
  several: (report: ReceiptReport) => say(JSON.stringify(report)),
  end: () => undefined,
}

const showText = {
  single: (report: ReceiptReport) =>
    say(
      [
        receiptHeading(report),
        ...failures(report),
        ...details(report),
        '',
        ...wrap(`Not proved: ${report.not_proved.join('; ')}.`, terminalWidth()),
      ].join('\n'),
    ),
  several: (report: ReceiptReport) => say([receiptHeading(report), ...report.failures.map((failure) => `    ${failure}`)].join('\n')),
  end: (count: number, outcomes: Record<VerifyOutcome, number>) => {
    const unknown = outcomes.issuer_unknown > 0 ? `; ${outcomes.issuer_unknown} with a valid signature of an unknown issuer` : ''
    say(headlineMark(OUTCOME_TONES[worst(outcomes)], `${outcomes.verified} of ${count} receipts verified${unknown}`))
  },
}

/** Every failure as a sentence under the heading. */
function failures({ failures: sentences }: ReceiptReport): string[] {
  return sentences.flatMap((sentence) => wrap(printable(sentence), terminalWidth()))
}

function receiptHeading({ headline, tool, tool_version, digest }: ReceiptReport): string {
  const call = tool === null ? '' : `  ${printable(`${tool} ${tool_version ?? ''}`)}`
  return `${headlineMark(headline.tone, headline.word)}${call}  ${paint('muted', digest ?? 'no digest')}`
}

function details(report: ReceiptReport): string[] {
  const { signature, signer, signer_published, signer_valid_at_ts, link, log, log_entry } = report
  const rows = [
    ['Signature', signature.reason],
    ['Signed by', signer ?? 'unknown: the signature gives no key'],
    ['Dated', report.dated ?? 'not readable'],
    ['On the key list', answerOf(signer_published, signature.valid)],
    ['Key valid then', answerOf(signer_valid_at_ts, signature.valid)],
    ['Input', MATCH_TEXT[report.input]],
    ['Result', MATCH_TEXT[report.output]],
    ...(link === null ? [] : [['Link', link.reason]]),
    ...(log === null ? [] : [['Log', logText(log)]]),
    ...(log_entry === null || log !== null ? [] : [['Log entry', log_entry]]),
    ...report.warnings.map(({ message }) => ['Note', message]),
  ]
  return table(rows, terminalWidth(), ['muted'])
}

function logText(log: LogReport): string {
  const { reason, checkpoint, index, witnesses } = log
  if (checkpoint === null || index === null) return reason
  const seen = witnesses.map(({ name, time_s }) => ` Signed by the witness ${printable(name)} at ${dateText(time_s)}.`)
  const missing = log.valid ? logFailures(log).map((failure) => ` ${failure}`) : []
  return `${reason} Entry ${index} of ${checkpoint.size} in ${printable(checkpoint.origin)}.${[...seen, ...missing].join('')}`
}

/** A key can be looked up only for a valid signature; without `--keys` there is no list. */
function answerOf(value: boolean | 'not_checked', signature_valid: boolean): string {
  if (value !== 'not_checked') return value ? 'yes' : 'no'
  return signature_valid ? 'not checked: give the key list of the issuer with --keys' : 'not checked: the signature is not valid'
}

const MATCH_TEXT = {
  match: 'matches: the receipt was issued for it',
  mismatch: 'does not match: the receipt was issued for another one',
  not_checked: 'not checked: it was not given',
} as const
