import type { Context, Hono } from 'hono'
import { quotaClient } from '../../service/clients.ts'
import { CREDIT_RULES } from '../../service/credits/rules.ts'
import { balanceBody } from '../../service/credits/shop.ts'
import { createRateGuard } from '../../service/admission/rate.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { once } from '../../pure/once.ts'
import { sendDocument, storedDocument } from '../discovery/document.ts'
import { readBody } from '../http/body.ts'
import type { Env } from '../http/env.ts'
import { bodyOfRequest } from '../http/fetch-body.ts'
import { readJsonBody } from '../http/json-body.ts'
import { jsonReply, problemReply, response, type Reply } from '../http/reply.ts'
import { boughtPage, creditsPage } from '../pages/credits-page.ts'
import { HTML_TYPE, PAGE_HEADERS } from '../pages/layout.ts'

type Caller = (context: Context<Env>) => string
type Work = (context: Context<Env>) => Promise<Reply | Problem>

/** `/credits` for people, `/api/credits/…` for their browsers, and the place where Stripe's notices come. */
export function creditRoutes(app: Hono<Env>, deps: AppDeps, caller: Caller): void {
  const admit = createRateGuard(deps.call.sources.clock, CREDIT_RULES.requests_per_minute)
  const rated = (work: Work) => async (context: Context<Env>) => {
    const admitted = admit(caller(context))
    if (admitted.ok) return reply(deps, context, work)
    const detail = `A client may send ${CREDIT_RULES.requests_per_minute} such requests a minute.`
    const found = problem('CREDIT_RATE_LIMITED', detail, { retry_after_s: admitted.retry_after_s })
    return reply(deps, context, () => Promise.resolve(found))
  }
  app.post(
    '/api/credits/checkout',
    rated((context) => checkout(deps, context, caller)),
  )
  app.post(
    '/api/credits/code',
    rated((context) => code(deps, context)),
  )
  app.get(
    '/api/credits/balance',
    rated(async (context) => {
      const found = await deps.credits.desk.statement(context.req.header('x-credit') ?? '', quotaClient(caller(context)))
      return found.ok
        ? jsonReply(200, JSON.stringify(balanceBody(found.statement)), { 'cache-control': 'private, no-store' })
        : found.problem
    }),
  )
  app.post(
    '/api/invoice/:id/credit',
    rated((context) => release(deps, context, caller)),
  )
  // Signed by Stripe, so not counted: a notice that is turned away comes again for days.
  app.post('/api/credits/webhook', (context) => reply(deps, context, () => notice(deps, context)))
  const headers = { ...PAGE_HEADERS, 'cache-control': 'no-cache' }
  const pages = once(() => [creditsPage(deps), boughtPage(deps)].map((text) => storedDocument(HTML_TYPE, text, headers)))
  for (const [index, path] of ['/credits', '/credits/done'].entries()) {
    app.get(path, (context) => {
      const page = pages()[index]
      return page === undefined ? context.notFound() : sendDocument(context, page)
    })
  }
}

/** A store that does not answer is a problem of its own. */
async function reply(deps: AppDeps, context: Context<Env>, work: Work): Promise<Response> {
  const refuse = (found: Problem) => problemReply(found, context.env.request_id, deps.origins)
  try {
    const done = await work(context)
    return response('code' in done ? refuse(done) : done)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('STORE_'))) throw error
    deps.call.onFault(error, 'credits')
    return response(refuse(problem('STORE_UNAVAILABLE', 'Try again shortly.', { retry_after_s: 2 })))
  }
}

async function checkout(deps: AppDeps, context: Context<Env>, caller: Caller): Promise<Reply | Problem> {
  const { shop } = deps.credits
  if (shop === null) return problem('NOT_CONFIGURED', 'Cards are not taken here. A call can be paid on its 402 terms.')
  const body = await members(context)
  if (!body.ok) return body.problem
  const { pack, claim_hash } = body.members
  const pack_usd = shop.packs_usd.find((known) => known === pack)
  if (pack_usd === undefined) return unfit('/pack', `Give the pack in whole US dollars: ${shop.packs_usd.join(', ')}.`)
  if (typeof claim_hash !== 'string' || !/^0x[0-9a-f]{64}$/.test(claim_hash)) {
    return unfit('/claim_hash', 'Give the keccak-256 of a random text that only the buyer keeps: 0x and 64 hexadecimal digits.')
  }
  const opened = await shop.buy(pack_usd, claim_hash, caller(context))
  return opened.ok ? jsonReply(200, JSON.stringify({ url: opened.url })) : opened.problem
}

async function code(deps: AppDeps, context: Context<Env>): Promise<Reply | Problem> {
  const body = await members(context)
  if (!body.ok) return body.problem
  const { session_id, secret, seen = false } = body.members
  if (typeof session_id !== 'string' || session_id.length > CREDIT_RULES.session_chars || !/^cs_\w+$/.test(session_id)) {
    return unfit('/session_id', 'Give the id of the checkout, cs_….')
  }
  if (typeof secret !== 'string' || !/^[\x21-\x7e]{32,128}$/.test(secret))
    return unfit('/secret', 'Give the text whose hash the checkout was opened with.')
  if (typeof seen !== 'boolean') return unfit('/seen', 'Give true once the code has been kept, which erases it here.')
  return jsonReply(200, JSON.stringify(await deps.credits.handOver(session_id, secret, seen)), { 'cache-control': 'private, no-store' })
}

async function release(deps: AppDeps, context: Context<Env>, caller: Caller): Promise<Reply | Problem> {
  const body = await members(context)
  if (!body.ok) return body.problem
  const { signature } = body.members
  if (typeof signature !== 'string' || !/^0x(?:[0-9a-fA-F]{2}){1,2000}$/.test(signature)) {
    return unfit('/signature', 'Send {"signature": "0x…"}, of 1 to 2000 bytes.')
  }
  const released = await deps.credits.release(context.req.param('id') ?? '', signature, caller(context))
  if (!released.ok) return released.problem
  return jsonReply(200, JSON.stringify({ code: released.code, unit: 'calls', calls: released.calls }), {
    'cache-control': 'private, no-store',
  })
}

async function notice(deps: AppDeps, context: Context<Env>): Promise<Reply | Problem> {
  const { shop } = deps.credits
  if (shop === null) return problem('NOT_CONFIGURED', 'Cards are not taken here.')
  const body = await readBody(bodyOfRequest(context), CREDIT_RULES.notice_bytes, () => Promise.resolve(true))
  if (!body.ok) return body.problem
  const heeded = await shop.notice(body.bytes, context.req.header('stripe-signature') ?? null)
  return heeded
    ? jsonReply(200, '{"received":true}')
    : problem('CARD_NOTICE_INVALID', 'The signature, its time or its mode is not that of a notice to us.')
}

const BODY = { depth: 2, nodes: 16, unsafe_numbers: 'refuse' } as const
type Members = Readonly<Record<string, unknown>>

/** The members of the body. */
async function members(context: Context<Env>): Promise<{ ok: true; members: Members } | { ok: false; problem: Problem }> {
  const body = await readBody(bodyOfRequest(context), CREDIT_RULES.body_bytes, () => Promise.resolve(true))
  if (!body.ok) return body
  const read = readJsonBody(body.bytes, BODY)
  if (!read.ok) return read
  const { value } = read
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { ok: false, problem: unfit('', 'Send an object.') }
  return { ok: true, members: Object.fromEntries(Object.entries(value)) }
}

function unfit(pointer: string, message: string): Problem {
  return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer, code: 'invalid_value', message }] })
}
