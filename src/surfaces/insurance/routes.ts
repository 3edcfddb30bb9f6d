import type { Context, Hono } from 'hono'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import { createRateGuard } from '../../service/admission/rate.ts'
import { problem, type Problem } from '../../service/problems.ts'
import {
  countersignPolicy,
  directoryPage,
  policyShown,
  registerUnderwriter,
  type DirectoryPage,
  type RecordEnd,
} from '../../service/records/insurance.ts'
import type { AppDeps } from '../deps.ts'
import { JSON_TYPE, sendDocument, storedDocument, type StoredDocument } from '../discovery/document.ts'
import { readBody } from '../http/body.ts'
import type { Env } from '../http/env.ts'
import { bodyOfRequest } from '../http/fetch-body.ts'
import { readJsonBody } from '../http/json-body.ts'
import { jsonReply, problemReply, response } from '../http/reply.ts'

const BODY_BYTES = 16_384
const BOUNDS: Omit<ReadBounds, 'body_bytes'> = { depth: 8, nodes: 500, unsafe_numbers: 'refuse' }
/** Registrations and countersignatures of one client in a minute. */
const WRITES_PER_MINUTE = 30

/** The directory of underwriters, their registration, and the certificates made out on it. All of it is free. */
export function insuranceRoutes(app: Hono<Env>, deps: AppDeps, caller: (context: Context<Env>) => string): void {
  const { insurance } = deps
  const admit = createRateGuard(insurance.clock, WRITES_PER_MINUTE)
  const refuse = (context: Context<Env>, found: Problem) => response(problemReply(found, context.env.request_id, deps.origins))
  const write = async (context: Context<Env>, work: (value: unknown) => Promise<RecordEnd>) => {
    const admitted = admit(caller(context))
    if (!admitted.ok) return refuse(context, rateLimited(admitted.retry_after_s))
    const body = await readBody(bodyOfRequest(context), BODY_BYTES, () => Promise.resolve(true))
    if (!body.ok) return refuse(context, body.problem)
    const json = readJsonBody(body.bytes, BOUNDS)
    if (!json.ok) return refuse(context, json.problem)
    const end = await work(json.value)
    return end.ok ? response(jsonReply(end.created ? 201 : 200, JSON.stringify(end.body))) : refuse(context, end.problem)
  }
  app.post('/api/insurance/register', (context) => write(context, (value) => registerUnderwriter(insurance, value, caller(context))))
  // A page is written and compressed once for all who read it.
  const documents = new WeakMap<DirectoryPage, StoredDocument>()
  app.get('/api/insurance/register', async (context) => {
    const found = await directoryPage(insurance, context.req.query())
    if (!found.ok) return refuse(context, found.problem)
    const document = documents.get(found.page) ?? storedDocument(JSON_TYPE, found.page.text)
    documents.set(found.page, document)
    return sendDocument(context, document)
  })
  app.post('/api/insurance/countersign', (context) => write(context, (value) => countersignPolicy(insurance, value)))
  app.get('/api/insurance/policies/:policy', async (context) => {
    const end = await policyShown(insurance, context.req.param('policy'))
    return end.ok ? response(jsonReply(200, JSON.stringify(end.body))) : refuse(context, end.problem)
  })
}

function rateLimited(retry_after_s: number): Problem {
  return problem('INSURANCE_RATE_LIMITED', `A client may register or countersign ${WRITES_PER_MINUTE} times a minute.`, { retry_after_s })
}
