/** Audit bundles: made by the command line from a running service, verified offline, and altered in every place. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readBundle, BUNDLE_LIMITS, type AuditBundle } from '../../src/pure/audit/bundle.ts'
import { bundleManifest, bundleParts } from '../../src/pure/audit/verify-bundle.ts'
import { verifyBundle, type AuditorKeys } from '../../src/pure/audit/verify-bundle.ts'
import { readVerifierKey } from '../../src/pure/log/checkpoint.ts'
import { readKeyList } from '../../src/pure/receipts/keys.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

type Json = Record<string, unknown>

let app: TestApp
let desk: Desk
/** Three linked answers with inputs, made once. */
let bundle: AuditBundle
let bundle_file: string
let keys_file: string
let own: AuditorKeys

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const SUBJECT = { subject: '0x098B716B8Aaf21512996dC57EB0615e2383E2f96' }

const get = async (path: string) => (await fetch(app.url + path)).text()

before(async () => {
  ;[app, desk] = await Promise.all([startTestApp(), openDesk()])
  await restCall(app.url, 'luhn-check', { number: '4111111111111111' })
  // The second line of a checkpoint is the number of entries.
  await until('an entry in the log', async () => Number((await get('/log/checkpoint')).split('\n')[1]) === 1)
  const checkpoint = await desk.file('checkpoint', await get('/log/checkpoint'))
  const answers: Json[] = []
  for (const [tool, input] of [
    ['iban-check', IBAN],
    ['ofac-sdn-check', SUBJECT],
    ['lei-check', { lei: '5493001KJTIIGC8Y1R12' }],
  ] as const) {
    const previous = answers.at(-1)
    const link: Record<string, string> =
      previous === undefined ? {} : { 'x-prev-receipt-hash': verifyReceipt(previous['receipt']).digest ?? '' }
    const { status, body } = await restCall(app.url, tool, input, link)
    assert.equal(status, 200, JSON.stringify(body))
    answers.push(body)
  }
  const files = [await desk.file('answers.json', answers), '--url', app.url]
  const inputs = await desk.file('inputs.json', [{ input: SUBJECT }, IBAN])
  bundle_file = join(app.data_dir, 'bundle.json')
  const made = await desk.run(['bundle', ...files, '--inputs', inputs, '--checkpoint', checkpoint, '--out', bundle_file])
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stderr, /bundle of 3 answers/)
  bundle = JSON.parse(await readFile(bundle_file, 'utf8')) as AuditBundle
  const list = await get('/.well-known/xdr-1.json')
  keys_file = await desk.file('keys.json', list)
  const log = readVerifierKey((await get('/log/key')).trim())
  own = { keys: readKeyList(JSON.parse(list)), log, witnesses: [], datasets: new Set() }
})
after(async () => {
  await desk.clear()
  await app.stop()
})

const states = ({ checks }: { checks: { kind: string; state: string; pointer: string }[] }) =>
  checks.map(({ kind, state, pointer }) => `${kind} ${state} ${pointer}`)

test('every part of a bundle verifies offline, and what is missing is named', async () => {
  const { code, stdout } = await desk.run(['verify', bundle_file, '--keys', keys_file])
  const report = parsed(stdout) as Json & Parameters<typeof states>[0]
  const found = states(report)
  assert.equal(code, 0, stdout)
  assert.deepEqual([report['document'], report['verified'], report['outcome']], ['audit-bundle', true, 'verified'])
  assert.deepEqual(
    found.filter((line) => !line.includes(' valid ')),
    ['input not_checked /answers/2/input', 'replay not_checked /answers/2'],
  )
  const kinds = [
    'manifest',
    'keys',
    'receipt',
    'input',
    'result',
    'link',
    'log_key',
    'checkpoint',
    'log_proof',
    'consistency',
    'dataset',
    'replay',
  ]
  for (const kind of kinds)
    assert.ok(
      found.some((line) => line.startsWith(`${kind} valid`)),
      kind,
    )
  for (const index of [0, 1, 2]) assert.ok(found.includes(`receipt valid /answers/${index}/answer/receipt`))
  for (const index of [1, 2]) assert.ok(found.includes(`link valid /answers/${index}/answer/chain`))
  for (const index of [0, 1]) assert.ok(found.includes(`replay valid /answers/${index}`))

  const alone = await desk.run(['verify', bundle_file, '--text', '--no-replay'])
  assert.equal(alone.code, 3)
  assert.match(alone.stdout, /everything matches, issuer unknown/)
  assert.match(alone.stdout, /key list \/keys/)
  const witness = await get('/log/witness-key')
  const unwitnessed = await desk.run(['verify', bundle_file, '--keys', keys_file, '--witness', witness.trim(), '--no-replay'])
  assert.equal(unwitnessed.code, 1)
  assert.match(unwitnessed.stdout, /did not sign the checkpoint/)
})

/** Paths of all values that are not objects or lists. */
function leaves(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, one]) => leaves(one, [...path, name]))
}

/** A copy with another value at the path. */
function altered(path: readonly string[], value: unknown = bundle): unknown {
  const [name, ...rest] = path
  if (name !== undefined) {
    const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as Json) }
    ;(copy as Json)[name] = altered(rest, (value as Json)[name])
    return copy
  }
  if (typeof value === 'number') return value + 1
  if (typeof value !== 'string') return value === true ? false : 'altered'
  // A hexadecimal digit stays one, so that the form remains.
  const middle = Math.floor(value.length / 2)
  const other = value.charAt(middle) === '1' ? '2' : '1'
  return value.slice(0, middle) + other + value.slice(middle + 1)
}

test('a change of any value is detected, and the part is named', () => {
  const paths = leaves(bundle)
  assert.ok(paths.length > 150, `only ${paths.length} values`)
  for (const path of paths) {
    const pointer = `/${path.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`
    const read = readBundle(altered(path))
    if (!read.ok) {
      assert.ok(pointer.startsWith(read.pointer), `${pointer}: ${read.reason}`)
      continue
    }
    const { outcome, checks } = verifyBundle(read.bundle, own)
    assert.equal(outcome, 'failed', pointer)
    const part =
      path[0] === 'manifest' ? (path[1] ?? '') : [...bundleParts(bundle).keys()].findLast((one) => `${pointer}/`.startsWith(`${one}/`))
    assert.ok(
      checks.some(({ kind, state, pointer: named }) => kind === 'manifest' && state === 'failed' && named === part),
      `${pointer}: the manifest names another part`,
    )
  }
})

/** Values that signatures, hashes and proofs protect even from a maker who writes a new manifest. */
const PROTECTED =
  /^\/(?:format|version|answers\/\d+\/(?:input\/|answer\/(?:result|receipt|chain|tier)(?:\/|$))|log\/(?:verifier_key|checkpoint|proofs\/|earlier_checkpoint|consistency)|keys\/log\/verifier_key|datasets\/\d+\/)/

test('with a new manifest, everything that is signed, hashed or proved still betrays a change', () => {
  const kinds = new Set<string>()
  for (const path of leaves(bundle)) {
    const pointer = `/${path.join('/')}`
    // The own key list decides, whatever the bundle has; the text about it is not used at all.
    if (path[0] === 'manifest' || pointer.startsWith('/keys/keys/')) continue
    const read = readBundle(altered(path))
    if (!read.ok) {
      assert.match(pointer, PROTECTED)
      continue
    }
    const { outcome, checks } = verifyBundle({ ...read.bundle, manifest: bundleManifest(read.bundle) }, own)
    assert.equal(outcome === 'failed', PROTECTED.test(pointer), `${pointer}: ${outcome}`)
    for (const { kind, state } of checks) if (state === 'failed') kinds.add(kind)
  }
  assert.deepEqual([...kinds].toSorted(), [
    'checkpoint',
    'consistency',
    'dataset',
    'input',
    'link',
    'log_key',
    'log_proof',
    'receipt',
    'result',
    'tier',
  ])
})

test('parts that were removed, added, repeated or exchanged are named', () => {
  const sealed = (changes: Partial<AuditBundle>): AuditBundle => {
    const changed = { ...bundle, ...changes }
    return { ...changed, manifest: bundleManifest(changed) }
  }
  const failures = (given: AuditBundle) => states({ checks: verifyBundle(given, own).checks.filter(({ state }) => state === 'failed') })
  const [first, second, third] = bundle.answers
  assert.ok(first !== undefined && second !== undefined && third !== undefined && bundle.log !== null)
  const removed = failures({ ...bundle, answers: [first, second] })
  assert.ok(removed.includes('manifest failed /answers/2/answer/receipt'))
  // Without the manifest entry it shows as a proof that belongs to nothing.
  const lei_dataset = bundle.datasets.findIndex(({ id }) => id === 'lou_prefixes')
  assert.deepEqual(failures(sealed({ answers: [first, second] })), [
    'log_proof failed /log/proofs/2',
    `dataset failed /datasets/${lei_dataset}`,
  ])
  assert.deepEqual(failures(sealed({ answers: [first, second, third, third] })), ['receipt failed /answers/3/answer/receipt'])
  assert.deepEqual(failures(sealed({ answers: [{ ...first, input: second.input }, second, third] })), ['input failed /answers/0/input'])
  const exchanged = { ...first.answer, result: second.answer['result'] }
  assert.ok(
    failures(sealed({ answers: [{ ...first, answer: exchanged }, second, third] })).includes('result failed /answers/0/answer/result'),
  )
  const [proof, other] = bundle.log.proofs
  assert.ok(proof !== undefined && other !== undefined)
  const swapped = [{ ...proof, proof: other.proof }, { ...other, proof: proof.proof }, ...bundle.log.proofs.slice(2)]
  assert.deepEqual(failures(sealed({ log: { ...bundle.log, proofs: swapped } })), [
    'log_proof failed /log/proofs/0',
    'log_proof failed /log/proofs/1',
  ])
  const dataset = bundle.datasets.find(({ id }) => id === 'ofac_addresses')
  assert.ok(dataset !== undefined)
  assert.deepEqual(failures(sealed({ datasets: [{ ...dataset, id: 'iban_registry' }] })), ['dataset failed /datasets/0'])
  assert.deepEqual(failures(sealed({ datasets: [{ ...dataset, id: 'isbn_ranges' }] })), ['dataset failed /datasets/0'])
  // The earlier receipt of a link may be elsewhere; then that is said.
  const linked = verifyBundle(sealed({ answers: [second] }), own).checks.find(({ kind }) => kind === 'link')
  assert.deepEqual([linked?.state, linked?.pointer], ['not_checked', '/answers/0/answer/chain'])
})

test('a forger with keys of its own is not verified, whatever its bundle says', async () => {
  const forger = { ...own, keys: [{ ...(own.keys?.[0] ?? assert.fail()), address: `0x${'12'.repeat(20)}` }] }
  const { outcome, checks } = verifyBundle(bundle, forger)
  assert.equal(outcome, 'failed')
  assert.equal(checks.filter(({ kind, state }) => kind === 'receipt' && state === 'failed').length, 3)
})

test('bounds and forms of a bundle are refused with the place', async () => {
  const [answer] = bundle.answers
  assert.ok(answer !== undefined)
  const many = Array.from({ length: BUNDLE_LIMITS.answers + 1 }, () => answer)
  for (const [changes, pointer] of [
    [{ version: 2 }, '/version'],
    [{ answers: [] }, '/answers'],
    [{ answers: many }, '/answers'],
    [{ answers: [{ answer: {} }] }, '/answers/0'],
    [{ keys: [] }, '/keys'],
    [{ log: { ...bundle.log, proofs: [{ entry: 'zz', proof: '' }] } }, '/log/proofs/0'],
    [{ datasets: [{ id: 'a', sha256: 'b' }] }, '/datasets/0'],
    [{ manifest: null }, '/manifest'],
  ] as const) {
    const read = readBundle({ ...bundle, ...changes })
    assert.deepEqual([read.ok, read.ok ? '' : read.pointer], [false, pointer])
  }
  const { code, stderr } = await desk.run(['verify', await desk.file('broken.json', { ...bundle, log: 7 })])
  assert.equal(code, 65)
  assert.match(stderr, /cannot be read at \/log/)
})

test('the command refuses what it cannot bundle, and says what to give', async () => {
  const answers = await desk.file('one.json', bundle.answers[0]?.answer)
  const foreign = await desk.file('foreign.json', { iban: 'DE89370400440532013000' })
  for (const [args, code, words] of [
    [['bundle', answers], 2, /--url https:\/\//],
    [['bundle', '--url', app.url], 2, /at least one file/],
    [['bundle', answers, '--url', 'ftp://x'], 2, /http or https address of a service/],
    [['bundle', answers, '--url', app.url, '--inputs', foreign], 65, /no receipt covers this input/],
    [['bundle', foreign, '--url', app.url], 65, /expected a receipt/],
    [['bundle', answers, '--url', app.url, '--checkpoint', answers], 65, /not a checkpoint/],
    [['bundle', answers, '--url', 'http://127.0.0.1:9'], 69, /does not answer/],
  ] as const) {
    const ended = await desk.run(args)
    assert.equal(ended.code, code, args.join(' '))
    assert.match(ended.stderr, words)
  }
  const bare = await desk.file('bare.json', bundle.answers[0]?.answer['receipt'])
  const made = await desk.run(['bundle', bare, '--url', app.url])
  assert.equal(made.code, 0, made.stderr)
  const { answers: listed, datasets } = JSON.parse(made.stdout) as AuditBundle
  assert.deepEqual([Object.keys(listed[0] ?? {}), datasets], [['answer'], []])
})

test('the service proves entries under one checkpoint, and bounds what one client may ask', async () => {
  const entry = bundle.log?.proofs[0]?.entry ?? assert.fail()
  const ask = async (path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(app.url + path, init)
    const text = await response.text()
    return { status: response.status, body: JSON.parse(text) as Json & { log: Json } }
  }
  const schema = await ask('/v1/bundle/schema')
  assert.deepEqual([schema.status, schema.body['title']], [200, 'Audit bundle'])
  assert.equal((await ask('/v1/bundle/xyz')).status, 404)
  assert.equal((await ask('/v1/bundle', { entries: Array.from({ length: 233 }, () => entry) })).status, 400)
  const one = await ask(`/v1/bundle/${entry}`)
  assert.deepEqual([one.status, (one.body.log['proofs'] as Json[])[0]?.['entry'], one.body.log['unproved']], [200, entry, []])
  const unknown = await ask(`/v1/bundle/${'0'.repeat(64)}`)
  assert.deepEqual(unknown.body.log['unproved'], [{ entry: '0'.repeat(64), state: 'unknown' }])
  const ended = await until('the limit of requests', async () => (await ask(`/v1/bundle/${entry}`)).status === 429).then(() => true)
  assert.ok(ended)
})
