import type { ProblemKind } from './kind.ts'

/** What can be wrong with invoices. */
export const INVOICE_PROBLEMS = {
  INVOICE_NOT_FOUND: {
    status: 404,
    title: 'No such invoice',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'No invoice has this id. Nothing was charged.',
  },
  INVOICE_CONFLICT: {
    status: 409,
    title: 'The key was used for another invoice',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'The Idempotency-Key came before with other content. Use another key for another invoice.',
  },
  INVOICE_LIMIT: {
    status: 429,
    title: 'Too many open invoices',
    phase: 'tool',
    retryable: true,
    fault: 'caller',
    description: 'The merchant has signed as many open invoices as are taken here.',
  },
  INVOICE_RATE_LIMITED: {
    status: 429,
    title: 'Too many requests for invoices',
    phase: 'tool',
    retryable: true,
    fault: 'caller',
    description: 'A client may create, pay and change only so many invoices a minute, and relay only so many payments a day.',
  },
  INVOICE_NOT_PAYABLE: {
    status: 409,
    title: 'The invoice takes no such payment',
    phase: 'settlement',
    retryable: false,
    fault: 'caller',
    description: 'It is void, expired, paid or being paid, or the amount is none that is carried to the chain for it. Nothing was sent.',
  },
  INVOICE_NOT_PRINTABLE: {
    status: 422,
    title: 'The PDF cannot print this invoice',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description:
      'The client name or memo has characters of scripts that the PDF does not print; errors names them, and the page of the invoice shows them. The record says so beforehand in pdf_unprintable.',
  },
  INVOICE_PAYMENT_REQUIRED: {
    status: 402,
    title: 'Pay this invoice',
    phase: 'challenge',
    retryable: true,
    fault: 'caller',
    description: 'The address takes a signed payment of the invoice; the terms say to whom and how much.',
  },
  INVOICE_SIGNATURE_INVALID: {
    status: 403,
    title: 'Not signed by the merchant',
    phase: 'signature',
    retryable: false,
    fault: 'caller',
    description: 'Only the merchant’s own key can sign or void an invoice, or create a signed one.',
  },
  INVOICE_NOT_VOIDABLE: {
    status: 409,
    title: 'The invoice cannot be voided',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'A payment was seen or is on its way, or it is void already.',
  },
} as const satisfies Record<string, ProblemKind>
