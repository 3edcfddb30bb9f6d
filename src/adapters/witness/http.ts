/** A witness over HTTP (C2SP tlog-witness, read 2026-11). */
import { readBoundedText } from '../../pure/read-bounded.ts'
import type { WitnessClient } from '../../ports/receipts-log.ts'

const ANSWER_MS = 5_000
const ANSWER_BYTES = 65_536

/**
 * `url` is the submission prefix of the witness. Redirects are not followed: they would lead to a party that the operator did not
 * choose.
 */
export function httpWitness(url: string, verifier_key: string): WitnessClient {
  const address = `${url.replace(/\/+$/, '')}/add-checkpoint`
  return {
    verifier_key,
    async addCheckpoint(body) {
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_MS),
      })
      const text = await readBoundedText(response.body, ANSWER_BYTES)
      if (text === null) throw new Error('the answer of the witness is too long')
      return { status: response.status, text }
    },
  }
}
