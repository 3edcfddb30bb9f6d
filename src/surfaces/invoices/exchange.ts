import type { Context } from 'hono'
import type { InvoiceDesk } from '../../service/invoices/desk.ts'
import { INVOICE_RULES } from '../../service/invoices/rules.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { readBody } from '../http/body.ts'
import type { Env } from '../http/env.ts'
import { bodyOfRequest } from '../http/fetch-body.ts'
import { readJsonBody } from '../http/json-body.ts'
import { problemReply, response, type Reply } from '../http/reply.ts'
import type { PaymentWords } from '../payment.ts'

export type Caller = (context: Context<Env>) => string

/** What the invoice routes stand on. */
export interface InvoiceRoutes {
  deps: AppDeps
  desk: InvoiceDesk
  words: PaymentWords
  caller: Caller
  /** Null for a client that may go on. */
  refuseRate(address: string): Problem | null
}

export function refuse({ deps }: InvoiceRoutes, context: Context<Env>, found: Problem, headers: Record<string, string> = {}): Reply {
  return problemReply(found, context.env.request_id, deps.origins, headers)
}

/** A store that does not answer is a problem of its own. */
export async function guarded(routes: InvoiceRoutes, context: Context<Env>, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('STORE_'))) throw error
    routes.deps.call.onFault(error, 'invoices')
    return response(refuse(routes, context, problem('STORE_UNAVAILABLE', 'Try again shortly.', { charged: 'unknown', retry_after_s: 2 })))
  }
}

/** The JSON body; one that a client may not send, or that cannot be read, as a problem. */
export async function bodyOf(
  routes: InvoiceRoutes,
  context: Context<Env>,
): Promise<{ ok: true; value: unknown } | { ok: false; problem: Problem }> {
  const limited = routes.refuseRate(routes.caller(context))
  if (limited !== null) return { ok: false, problem: limited }
  const read = await readBody(bodyOfRequest(context), INVOICE_RULES.body_bytes, () => Promise.resolve(true))
  return read.ok ? readJsonBody(read.bytes, BODY) : read
}

const BODY = { depth: 8, nodes: 100, unsafe_numbers: 'refuse' } as const
