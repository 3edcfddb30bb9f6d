import { bytesToHex } from '../pure/log/bytes.ts'
import { readVerifierKey, type VerifierKey } from '../pure/log/note.ts'
import { logEntry, verifyLogProof, type LogVerdict } from '../pure/log/proof.ts'
import type { Invocation } from './arguments.ts'
import { CliError } from './exit-codes.ts'
import { readJsonFile, readTextFile } from './input.ts'
import { printable } from './terminal.ts'

/** A proof to hold a receipt against, with the keys that count. */
export interface LogProofGiven {
  text: string
  log: VerifierKey
  witnesses: VerifierKey[]
}

/** `--log`, with the key of the log out of `--log-key` or out of the key list; null when no proof was given. */
export async function readLogProof(invocation: Invocation): Promise<LogProofGiven | null> {
  const file = invocation.text('log')
  if (file === null) return null
  const given = invocation.text('log-key') ?? (await keyInList(invocation.text('keys')))
  if (given === null) throw new CliError('usage', 'Give --log-key, the verifier key of the log; the issuer publishes it at /log/key.')
  const log = keyOf(given, 'log', '--log-key')
  const witness = invocation.text('witness')
  const text = await readTextFile(file)
  return { text, log, witnesses: witness === null ? [] : witness.split(',').map((one) => keyOf(one, 'witness', '--witness')) }
}

async function keyInList(file: string | null): Promise<string | null> {
  if (file === null) return null
  const list = await readJsonFile(file)
  const log = typeof list === 'object' && list !== null && 'log' in list ? list.log : null
  const key = typeof log === 'object' && log !== null && 'verifier_key' in log ? log.verifier_key : null
  return typeof key === 'string' ? key : null
}

function keyOf(text: string, type: VerifierKey['type'], option: string): VerifierKey {
  const key = readVerifierKey(text.trim())
  if (key?.type === type) return key
  throw new CliError('usage', `${option} takes the verifier key of a ${type}, name+id+key; ${printable(text.slice(0, 80))} is none.`)
}

/** Under which name the log knows the receipt, as hex; null for one that cannot be read. */
export function entryOf(digest: string | null, receipt: unknown): Uint8Array | null {
  const signature = typeof receipt === 'object' && receipt !== null && 'signature' in receipt ? receipt.signature : null
  return digest === null || typeof signature !== 'string' ? null : logEntry(digest, signature)
}

export function entryText(entry: Uint8Array | null): string | null {
  return entry === null ? null : bytesToHex(entry)
}

/** `missing_witnesses`: those asked for that did not sign the checkpoint of a proof that holds. */
export type LogReport = LogVerdict & { missing_witnesses: string[] }

export function judgeLog(entry: Uint8Array | null, given: LogProofGiven | null): LogReport | null {
  if (given === null) return null
  const judged = (witnesses: VerifierKey[]) => verifyLogProof(given.text, entry ?? new Uint8Array(), given.log, witnesses)
  const verdict = judged(given.witnesses)
  const missing = verdict.valid ? given.witnesses.filter((key) => judged([key]).witnesses.length === 0) : []
  return { ...verdict, missing_witnesses: missing.map(({ name }) => name) }
}

/** What a proof lacks, in words. */
export function logFailures(log: LogReport | null): string[] {
  if (log === null) return []
  if (!log.valid) return [log.reason]
  return log.missing_witnesses.map((name) => `The witness ${printable(name)} did not sign the checkpoint of the proof.`)
}
