import { createHmac } from 'node:crypto'
import type { WebhookMessage, WebhookSender, WebhookSent } from '../../ports/webhooks.ts'
import { WEBHOOK_RULES } from '../../service/limits.ts'
import { readBoundedText } from '../../pure/read-bounded.ts'
import { type Guard, guardedAttempt } from './guarded-request.ts'
import type { Resolve } from './outside-names.ts'
import { readReceiverUrl } from './receiver-url.ts'

interface SenderOptions {
  /** Receivers on this machine are allowed, over http and on any port: for a sandbox. */
  loopback: boolean
  resolve: Resolve
}

const LOOPBACK = /^(?:127\.0\.0\.1|::1):\d+$/
const SECRET_PREFIX = 'whsec_'

/** Sends webhooks in the form of Standard Webhooks (1.0.0, 2023) to public https addresses, never to a redirect. */
export function createWebhookSender({ loopback, resolve }: SenderOptions): WebhookSender {
  const exempt: Guard['exempt'] = { has: (pair) => loopback && LOOPBACK.test(pair) }
  return {
    accepts: (text) => readReceiverUrl(text, { loopback }),
    async send(message, signal): Promise<WebhookSent> {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_RULES.send_ms)])
      try {
        const guard = { resolve, exempt, party: message.network }
        const attempt = await guardedAttempt(message.url, guard, ended, WEBHOOK_RULES.response, headersOf(message), message.body)
        if ('refused' in attempt) return { kind: attempt.refused }
        const { response } = attempt
        const text = await readBoundedText(response, WEBHOOK_RULES.response.answer_bytes)
        return text === null ? { kind: 'too_long' } : { kind: 'answered', status: response.statusCode ?? 0, text }
      } catch {
        return { kind: ended.aborted ? 'timeout' : 'unreachable' }
      }
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
