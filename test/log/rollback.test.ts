/** A service whose store is replaced by an older copy: calls go on, the log stops, the operator is told, and only he resumes it. */
import assert from 'node:assert/strict'
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { bytesToHex, logEntry, readCheckpoint, readNote, readVerifierKey, verifyLogProof } from '../../src/pure/log/checkpoint.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { openDesk, parsed, type Desk } from '../cli/run-cli.ts'
import { until } from '../support/until.ts'

let folder: string
let backup: string
let desk: Desk
let app: TestApp
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-rollback-'))
  backup = await mkdtemp(join(tmpdir(), 'assay-backup-'))
  desk = await openDesk()
})
after(async () => {
  await desk.clear()
  for (const path of [folder, backup]) await rm(path, { recursive: true, force: true })
})

const settings = { ASSAY_API_URL: 'http://assay.example' }
const begin = async () => (app = await startTestApp({ data_dir: folder, settings }))
const text = async (path: string, init?: RequestInit) => {
  const response = await fetch(app.url + path, init)
  return { status: response.status, body: await response.text(), retry_after: response.headers.get('retry-after') }
}
const json = async (path: string) => JSON.parse((await text(path)).body) as Record<string, unknown>
const checkpoint = async () => {
  const { body } = await text('/log/checkpoint')
  return { body, ...(readCheckpoint(readNote(body)?.text ?? '') ?? assert.fail(body)) }
}
const run = (args: readonly string[]) => desk.run(args, { settings: { ...settings, ASSAY_DATA_DIR: folder, ASSAY_PORT: '0' } })

async function called(): Promise<{ receipt: object; entry: Uint8Array; hex: string }> {
  const { status, body } = await restCall(app.url, 'iban-check', { iban: 'GB82WEST12345698765432' })
  assert.equal(status, 200)
  const receipt = body['receipt'] as { signature: string }
  const entry = logEntry(verifyReceipt(receipt).digest ?? '', receipt.signature) ?? assert.fail('no entry')
  return { receipt, entry, hex: bytesToHex(entry) }
}

const inLog = (hex: string) => until('the receipt is in the log', async () => (await text(`/log/proof/${hex}`)).status === 200)

/** Copies the store of a stopped service. */
async function copyStore(from: string, to: string): Promise<void> {
  for (const name of await readdir(to)) if (name.startsWith('assay.sqlite')) await rm(join(to, name))
  for (const name of await readdir(from)) if (name.startsWith('assay.sqlite')) await copyFile(join(from, name), join(to, name))
}

// attack: a second history of the log after the database lost entries
test('a restored backup that lost published entries', async (t) => {
  t.after(() => app.stop())
  await begin()
  const kept = await called()
  await inLog(kept.hex)
  await app.running.stop()
  await copyStore(folder, backup)
  await begin()
  const lost = await called()
  await inLog(lost.hex)
  const old_key = readVerifierKey((await text('/log/key')).body.trim()) ?? assert.fail('no key')
  const old_proof = (await text(`/log/proof/${lost.hex}`)).body
  const published = await checkpoint()
  await app.running.stop()
  await copyStore(backup, folder)

  await begin()
  const stored = published.size - 1
  // Calls and receipts go on; their entries wait.
  const waiting = await called()
  assert.equal((await checkpoint()).body, published.body, 'the highest published checkpoint stays')
  for (const path of [`/log/proof/${kept.hex}`, `/log/proof/${waiting.hex}`, `/log/consistency/${stored}`, `/log/tile/0/000.p/1`]) {
    const { status, body, retry_after } = await text(path)
    const problem = JSON.parse(body) as { code: string; detail: string }
    assert.deepEqual([status, problem.code, retry_after], [503, 'LOG_STOPPED', '600'], path)
    assert.match(problem.detail, new RegExp(`A head of ${published.size} entries was published, and the store has ${stored} `))
  }
  const health = (await json('/health')) as { ok: boolean; log: Record<string, unknown> }
  assert.deepEqual([health.ok, health.log['state'], health.log['reason']], [true, 'stopped', 'behind'])
  assert.match(String(health.log['action']), /assay log resume/)
  assert.match((await text('/metrics')).body, /^assay_receipts_log_stopped 1$/m)
  const spec = (await json('/.well-known/xdr-1.json'))['log'] as Record<string, unknown>
  assert.deepEqual([spec['state'], spec['retired']], ['stopped', []])
  const doctor = await run(['doctor', '--json'])
  const found = (parsed(doctor.stdout)['checks'] as { name: string; state: string; words: string }[]).find(({ name }) => name === 'log')
  assert.deepEqual([doctor.code, found?.state], [1, 'failed'])
  assert.match(found?.words ?? '', /The log is stopped\. A head of .*"assay log resume"/)

  // The command shows the loss, refuses another head, and cuts only what it is told to.
  const shown = await run(['log', 'resume'])
  assert.equal(shown.code, 1, shown.stderr)
  const { accept, lost: gap } = parsed(shown.stdout) as { accept: string; lost: object }
  assert.deepEqual(gap, { first: stored, last: stored })
  const [size = ''] = accept.split(':')
  assert.equal(size, String(stored))
  assert.equal((await run(['log', 'resume', '--accept', accept])).code, 2, 'a reason is required')
  assert.equal((await run(['log', 'resume', '--accept', `${size}:${'0'.repeat(64)}`, '--reason', 'x'])).code, 65)
  assert.equal((await json('/log/history'))['state'], 'stopped')
  const resumed = await run(['log', 'resume', '--accept', accept, '--reason', 'the disk is lost'])
  assert.equal(resumed.code, 0, resumed.stderr)

  // The next log has another name, contains what is left, and takes what waited and what is submitted again.
  await until('the next log is signed', async () => (await text('/log/checkpoint')).body.startsWith(`${old_key.name}/2\n`))
  const key = readVerifierKey((await text('/log/key')).body.trim()) ?? assert.fail('no key')
  assert.equal(key.name, 'assay.example/log/2')
  for (const { hex, entry } of [kept, waiting]) {
    await inLog(hex)
    assert.equal(verifyLogProof((await text(`/log/proof/${hex}`)).body, entry, key).code, 'ok')
  }
  assert.equal((await text(`/log/proof/${lost.hex}`)).status, 404)
  assert.equal((await text('/log/entries', { method: 'POST', body: JSON.stringify(lost.receipt) })).status, 202)
  await inLog(lost.hex)
  // A proof that the retired log gave verifies with its key, which stays published with the last checkpoint.
  assert.equal(verifyLogProof(old_proof, lost.entry, old_key).code, 'ok')
  const history = await json('/log/history')
  const [stop] = history['stops'] as { published: { checkpoint: string }; resumption: Record<string, unknown>; verifier_key: string }[]
  assert.deepEqual([history['state'], stop?.resumption['how'], stop?.resumption['why']], ['running', 'cut', 'the disk is lost'])
  assert.ok(published.body.startsWith(stop?.published.checkpoint ?? 'none'))
  const retired = ((await json('/.well-known/xdr-1.json'))['log'] as { retired: { verifier_key: string }[] }).retired
  assert.deepEqual(
    retired.map(({ verifier_key }) => readVerifierKey(verifier_key)?.name),
    [old_key.name],
  )
  const files = [
    await desk.file('receipt.json', { receipt: lost.receipt }),
    '--keys',
    await desk.file('keys.json', (await text('/.well-known/xdr-1.json')).body),
    '--log',
    await desk.file('old.tlog-proof', old_proof),
    '--json',
  ]
  const verified = await desk.run(['verify', ...files])
  assert.equal(verified.code, 0, verified.stdout)
  await app.running.stop()
  await begin()
  assert.deepEqual(
    [(await json('/health'))['log'] as object, (await checkpoint()).origin].map((one) =>
      typeof one === 'string' ? one : 'state' in one && one.state,
    ),
    ['running', key.name],
  )
  const well = await run(['doctor', '--json'])
  assert.equal((parsed(well.stdout)['checks'] as { name: string; state: string }[]).find(({ name }) => name === 'log')?.state, 'ok')
})

test('without its memory a log is stopped by a witness that has signed more than the store has', async (t) => {
  const own = await mkdtemp(join(tmpdir(), 'assay-memoryless-'))
  const copy = await mkdtemp(join(tmpdir(), 'assay-backup-'))
  const stops: (() => Promise<void>)[] = []
  t.after(async () => {
    for (const stop of stops) await stop()
    for (const path of [own, copy]) await rm(path, { recursive: true, force: true })
  })
  const first = await startTestApp({ data_dir: own, settings })
  const log_key = (await (await fetch(`${first.url}/log/key`)).text()).trim()
  await until('the first checkpoint', async () => (await fetch(`${first.url}/log/checkpoint`)).status === 200)
  await first.running.stop()
  await copyStore(own, copy)
  const witness = await startTestApp({ settings: { ASSAY_WITNESSED_LOGS: log_key } })
  stops.push(() => witness.stop())
  const witness_key = (await (await fetch(`${witness.url}/log/witness-key`)).text()).trim()
  const watched = { ...settings, ASSAY_LOG_WITNESSES: `${witness.url}/log|${witness_key}` }
  const second = await startTestApp({ data_dir: own, settings: watched })
  assert.equal((await restCall(second.url, 'iban-check', { iban: 'GB82WEST12345698765432' })).status, 200)
  await until(
    'the witness has signed',
    async () => readNote(await (await fetch(`${second.url}/log/checkpoint`)).text())?.signatures.length === 2,
  )
  await second.running.stop()
  await copyStore(copy, own)
  await rm(join(own, 'log-heads'), { recursive: true })
  const third = await startTestApp({ data_dir: own, settings: watched })
  stops.push(() => third.running.stop())
  assert.equal((await restCall(third.url, 'iban-check', { iban: 'GB82WEST12345698765432' })).status, 200)
  const state = async () => ((await (await fetch(`${third.url}/health`)).json()) as { log: { state: string; reason?: string } }).log
  await until('the log is stopped', async () => (await state()).state === 'stopped')
  assert.equal((await state()).reason, 'witness')
})

test('a published head that cannot be read is one sentence at the start and of the commands', async (t) => {
  await begin()
  t.after(() => app.stop())
  await inLog((await called()).hex)
  await app.stop()
  const heads = join(folder, 'log-heads')
  for (const name of await readdir(heads)) await writeFile(join(heads, name), 'garbage')
  for (const args of [['log', 'resume'], ['serve']]) {
    const { code, stderr } = await run(args)
    assert.equal(code, 78, args.join(' '))
    assert.match(stderr, /^assay: The published head of the log cannot be read: .*log-heads.*\n$/m)
    assert.doesNotMatch(stderr, /internal error/)
  }
})
