import { systemClock } from '../adapters/clock/system.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import type { ReceiptCrypto } from '../pure/receipts/crypto.ts'
import { valueHash } from '../pure/receipts/receipt.ts'
import { verifyReceipt } from '../pure/receipts/verify.ts'
import { decodeInput } from '../service/catalogue/decode.ts'
import type { SourceName, Tool } from '../service/catalogue/define.ts'
import { loadCatalogue } from '../service/catalogue/load.ts'
import type { Invocation } from './arguments.ts'
import { sourcesHere } from './deployment.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { readJsonFile } from './input.ts'
import { readReceipt, type ReceiptFile } from './receipt-file.ts'
import { outcomeMark, paint, printable, say, wantsJson } from './terminal.ts'

/** How a replay ends: whether the same tool, in the same version, finds the same today. */
const OUTCOMES = {
  agrees: { exit: 'ok', reason: 'The tool gives the result that the receipt covers.' },
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
  unknown_tool: { exit: 'undecided', reason: 'The tool that the receipt names is not here.' },
} as const satisfies Record<string, { exit: Exit; reason: string }>

interface Replayed {
  outcome: keyof typeof OUTCOMES
  tool: string
  /** In the receipt, and here. */
  tool_version: string
  version_here: string | null
  output_hash: string
  /** Null when the tool was not run. */
  output_hash_here: string | null
}

/** The signed fields that a replay looks at; texts, once the receipt has verified. */
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
  const replayed = await replay(file, await readJsonFile(input_name))
  const { reason, exit } = OUTCOMES[replayed.outcome]
  if (wantsJson(invocation)) say(JSON.stringify({ agrees: exit === 'undecided' ? null : exit === 'ok', ...replayed, reason }))
  else say(render(replayed))
  return exit
}

async function replay(file: ReceiptFile, given: unknown): Promise<Replayed> {
  const [{ crypto }, catalogue] = await Promise.all([chooseSigning(), loadCatalogue()])
  const signed = file.receipt as SignedCall
  const found = (outcome: Replayed['outcome'], here: Partial<Replayed> = {}): Replayed => {
    const { tool, tool_version, output_hash } = signed
    return { outcome, tool, tool_version, version_here: null, output_hash, output_hash_here: null, ...here }
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
  const told_ms = toldTime(file, signed.output_hash, crypto)
  const clock = { ...systemClock, now_ms: () => told_ms ?? signed.ts * 1_000 }
  const result = await tool.execute(input, { ...sourcesHere(catalogue, null), clock })
  const output_hash_here = valueHash(result, crypto)
  if (output_hash_here === signed.output_hash.toLowerCase()) return found('agrees', { version_here, output_hash_here })
  const timeless = told_ms === null && tool.sources.includes('clock')
  return found(timeless ? 'time_unknown' : 'output_differs', { version_here, output_hash_here })
}

/** Sources that say the same again; the time is that of the call. */
const REPEATABLE: ReadonlySet<SourceName> = new Set<SourceName>(['clock', 'crypto', 'catalogue', 'screening', 'schemas'])

/** The input as the tool reads it, when the receipt covers it: as given, or under the key `input` as in the body of a call. */
function coveredInput(tool: Tool, given: unknown, input_hash: string, crypto: ReceiptCrypto): Record<string, unknown> | null {
  const wrapped = typeof given === 'object' && given !== null && 'input' in given ? [given.input] : []
  for (const candidate of [given, ...wrapped]) {
    const decoded = decodeInput(tool, candidate)
    if (decoded.ok && valueHash(decoded.input, crypto) === input_hash.toLowerCase()) return decoded.input
  }
  return null
}

/** When the tool was asked then, as the result says that the receipt covers; null where no such result is here, or it does not say. */
function toldTime({ result }: ReceiptFile, output_hash: string, crypto: ReceiptCrypto): number | null {
  const evaluated_at = typeof result === 'object' && result !== null && 'evaluated_at' in result ? result.evaluated_at : null
  if (typeof evaluated_at !== 'string' || valueHash(result, crypto) !== output_hash.toLowerCase()) return null
  const told_ms = Date.parse(evaluated_at)
  return Number.isNaN(told_ms) ? null : told_ms
}

function render({ outcome, tool, tool_version, version_here, output_hash, output_hash_here }: Replayed): string {
  const { exit, reason } = OUTCOMES[outcome]
  const mark =
    exit === 'undecided' ? paint('unverifiable', '◐ cannot be judged') : outcomeMark(exit === 'ok', exit === 'ok' ? 'agrees' : 'disagrees')
  const versions = outcome === 'other_version' ? [`receipt ${printable(tool_version)}, here ${version_here ?? ''}`] : []
  const hashes = outcome === 'output_differs' ? [`receipt ${output_hash}`, `here    ${output_hash_here ?? ''}`] : []
  return [`${mark}  ${printable(`${tool} ${tool_version}`)}`, reason, ...versions, ...hashes].join('\n')
}
