import type { Context, Hono } from 'hono'
import { limits } from '../../service/limits.ts'
import { preflightOpenApi } from './openapi.ts'
import { RULE_PARTS, ruleCatalogue, type RulePart } from '../../service/preflight/rules.ts'
import { problem, type Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { once } from '../../pure/once.ts'
import { JSON_TYPE, sendDocument, storedDocument, storedJson, type StoredDocument } from '../discovery/document.ts'
import { HTML_TYPE, PAGE_HEADERS } from '../discovery/html.ts'
import { readBody, type BodyRead } from '../http/body.ts'
import type { Env } from '../http/env.ts'
import { bodyOfRequest } from '../http/fetch-body.ts'
import { jsonReply, problemReply, response, type Reply } from '../http/reply.ts'
import { wantsPage } from '../http/wants-page.ts'
import { rulesPage } from './rules-page.ts'
import type { PreflightDesk } from './serve.ts'

/** `POST /v1/protocols/check`, its rules, and its own OpenAPI document. */
export function preflightRoutes(app: Hono<Env>, deps: AppDeps, desk: PreflightDesk, caller: (context: Context<Env>) => string): void {
  app.post('/v1/protocols/check', async (context) => response(await check(context, deps, desk, caller(context))))
  const openApi = once(() => storedJson(preflightOpenApi(deps)))
  app.get('/v1/protocols/openapi.json', (context) => sendDocument(context, openApi()))
  const rules = new Map([null, ...RULE_PARTS].map((part) => [part, ruleDocuments(deps, part)]))
  app.get('/v1/protocols/rules', (context) => {
    const asked = context.req.query('protocol') ?? null
    const documents = rules.get(RULE_PARTS.find((part) => part === asked) ?? null)
    if (documents === undefined || (asked !== null && !RULE_PARTS.some((part) => part === asked))) {
      const found = problem('NOT_FOUND', `Rules are known of ${RULE_PARTS.join(', ')}.`)
      return response(problemReply(found, context.env.request_id, deps.origins))
    }
    return sendDocument(context, wantsPage(context) ? documents.page() : documents.json())
  })
}

const anyLength = () => Promise.resolve(true)

async function check(context: Context<Env>, deps: AppDeps, desk: PreflightDesk, address: string): Promise<Reply> {
  const refuse = (found: Problem) => problemReply(found, context.env.request_id, deps.origins)
  const refused = desk.refuse(address)
  const body: BodyRead =
    refused === null ? await readBody(bodyOfRequest(context), limits.preflight_body_bytes, anyLength) : { ok: false, problem: refused }
  await desk.turn(address)
  if (!body.ok) return refuse(body.problem)
  const done = await desk.check(body.bytes, { address, pays: false })
  return done.ok ? jsonReply(200, JSON.stringify(done.report)) : refuse(done.problem)
}

interface RuleDocuments {
  json(): StoredDocument
  page(): StoredDocument
}

function ruleDocuments(deps: AppDeps, part: RulePart | null): RuleDocuments {
  const vary = { vary: 'Accept' }
  return {
    json: once(() => storedDocument(JSON_TYPE, JSON.stringify(ruleCatalogue(part, deps.origins.base_url)), vary)),
    page: once(() => storedDocument(HTML_TYPE, rulesPage(deps, part), { ...PAGE_HEADERS, ...vary })),
  }
}
