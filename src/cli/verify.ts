import { chooseSigning } from '../adapters/signer/choose.ts'
import { readKeyList, type KeyList } from '../pure/receipts/keys.ts'
import type { Invocation } from './arguments.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { readJsonFile } from './input.ts'
import { logFailures, readLogProof, type LogReport } from './log-report.ts'
import { readReceipts } from './receipt-file.ts'
import { judgePolicy, policyIn, renderPolicy, type PolicyReport } from './policy-report.ts'
import { judgeReceipt, type ReceiptReport } from './receipt-report.ts'
import { dateText, outcomeMark, paint, printable, say, table, wantsJson, wrap, terminalWidth } from './terminal.ts'

/** `assay verify`: receipts, or a certificate POL-1, against their signatures, a key list, their inputs and results, and one another; offline. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [name] = invocation.words
  if (name === undefined) throw new CliError('usage', 'Name a file with the receipt, or - for standard input.')
  const files = ['keys', 'input', 'result'].map((option) => invocation.text(option))
  if ([name, ...files].filter((file) => file === '-').length > 1) throw new CliError('usage', 'Only one file can come from standard input.')
  const [keys, input, result] = await Promise.all([readKeys(files[0]), readNamed(files[1]), readNamed(files[2])])
  const proof = await readLogProof(invocation)
  const { crypto } = await chooseSigning()
  const show = wantsJson(invocation) ? showJson : showText
  const seen = new Set<string>()
  let held: ReceiptReport | null = null
  let policy: unknown = null
  let [count, good] = [0, 0]
  for await (const file of readReceipts(name)) {
    if (policy !== null) throw new CliError('usage', 'A certificate stands alone in its file.')
    policy = count === 0 ? policyIn(file.receipt) : null
    if (policy !== null) continue
    if (count > 0 && (input !== undefined || result !== undefined || proof !== null))
      throw new CliError('usage', '--input, --result and --log go with a single receipt.')
    if (held !== null) show.several(held)
    held = judgeReceipt({ ...file, result: result ?? file.result, input }, { keys, crypto, seen, index: count++, proof })
    if (held.verified) good++
  }
  if (policy !== null) return showPolicy(invocation, judgePolicy(policy, keys, crypto))
  if (held === null) throw new CliError('data', `${printable(name)} holds no receipt.`)
  if (count === 1) show.single(held)
  else {
    show.several(held)
    show.end(count, good)
  }
  return good === count ? 'ok' : 'negative'
}

function showPolicy(invocation: Invocation, report: PolicyReport): Exit {
  say(wantsJson(invocation) ? JSON.stringify(report) : renderPolicy(report))
  return report.verified ? 'ok' : 'negative'
}

async function readNamed(name: string | null | undefined): Promise<unknown> {
  return name === null || name === undefined ? undefined : readJsonFile(name)
}

async function readKeys(name: string | null | undefined): Promise<KeyList | null> {
  if (name === null || name === undefined) return null
  const keys = readKeyList(await readJsonFile(name))
  if (keys === null) throw new CliError('data', `${printable(name)} holds no key list; the issuer publishes it at /.well-known/xdr-1.json.`)
  return keys
}

const showJson = {
  single: (report: ReceiptReport) => say(JSON.stringify(report)),
  several: (report: ReceiptReport) => say(JSON.stringify(report)),
  end: () => undefined,
}

const showText = {
  single: (report: ReceiptReport) =>
    say([heading(report), ...details(report), '', ...wrap(`Not proved: ${report.not_proved.join('; ')}.`, terminalWidth())].join('\n')),
  several: (report: ReceiptReport) => say([heading(report), ...report.failures.map((failure) => `    ${failure}`)].join('\n')),
  end: (count: number, good: number) => say(outcomeMark(good === count, `${good} of ${count} receipts verify`)),
}

function heading({ verified, tool, tool_version, digest }: ReceiptReport): string {
  const call = tool === null ? '' : `  ${printable(`${tool} ${tool_version ?? ''}`)}`
  return `${outcomeMark(verified, verified ? 'verifies' : 'does not verify')}${call}  ${paint('muted', digest ?? 'no digest')}`
}

function details(report: ReceiptReport): string[] {
  const { signature, signer, signer_published, signer_valid_at_ts, link, log, log_entry } = report
  const rows = [
    ['Signature', signature.reason],
    ['Signed by', signer ?? 'nobody that can be told'],
    ['Dated', report.dated ?? 'not readable'],
    ['On the key list', answerOf(signer_published, 'give --keys')],
    ['Key good then', answerOf(signer_valid_at_ts, 'give --keys')],
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

function answerOf(value: boolean | 'not_checked', hint: string): string {
  if (value === 'not_checked') return `not checked; ${hint}`
  return value ? 'yes' : 'no'
}

const MATCH_TEXT = {
  match: 'is the one that the receipt covers',
  mismatch: 'is not the one that the receipt covers',
  not_checked: 'not checked; it is not here',
} as const
