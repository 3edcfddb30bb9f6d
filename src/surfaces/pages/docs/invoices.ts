import { usdcDecimal } from '../../../pure/payments/usdc.ts'
import { html } from '../html.ts'
import { INVOICE_RULES } from '../../../service/limits.ts'
import { code, curl, items, paragraphs, sample, table, type Topic } from './parts.ts'

const EXAMPLE = {
  amountUsdc: '49.00',
  merchant: '0x1000000000000000000000000000000000000001',
  clientName: 'Example Ltd',
  memo: 'May',
  order_number: '4711',
  return_url: 'https://shop.example/thanks',
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
