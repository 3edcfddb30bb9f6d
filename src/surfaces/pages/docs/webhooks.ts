import { html } from '../html.ts'
import { WEBHOOK_EVENTS, type WebhookEventType } from '../../../ports/webhooks.ts'
import { WEBHOOK_RULES } from '../../../service/limits.ts'
import { code, curl, items, paragraphs, sample, table, type Topic } from './parts.ts'

const MEANINGS: Readonly<Record<WebhookEventType, string>> = {
  'invoice.created': 'the merchant has signed an invoice',
  'invoice.paid': 'confirmed payments have reached the amount',
  'invoice.underpaid': 'a payment is confirmed, and a part of the amount is still due',
  'invoice.voided': 'the merchant has voided an invoice',
  'invoice.expired': 'an invoice has expired without being paid',
  'payment.settled': 'one payment of an invoice is confirmed on the chain',
  'policy.bound': 'the underwriter has countersigned a policy',
  'dispute.ruled': 'a dispute about a receipt is decided',
}

const VERIFY = `import { Webhook } from 'standardwebhooks'

// body: the request body as text, before JSON.parse; throws when the signature is wrong or older than 5 minutes
const event = new Webhook(secret).verify(body, request.headers)
if (await seenBefore(request.headers['webhook-id'])) return
await handle(event.type, event.data)`

const HOURS = Math.round(WEBHOOK_RULES.retry_s.reduce((sum, wait_s) => sum + wait_s, 0) / 3_600)

export const WEBHOOKS: Topic = {
  id: 'webhooks',
  title: 'Webhooks',
  words: 'Signed events of invoices, policies and disputes, sent to your server.',
  chapters(deps) {
    const url = `${deps.origins.api_url}/v1/webhooks`
    const account = { url: 'https://example.com/hooks', account: '0x1000000000000000000000000000000000000001' }
    return [
      {
        id: 'subscribe',
        title: 'Subscribe',
        body: html`${paragraphs(
          html`For all events of an account, send its address. The answer, 403, has ${code('sign')}: sign its
          ${code('typed_data')} with ${code('eth_signTypedData_v4')} and send the request again with the members of ${code('sign.submit.body')}.
          Contract wallets are asked on the chain (ERC-1271).`,
          html`For one invoice, send ${code('invoice_id')} and, as ${code('invoice_token')}, the ${code('webhook_token')} of the answer in which
          it was created.`,
          html`The answer, 201, shows the signing ${code('secret')} and the ${code('token')} once.`,
        )}
        ${sample('subscribe', 'shell', 'Asks what to sign', curl(url, { body: account }))}
        ${table(
          'Events',
          ['type', 'when it is sent'],
          WEBHOOK_EVENTS.map((type) => [code(type), MEANINGS[type]]),
        )}`,
      },
      {
        id: 'receive',
        title: 'Receive',
        body: html`${paragraphs(
          html`Requests follow Standard Webhooks: ${code('webhook-id')}, ${code('webhook-timestamp')} and ${code('webhook-signature')} (v1,
          HMAC-SHA256). The body is ${code('{"type", "timestamp", "data"}')}. Answer with 2xx within
          ${String(WEBHOOK_RULES.send_ms / 1_000)} seconds; redirects are not followed.`,
        )}
        ${sample('verify', 'javascript', 'Verify with npm install standardwebhooks', VERIFY)}
        ${items(
          html`Delivery is at least once: the same event always has the same ${code('webhook-id')}, so remember the ids that you have processed.`,
          'Order is not guaranteed once an attempt fails. Read the invoice for its state now.',
          `A failed attempt is repeated ${WEBHOOK_RULES.retry_s.length} times over ${HOURS} hours with growing intervals; then the delivery is dead.`,
          'After a reorganisation of the chain an invoice can be paid by another payment, which is another event.',
        )}`,
      },
      {
        id: 'inspect',
        title: 'Inspect and redeliver',
        body: html`${table(
          'Addresses, with the header Authorization: Bearer and the token',
          ['address', 'what it does'],
          [
            [code('GET /v1/webhooks/{id}'), 'the subscription, its failures and whether it is paused'],
            [code('GET /v1/webhooks/{id}/deliveries?state=dead'), 'the dead-letter list; without state, all deliveries'],
            [code('POST /v1/webhooks/{id}/redeliver'), 'queues {"event_id"} again'],
            [code('POST /v1/webhooks/{id}/delete'), 'deletes the subscription'],
          ],
        )}
        ${items(
          'Receivers need https on port 443 of a public host.',
          `A subscription has at most ${WEBHOOK_RULES.queued} waiting deliveries; what comes then is dropped and counted.`,
        )}`,
      },
    ]
  },
}
