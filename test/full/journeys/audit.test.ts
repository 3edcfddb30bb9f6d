/** Journey 12: an auditor gets one bundle, verifies it offline and finds what was altered. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { keccak256, stringToHex } from 'viem'
import canonicalize from 'canonicalize'
import { openDesk, parsed } from '../../cli/run-cli.ts'
import { journey, type Json } from './stranger.ts'

const CALLS: readonly [tool: string, input: Json][] = [
  ['iban-check', { iban: 'GB82 WEST 1234 5698 7654 32' }],
  ['ofac-sdn-check', { subject: '0x098B716B8Aaf21512996dC57EB0615e2383E2f96' }],
  ['lei-check', { lei: '5493001KJTIIGC8Y1R12' }],
]

interface Bundle extends Json {
  service: string
  answers: { input?: Json; answer: Json & { receipt: Json; result: Json } }[]
  log: Json & { checkpoint: string; proofs: { entry: string; proof: string }[] }
  datasets: { id: string; sha256: string; text: string }[]
  manifest: Record<string, string>
}

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')
const canonical = (value: unknown) => canonicalize(value) ?? assert.fail('no JSON')

journey('an auditor verifies one bundle offline and finds every alteration', {}, async (given) => {
  const answers: Json[] = []
  for (const [tool, input] of CALLS) {
    const previous = answers.at(-1)
    const headers: Record<string, string> =
      previous === undefined ? {} : { 'X-PREV-RECEIPT-HASH': await digestOf(previous['receipt'] as Json) }
    const { status, body, text } = await given.post(`/v1/tools/${tool}/call`, { input }, headers)
    assert.equal(status, 200, text)
    answers.push(body)
  }
  const desk = await openDesk()
  try {
    const inputs = CALLS.map(([, input]) => ({ input }))
    const [answer_file, input_file] = [await desk.file('answers.json', answers), await desk.file('inputs.json', inputs)]
    const made = await desk.run(['bundle', answer_file, '--inputs', input_file, '--url', given.url()])
    assert.equal(made.code, 0, made.stderr)
    const bundle = JSON.parse(made.stdout) as Bundle
    const keys = await desk.file('xdr-1.json', (await given.get('/.well-known/xdr-1.json')).body)
    // From here on, the service is not asked.
    await given.crash()
    const verdict = async (changed: unknown) => {
      const { code, stdout } = await desk.run(['verify', await desk.file('bundle.json', changed), '--keys', keys])
      const { outcome, checks } = parsed(stdout) as { outcome: string; checks: { kind: string; state: string; pointer: string }[] }
      return {
        code,
        outcome,
        failed: checks.filter(({ state }) => state === 'failed').map(({ kind, pointer }) => `${kind} ${pointer}`),
        checks,
      }
    }
    const whole = await verdict(bundle)
    assert.deepEqual([whole.code, whole.outcome, whole.failed], [0, 'verified', []])
    for (const kind of ['receipt', 'input', 'result', 'log_proof', 'replay'])
      assert.equal(whole.checks.filter((one) => one.kind === kind && one.state === 'valid').length, CALLS.length, kind)
    assert.equal(whole.checks.filter(({ kind, state }) => kind === 'link' && state === 'valid').length, CALLS.length - 1)

    byHand(bundle)
    for (const [change, failed] of alterations(bundle)) {
      const found = await verdict(change)
      assert.deepEqual([found.code, found.outcome], [1, 'failed'], failed)
      assert.ok(found.failed.includes(failed), `${failed}: ${found.failed.join(', ')}`)
    }
  } finally {
    await desk.clear()
  }
  assert.equal((await given.get('/docs/audit')).status, 200)
  assert.match((await given.get('/docs/audit')).text, /assay bundle/)
})

/** Digest as the service itself tells it. */
async function digestOf(receipt: Json): Promise<string> {
  const fields = ['v', 'tool', 'tool_version', 'input_hash', 'output_hash', 'payer', 'recipient', 'amount', 'nonce', 'ts', 'tier']
  return keccak256(stringToHex(fields.map((field) => String(receipt[field])).join('|')))
}

/** Hashes of the bundle computed with other libraries, as /docs/audit describes them. */
function byHand(bundle: Bundle): void {
  const [first] = bundle.answers
  assert.ok(first?.input !== undefined)
  assert.equal(keccak256(stringToHex(canonical(first.input))), first.answer.receipt['input_hash'])
  assert.equal(keccak256(stringToHex(canonical(first.answer.result))), first.answer.receipt['output_hash'])
  assert.equal(bundle.manifest['/answers/0/answer/receipt'], sha256(canonical(first.answer.receipt)))
  assert.equal(bundle.manifest['/service'], sha256(canonical(bundle.service)))
  for (const { sha256: stated, text } of bundle.datasets) assert.equal(sha256(text), stated)
  const listed = bundle.answers[1]?.answer.result['list'] as { sha256: string }
  assert.ok(bundle.datasets.some(({ id, sha256: stated }) => id === 'ofac_addresses' && stated === listed.sha256))
}

/** Bundles with one altered part each, of which the manifest entry was written anew, and the check that must fail. */
function alterations(bundle: Bundle): [Bundle, string][] {
  const edited = (edit: (copy: Bundle) => string): [Bundle, string] => {
    const copy = structuredClone(bundle)
    return [copy, edit(copy)]
  }
  const proof = (copy: Bundle) => copy.log.proofs[0] ?? assert.fail()
  const answer = (copy: Bundle, index: number) => copy.answers[index] ?? assert.fail()
  const renew = (copy: Bundle, pointer: string, value: unknown) => (copy.manifest[pointer] = sha256(canonical(value)))
  return [
    edited((copy) => {
      answer(copy, 0).input = { iban: 'DE89370400440532013000' }
      renew(copy, '/answers/0/input', answer(copy, 0).input)
      return 'input /answers/0/input'
    }),
    edited((copy) => {
      answer(copy, 1).answer.result['status'] = 'no_match'
      renew(copy, '/answers/1/answer/result', answer(copy, 1).answer.result)
      return 'result /answers/1/answer/result'
    }),
    edited((copy) => {
      answer(copy, 2).answer.receipt['amount'] = '1'
      renew(copy, '/answers/2/answer/receipt', answer(copy, 2).answer.receipt)
      return 'receipt /answers/2/answer/receipt'
    }),
    edited((copy) => {
      const chain = answer(copy, 1).answer['chain'] as Json
      chain['prev_receipt_hash'] = `0x${'0'.repeat(64)}`
      renew(copy, '/answers/1/answer/chain', chain)
      return 'link /answers/1/answer/chain'
    }),
    edited((copy) => {
      proof(copy).proof = proof(copy).proof.replace(/^index (\d+)$/m, (_, index: string) => `index ${Number(index) === 0 ? 1 : 0}`)
      renew(copy, '/log/proofs/0', proof(copy))
      return 'log_proof /log/proofs/0'
    }),
    edited((copy) => {
      copy.log.checkpoint = copy.log.checkpoint.replace(/^(\d+)$/m, (size) => String(Number(size) + 1))
      renew(copy, '/log/checkpoint', copy.log.checkpoint)
      return 'checkpoint /log/checkpoint'
    }),
    edited((copy) => {
      const [dataset = assert.fail()] = copy.datasets
      dataset.text = dataset.text.replace(/\d/, '9')
      renew(copy, '/datasets/0', dataset)
      return 'dataset /datasets/0'
    }),
    // What no signature covers is named by the manifest.
    edited((copy) => {
      copy.service = 'https://elsewhere.example'
      return 'manifest /service'
    }),
  ]
}
