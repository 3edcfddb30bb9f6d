import type { Context } from 'hono'
import { notCarried } from '../../pure/invoices/record.ts'
import { notFound } from '../../service/invoices/desk.ts'
import { beingPaid } from '../../service/invoices/relay.ts'
import { INVOICE_RULES } from '../../service/invoices/rules.ts'
import { carriedFrom, type InvoiceView } from '../../service/invoices/view.ts'
import { readPayment, readPaymentFields, type X402Payment } from '../../service/payments/payment-header.ts'
import { asksForPayment, notConfigured, payers, pendingProblem, takesAnother } from '../../service/payments/payment-refusals.ts'
import { caip2, challengeOf } from '../../service/payments/terms.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { Env } from '../http/env.ts'
import { jsonReply, type Reply } from '../http/reply.ts'
import { resendSecretsIn } from '../rest.ts'
import { bodyOf, refuse, type InvoiceRoutes } from './exchange.ts'

/**
 * Pays an invoice by a signed transfer (EIP-3009): as x402 in a header, or as `{authorization, signature}` in the body. Without either it answers
 * the terms, as any x402 resource does.
 */
export async function payInvoice(routes: InvoiceRoutes, context: Context<Env>): Promise<Reply> {
  const view = await routes.desk.read(context.req.param('id') ?? '')
  if (view === null) return refuse(routes, context, notFound())
  const given = await givenPayment(routes, context, view)
  if (given.kind === 'problem') return asked(routes, context, view, given.problem)
  const { relay } = routes.deps.invoices
  if (relay === null) return refuse(routes, context, notConfigured().problem)
  const secrets = resendSecretsIn((name) => context.req.header(name) ?? null)
  const end = await relay.pay(view, given.payment, { address: routes.caller(context), secrets })
  switch (end.kind) {
    case 'paid':
      return jsonReply(200, end.text, { 'cache-control': 'private, no-store', ...routes.words.responseHeaders(end.settlement) })
    case 'pending':
      return refuse(routes, context, pendingProblem(end.pending), {
        location: `${routes.deps.origins.api_url}/v1/answers/${end.pending.token}`,
      })
    case 'refused':
      return asked(routes, context, view, end.problem, routes.words.failureHeaders(end))
  }
}

type Given = { kind: 'payment'; payment: X402Payment } | { kind: 'problem'; problem: Problem }

async function givenPayment(routes: InvoiceRoutes, context: Context<Env>, view: InvoiceView): Promise<Given> {
  const [name, second] = (['payment-signature', 'x-payment'] as const).filter((header) => context.req.header(header) !== undefined)
  if (second !== undefined) return { kind: 'problem', problem: problem('PAYMENT_CONFLICT', 'Send one payment, in one header.') }
  if (name !== undefined) {
    const limited = routes.refuseRate(routes.caller(context))
    if (limited !== null) return { kind: 'problem', problem: limited }
    const read = readPayment({ kind: 'header', name, text: context.req.header(name) ?? '' })
    return read.ok
      ? { kind: 'payment', payment: read.payment }
      : { kind: 'problem', problem: payers(read.code, read.detail, read.x402_reason).problem }
  }
  if (context.req.method === 'GET' || isEmpty(context)) return { kind: 'problem', problem: unpaid() }
  const body = await bodyOf(routes, context)
  if (!body.ok) return { kind: 'problem', problem: body.problem }
  return bodyPayment(body.value, view)
}

function isEmpty(context: Context<Env>): boolean {
  return context.req.header('content-length') === '0' || context.req.raw.body === null
}

/** The bare authorization is read as a payment of x402 version 1, which it is but for the wrapping. */
function bodyPayment(value: unknown, { terms }: InvoiceView): Given {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) {
    return { kind: 'problem', problem: unpaid() }
  }
  const read = readPaymentFields({ x402Version: 1, scheme: 'exact', network: caip2(terms.chain_id), payload: value })
  return read.ok
    ? { kind: 'payment', payment: read.payment }
    : { kind: 'problem', problem: payers(read.code, read.detail, read.x402_reason).problem }
}

function unpaid(): Problem {
  const detail =
    'Sign a transfer of what is due to the merchant and send it in PAYMENT-SIGNATURE, X-PAYMENT or as {authorization, signature}.'
  return problem('INVOICE_PAYMENT_REQUIRED', detail)
}

/** Why there are no terms. */
function notPayable({ standing: { status, due_minor }, invoice }: InvoiceView, carries: boolean): Problem {
  const open = due_minor > 0n && status !== 'VOID' && status !== 'EXPIRED'
  const small = notCarried(invoice.issue_signature !== null, carriedFrom({ carries }))
  return problem('INVOICE_NOT_PAYABLE', open ? small : `The invoice is ${status}; nothing is taken for it here.`)
}

/** A refusal of the payer's making comes with the terms, while there are any. */
async function asked(
  routes: InvoiceRoutes,
  context: Context<Env>,
  view: InvoiceView,
  found: Problem,
  headers: Record<string, string> = {},
): Promise<Reply> {
  if (!asksForPayment(found)) return refuse(routes, context, found)
  if (!takesAnother(found)) return refuse(routes, context, found, headers)
  const { record, terms, invoice } = view
  const { relay } = routes.deps.invoices
  if (record['x402'] === null || relay === null) return refuse(routes, context, notPayable(view, relay?.carries === true))
  const amount_minor = await relay.room(view)
  if (amount_minor === 0n) return refuse(routes, context, beingPaid())
  if (amount_minor < INVOICE_RULES.relay_minimum_minor) return refuse(routes, context, notPayable(view, true))
  const { place } = routes.deps
  const description = `Invoice ${invoice.invoice_id}`
  const offer = { resource: String(record['pay_url']), description, amount_minor }
  const challenge = challengeOf({ ...place, pay_to: terms.merchant, ...offer }, 'payment required')
  const reply = refuse(routes, context, found, { ...headers, 'payment-required': challenge.header })
  return { ...reply, body: `${reply.body.slice(0, -1)},${challenge.body_members_json}}` }
}
