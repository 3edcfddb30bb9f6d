import { readBoundedText } from '../../pure/read-bounded.ts'
import { priceLimits } from './limits.ts'

/**
 * `limited`: the source says that it was asked too much. `refused`: it does not like the question. `failed`: no connection, no answer in
 * time, another status, or an answer without end.
 */
export type Got = { kind: 'text'; text: string } | { kind: 'limited' | 'refused' | 'failed' }

const KINDS: Readonly<Record<number, 'limited' | 'refused'>> = { 400: 'refused', 404: 'refused', 429: 'limited' }

/** One GET: no redirects, no second try, a bounded body. Never rejects. */
export async function get(url: string): Promise<Got> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', 'user-agent': 'assay' },
      redirect: 'manual',
      signal: AbortSignal.timeout(priceLimits.attempt_ms),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      return { kind: KINDS[response.status] ?? 'failed' }
    }
    const text = await readBoundedText(response.body, priceLimits.answer_bytes)
    return text === null ? { kind: 'failed' } : { kind: 'text', text }
  } catch {
    return { kind: 'failed' }
  }
}
