import { html } from 'hono/html'
import { usdcText } from '../../../pure/invoices/record.ts'
import { INVOICE_RULES } from '../../../service/invoices/rules.ts'
import { code, curl, items, paragraphs, sample, table, type Topic } from './parts.ts'

const EXAMPLE = { amountUsdc: '49.00', merchant: '0x1000000000000000000000000000000000000001', clientName: 'Example Ltd', memo: 'May' }
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
          'Free, without an account. The payer pays the merchant directly on the chain; this service never holds the money.',
          html`${code('merchant')} is whoever the request names: nobody has vetted it. Send an ${code('Idempotency-Key')}, and a retry
          returns the first invoice.`,
        )}
        ${sample('create', 'shell', `Amounts up to ${INVOICE_RULES.amount_max} USDC, best as text`, curl(`${api_url}/api/invoice/create`, { body: EXAMPLE }))}`,
      },
      {
        id: 'read',
        title: 'Follow it',
        body: html`${sample('read', 'shell', 'How it stands; this is a void specimen', curl(one))}
        ${table(
          'Beside it',
          ['address', 'what it is'],
          [
            [code(`${api_url}/api/invoice/{id}/pdf`), 'the request as PDF'],
            [
              code(`${api_url}/api/invoice/{id}/qr.svg`),
              'a QR code for wallets: a plain transfer, matched once the merchant has signed the invoice',
            ],
            [
              code(`${api_url}/api/invoice/{id}/pay`),
              `takes a signed authorization of ${usdcText(INVOICE_RULES.relay_minimum_minor)} USDC or more; this service pays the gas`,
            ],
            [
              code(`${api_url}/api/invoice/{id}/transactions`),
              'takes {"tx_hash"} of a payment made elsewhere, and says whether a block holds it',
            ],
            [code('pay_url of the record'), 'takes x402 payments from programs'],
          ],
        )}
        ${items(
          'Whoever has the id sees the invoice: it cannot be guessed, so send it to nobody else.',
          'The state follows from the payments that the chain shows. What comes late is recorded as late.',
        )}`,
      },
    ]
  },
}
