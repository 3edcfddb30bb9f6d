/** What lies on the disk of a deployment: nothing that was asked or answered, and nobody's address. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { TaskState } from '@a2a-js/sdk'
import { openStore } from '../../src/adapters/store/open.ts'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import { startAnvil } from '../support/anvil.ts'
import { asking, connectA2a, saying, taskFor } from '../support/a2a.ts'
import { boughtCode, callWith, startCreditApp } from '../support/credits.ts'
import { openPostgres, query } from '../support/postgres.ts'
import { call, read, signed, TOOL, v2 } from '../support/paying-calls.ts'
import { startLiveWorld, startWorld } from '../support/paying-world.ts'
import { fundedPayer, signTerms, termsOf, type Signed } from '../support/paying.ts'
import { startService } from '../support/service.ts'
import { sqliteDriver } from '../support/store-drivers.ts'

const CLIENT = '203.0.113.77'
const CLIENT_V6 = '2001:db8:77aa:1::5'
const INPUT = { iban: 'QX77 CANA RYIN 4711' }
/** What was asked, how it comes back, and names and words of the answer. */
const SECRETS = ['QX77 CANA RYIN 4711', 'QX77CANARYIN4711', 'CANARY', '"verdict"', 'not_checked', 'proof_summary', 'who owns the account']
const ADDRESSES = [CLIENT, CLIENT_V6, '2001:db8:77aa:1', '2001:0db8:77aa:0001', '203.0.113']

async function filesIn(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(files.map(async (file) => [file.slice(folder.length + 1), await readFile(file)] as const)))
}

/** The bytes, and what they say when read as Base64, wherever it may begin: that would be no secret. */
function readings(bytes: Buffer): Buffer[] {
  const runs = bytes.toString('latin1').match(/[A-Za-z0-9+/]{40,}/g) ?? []
  return [bytes, ...runs.flatMap((run) => [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64')))]
}

function assertAbsent(files: Map<string, Buffer>, texts: readonly string[]): void {
  const found = [...files].flatMap(([name, bytes]) =>
    readings(bytes).flatMap((reading) => texts.filter((text) => reading.includes(text)).map((text) => `${name} holds ${text}`)),
  )
  assert.deepEqual(found, [])
}

// attack: addresses, inputs, answers
// in: outgoing requests and stored data
// asset: callers' privacy
// attacker: reader of a backup
// defence: keyed hashes by day, sealed answers
test('the files of a deployment hold neither what was asked, nor what was answered, nor from where', async () => {
  const world = await startWorld()
  try {
    const payment = await signed(world.url, await world.payer())
    const answer = await call(world.url, v2(payment), { input: INPUT, client: CLIENT })
    assert.equal(answer.status, 200)
    assert.deepEqual(
      SECRETS.filter((text) => !(INPUT.iban + answer.text).includes(text)),
      [],
    )
    // A mismatch and a free call count the client too.
    assert.equal((await call(world.url, v2(payment), { client: CLIENT })).status, 409)
    assert.equal((await call(world.url, {}, { client: CLIENT_V6 })).status, 402)
    const files = await filesIn(world.data_dir)
    // The journal holds the newest pages, and the store must be what was searched.
    const store = ['assay.sqlite', 'assay.sqlite-wal'].map((name) => files.get(name) ?? Buffer.alloc(0))
    assert.ok(Buffer.concat(store).includes(payment.message.nonce), 'the payment is in the files')
    assertAbsent(files, [...SECRETS, ...ADDRESSES])
  } finally {
    await world.stop()
  }
})

// attack: forged lines, terminal codes
test('the log of the service names neither callers nor what they asked', async () => {
  const data_dir = await mkdtemp(join(tmpdir(), 'assay-log-'))
  const settings = { ASSAY_DATA_DIR: data_dir, ASSAY_LOG_LEVEL: 'info', ASSAY_FREE_DAILY: '0', ASSAY_TRUSTED_PROXIES: '127.0.0.1' }
  const service = await startService(settings)
  try {
    const { sandbox } = (await read(`${service.url}/health`)).body as { sandbox: { rpc_url: string; usdc: string } }
    const payer = await fundedPayer(sandbox.rpc_url, sandbox.usdc)
    const payment = await signTerms(payer, await termsOf(service.url, TOOL, INPUT))
    assert.equal((await call(service.url, v2(payment), { input: INPUT, client: CLIENT })).status, 200)
    assert.equal((await call(service.url, { 'x-payment': 'e30=' }, { input: INPUT, client: CLIENT_V6 })).status, 402)
  } finally {
    service.process.kill('SIGTERM')
    await service.ended
    await rm(data_dir, { recursive: true, force: true })
  }
  const written = Buffer.from(service.log() + service.notes())
  assert.ok(written.includes(`"outcome":"paid"`), 'the calls are in the log')
  assertAbsent(new Map([['log', written]]), [...SECRETS, ...ADDRESSES, '127.0.0.1:1'])
})

// attack: addresses, inputs, answers
test('a stored answer opens under the secret that sealed it, and under no other', async () => {
  const anvil = await startAnvil()
  const data_dir = await mkdtemp(join(tmpdir(), 'assay-rest-'))
  const ASSAY_PAY_TO = privateKeyToAccount(generatePrivateKey()).address
  const start = (secret: string) =>
    startLiveWorld({ anvil, data_dir, settings: { ASSAY_PAY_TO, ASSAY_SECRET_FILE: join(data_dir, secret) } })
  const secrets = [randomBytes(32), randomBytes(32)]
  await Promise.all(secrets.map((bytes, index) => writeFile(join(data_dir, `${index}.key`), bytes.toString('hex'), { mode: 0o600 })))
  try {
    const first = await start('0.key')
    const payment = await signed(first.url, await first.payer())
    const paid = await call(first.url, v2(payment))
    assert.equal(paid.status, 200)
    const sealed = String(first.sql((database) => database.prepare('select sealed from payment_answer').get()?.['sealed']))
    await first.stop()

    const context = `${payment.message.from.toLowerCase()}:${payment.message.nonce}`
    const [own, other] = secrets.map((bytes) => createSealer(bytes).open(sealed, context))
    assert.deepEqual([own?.includes('"result":'), other], [true, null])

    await assert.rejects(start('1.key'), { message: /another secret.*1\.key/ })

    const again = await start('0.key')
    assert.equal((await call(again.url, v2(payment))).text, paid.text)
    await again.stop()
  } finally {
    await anvil.stop()
    await rm(data_dir, { recursive: true, force: true })
  }
})

/** What each surface is sent: an IBAN with a number of its own, which the tool shows in its answer, and the same without spaces. */
const marked = (number: number) => ({ iban: `QX77 CANA RYIN 000${number}` })
const MARKS = Array.from({ length: 10 }, (_, number) => [marked(number).iban, marked(number).iban.replaceAll(' ', '')]).flat()

interface Shop {
  url: string
  /** Payers of the payments so far, in order. */
  payers: readonly Awaited<ReturnType<typeof fundedPayer>>[]
  secret: Buffer
  buyer(tool?: string, input?: unknown): Promise<Signed>
}

/** Calls over every surface that stores anything. Returns what must not be found in any table. */
async function sendEverything({ url, secret, buyer, payers }: Shop): Promise<{ secrets: string[]; tasks: string[] }> {
  const payments = [await buyer(), await buyer(), await buyer()] as const
  const [payer] = payers
  assert.ok(payer !== undefined)
  const [rest, mcp, a2a] = payments
  const id = 'canary-payment-identifier-0001'
  const payload = (payment: Signed): object => JSON.parse(Buffer.from(payment.v2, 'base64').toString()) as object
  const named = Buffer.from(JSON.stringify({ ...payload(rest), extensions: { 'payment-identifier': { info: { id } } } })).toString('base64')
  const paid = await call(url, { 'payment-signature': named }, { input: marked(0), client: CLIENT })
  assert.equal(paid.status, 200, paid.text)
  const params = { name: TOOL, arguments: marked(1), _meta: { 'x402/payment': payload(mcp) } }
  const answer = await post(`${url}/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  assert.ok(answer.includes('QX77CANARYIN0001'), answer)
  // One task is paid; one waits for its payment; one waits after a payment that was refused.
  const client = await connectA2a(url)
  const done = await taskFor(client, asking({ tool: TOOL, input: marked(2) }, { metadata: { 'x402.payment.payload': payload(a2a) } }))
  assert.equal(done.status?.state, TaskState.TASK_STATE_COMPLETED, JSON.stringify(done.status))
  const open = await taskFor(client, asking({ tool: TOOL, input: marked(3) }))
  const foreign = { ...payload(await buyer('lei-check', { lei: '5493001KJTIIGC8Y1R12' })), accepted: { scheme: 'upto' } }
  const failed = await taskFor(client, saying('Paid.', { taskId: open.id, metadata: { 'x402.payment.payload': foreign } }))
  const { code } = await boughtCode(url, 500)
  assert.equal((await callWith(url, code, 'canary-idempotency-key', marked(4))).status, 200)
  const brief = await call(
    url,
    { 'x-detail': 'brief', 'x-credit': code, 'idempotency-key': 'canary-idempotency-key' },
    { input: marked(4), client: CLIENT },
  )
  const answer_token = /\/v1\/answers\/([0-9a-f]{64})$/.exec(String(brief.body['answer_url']))?.[1] ?? ''
  assert.ok((await read(`${url}/v1/answers/${answer_token}`)).text.includes('QX77CANARYIN0004'), brief.text)
  assert.ok((await post(`${url}/v1/protocols/check`, { protocol: 'x402', payload: marked(5) })).length > 0)
  const asked = { dispute_id: 'D-1', receipt: paid.body['receipt'], claim: 'NOT_DELIVERED', claimed_input: marked(0) }
  // An unsigned dispute that is rejected is not stored; its answer holds what the payer signs.
  const unsigned = await call(url, v2(await buyer('dip-file-dispute', asked)), { tool: 'dip-file-dispute', input: asked })
  const { typed_data } = unsigned.body['result'] as { typed_data: Parameters<typeof payer.signTypedData>[0] }
  const claim = { ...asked, claimant_signature: await payer.signTypedData(typed_data) }
  const terms = { notional_minor: '50000000000', rail: 'crypto', counterparty_tier: 'T2', receipt: paid.body['receipt'] }
  const cover = { amount_usdc: '25000', coverage_type: 'commercial_trade_credit', invoice_id: 'QX77CANARYIN0006' }
  for (const [tool, input] of [
    ['dip-file-dispute', claim],
    ['assured-create', terms],
    ['quote-3rd-party-insurance', cover],
  ] as const) {
    const filed = await call(url, v2(await buyer(tool, input)), { tool, input })
    assert.equal(filed.status, 200, filed.text)
  }
  const invoice = await post(`${url}/api/invoice/create`, {
    amountUsdc: '4.00',
    merchant: privateKeyToAccount(generatePrivateKey()).address,
  })
  assert.ok(invoice.includes('invoice_id'), invoice)
  const tokens = payments.map(({ message }) => createSealer(secret).token(`${message.from.toLowerCase()}:${message.nonce}`))
  return {
    // A dispute keeps its own verdict, which is a record.
    secrets: [...MARKS, ...SECRETS.slice(4), ...ADDRESSES, id, code, 'canary-idempotency-key', answer_token, ...tokens, done.id, failed.id],
    tasks: [...payments.map(({ signature }) => signature), ...payments.map(({ message }) => message.nonce)],
  }
}

async function post(url: string, body: unknown): Promise<string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'x-forwarded-for': CLIENT }
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).text()
}

for (const kind of ['sqlite', 'postgres'] as const) {
  test(
    `whatever surface it came over, no table of ${kind} holds an input, an answer or a secret of a caller`,
    { timeout: 120_000 },
    async () => {
      const server = kind === 'postgres' ? await openPostgres() : null
      const target = (await server?.createDatabase('rest')) ?? ''
      const keys = await mkdtemp(join(tmpdir(), 'assay-rest-keys-'))
      const secret = randomBytes(32)
      await writeFile(join(keys, 'secret.key'), secret.toString('hex'), { mode: 0o600 })
      const files = { ASSAY_SECRET_FILE: join(keys, 'secret.key'), ASSAY_RECEIPT_KEY_FILE: join(keys, 'receipt.key') }
      const app = await startCreditApp('sandbox', {}, { ...files, ASSAY_FREE_DAILY: '0', ASSAY_STORE: target })
      try {
        const { sandbox } = app.running.app.deps
        assert.ok(sandbox !== null)
        const payers: Awaited<ReturnType<typeof fundedPayer>>[] = []
        const buyer = async (tool = TOOL, input: unknown = marked(0)) => {
          const payer = await fundedPayer(sandbox.rpc_url, sandbox.usdc)
          payers.push(payer)
          return signTerms(payer, await termsOf(app.url, tool, input))
        }
        const { secrets, tasks } = await sendEverything({ url: app.url, secret, payers, buyer })
        const tables = server === null ? await tablesOfFile(join(app.data_dir, 'assay.sqlite')) : await tablesOfServer(target)
        const filled = [...tables].flatMap(([name, rows]) => (rows.length > 0 ? [name] : []))
        for (const name of [
          'payment',
          'payment_answer',
          'a2a_task',
          'credit_use',
          'credit_answer',
          'stored_answer',
          'dispute',
          'assured_record',
          'invoice',
        ])
          assert.ok(filled.includes(name), `${name} is empty: nothing was shown of it`)
        assertAbsent(tables, secrets)
        assertAbsent(new Map([['a2a_task', tables.get('a2a_task') ?? Buffer.alloc(0)]]), tasks)
        if (server === null) assertAbsent(await filesIn(app.data_dir), secrets)
      } finally {
        await app.stop()
        await server?.stop()
        await rm(keys, { recursive: true, force: true })
      }
    },
  )
}

async function tablesOfFile(path: string): Promise<Map<string, Buffer>> {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const names = database.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'").all()
    const rowsOf = (name: string) =>
      database
        .prepare(`select * from ${name}`)
        .all()
        .map((row) => JSON.stringify(row))
        .join('\n')
    return new Map(names.map(({ name }) => [String(name), Buffer.from(rowsOf(String(name)))]))
  } finally {
    database.close()
  }
}

async function tablesOfServer(url: string): Promise<Map<string, Buffer>> {
  const names = await query(url, "select table_name as name from information_schema.tables where table_schema = 'public'")
  const tables = new Map<string, Buffer>()
  for (const { name } of names) {
    const rows = await query(url, `select cast(t as text) as row from ${String(name)} t`)
    tables.set(String(name), Buffer.from(rows.map(({ row }) => String(row)).join('\n')))
  }
  return tables
}

test('the migration deletes tasks that an earlier release stored in clear text, and overwrites them in the file', async () => {
  const driver = await sqliteDriver()
  try {
    const old = await driver.fresh()
    await old.createSchema(14)
    const body = 'CANARY '.repeat(3_000)
    await old.sql(`insert into a2a_task values ('old', 'c', 1, 0, '${body}', 1)`)
    assertHolds(await readFile(old.target), true)
    const store = await openStore(old.target)
    await store.close()
    assertHolds(await readFile(old.target), false)
  } finally {
    await driver.stop()
  }
})

function assertHolds(file: Buffer, holds: boolean): void {
  assert.equal(file.includes('CANARY'), holds)
}
