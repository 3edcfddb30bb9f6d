/** A marker in every text field of every endpoint and tool, over every surface: it is stored in clear only where the list of the columns says so. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { STORED_TABLES } from '../../src/adapters/store/stored-columns.ts'
import { isObject } from '../../src/pure/is-object.ts'
import { connectA2a, asking } from '../support/a2a.ts'
import { BANK, coordinates, EUR, IBAN, outcomes, signedBody } from '../support/bank-invoices.ts'
import { statementOf } from '../support/invoice-statements.ts'
import { newMerchant, send } from '../support/invoicing.ts'
import { markerFor, textFields, withText } from '../support/markers.ts'
import { openPostgres, query } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

type Members = Record<string, unknown>
const members = (value: unknown): Members => (isObject(value) ? value : {})

const MARKER = /zqxmarker\w*|m(?:ä|\\u00e4)rker\s*\d{5}|zqx\d{5}[\w.@]*|feedc0de\d{5}\w*|771946\d{5}3118/giu
const ACCOUNT = /^feedc0de/i

let networks = 0
/** Each request comes from another network, so that no budget of one network ends the test. */
function fromElsewhere(): Record<string, string> {
  networks += 1
  return { 'x-forwarded-for': `${20 + (networks >> 16)}.${(networks >> 8) & 255}.${networks & 255}.7`, 'content-type': 'application/json' }
}

interface Operation {
  method: string
  path: string
  schema: unknown
  example: unknown
  parameters: Members[]
}

/** Every operation of the OpenAPI document. */
async function operationsOf(url: string): Promise<{ operations: Operation[]; document: Members }> {
  const document = members(await (await fetch(`${url}/openapi.json`)).json())
  const operations = Object.entries(members(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(members(methods)).map(([method, described]) => {
      const { requestBody, parameters } = members(described)
      const [content] = Object.values(members(members(requestBody)['content']))
      const { schema, example } = members(content)
      const named = (Array.isArray(parameters) ? parameters : []).map((one) => parameterOf(members(one), document))
      return { method, path, schema, example, parameters: named }
    }),
  )
  return { operations, document }
}

function parameterOf(parameter: Members, document: Members): Members {
  const reference = parameter['$ref']
  if (typeof reference !== 'string') return parameter
  const all = members(members(document['components'])['parameters'])
  return members(all[reference.split('/').at(-1) ?? ''])
}

interface Sent {
  /** Text fields that were sent, and those of requests that were answered with 2xx. */
  fields: number
  accepted: Set<string>
}

/** Sends the operation with a marker in each field alone, and in all fields together. */
async function sendMarked(url: string, operation: Operation, document: Members, ids: Members, sent: Sent): Promise<void> {
  const { method, path, schema, example, parameters } = operation
  const fields = textFields(schema, document)
  sent.fields += fields.length
  const base = withIds(example ?? {}, ids)
  const bodies = fields.map((field) => ({ name: field.path.join('/'), body: withText(base, field.path, markerFor(field.schema)) }))
  const free = fields.filter((field) => field.schema['pattern'] === undefined && field.schema['format'] === undefined)
  const all = free.reduce((body, field) => withText(body, field.path, markerFor(field.schema)), base)
  const known = path.replace('{id}', path.startsWith('/v1/webhooks') ? String(ids['subscription_id']) : String(ids['invoice_id']))
  const marked = (name: string) => encodeURIComponent(markerFor(members(parameters.find((one) => one['name'] === name)?.['schema'])))
  const queries = parameters.filter((one) => one['in'] === 'query').map((one) => `${String(one['name'])}=${marked(String(one['name']))}`)
  const headers = Object.fromEntries(
    parameters
      .filter((one) => one['in'] === 'header' && one['name'] !== 'Authorization')
      .map((one) => [String(one['name']), markerFor({ maxLength: 60, pattern: '^[\\x21-\\x7e]+$', ...members(one['schema']) })]),
  )
  const authorization = { authorization: `Bearer ${String(ids['token'])}` }
  for (const { name, body } of [{ name: '', body: base }, ...bodies, { name: '*', body: all }]) {
    const target = known.replaceAll(/\{(\w+)\}/g, (_, one: string) => marked(one))
    const init = method === 'get' ? {} : { body: JSON.stringify(body) }
    const answer = await request(`${url}${target}`, {
      method: method.toUpperCase(),
      headers: { ...fromElsewhere(), ...authorization },
      ...init,
    })
    if (answer >= 200 && answer < 300 && name !== '') sent.accepted.add(`${method} ${path} ${name}`)
    if (name === '*')
      await request(`${url}${target}`, { method: method.toUpperCase(), headers: { ...fromElsewhere(), ...headers }, ...init })
  }
  const odd = path.replaceAll(/\{(\w+)\}/g, (_, one: string) => marked(one))
  const init = method === 'get' ? {} : { body: JSON.stringify(all) }
  await request(`${url}${odd}?${queries.join('&')}`, { method: method.toUpperCase(), headers: fromElsewhere(), ...init })
}

/** Status of the answer, whose stream is not followed. */
async function request(url: string, init: RequestInit): Promise<number> {
  const ending = new AbortController()
  const response = await fetch(url, { ...init, signal: ending.signal })
  const is_stream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (!is_stream) await response.arrayBuffer()
  ending.abort()
  return response.status
}

/** Ids of the examples are those of what this deployment has. */
function withIds(example: unknown, ids: Members): unknown {
  const text = JSON.stringify(example)
  return JSON.parse(text.replaceAll(/inv_[0-9a-z]{12,26}/g, String(ids['invoice_id']))) as unknown
}

/** The same over MCP and A2A. */
async function sendOverAgents(url: string, { path, schema, example }: Operation, document: Members): Promise<void> {
  const tool = /^\/v1\/tools\/([\w-]+)\/call$/.exec(path)?.[1]
  if (tool === undefined) return
  const fields = textFields(schema, document).filter((field) => field.schema['pattern'] === undefined)
  const body = members(fields.reduce((marked, field) => withText(marked, field.path, markerFor(field.schema)), example))
  const params = { name: tool, arguments: body['input'] }
  const accept = { accept: 'application/json, text/event-stream' }
  const call = { jsonrpc: '2.0', id: markerFor({}), method: 'tools/call', params }
  const answered = await fetch(`${url}/mcp`, { method: 'POST', headers: { ...fromElsewhere(), ...accept }, body: JSON.stringify(call) })
  await answered.text()
  const client = await connectA2a(url)
  const [{ text }] = [{ text: markerFor({}) }]
  for (const data of [
    { tool, input: body['input'] },
    { tool, input: text },
  ])
    await client.sendMessage(asking(data)).catch(() => undefined)
}

/** A signed invoice with marked texts whose events are delivered, and one that a bank statement closes. */
async function sellMarked(url: string): Promise<Members> {
  const merchant = newMerchant()
  const receiver = await startReceiver()
  try {
    const text = (pattern?: string) => markerFor(pattern === undefined ? { maxLength: 60 } : { pattern })
    const content = () => ({
      amountUsdc: '49.00',
      merchant: merchant.address,
      client_name: text(),
      memo: text(),
      order_number: text('^zqxmarker'),
      return_url: text('^https://.*/'),
    })
    const made = await send(`${url}/api/invoice/create`, { ...content(), bank: { ...BANK, name: text(), reference: undefined } })
    assert.equal(made.status, 201, made.text)
    const { invoice_id, webhook_token } = made.body as { invoice_id: string; webhook_token: string }
    const hook = `${receiver.url}?secret=${text('^zqxmarker')}`
    const subscribed = await send(`${url}/v1/webhooks`, { url: hook, invoice_id, invoice_token: webhook_token })
    assert.equal(subscribed.status, 201, subscribed.text)
    receiver.secret = String(subscribed.body['secret'])
    await until('the challenge', () => receiver.challenges.length > 0)
    const signed = await send(`${url}/api/invoice/${invoice_id}/sign`, await signedBody(made.body, merchant))
    assert.equal(signed.status, 200, signed.text)
    const { reference } = coordinates(signed.body)
    const booking = EUR({ amount: '45.00', reference, name: text('^zqxmarker').slice(0, 20) })
    const document = statementOf([booking], { iban: IBAN })
    const asked = { document, merchant: merchant.address }
    const first = await send(`${url}/api/invoice/statement`, asked)
    const closed = await send(`${url}/api/invoice/statement`, { ...asked, ...(await signedBody(first.body, merchant)) })
    assert.deepEqual(outcomes(closed), ['closed'], closed.text)
    await until('the event', () => receiver.accepted.some(({ type }) => type === 'invoice.paid'))
    const { subscription } = subscribed.body as { subscription?: Members }
    const subscription_id = subscribed.body['subscription_id'] ?? subscription?.['subscription_id']
    return { invoice_id, subscription_id, token: subscribed.body['token'], invoice_token: webhook_token }
  } finally {
    await receiver.stop()
  }
}

/** Markers by the column that has them. */
async function markersIn(rows: ReadonlyMap<string, Members[]>): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  for (const [table, list] of rows) {
    for (const row of list) {
      for (const [column, value] of Object.entries(row)) {
        if (typeof value !== 'string') continue
        for (const reading of readingsOf(value)) {
          for (const [text] of reading.matchAll(MARKER)) {
            const place = `${table}.${column}`
            found.set(place, (found.get(place) ?? new Set()).add(text))
          }
        }
      }
    }
  }
  return found
}

/** The text, and what it says as Base64, wherever that may begin. */
function readingsOf(text: string): string[] {
  const runs = text.match(/[A-Za-z0-9+/_-]{40,}/g) ?? []
  return [text, ...runs.flatMap((run) => [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64').toString()))]
}

async function rowsOf(target: string): Promise<Map<string, Members[]>> {
  if (target.startsWith('postgres')) {
    const names = await query(target, "select table_name as name from information_schema.tables where table_schema = 'public'")
    return new Map(
      await Promise.all(names.map(async ({ name }) => [String(name), await query(target, `select * from ${String(name)}`)] as const)),
    )
  }
  const database = new DatabaseSync(target, { readOnly: true })
  try {
    const names = database.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'").all()
    const read = ({ name }: { name?: unknown }) => {
      const statement = database.prepare(`select * from ${String(name)}`)
      statement.setReadBigInts(true)
      return [String(name), statement.all() as Members[]] as const
    }
    return new Map(names.map(read))
  } finally {
    database.close()
  }
}

const FORMS = new Map(
  Object.entries(STORED_TABLES).flatMap(([table, { columns }]) =>
    columns.flatMap(({ form, names }) => names.map((name): [string, string] => [`${table}.${name}`, form])),
  ),
)

/** Of accounts and hashes in hexadecimal, also columns that hold what is on a public chain. */
function isInClear(place: string, text: string): boolean {
  const form = FORMS.get(place)
  return form === 'clear' || form === 'published' || (form === 'chain' && ACCOUNT.test(text))
}

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`a marker in every text field is in clear only where the list says so: ${kind}`, { timeout: 480_000 }, async () => {
    const server = kind === 'postgres' ? await openPostgres() : null
    const data_dir = await mkdtemp(join(tmpdir(), 'assay-markers-'))
    const target = (await server?.createDatabase('markers')) ?? join(data_dir, 'assay.sqlite')
    await writeFile(join(data_dir, 'secret.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
    const service = await startService({
      ASSAY_DATA_DIR: data_dir,
      ASSAY_STORE: kind === 'postgres' ? target : '',
      ASSAY_RECEIPT_KEY_FILE: join(data_dir, 'receipt.key'),
      ASSAY_SECRET_FILE: join(data_dir, 'secret.key'),
      ASSAY_LOG_LEVEL: 'info',
      ASSAY_FREE_DAILY: '1000',
      ASSAY_TRUSTED_PROXIES: '127.0.0.1',
    })
    try {
      const ids = await sellMarked(service.url)
      const { operations, document } = await operationsOf(service.url)
      const sent: Sent = { fields: 0, accepted: new Set() }
      for (const operation of operations) {
        await sendMarked(service.url, operation, document, ids, sent)
        await sendOverAgents(service.url, operation, document)
      }
      assert.ok(sent.fields > 250, `${sent.fields} fields`)
      const calls = operations.filter(({ path }) => path.startsWith('/v1/tools/') && path.endsWith('/call'))
      const untouched = calls.filter(({ path }) => ![...sent.accepted].some((one) => one.startsWith(`post ${path} `)))
      assert.ok(untouched.length < calls.length / 4, `no marker was accepted by ${untouched.map(({ path }) => path).join(', ')}`)
      for (const name of ['clientName', 'memo', 'order_number'])
        assert.ok(sent.accepted.has(`post /api/invoice/create ${name}`), `${name} was not accepted`)
      service.process.kill('SIGTERM')
      await service.ended
      const found = await markersIn(await rowsOf(target))
      const wrong = [...found].flatMap(([place, texts]) =>
        [...texts].filter((text) => !isInClear(place, text)).map((text) => `${place}: ${text}`),
      )
      assert.deepEqual(wrong, [])
      const allowed = new Set([...found.values()].flatMap((texts) => [...texts].map((text) => text.toLowerCase())))
      const entries = await readdir(data_dir, { recursive: true, withFileTypes: true })
      for (const entry of entries.filter((one) => one.isFile())) {
        const bytes = await readFile(join(entry.parentPath, entry.name))
        const texts = [...bytes.toString().matchAll(MARKER)].map(([text]) => text.toLowerCase())
        // Accounts of deleted rows may stay in free pages: they are on a public chain.
        const secret = texts.filter((text) => !ACCOUNT.test(text))
        const foreign = secret.filter((text) => ![...allowed].some((one) => one.startsWith(text) || text.startsWith(one)))
        assert.deepEqual([...new Set(foreign)], [], entry.name)
      }
      const logged = (service.log() + service.notes()).replaceAll(/"client_request_id":"[\w-]{1,64}"/g, '')
      const lines = logged.split('\n').filter((line) => line.match(MARKER) !== null)
      assert.deepEqual(lines.slice(0, 5), [], `${lines.length} lines of the log`)
    } finally {
      service.process.kill('SIGKILL')
      await service.ended
      await rm(data_dir, { recursive: true, force: true })
      await server?.stop()
    }
  })
}
