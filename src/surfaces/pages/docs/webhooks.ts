import { html } from '../html.ts'
import { WEBHOOK_EVENTS, type WebhookEventType } from '../../../ports/webhooks.ts'
import { WEBHOOK_RULES, INVOICE_RULES } from '../../../service/limits.ts'
import { code, curl, items, paragraphs, sample, table, type Chapter, type Topic } from './parts.ts'
import { usdcDecimal } from '../../../pure/payments/usdc.ts'

const MEANINGS: Readonly<Record<WebhookEventType, string>> = {
  'invoice.created': 'the merchant has signed an invoice',
  'invoice.paid': 'confirmed payments have reached the amount, or a bank statement confirmed the transfer (bank_payment)',
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

const EXAMPLE = {
  amountUsdc: '49.00',
  merchant: '0x1000000000000000000000000000000000000001',
  clientName: 'Example Ltd',
  memo: 'May',
  order_number: '4711',
  return_url: 'https://shop.example/thanks',
}
const BANK_EXAMPLE = {
  amountUsdc: '49.00',
  merchant: EXAMPLE.merchant,
  bank: { iban: 'DE89 3704 0044 0532 0130 00', bic: 'COBADEFFXXX', name: 'Example GmbH', currency: 'EUR', amount: '45.00' },
}
/** The void specimen, so that the sample has an answer. */
const SPECIMEN = 'inv_000000000000'

export const INVOICES: Topic = {
  id: 'invoices',
  title: 'Invoices',
  words: 'Requests for payment in USDC, paid straight to the merchant.',
  chapters(deps) {
    const { api_url } = deps.origins
    const one = `${api_url}/api/invoice/${SPECIMEN}`
    return [
      {
        id: 'create',
        title: 'Create one',
        body: html`${paragraphs(
          html`By hand: the page <a href="/merchant">Get paid in USDC</a> creates, signs, shares, voids, lists and exports invoices.`,
          'Free, without an account. The payer pays the merchant directly on the chain; this service never holds the money.',
          html`${code('merchant')} is the address from the request; assay does not verify who owns it. Send an ${code('Idempotency-Key')}, and
          a retry returns the first invoice.`,
          html`${code('order_number')} is on page, PDF, list and webhooks. After the payment the page links to ${code('return_url')} and shows its host; it
          never redirects, so a shop learns of the payment by a <a href="/docs/webhooks">webhook</a>.`,
        )}
        ${sample('create', 'shell', `Amounts up to ${INVOICE_RULES.amount_max} USDC, best as text`, curl(`${api_url}/api/invoice/create`, { body: EXAMPLE }))}`,
      },
      {
        id: 'read',
        title: 'Follow it',
        body: html`${sample('read', 'shell', 'Its state; this is a void specimen', curl(one))}
        ${table(
          'Related addresses',
          ['address', 'what it is'],
          [
            [
              code(`${api_url}/api/invoice/{id}/pdf`),
              html`the request as PDF, once paid a confirmation of the payment; ${code('?lang=de')} or ${code('?lang=es')} for another language`,
            ],
            [code(`${api_url}/api/invoice/{id}/qr.svg`), 'a QR code for wallets: a plain transfer to the deposit address of the invoice'],
            [
              code(`${api_url}/api/invoice/{id}/pay`),
              `takes a signed authorization of ${usdcDecimal(INVOICE_RULES.relay_minimum_minor)} USDC or more; this service pays the gas`,
            ],
            [
              code(`${api_url}/api/invoice/{id}/transactions`),
              'takes {"tx_hash"} of a payment made elsewhere, and says whether a block holds it',
            ],
            [
              code('pay_url of the record'),
              html`the page for the payer, in the language of the browser; takes x402 payments from programs`,
            ],
          ],
        )}
        ${items(
          html`${code('deposit.address')} of the record is the address of this one invoice: USDC from any wallet or exchange pays it, without a
          signature, a reference or an exact amount. Its contract can only forward to the merchant. Deposits from
          ${usdcDecimal(INVOICE_RULES.sweep_minimum_minor)} USDC are forwarded for you; anyone can forward others with the transaction in
          ${code('deposit.sweep')}.`,
          'Anyone who has the id can read the invoice. The id cannot be guessed, so share it only with people who may see the invoice.',
          'The state follows from the payments that the chain shows. What comes late is recorded as late.',
        )}`,
      },
      bankChapter(api_url),
      {
        id: 'list',
        title: 'Sign, void and list as the merchant',
        body: html`${paragraphs(
          html`An invoice that its merchant signed says so to the payer, and is never evicted. ${code('sign.typed_data')} of the record is what the
          wallet signs; ${code('sign.submit')} says where the signature goes. ${code(`${api_url}/api/invoice/{id}/void`)} asks for the signature
          that voids an unpaid invoice in the same way.`,
          html`${code(`${api_url}/api/invoice/list`)} lists the invoices that a merchant signed, and only the merchant can read it: the first answer asks
          for a signature, the second has the list and a ${code('token')} for further pages, valid for ${INVOICE_RULES.list_token_s / 3_600} hours.`,
        )}
        ${sample('list', 'shell', 'Asks for the signature of this merchant', curl(`${api_url}/api/invoice/list`, { body: { merchant: EXAMPLE.merchant } }))}`,
      },
    ]
  },
}

function bankChapter(api_url: string): Chapter {
  return {
    id: 'bank',
    title: 'Let customers pay by bank',
    body: html`${paragraphs(
      html`With ${code('bank')} the invoice shows an account of the merchant: holder, IBAN, BIC, amount and creditor reference (ISO 11649) on page, PDF and
          record, and for an amount in EUR a QR code for banking apps (EPC069-12). The merchant states the amount; no exchange rate is computed.`,
      html`Only the request that creates the invoice can give bank details, and they never change. They are part of ${code('cart_hash')}, and the wallet
          shows them when the merchant signs. Until then the page says that anyone could have written them.`,
    )}
        ${sample('bank', 'shell', 'An invoice that can be paid by bank', curl(`${api_url}/api/invoice/create`, { body: BANK_EXAMPLE }))}
        ${paragraphs(
          html`The merchant confirms transfers at ${code('POST /api/invoice/statement')} with a statement of the bank (camt.053 or camt.054) in
          ${code('document')}. With ${code('merchant')}, the first answer asks for a signature over its SHA-256, and all invoices that the merchant signed are
          compared. With ${code('invoice_id')} and ${code('invoice_token')}, the ${code('statement_token')} of the answer in which the invoice was
          created, only that invoice is; the token of an unsigned creation ends when the merchant signs.`,
        )}
        ${items(
          'An invoice is closed by one booked credit entry on its account, with its reference, of its exact amount and currency. Everything else is reported and changes nothing.',
          html`A closed invoice is ${code('SETTLED')} with ${code('paid_by: "bank"')}; ${code('bank_payment')} has the evidence. It is no longer offered for
          payment on the chain, and what still arrives there is an overpayment.`,
          'Sending the same document again changes nothing. The document is not stored, only its SHA-256.',
          html`By hand: the page <a href="/merchant">Get paid in USDC</a>, or ${code('assay invoice confirm')}.`,
        )}`,
  }
}
