import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem/accounts'
import { readRequired, signTerms, type Required } from '../../test/support/paying.ts'

/** Kinds of calls: free, answered with payment terms, and paid. */
export const KINDS = ['free', 'terms', 'paid'] as const
type Kind = (typeof KINDS)[number]

/**
 * Mix of forty calls. One paid call is what the sandbox chain sustains for twenty minutes: it hashes all earlier payments for each block,
 * and with 150,000 payments it stops answering for seconds.
 */
const MIX: readonly Kind[] = Array.from({ length: 40 }, (_, index) => (index === 15 ? 'paid' : index % 10 === 0 ? 'terms' : 'free'))
/** Expected statuses; a settlement that takes longer than a call waits is answered 202 and no fault. */
const RIGHT: Record<Kind, readonly number[]> = { free: [200], terms: [402], paid: [200, 202] }

const FREE_TOOL = 'iban-check'
export const PAID_TOOL = 'lei-check'
const IBAN = JSON.stringify({ input: { iban: 'GB82WEST12345698765432' } })
const LEI = JSON.stringify({ input: { lei: '506700GE1G29325QX363' } })
const CLIENTS = 5_000
/** A connection is closed by its caller after so many calls. */
const CALLS_PER_CONNECTION = 400
/** A paid call has one of them for about a block's time. */
const CONNECTIONS = 512
/** Open calls beyond which the generator waits: the service is not keeping up. */
const OPEN_MAX = 512
const TICK_MS = 5
/** Between the last answer of a window and a look at the service. */
const REST_MS = 500
/** Of a wrong answer that is shown. */
const TEXT_CHARS = 500
/** A quoted price is payable for two minutes. */
const TERMS_GOOD_MS = 30_000

/** The answers of some span of time. */
export interface Tally {
  seconds: number
  /** In milliseconds, by kind. */
  latencies: Record<Kind, number[]>
  wrong: number
  first_wrong: string | null
  pending: number
}

interface SoakLoad {
  /** As fast as the connections allow. */
  saturate(seconds: number): Promise<Tally>
  /**
   * So many calls a second for so many windows of this length; `passed` gets what was answered in each. Until it has resolved nothing is
   * under way and no connection is open.
   */
  keep(rate: number, windows: number, window_s: number, passed: (tally: Tally) => Promise<void>): Promise<void>
  stop(): void
}

export function createLoad(url: string, payers: readonly PrivateKeyAccount[]): SoakLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const open = new Set<Promise<void>>()
  let number = 0
  let tally = emptyTally()
  let terms: { required: Required; at_ms: number } | null = null

  async function call(kind: Kind): Promise<void> {
    const at = number++
    const headers: Record<string, string> = { 'x-forwarded-for': `198.18.${(at % CLIENTS) >> 8}.${(at % CLIENTS) & 255}` }
    if (kind === 'paid') {
      const payment = await signed(at)
      if (payment === null) return
      headers['payment-signature'] = payment
    }
    if (at % CALLS_PER_CONNECTION === CALLS_PER_CONNECTION - 1) headers['connection'] = 'close'
    const begun_ms = performance.now()
    const { status, text } = await post(kind === 'free' ? FREE_TOOL : PAID_TOOL, kind === 'free' ? IBAN : LEI, headers)
    if (status === 202) tally.pending++
    if (RIGHT[kind].includes(status)) tally.latencies[kind].push(performance.now() - begun_ms)
    else wrong(kind, status, text)
  }

  function wrong(kind: Kind, status: number, text: string): void {
    tally.wrong++
    tally.first_wrong ??= `${kind}: ${status} ${text.slice(0, TEXT_CHARS)}`
  }

  /** Null when no terms could be had; that call is counted as a wrong one. */
  async function signed(at: number): Promise<string | null> {
    const payer = payers[at % payers.length]
    if (payer === undefined) throw new RangeError('a paid call needs a payer')
    if (terms === null || performance.now() - terms.at_ms > TERMS_GOOD_MS) {
      const { status, text, required_header } = await post(PAID_TOOL, LEI, {})
      if (status !== 402) {
        wrong('terms', status, text)
        return null
      }
      terms = { required: readRequired(required_header), at_ms: performance.now() }
    }
    return (await signTerms(payer, terms.required)).v2
  }

  function post(
    tool: string,
    body: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; text: string; required_header: string }> {
    return new Promise((resolve) => {
      const sent = request(`${url}/v1/tools/${tool}/call`, {
        method: 'POST',
        agent,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      })
      sent.once('error', (error) => resolve({ status: 0, text: String(error), required_header: '' }))
      sent.once('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', (error) => resolve({ status: 0, text: String(error), required_header: '' }))
        response.once('end', () => {
          const required_header = String(response.headers['payment-required'] ?? '')
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString(), required_header })
        })
      })
      sent.end(body)
    })
  }

  const next = (): Kind => MIX[number % MIX.length] ?? 'free'

  return {
    async saturate(seconds) {
      tally = emptyTally()
      const begun_ms = performance.now()
      const going = () => performance.now() - begun_ms < seconds * 1_000
      const caller = async () => {
        while (going()) await call(next())
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, caller))
      return { ...tally, seconds: (performance.now() - begun_ms) / 1_000 }
    },
    async keep(rate, windows, window_s, passed) {
      for (let window = 0; window < windows; window++) {
        tally = emptyTally()
        const begun_ms = performance.now()
        const passed_s = () => (performance.now() - begun_ms) / 1_000
        for (let sent = 0; passed_s() < window_s; await pause(TICK_MS)) {
          for (const due = passed_s() * rate; sent < due && open.size < OPEN_MAX; sent++) {
            const one = call(next()).finally(() => open.delete(one))
            open.add(one)
          }
        }
        const seconds = passed_s()
        await Promise.all(open)
        // No connection stays, so that what the service then holds can be compared.
        agent.destroy()
        await pause(REST_MS)
        await passed({ ...tally, seconds })
      }
    },
    stop: () => agent.destroy(),
  }
}

function emptyTally(): Tally {
  return { seconds: 0, latencies: { free: [], terms: [], paid: [] }, wrong: 0, first_wrong: null, pending: 0 }
}

export function answersOf({ latencies }: Tally): number {
  return KINDS.reduce((sum, kind) => sum + latencies[kind].length, 0)
}

/** The latency that this share of the answers did not exceed; NaN where there were none. */
export function quantile(latencies: readonly number[], share: number): number {
  return latencies.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(latencies.length * share) - 1)] ?? Number.NaN
}
