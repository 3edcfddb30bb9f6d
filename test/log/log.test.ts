/** The receipts log of a running service: from the call to a proof that verifies offline, and as its witnesses see it. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import {
  bytesToHex,
  isSignedBy,
  readCheckpoint,
  readNote,
  readVerifierKey,
  signedTime,
  logEntry,
  verifyLogProof,
} from '../../src/pure/log/checkpoint.ts'
import { leafHash } from '../../src/pure/log/tree.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { openDesk } from '../cli/run-cli.ts'
import { until } from '../support/until.ts'
import { treeHash } from './reference-tree.ts'

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

const text = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(app.url + path, init)
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() }
}

async function receiptOf(iban = 'GB82WEST12345698765432') {
  const { body } = await restCall(app.url, 'iban-check', { iban })
  const receipt = body['receipt'] as { signature: string }
  const entry = logEntry(verifyReceipt(receipt).digest ?? '', receipt.signature) ?? assert.fail('no entry')
  return { body, receipt, entry, hex: bytesToHex(entry) }
}

/** What the question yields, once it yields something. */
async function waited<Value>(what: string, question: () => Promise<Value | null>): Promise<Value> {
  const found: { value: Value | null } = { value: null }
  await until(what, async () => (found.value = await question()) !== null)
  return found.value ?? assert.fail(what)
}

const logKey = async () => readVerifierKey((await text('/log/key')).body.trim()) ?? assert.fail('no key')
const included = async (hex: string) => {
  const { status, body } = await text(`/log/proof/${hex}`)
  return status === 200 ? body : null
}

const inLog = (hex: string) => waited('the proof', () => included(hex))

test('a receipt is in the log within the promised minute, and its proof verifies with the key alone', async () => {
  const { entry, hex } = await receiptOf()
  const proof = await inLog(hex)
  const key = await logKey()
  const verdict = verifyLogProof(proof, entry, key)
  assert.deepEqual([verdict.valid, verdict.code, verdict.checkpoint?.origin], [true, 'ok', key.name])
  const other = await receiptOf('DE89370400440532013000')
  assert.equal(verifyLogProof(proof, other.entry, key).code, 'not_included')
  assert.equal(verifyLogProof(proof.replace(/^index \d+$/m, 'index 9999'), entry, key).code, 'not_included')
  assert.equal(verifyLogProof(proof.replace('c2sp', 'C2SP'), entry, key).code, 'bad_proof')
  const stranger = readVerifierKey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW') ?? assert.fail('no key')
  assert.equal(verifyLogProof(proof, entry, stranger).code, 'unknown_log')
})

test('the tiles hold every entry, and their tree has the root that the checkpoint signs', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => receiptOf()))
  for (const { hex } of made) await inLog(hex)
  const { body, type } = await text('/log/checkpoint')
  assert.equal(type, 'text/plain; charset=utf-8')
  const note = readNote(body) ?? assert.fail('no note')
  assert.ok(isSignedBy(note, await logKey()))
  const { size, root } = readCheckpoint(note.text) ?? assert.fail('no checkpoint')
  assert.ok(size >= made.length && size < 256)
  const bundle = await fetch(`${app.url}/log/tile/entries/000.p/${size}`)
  assert.match(bundle.headers.get('cache-control') ?? '', /immutable/)
  const bytes = new Uint8Array(await bundle.arrayBuffer())
  const entries = Array.from({ length: size }, (_, at) => bytes.subarray(at * 34 + 2, (at + 1) * 34))
  for (const at of entries.keys()) assert.deepEqual([...bytes.subarray(at * 34, at * 34 + 2)], [0, 32])
  assert.deepEqual(new Uint8Array(treeHash(entries)), root)
  const tile = new Uint8Array(await (await fetch(`${app.url}/log/tile/0/000.p/${size}`)).arrayBuffer())
  for (const [at, entry] of entries.entries()) assert.deepEqual(tile.slice(at * 32, at * 32 + 32), leafHash(entry))
  for (const { entry } of made) assert.ok(entries.some((one) => bytesToHex(one) === bytesToHex(entry)))
  for (const path of [`/log/tile/0/000.p/${size + 1}`, '/log/tile/0/000', '/log/tile/1/000', '/log/tile/x/000', '/log/tile/entries/001'])
    assert.equal((await text(path)).status, 404, path)
})

test('what a free check of receipts answers is not logged', async () => {
  const { receipt } = await receiptOf()
  const { body } = await restCall(app.url, 'receipt-verify', { receipt })
  const answer = body['receipt'] as { signature: string }
  const entry = logEntry(verifyReceipt(answer).digest ?? '', answer.signature) ?? assert.fail('no entry')
  const { hex } = await receiptOf()
  await inLog(hex)
  assert.equal((await text(`/log/proof/${bytesToHex(entry)}`)).status, 404)
  const handed = await text('/log/entries', { method: 'POST', body: JSON.stringify({ receipt: answer }) })
  assert.deepEqual([handed.status, (JSON.parse(handed.body) as { code: string }).code], [422, 'LOG_RECEIPT_REFUSED'])
})

test('a receipt of this service can be handed in, once or often; anything else is refused', async () => {
  const { receipt, hex } = await receiptOf()
  const send = (value: unknown) => text('/log/entries', { method: 'POST', body: JSON.stringify(value) })
  const taken = await send({ receipt })
  assert.equal(taken.status, 202)
  assert.equal((JSON.parse(taken.body) as { entry: string }).entry, hex)
  await inLog(hex)
  const size = readCheckpoint(readNote((await text('/log/checkpoint')).body)?.text ?? '')?.size ?? 0
  assert.equal((await send(receipt)).status, 202)
  const whole = await restCall(app.url, 'token-contract-risk', { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' })
  assert.deepEqual([whole.status, (await send(whole.body)).status], [200, 202], 'an answer as it came, however many values it has')
  const later = await receiptOf()
  await inLog(later.hex)
  // Nothing was appended twice: the entries that came in between are other receipts.
  const proofs = [await included(hex), await included(later.hex)].map((one) => Number(/^index (\d+)$/m.exec(one ?? '')?.[1]))
  assert.ok((proofs[0] ?? 0) < size && (proofs[1] ?? 0) >= size)
  const wrong = [{ receipt: { ...receipt, signature: `0x${'11'.repeat(65)}` } }, { receipt: 1 }, [], 'text']
  for (const value of wrong) assert.equal((JSON.parse((await send(value)).body) as { code: string }).code, 'LOG_RECEIPT_REFUSED')
  assert.equal((await text(`/log/proof/${'0'.repeat(64)}`)).status, 404)
  assert.equal((await text('/log/proof/xyz')).status, 404)
})

test('the command line finds a receipt in the log, and says when it is not', async () => {
  const { body, hex } = await receiptOf()
  const desk = await openDesk()
  const answer = await desk.file('answer.json', body)
  const keys = await desk.file('keys.json', (await text('/.well-known/xdr-1.json')).body)
  const proof = await desk.file('one.tlog-proof', await inLog(hex))
  const good = await desk.run(['verify', answer, '--keys', keys, '--log', proof, '--json'])
  const report = JSON.parse(good.stdout) as { log: { code: string }; log_entry: string }
  assert.deepEqual([good.code, report.log.code, report.log_entry], [0, 'ok', hex])
  const other = await desk.file('other.json', (await receiptOf()).body)
  const bad = await desk.run(['verify', other, '--keys', keys, '--log', proof, '--json'])
  assert.deepEqual([bad.code, (JSON.parse(bad.stdout) as { log: { code: string } }).log.code], [1, 'not_included'])
  const witness = (await text('/log/witness-key')).body.trim()
  const unseen = await desk.run(['verify', answer, '--keys', keys, '--log', proof, '--witness', witness, '--json'])
  const judged = JSON.parse(unseen.stdout) as { verified: boolean; failures: string[]; log: { code: string; missing_witnesses: string[] } }
  const name = witness.split('+')[0] ?? ''
  assert.deepEqual([unseen.code, judged.verified, judged.log.code, judged.log.missing_witnesses], [1, false, 'ok', [name]])
  assert.deepEqual(judged.failures, [`The witness ${name} did not sign the checkpoint of the proof.`])
  const words = await desk.run(['verify', answer, '--keys', keys, '--log', proof, '--witness', witness, '--text'])
  assert.match(words.stdout.replaceAll(/\s+/g, ' '), /log proof not valid.* did not sign the checkpoint of the proof/)
  const keyless = await desk.run(['verify', answer, '--log', proof])
  assert.equal(keyless.code, 2)
  await desk.clear()
})

// attack: a rewritten log
// in: money and signatures
// asset: trust in receipts
// attacker: the operator
// defence: witnesses sign only what continues what they saw
test('another service watches over the log, and signs only what continues what it saw', async () => {
  const key = (await text('/log/key')).body.trim()
  const witness = await startTestApp({ settings: { ASSAY_WITNESSED_LOGS: key } })
  try {
    const witness_key = readVerifierKey((await (await fetch(`${witness.url}/log/witness-key`)).text()).trim()) ?? assert.fail('no key')
    const add = async (body: string) => {
      const response = await fetch(`${witness.url}/log/add-checkpoint`, { method: 'POST', body })
      return { status: response.status, type: response.headers.get('content-type'), body: await response.text() }
    }
    const request = async (old: number) => (await text(`/log/consistency/${old}`)).body
    // Fifteen others have signed it already, with keys of the longest kind: the specification bounds neither below that.
    const others = Array.from(
      { length: 15 },
      (_, at) => `\u2014 w${at}.example/w ${Buffer.alloc(4 + 8 + 4_627, at + 1).toString('base64')}\n`,
    )
    const first = (await request(0)) + others.join('')
    const signed = await add(first)
    assert.equal(signed.status, 200)
    const note = readNote(first.slice(first.indexOf('\n\n') + 2) + signed.body) ?? assert.fail('no note')
    const line = note.signatures.find(({ id }) => id === witness_key.id) ?? assert.fail('no line')
    assert.ok((signedTime(note.text, witness_key, line.bytes) ?? 0) > 1_700_000_000)
    const { size } = readCheckpoint(note.text) ?? assert.fail('no checkpoint')
    const conflict = await add(first)
    assert.deepEqual([conflict.status, conflict.type, conflict.body], [409, 'text/x.tlog.size', `${size}\n`])
    const { hex } = await receiptOf()
    await inLog(hex)
    const next = await request(size)
    const lines = next.split('\n')
    assert.equal((await add(next.replace(lines[1] ?? '', Buffer.alloc(32).toString('base64')))).status, 422)
    assert.equal((await add(next.replace(/\n— .*\n$/, '\n— x AAAAAAAA\n'))).status, 403)
    assert.equal((await add(next.replace(key.split('+')[0] ?? '', 'other.example/log'))).status, 404)
    assert.equal((await add('old x\n\n')).status, 400)
    assert.equal((await add(next)).status, 200)
  } finally {
    await witness.stop()
  }
})

test('checkpoints carry the signatures of witnesses that the settings name', async () => {
  const first = await startTestApp()
  const origin_key = (await (await fetch(`${first.url}/log/witness-key`)).text()).trim()
  const log_dir = await startTestApp()
  const log_key = (await (await fetch(`${log_dir.url}/log/key`)).text()).trim()
  await Promise.all([first.running.stop(), log_dir.running.stop()])
  const witness = await startTestApp({ data_dir: first.data_dir, settings: { ASSAY_WITNESSED_LOGS: log_key } })
  const log = await startTestApp({ data_dir: log_dir.data_dir, settings: { ASSAY_LOG_WITNESSES: `${witness.url}/log|${origin_key}` } })
  try {
    const { body: answer } = await restCall(log.url, 'iban-check', { iban: 'GB82WEST12345698765432' })
    const cosigned = await waited('two signatures', async () => {
      const body = await (await fetch(`${log.url}/log/checkpoint`)).text()
      return readNote(body)?.signatures.length === 2 ? body : null
    })
    const note = readNote(cosigned) ?? assert.fail('no note')
    const key = readVerifierKey(origin_key) ?? assert.fail('no key')
    assert.ok(isSignedBy(note, key))
    assert.ok(readCheckpoint(note.text)?.size === 1)
    const { digest } = verifyReceipt(answer['receipt'])
    const entry = logEntry(digest ?? '', (answer['receipt'] as { signature: string }).signature) ?? assert.fail('no entry')
    const proof = await (await fetch(`${log.url}/log/proof/${bytesToHex(entry)}`)).text()
    const desk = await openDesk()
    const keys = await desk.file('keys.json', await (await fetch(`${log.url}/.well-known/xdr-1.json`)).text())
    const files = [await desk.file('answer.json', answer), '--keys', keys, '--log', await desk.file('proof', proof), '--log-key', log_key]
    const seen = await desk.run(['verify', ...files, '--witness', origin_key, '--json'])
    assert.equal(seen.code, 0, seen.stdout)
    await desk.clear()
  } finally {
    await Promise.all([log.stop(), witness.stop()])
    for (const { data_dir } of [first, log_dir]) await rm(data_dir, { recursive: true, force: true })
  }
})

test('what is handed in is bounded per client and minute', async () => {
  const codes: unknown[] = []
  // Two minutes may lie under it, so twice the bound and one.
  for (let count = 0; count < 121 && !codes.includes('LOG_RATE_LIMITED'); count++) {
    const { body } = await text('/log/entries', { method: 'POST', body: '{}' })
    codes.push((JSON.parse(body) as { code: string }).code)
  }
  assert.deepEqual([codes[0], codes.at(-1)], ['LOG_RECEIPT_REFUSED', 'LOG_RATE_LIMITED'])
})
