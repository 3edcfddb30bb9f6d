import type { Hono } from 'hono'
import type { Payment } from '../ports/payments.ts'
import { problem } from '../service/problems.ts'
import { pendingProblem, type PaymentRefusal } from '../service/payments/payment-refusals.ts'
import { statusOf } from '../service/payments/settlement.ts'
import { caip2 } from '../service/payments/terms.ts'
import type { AppDeps } from './deps.ts'
import type { Env } from './http/env.ts'
import { jsonReply, problemReply, response, type Reply } from './http/reply.ts'
import type { PaymentWords } from './payment.ts'

/** `/v1/payments/{payer}/{nonce}` and `/v1/answers/{token}`: where a caller learns the end of a payment that a connection did not live to see. */
export function paymentRoutes(app: Hono<Env>, deps: AppDeps, words: PaymentWords): void {
  const desk = deps.call.payments?.desk ?? null
  app.get('/v1/payments/:payer/:nonce', async (context) => {
    const payer = context.req.param('payer').toLowerCase()
    const nonce = context.req.param('nonce').toLowerCase()
    const { request_id } = context.env
    if (!/^0x[0-9a-f]{40}$/.test(payer) || !/^0x[0-9a-f]{64}$/.test(nonce)) {
      const detail = 'Name a payment as /v1/payments/{payer}/{nonce}: 0x and 40, then 0x and 64 hexadecimal digits.'
      return response(problemReply(problem('INPUT_SCHEMA_INVALID', detail), request_id, deps.origins))
    }
    return response(
      await lookUp(deps, request_id, async () =>
        jsonReply(200, JSON.stringify(statusBody(deps, payer, nonce, (await desk?.find({ payer, nonce })) ?? null))),
      ),
    )
  })
  app.get('/v1/answers/:token', async (context) => {
    const { request_id } = context.env
    const token = context.req.param('token')
    const unknown = () => problemReply(problem('ANSWER_NOT_FOUND', 'No paid answer is kept under this address.'), request_id, deps.origins)
    if (desk === null || !/^[0-9a-f]{64}$/.test(token)) return response(unknown())
    return response(
      await lookUp(deps, request_id, async () => {
        const end = await desk.fetch(token)
        switch (end?.kind) {
          case undefined:
            return unknown()
          case 'paid':
            return jsonReply(200, end.text, { 'cache-control': 'private, no-store', ...words.responseHeaders(end.settlement) })
          case 'pending':
            return problemReply(pendingProblem(end.pending), request_id, deps.origins)
          case 'refused':
            return refusal(end, deps, request_id)
        }
      }),
    )
  })
}

/** An answer that was kept and is gone is told apart from one that never was paid for; terms belong to calls, not here. */
function refusal({ problem: found }: PaymentRefusal, deps: AppDeps, request_id: string): Reply {
  if (found.code === 'ANSWER_EXPIRED') return problemReply(found, request_id, deps.origins)
  const over = 'The payment behind this address was released or refused. Nothing was charged; send the call with a new payment.'
  const { charged, extra } = found
  const told = charged === false ? { detail: over, more: {} } : { detail: found.detail, more: { valid_before: extra?.['valid_before'] } }
  return problemReply(
    problem('ANSWER_NOT_FOUND', told.detail, { charged, extra: { reason: found.code, ...told.more } }),
    request_id,
    deps.origins,
  )
}

async function lookUp(deps: AppDeps, request_id: string, look: () => Promise<Reply>): Promise<Reply> {
  try {
    return await look()
  } catch (error) {
    deps.call.onFault(error, 'payments')
    return problemReply(
      problem('STORE_UNAVAILABLE', 'Ask again shortly.', { charged: 'unknown', retry_after_s: 2 }),
      request_id,
      deps.origins,
    )
  }
}

/** Never what was asked: neither tool nor input. */
function statusBody(deps: AppDeps, payer: string, nonce: string, payment: Payment | null) {
  const state = statusOf(payment, Math.floor(deps.call.stamp.clock.now_ms() / 1_000))
  return {
    state,
    charged: state === 'settled' ? true : state === 'pending' ? 'unknown' : false,
    payer,
    nonce,
    network: caip2(deps.chain_id),
    amount_minor: payment?.value_minor.toString() ?? null,
    pay_to: payment?.to ?? null,
    transaction: payment?.transaction ?? null,
    block_number: payment?.block_number ?? null,
    settled_at: payment?.settled_ms === null || payment === null ? null : new Date(payment.settled_ms).toISOString(),
    valid_before: payment === null ? null : Number(payment.valid_before_s),
    final: payment?.final ?? false,
    reason: payment?.reason ?? null,
  }
}
