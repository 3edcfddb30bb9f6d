import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { isObject } from '../pure/is-object.ts'
import { createRateGuard } from '../service/clients.ts'
import { decode, type DecodedValue } from '../service/catalogue/decode.ts'
import type { ReadBounds } from '../service/catalogue/define.ts'
import { limits } from '../service/limits.ts'
import { problem, type Problem, type ProblemCode, PROBLEMS } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import { bodyOfRequest, readBody, readJsonBody } from './http/body.ts'
import { type Env, problemReply, response, type Reply } from './http/reply.ts'
import type { JsonSchema } from '../service/catalogue/wire-schemas.ts'
import { PAYMENT_RESPONSES, ref, type Json } from '../service/catalogue/openapi-parts.ts'

/**
 * One HTTP endpoint. Its route, request validation, errors and OpenAPI entry are derived from this definition. `Room` is the dependency
 * that the endpoints of one group share, such as the invoice service.
 */
interface Definition<Room, Path extends Fields, Query extends Fields, Headers extends Fields, Body extends z.ZodObject> {
  /** Operation id in OpenAPI. */
  id: string
  method: 'get' | 'post'
  /** Path in OpenAPI form: `/api/invoice/{id}`. */
  path: string
  summary: string
  description?: string
  /** Not part of the OpenAPI document: for one partner only. */
  unlisted?: true
  /** Part of the OpenAPI document of sandboxes only; other deployments answer 404. */
  only_in?: 'sandbox'
  /** Path parameters. A value that does not match is answered with `unfit_path`. */
  parts?: Path
  unfit_path?: () => Problem
  query?: Query
  headers?: Headers
  /** Names of shared header components of the OpenAPI document. */
  shared_headers?: readonly string[]
  body?: JsonBody<Body>
  /** Body that is not JSON. */
  raw_body?: RawBody
  rate?: Rate
  /** Problem code for a request that does not match; INPUT_SCHEMA_INVALID by default. */
  unfit?: ProblemCode
  /** Responses other than problems, by status. */
  answers: Readonly<Record<number, EndpointAnswer>>
  /** Problems that `run` may return. Those of reading the request, of the rate limit and of the store are added. */
  problems?: readonly ProblemCode[]
  /** Refuses before the request is read, for example if a feature is not configured. */
  refuse?(room: Room): Problem | null
  run(request: EndpointRequest<Path, Query, Headers, Body>, room: Room): Promise<EndpointResult> | EndpointResult
}

type Fields = Readonly<Record<string, z.ZodType>>
type Values<F extends Fields> = { readonly [Name in keyof F]: z.output<F[Name]> }
/** A problem becomes an RFC 9457 body; a `Response` is sent unchanged. */
export type EndpointResult = Reply | Problem | Response

interface JsonBody<Schema extends z.ZodObject> {
  schema: Schema
  bounds: ReadBounds
  example?: unknown
  /** A request without a body is accepted. */
  may_be_absent?: true
  /** `run` reads the body itself, for example in a thread or with the rules of a rule book. */
  read_by_run?: true
}

interface RawBody {
  media: string
  bytes: number
}

/** Maximum number of requests per minute and client. Endpoints that use the same object share the count. */
export interface Rate {
  readonly code: ProblemCode
  readonly per_minute: number
}

interface EndpointAnswer {
  description: string
  json?: z.ZodType
  media?: readonly string[]
  /** The response has the headers of a payment settlement. */
  paid?: true
  /** A problem whose header has payment terms. */
  terms?: true
}

interface EndpointRequest<Path extends Fields, Query extends Fields, Headers extends Fields, Body extends z.ZodObject> {
  parts: Values<Path>
  query: Values<Query>
  headers: Values<Headers>
  body: z.output<Body>
  /** Raw body; empty if there is none. */
  bytes: Uint8Array
  /** Address of the client behind trusted proxies. */
  caller: string
  context: Context<Env>
  /** Counts the request; returns a problem if the rate limit is exceeded. */
  admit(rate: Rate): Problem | null
  /** Returns a problem response with additional headers. */
  refuse(found: Problem, headers: Record<string, string>): Reply
}

/** Endpoint whose request types are known only to itself. */
export interface Endpoint<Room> extends Omit<Definition<Room, Fields, Fields, Fields, z.ZodObject>, 'run' | 'refuse'> {
  serve(request: RawRequest, room: Room): Promise<EndpointResult>
}

/** Request before validation. */
export type RawRequest = Pick<EndpointRequest<Fields, Fields, Fields, z.ZodObject>, 'caller' | 'context' | 'admit' | 'refuse'>

/** Returns the function that defines endpoints of one group. */
export function endpointsOf<Room>() {
  return function defineEndpoint<
    const Path extends Fields = Fields,
    const Query extends Fields = Fields,
    const Headers extends Fields = Fields,
    Body extends z.ZodObject = z.ZodObject,
  >(definition: Definition<Room, Path, Query, Headers, Body>): Endpoint<Room> {
    const { run, refuse, ...endpoint } = definition
    return {
      ...endpoint,
      async serve(request, room) {
        const limited = endpoint.rate === undefined ? null : request.admit(endpoint.rate)
        const refused = limited ?? refuse?.(room) ?? null
        if (refused !== null) return refused
        const read = await readRequest(endpoint, request.context)
        return read.ok ? run({ ...request, ...read.values }, room) : read.problem
      },
    }
  }
}

type Described<Path extends Fields, Query extends Fields, Headers extends Fields, Body extends z.ZodObject> = Omit<
  Definition<never, Path, Query, Headers, Body>,
  'run' | 'refuse'
>
type ReadValues<Path extends Fields, Query extends Fields, Headers extends Fields, Body extends z.ZodObject> = Pick<
  EndpointRequest<Path, Query, Headers, Body>,
  'parts' | 'query' | 'headers' | 'body' | 'bytes'
>
type Refused = { ok: false; problem: Problem }

async function readRequest<Path extends Fields, Query extends Fields, Headers extends Fields, Body extends z.ZodObject>(
  endpoint: Described<Path, Query, Headers, Body>,
  context: Context<Env>,
): Promise<{ ok: true; values: ReadValues<Path, Query, Headers, Body> } | Refused> {
  const parts = readFields(endpoint.parts, (name) => context.req.param(name))
  if (!parts.ok)
    return {
      ok: false,
      problem: endpoint.unfit_path?.() ?? problem('NOT_FOUND', 'Nothing is at this address. See / or /v1/tools for what exists.'),
    }
  const sent = await readSent(endpoint, context)
  if (!sent.ok) return sent
  const query = readFields(endpoint.query, (name) => context.req.query(name))
  const headers = readFields(endpoint.headers, (name) => context.req.header(name))
  if (!query.ok || !headers.ok)
    return unfit(endpoint.unfit, 'request', [...(query.ok ? [] : query.errors), ...(headers.ok ? [] : headers.errors)])
  return { ok: true, values: { parts: parts.value, query: query.value, headers: headers.value, ...sent.values } }
}

async function readSent<Body extends z.ZodObject>(
  { body, raw_body, unfit: code }: { body?: JsonBody<Body>; raw_body?: RawBody; unfit?: ProblemCode },
  context: Context<Env>,
): Promise<{ ok: true; values: { body: z.output<Body>; bytes: Uint8Array } } | Refused> {
  // An endpoint without a body, or one that reads it itself, does not use the value.
  const nothing = { body: {} as z.output<Body>, bytes: new Uint8Array() }
  if (raw_body !== undefined) {
    const raw = await readAll(context, raw_body.bytes)
    return raw.ok ? { ok: true, values: { ...nothing, bytes: raw.bytes } } : raw
  }
  if (body === undefined || body.read_by_run === true) return { ok: true, values: nothing }
  const json = await readJson(context, body.bounds)
  if (!json.ok) return json
  const decoded = decode(body.schema, json.value, { pointer: '', name: 'The body', hint: 'Send a JSON object.' })
  return decoded.ok ? { ok: true, values: { ...nothing, body: decoded.value } } : unfit(code, 'body', decoded.errors)
}

/** Reads the body as strict JSON. */
export async function readJson(context: Context<Env>, bounds: ReadBounds): Promise<{ ok: true; value: unknown } | Refused> {
  const raw = await readAll(context, bounds.body_bytes)
  return raw.ok ? readJsonBody(raw.bytes, bounds) : raw
}

function readAll(context: Context<Env>, bytes: number) {
  return readBody(bodyOfRequest(context), bytes, () => Promise.resolve(true))
}

function readFields<F extends Fields>(fields: F | undefined, value: (name: string) => string | undefined): DecodedValue<Values<F>> {
  const shape: F = fields ?? ({} as F)
  const given = Object.fromEntries(Object.keys(shape).flatMap((name) => (value(name) === undefined ? [] : [[name, value(name)]])))
  return decode(z.object(shape), given, { pointer: '', name: 'The request', hint: '' }) as DecodedValue<Values<F>>
}

function unfit(code: ProblemCode | undefined, what: 'body' | 'request', errors: Problem['errors']): Refused {
  const detail = `The ${what} does not fit its schema. ${errors[0]?.message ?? ''}`.trimEnd()
  return { ok: false, problem: problem(code ?? 'INPUT_SCHEMA_INVALID', detail, { errors }) }
}

/** Problems of reading a request. */
const READ_PROBLEMS: readonly ProblemCode[] = ['CONTENT_ENCODING_REFUSED', 'PAYLOAD_TOO_LARGE', 'REQUEST_MALFORMED']
const JSON_PROBLEMS: readonly ProblemCode[] = [
  'PARSE_ERROR',
  'NOT_UTF8',
  'DUPLICATE_KEY',
  'LONE_SURROGATE',
  'FORBIDDEN_KEY',
  'UNSAFE_NUMBER',
  'JSON_TOO_DEEP',
  'JSON_TOO_MANY_NODES',
]

/** Returns every problem that the endpoint can answer with. */
export function problemsOf(endpoint: Described<Fields, Fields, Fields, z.ZodObject>): ReadonlySet<ProblemCode> {
  const { parts, unfit_path, query, headers, body, raw_body, rate, unfit: code = 'INPUT_SCHEMA_INVALID', problems = [] } = endpoint
  const reads_json = body !== undefined && body.read_by_run !== true
  return new Set<ProblemCode>([
    ...problems,
    ...(parts === undefined ? [] : [unfit_path?.().code ?? 'NOT_FOUND']),
    ...(body === undefined && raw_body === undefined ? [] : READ_PROBLEMS),
    ...(body === undefined ? [] : JSON_PROBLEMS),
    ...(reads_json || query !== undefined || headers !== undefined ? [code] : []),
    ...(rate === undefined ? [] : [rate.code]),
  ])
}

/** Dependencies of all mounted endpoints. */
export interface Mounting {
  deps: Pick<AppDeps, 'origins' | 'call'>
  caller(context: Context<Env>): string
  /** Name of the surface in fault reports. */
  surface: string
  /** Value of `charged` in the problem if the store does not answer. */
  charged?: Problem['charged']
}

/** Adds the routes of a group of endpoints. A store that does not answer becomes a STORE_UNAVAILABLE problem. */
export function mountEndpoints<Room>(app: Hono<Env>, room: Room, endpoints: readonly Endpoint<Room>[], mounting: Mounting): void {
  const { deps, caller, surface, charged = false } = mounting
  const guards = new Map<Rate, ReturnType<typeof createRateGuard>>()
  const guardOf = (rate: Rate) => {
    const guard = guards.get(rate) ?? createRateGuard(deps.call.sources.clock, rate.per_minute)
    guards.set(rate, guard)
    return guard
  }
  for (const endpoint of endpoints) {
    app.on(endpoint.method.toUpperCase(), honoPath(endpoint), async (context) => {
      const address = caller(context)
      const admit = (rate: Rate) => {
        const admitted = guardOf(rate)(address)
        return admitted.ok ? null : tooOften(rate, admitted.retry_after_s)
      }
      const refuse = (found: Problem, headers: Record<string, string> = {}) =>
        problemReply(found, context.env.request_id, deps.origins, headers)
      try {
        const end = await endpoint.serve({ caller: address, context, admit, refuse }, room)
        if (end instanceof Response) return end
        return response('code' in end ? refuse(end) : end)
      } catch (error) {
        if (!isStoreFault(error)) throw error
        deps.call.onFault(error, surface)
        return response(refuse(problem('STORE_UNAVAILABLE', 'Try again shortly.', { charged, retry_after_s: limits.store_retry_s })))
      }
    })
  }
}

function tooOften({ code, per_minute }: Rate, retry_after_s: number): Problem {
  return problem(code, `A client (an IPv4 address, an IPv6 /48) may send ${per_minute} such requests a minute.`, { retry_after_s })
}

function isStoreFault(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('STORE_')
}

/** Path in the form of hono: `/log/tile/{path}` matches slashes in `path`. */
function honoPath({ path }: { path: string }): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'path' ? ':path{.+}' : `:${name}`))
}

/** Schemas in the components of the OpenAPI document, by name. */
const COMPONENTS = new Map<string, z.ZodType>()

/** Registers a schema as an OpenAPI component. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  if (COMPONENTS.has(name)) throw new Error(`Two schemas are named ${name}.`)
  COMPONENTS.set(name, schema)
  return schema
}

function componentNameOf(schema: z.ZodType): string | null {
  return [...COMPONENTS].find(([, one]) => one === schema)?.[0] ?? null
}

/** Returns the registered schema; undefined for components that all operations share. */
function componentNamed(name: string): z.ZodType | undefined {
  return COMPONENTS.get(name)
}

/** Schema that refers to a shared OpenAPI component. */
export function component(name: string): z.ZodType {
  return z.unknown().meta({ $ref: `#/components/schemas/${name}` })
}

/** Object whose members are not checked. */
export function anyObject(description: string): z.ZodType<Record<string, unknown>> {
  return z.custom<Record<string, unknown>>(isObject).meta({ type: 'object', description })
}

/** Whole number in a query string. */
export function wholeNumber(least: number, most: number): z.ZodType<number> {
  const pattern = /^(?:0|[1-9][0-9]{0,14})$/
  return z
    .string()
    .regex(pattern)
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .meta({ type: 'integer', minimum: least, maximum: most, pattern: undefined })
}

/** Parts of an endpoint that do not depend on its group. */
export type DescribedEndpoint = Omit<Endpoint<never>, 'serve'>

/** Paths of the OpenAPI document, derived from the endpoints. */
export function endpointPaths(endpoints: readonly DescribedEndpoint[]): Json {
  const paths: Record<string, Json> = {}
  for (const endpoint of endpoints.filter(({ unlisted }) => unlisted !== true))
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operation(endpoint) }
  return paths
}

/** Component schemas that these paths refer to, including nested references. */
export function endpointSchemas(endpoints: readonly DescribedEndpoint[]): Record<string, JsonSchema> {
  const found: Record<string, JsonSchema> = {}
  const follow = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([\w.-]+)"/g)) {
      const schema = componentNamed(name)
      if (schema === undefined || Object.hasOwn(found, name)) continue
      found[name] = derived(schema)
      follow(found[name])
    }
  }
  follow(endpointPaths(endpoints))
  return found
}

function operation(endpoint: DescribedEndpoint): Json {
  const { id, summary, description, parts = {}, query = {}, headers = {}, shared_headers = [] } = endpoint
  const parameters = [
    ...Object.entries(parts).map(([name, schema]) => parameter('path', name, schema)),
    ...Object.entries(query).map(([name, schema]) => parameter('query', name, schema)),
    ...Object.entries(headers).map(([name, schema]) => parameter('header', name, schema)),
    ...shared_headers.map((name) => ref('parameters', name)),
  ]
  const body = requestBody(endpoint)
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: ['service'],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(Object.entries(endpoint.answers).map(([status, one]) => [status, answer(one)])),
      ...refusals(endpoint),
    },
  }
}

function parameter(place: 'path' | 'query' | 'header', name: string, type: z.ZodType): Json {
  const { description, example, ...schema } = derived(type)
  const required = place === 'path' || !type.safeParse(undefined).success
  return { name, in: place, ...(required ? { required } : {}), description, schema, ...(example === undefined ? {} : { example }) }
}

function requestBody({ body, raw_body }: DescribedEndpoint): Json | null {
  if (raw_body !== undefined) return { required: true, content: { [raw_body.media]: { schema: { type: 'string' } } } }
  if (body === undefined) return null
  const example = body.example === undefined ? {} : { example: body.example }
  return { required: body.may_be_absent !== true, content: { 'application/json': { schema: schemaOf(body.schema), ...example } } }
}

function answer({ description, json, media = [], paid, terms }: EndpointAnswer): Json {
  const content = {
    ...(terms === true ? { 'application/problem+json': { schema: ref('schemas', 'problem') } } : {}),
    ...(json === undefined ? {} : { 'application/json': { schema: schemaOf(json) } }),
    ...Object.fromEntries(media.map((type) => [type, { schema: { type: 'string', ...(isText(type) ? {} : { contentMediaType: type }) } }])),
  }
  const headers = {
    ...(paid === true ? PAYMENT_RESPONSES : {}),
    ...(terms === true ? { 'PAYMENT-REQUIRED': ref('headers', 'payment-required') } : {}),
  }
  return { description, ...(Object.keys(headers).length === 0 ? {} : { headers }), content }
}

function isText(type: string): boolean {
  return type.startsWith('text/') || type.endsWith('+xml')
}

/** Problem responses by status. A status that the endpoint describes itself keeps that description. */
function refusals(endpoint: DescribedEndpoint): Json {
  const statuses = new Set([...problemsOf(endpoint)].map((code): number => PROBLEMS[code].status))
  const own = Object.keys(endpoint.answers).map(Number)
  return Object.fromEntries(
    [...statuses].filter((status) => !own.includes(status)).map((status) => [status, ref('responses', `problem-${status}`)]),
  )
}

function schemaOf(schema: z.ZodType): JsonSchema {
  const name = componentNameOf(schema)
  return name === null ? derived(schema) : ref('schemas', name)
}

function derived(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...kept } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' })
  return kept
}
