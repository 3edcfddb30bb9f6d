import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { canonicalText } from '../src/pure/receipts/canonical.ts'
import { nobleCrypto } from '../src/pure/receipts/crypto.ts'
import type { KeyList } from '../src/pure/receipts/keys.ts'
import { verifyReceipt } from '../src/pure/receipts/verify.ts'
import type { Sample } from './load-spec.ts'
import { ROOT } from './server-process.ts'

/** The examples that the IBAN registry prints, one a country. */
export const REGISTRY_EXAMPLES = (
  JSON.parse(readFileSync(join(ROOT, 'data/iban-registry.json'), 'utf8')) as { rows: { example: string | null }[] }
).rows
  .map(({ example }) => example)
  .filter((example) => example !== null)

/** IBANs as people paste them: ten countries, in groups of four. */
export const PASTED_IBANS = ['GB', 'DE', 'FR', 'NL', 'ES', 'IT', 'BE', 'CH', 'AT', 'NO'].map((country) =>
  (REGISTRY_EXAMPLES.find((example) => example.startsWith(country)) ?? '').replace(/(.{4})(?=.)/g, '$1 '),
)

const BODY_BYTES = 307

/** The body of a call, brought to its length with the spaces that JSON allows. */
export function callBody(iban: string): string {
  const bare = JSON.stringify({ input: { iban } })
  return `${bare.slice(0, -1)}${' '.repeat(BODY_BYTES - bare.length)}}`
}

/** Fault of an answer: its verdict, its receipt, or the hashes of input and result. Null if there is none. */
export function answerFault(answer: unknown, iban: string, keys: KeyList): string | null {
  const { result, receipt } = answer as { result?: { valid?: unknown }; receipt?: { input_hash?: unknown; output_hash?: unknown } }
  if (result?.valid !== true) return 'a good IBAN was called bad'
  const verdict = verifyReceipt(receipt, keys)
  if (!verdict.valid || verdict.signer_valid_at_ts !== true) return `a receipt does not verify: ${verdict.reason}`
  if (receipt?.input_hash !== hashOf({ iban })) return 'an input hash is not that of the input'
  return receipt.output_hash === hashOf(result) ? null : 'an output hash is not that of the result'
}

/** Throws for the first answer that is wrong, and when two answers carry the same nonce. Returns how many were read. */
export function assertAnswers(samples: readonly Sample[], read: (text: string) => unknown, keys: KeyList): number {
  const nonces = new Set<unknown>()
  for (const { body, answer } of samples) {
    const value = read(answer)
    const fault = answerFault(value, PASTED_IBANS[body] ?? '', keys)
    if (fault !== null) throw new Error(`The answers are wrong: ${fault}. One of them: ${answer.slice(0, 500)}`)
    nonces.add((value as { receipt: { nonce: unknown } }).receipt.nonce)
  }
  if (nonces.size !== samples.length) throw new Error('Two answers carry the same nonce.')
  return samples.length
}

function hashOf(value: unknown): string {
  return nobleCrypto.keccak256Hex(canonicalText(value))
}

/** The published keys of a running service. */
export async function publishedKeys(port: number): Promise<KeyList> {
  const response = await fetch(`http://127.0.0.1:${port}/.well-known/xdr-1.json`)
  return ((await response.json()) as { keys: KeyList }).keys
}

/** Calls that the store of a stopped service has counted. */
export function countedCalls(data_dir: string): number {
  const database = new DatabaseSync(join(data_dir, 'assay.sqlite'), { readOnly: true })
  try {
    return Number(database.prepare('select coalesce(sum(used), 0) as used from allowance').get()?.['used'])
  } finally {
    database.close()
  }
}
