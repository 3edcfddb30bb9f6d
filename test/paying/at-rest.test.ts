/** What lies on the disk of a deployment: nothing that was asked or answered, and nobody's address. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import { startAnvil } from '../support/anvil.ts'
import { call, read, signed, TOOL, v2 } from '../support/paying-calls.ts'
import { startLiveWorld, startWorld } from '../support/paying-world.ts'
import { fundedPayer, signTerms, termsOf } from '../support/paying.ts'
import { startService } from '../support/service.ts'

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

    const stranger = await start('1.key')
    const gone = await call(stranger.url, v2(payment))
    assert.deepEqual([gone.status, gone.body['code'], gone.body['charged']], [410, 'ANSWER_EXPIRED', true])
    await stranger.stop()

    const again = await start('0.key')
    assert.equal((await call(again.url, v2(payment))).text, paid.text)
    await again.stop()
  } finally {
    await anvil.stop()
    await rm(data_dir, { recursive: true, force: true })
  }
})
