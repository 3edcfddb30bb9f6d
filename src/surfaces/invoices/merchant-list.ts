import { z } from 'zod'
import { INVOICE_STATES } from '../../pure/invoices/standing.ts'
import { INVOICE_RULES } from '../../service/limits.ts'
import { problem } from '../../service/problems.ts'
import { endpointsOf, named, type Rate } from '../endpoint.ts'
import { jsonReply } from '../http/reply.ts'
import { INVOICE_BODY, type InvoiceRoom } from './operations.ts'

const defineEndpoint = endpointsOf<InvoiceRoom>()

export const ADDRESS = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
/** Signatures of contract wallets have no fixed length. */
export const SIGNATURE = z.string().regex(/^0x(?:[0-9a-fA-F]{2}){1,4096}$/)

/** Endpoint that refuses GET, so that it does not look for an invoice with the id `create` or `list`. */
export const postOnly = (id: string, path: string) =>
  defineEndpoint({
    id,
    method: 'get',
    path,
    summary: 'Send a POST request to this address.',
    unlisted: true,
    answers: {},
    problems: ['METHOD_NOT_ALLOWED'],
    run: ({ refuse }) => refuse(problem('METHOD_NOT_ALLOWED', 'Send a POST request to this address.'), { allow: 'POST, OPTIONS' }),
  })
const LIST = '/api/invoice/list'
const LIST_RATE: Rate = { code: 'INVOICE_RATE_LIMITED', per_minute: INVOICE_RULES.lists_per_minute }

const LIST_REQUEST = named(
  'invoice-list-request',
  z.strictObject({
    merchant: ADDRESS.describe('Wallet whose invoices are listed.'),
    issued_at: z
      .string()
      .regex(/^[0-9]{1,15}$/)
      .optional()
      .describe('Time of the signature in seconds since 1970; the time now if absent.'),
    signature: SIGNATURE.optional().describe('EIP-712 of the merchant over sign.typed_data of the answer to the same request without it.'),
    token: z
      .string()
      .regex(/^mlt_[0-9]{1,15}_[0-9a-f]{64}$/)
      .optional()
      .describe('The token of an earlier answer, in place of issued_at and signature. Keep it secret.'),
    before: z.int().min(1).optional().describe('next_before of the page before.'),
    limit: z.int().min(1).max(INVOICE_RULES.list_page_max).optional().describe(`Length of the page; ${INVOICE_RULES.list_page} if absent.`),
  }),
)

const LISTED = named(
  'invoice-list',
  z.looseObject({
    merchant: z.string().describe('Address in lower case.'),
    invoices: z
      .array(
        z.looseObject({
          invoice_id: z.string().describe('Id of the invoice. It is a secret: anyone with the id can read the invoice.'),
          status: z.enum(INVOICE_STATES).describe('State of the invoice.'),
          amount_usdc: z.string().describe('Decimal amount in USDC.'),
          amount_paid_minor: z.string().describe('Minor units of USDC that were seen on the chain.'),
          client_name: z.string().nullable().describe('Name of the payer.'),
          memo: z.string().nullable().describe('Purpose of the payment.'),
          order_number: z.string().nullable().describe('Number of the order in the shop.'),
          created_at: z.string().describe('RFC 3339.'),
          expires_at: z.string().describe('RFC 3339.'),
          settled_at: z.string().nullable().describe('RFC 3339: time of the block that settled it.'),
          tx_hash: z.string().nullable().describe('Transaction that settled it.'),
          payer: z.string().nullable().describe('Account that sent this transaction’s payment.'),
          page_url: z.string().describe('Page for the payer.'),
        }),
      )
      .describe('Invoices that the merchant signed, the newest first. Further members may come.'),
    next_before: z.int().nullable().describe('Value of `before` for the next page; null after the last one.'),
    token: z.string().describe('Reads further pages of this merchant without a signature.'),
    token_expires_at: z.string().describe('RFC 3339.'),
  }),
)

const list = defineEndpoint({
  id: 'list-invoices',
  method: 'post',
  path: LIST,
  summary: 'Invoices that a merchant signed, the newest first; only the merchant can read them.',
  description:
    'Send it without signature first, sign the typed data of its member sign with the wallet of the merchant, and send it again as sign.submit says. ' +
    `The answer has a token for further pages, valid for ${INVOICE_RULES.list_token_s / 3_600} hours.`,
  rate: LIST_RATE,
  body: { schema: LIST_REQUEST, bounds: INVOICE_BODY, example: { merchant: '0x1000000000000000000000000000000000000001' } },
  answers: { 200: { description: 'A page of the list.', json: LISTED } },
  problems: ['INVOICE_SIGNATURE_INVALID', 'UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  async run({ body, caller }, { deps }) {
    const { merchant, issued_at, signature = null, token = null, before = null, limit = INVOICE_RULES.list_page } = body
    const end = await deps.invoices.service.list({
      merchant,
      issued_at: issued_at === undefined ? null : Number(issued_at),
      signature,
      token,
      before,
      limit,
      client: caller,
    })
    return end.ok ? jsonReply(200, JSON.stringify(end.value), { 'cache-control': 'private, no-store' }) : end.problem
  },
})
const listByGet = postOnly('list-invoices-get', LIST)

/** List of a merchant's invoices. */
export const MERCHANT_LIST_ENDPOINTS = [list, listByGet]
