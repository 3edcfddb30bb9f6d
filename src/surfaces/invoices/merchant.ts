import { z } from 'zod'
import { STATEMENT_OUTCOMES, STATEMENT_UNMATCHED } from '../../ports/invoices.ts'
import { INVOICE_STATES } from '../../pure/invoices/standing.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import { INVOICE_RULES, RAIL_LIMITS } from '../../service/limits.ts'
import { problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { endpointsOf, named, type Rate } from '../endpoint.ts'
import { JSON_TYPE, storedDocument } from '../http/document.ts'
import { jsonReply } from '../http/reply.ts'
import type { PaymentRenderer } from '../payment.ts'

/** Dependencies of the invoice endpoints. */
export interface InvoiceRoom {
  deps: AppDeps
  words: PaymentRenderer
}

/** Bound on the reading of requests to write. The service has the budgets of clients and merchants, since only it knows who signed. */
export const WRITE_RATE: Rate = { code: 'INVOICE_RATE_LIMITED', per_minute: INVOICE_RULES.requests_per_minute }

export const INVOICE_BODY: ReadBounds = { body_bytes: INVOICE_RULES.body_bytes, depth: 8, nodes: 100, unsafe_numbers: 'refuse' }

export const BYTES_32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/)
export const ID = { id: z.string().max(64).describe('Id of the invoice.') }
export const ADDRESS = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
/** Signatures of contract wallets have no fixed length. */
export const SIGNATURE = z.string().regex(/^0x(?:[0-9a-fA-F]{2}){1,4096}$/)

/** Path of the server-sent events of an invoice. */
export const INVOICE_EVENTS_PATH = '/api/invoice/{id}/events'

/** Entity tag of a record as JSON text, which is also the id of its event. */
export function tagOf(text: string): string {
  return storedDocument(JSON_TYPE, text).headers['etag'] ?? ''
}

const defineEndpoint = endpointsOf<InvoiceRoom>()

/** Endpoint that refuses GET, so that it does not look for an invoice with the id `create` or `list`. */
const postOnly = (id: string, path: string) =>
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

/** Members of a request that the merchant signs. */
const SIGNED_BY_MERCHANT = {
  issued_at: z
    .string()
    .regex(/^[0-9]{1,15}$/)
    .optional()
    .describe('Time of the signature in seconds since 1970; the time now if absent.'),
  signature: SIGNATURE.optional().describe('EIP-712 of the merchant over sign.typed_data of the answer to the same request without it.'),
}

const LIST = '/api/invoice/list'
const LIST_RATE: Rate = { code: 'INVOICE_RATE_LIMITED', per_minute: INVOICE_RULES.lists_per_minute }

const LIST_REQUEST = named(
  'invoice-list-request',
  z.strictObject({
    merchant: ADDRESS.describe('Wallet whose invoices are listed.'),
    ...SIGNED_BY_MERCHANT,
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
          erased_at: z.string().nullable().describe('RFC 3339: when the personal details were erased; null while they are kept.'),
          settled_at: z
            .string()
            .nullable()
            .describe('RFC 3339: time of the block that settled it, or of the confirmation of the bank transfer.'),
          paid_by: z.enum(['chain', 'bank']).nullable().describe('Rail on which it was paid; null while it is not.'),
          bank_payment: z
            .looseObject({})
            .nullable()
            .describe('Bank transfer that the merchant confirmed: amount, currency, reference, booked_on and the evidence.'),
          bank_status: z
            .string()
            .nullable()
            .describe('What is known of bank transfers, in words; only the confirmation of the merchant is one.'),
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

const STATEMENT = '/api/invoice/statement'
const STATEMENT_RATE: Rate = { code: 'INVOICE_RATE_LIMITED', per_minute: INVOICE_RULES.statements_per_minute }
/** Escapes of JSON make a document longer. */
const STATEMENT_BODY: ReadBounds = { body_bytes: 2 * RAIL_LIMITS.upload_chars, depth: 4, nodes: 50, unsafe_numbers: 'refuse' }

const STATEMENT_REQUEST = named(
  'bank-statement-request',
  z.strictObject({
    document: z
      .string()
      .min(1)
      .max(RAIL_LIMITS.upload_chars)
      .describe('The statement (camt.053) or notification (camt.054) of the bank, as text.'),
    merchant: ADDRESS.optional().describe('Merchant that has signed the invoices; required.'),
    ...SIGNED_BY_MERCHANT,
    invoice_id: z.string().max(64).optional().describe('Confirms nothing since 2026-11-28: the problem says what the merchant signs.'),
    invoice_token: z.string().max(80).optional().describe('Of an earlier release; confirms nothing, as invoice_id.'),
  }),
)

const TEXT_OR_NULL = z.string().nullable()

const CONFIRMED = named(
  'bank-statement-report',
  z.looseObject({
    document_sha256: z.string().describe('SHA-256 of the document, which is not stored.'),
    entries: z.int().describe('Entries in the document.'),
    invoices: z
      .array(
        z.looseObject({
          invoice_id: z.string().describe('Id of the invoice.'),
          reference: z.string().describe('Creditor reference (ISO 11649).'),
          outcome: z.enum(STATEMENT_OUTCOMES).describe('closed: it is paid now. Others change nothing.'),
          message: z.string().describe('What that means, and what to do.'),
          currency: z.string().describe('Currency of the amounts.'),
          expected: z.string().describe('Amount of the invoice at the bank.'),
          received: TEXT_OR_NULL.describe('Booked amount; null if it cannot be determined.'),
          delta: TEXT_OR_NULL.describe('Received less expected.'),
          booked_on: TEXT_OR_NULL.describe('Booking date, YYYY-MM-DD.'),
          entry_reference: TEXT_OR_NULL.describe('Reference of the bank for the entry.'),
          reason: z
            .looseObject({})
            .nullable()
            .describe('Why the date of an entry does not fit, with field, found and expected; null if it does.'),
        }),
      )
      .describe('Invoices that the document names.'),
    unmatched: z
      .array(
        z.looseObject({
          reason: z.enum(STATEMENT_UNMATCHED).describe('Why the entry counts for no invoice.'),
          entry: z.int().describe('Position of the entry in the document, from 1.'),
          reference: z.string().describe('Creditor reference of the entry.'),
          amount: z.string().describe('Amount of the entry.'),
          currency: z.string().describe('Currency of the entry.'),
        }),
      )
      .describe(`Entries with a reference that count for no invoice; the first ${RAIL_LIMITS.upload_shown}.`),
    counts: z.looseObject({}).describe('Number of entries by that reason, and of those without a reference.'),
  }),
)

const confirm = defineEndpoint({
  id: 'confirm-bank-transfers',
  method: 'post',
  path: STATEMENT,
  summary: 'Confirm bank transfers of invoices with a statement of the bank; exact matches close their invoices.',
  description:
    'Only the merchant can, for invoices that it signed: send it without signature first, sign the typed data of its member sign, and send it again as ' +
    'sign.submit says. An invoice is closed by one booked credit entry on its account, with its reference, of its exact amount and currency, booked from a ' +
    'day before the invoice was created to a day from now; the value date counts where the entry has no booking date. Sending a document again changes ' +
    'nothing. The document is not stored, only its SHA-256.',
  rate: STATEMENT_RATE,
  body: {
    schema: STATEMENT_REQUEST,
    bounds: STATEMENT_BODY,
    example: {
      document: '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">…</Document>',
      merchant: '0x1000000000000000000000000000000000000001',
    },
  },
  answers: { 200: { description: 'What became of each invoice that the document names.', json: CONFIRMED } },
  problems: ['INVOICE_SIGNATURE_INVALID', 'INVOICE_NOT_FOUND', 'UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  async run({ body, caller }, { deps }) {
    const { document, merchant, issued_at, signature = null, invoice_id } = body
    const asked = { document, signature, client: caller }
    const { confirmTransfers } = deps.invoices.service
    if (merchant !== undefined && invoice_id === undefined)
      return statementReply(
        await confirmTransfers({ ...asked, by: { merchant, issued_at: issued_at === undefined ? null : Number(issued_at) } }),
      )
    if (invoice_id !== undefined && merchant === undefined) return statementReply(await confirmTransfers({ ...asked, by: { invoice_id } }))
    const message = 'Give merchant, the address that has signed the invoices; invoice_id and invoice_token confirm nothing.'
    return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '/merchant', code: 'merchant_missing', message }] })
  },
})

function statementReply(end: Awaited<ReturnType<InvoiceRoom['deps']['invoices']['service']['confirmTransfers']>>) {
  return end.ok ? jsonReply(200, JSON.stringify(end.value), { 'cache-control': 'private, no-store' }) : end.problem
}

/** Requests of a merchant for its own invoices: the list, and the confirmation of bank transfers. Their addresses, and that of the creation, refuse GET. */
export const MERCHANT_ENDPOINTS = [
  postOnly('create-invoice-get', '/api/invoice/create'),
  list,
  postOnly('list-invoices-get', LIST),
  confirm,
  postOnly('confirm-bank-transfers-get', STATEMENT),
]
