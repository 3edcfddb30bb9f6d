import { createHmac } from 'node:crypto'
import type { WebhookMessage, WebhookSender, WebhookSent } from '../../ports/webhooks.ts'
import { WEBHOOK_RULES } from '../../service/limits.ts'
import { readBoundedText } from '../../pure/read-bounded.ts'
import { type Guard, guardedAttempt } from './guarded-request.ts'
import type { Resolve } from './outside-names.ts'
import { readReceiverUrl } from './receiver-url.ts'

/** Rate of requests by host, domain and IP address of receivers. */
interface Rate {
  wait_ms(url: string, sender: WebhookMessage): number
  takeHost(url: string, sender: WebhookMessage): { accepted(): void } | null
  takeAddress(address: string, sender: WebhookMessage): { accepted(): void } | null
}

interface SenderOptions {
  /** Receivers on this machine are allowed, over http and on any port: for a sandbox. */
  loopback: boolean
  resolve: Resolve
  rate: Rate
}

const LOOPBACK = /^(?:127\.0\.0\.1|::1):\d+$/
const LOOPBACK_ADDRESSES: readonly string[] = ['127.0.0.1', '::1']
const SECRET_PREFIX = 'whsec_'

/** Sends webhooks in the form of Standard Webhooks (1.0.0, 2023) to public https addresses, never to a redirect, and few to each receiver. */
export function createWebhookSender({ loopback, resolve, rate }: SenderOptions): WebhookSender {
  const exempt: Guard['exempt'] = { has: (pair) => loopback && LOOPBACK.test(pair) }

  async function attempt(message: WebhookMessage, guard: Guard, signal: AbortSignal): Promise<WebhookSent> {
    try {
      const sent = await guardedAttempt(message.url, guard, signal, WEBHOOK_RULES.response, headersOf(message), message.body)
      if ('refused' in sent) {
        return sent.refused === 'not_admitted' ? { kind: 'limited', wait_ms: WEBHOOK_RULES.rate.address_wait_ms } : { kind: sent.refused }
      }
      const text = await readBoundedText(sent.response, WEBHOOK_RULES.response.answer_bytes)
      return text === null ? { kind: 'too_long' } : { kind: 'answered', status: sent.response.statusCode ?? 0, text }
    } catch {
      return { kind: signal.aborted ? 'timeout' : 'unreachable' }
    }
  }

  return {
    accepts: (text) => readReceiverUrl(text, { loopback }),
    async send(message, signal): Promise<WebhookSent> {
      const of_host = rate.takeHost(message.url, message)
      if (of_host === null) return { kind: 'limited', wait_ms: rate.wait_ms(message.url, message) }
      const taken = [of_host]
      /** Counts the address that the name leads to, before anything is sent there. */
      const admit = (address: string): boolean => {
        if (loopback && LOOPBACK_ADDRESSES.includes(address)) return true
        const of_address = rate.takeAddress(address, message)
        if (of_address !== null) taken.push(of_address)
        return of_address !== null
      }
      const ended = AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_RULES.send_ms)])
      const sent = await attempt(message, { resolve, exempt, party: message.network, admit }, ended)
      if (sent.kind === 'answered' && sent.status >= 200 && sent.status < 300) for (const one of taken) one.accepted()
      return sent
    },
  }
}

function headersOf({ secret, event_id, timestamp_s, body }: WebhookMessage): Record<string, string> {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${event_id}.${timestamp_s}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'webhook-id': event_id,
    'webhook-timestamp': String(timestamp_s),
    'webhook-signature': `v1,${signature}`,
  }
}
