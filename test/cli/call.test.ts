import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import canonicalize from 'canonicalize'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { verifyLink } from '../../src/pure/receipts/chain.ts'
import { parseArguments, COMMANDS } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/call.ts'
import { startTestApp } from '../support/app.ts'
import { openDesk, parsed, terminal, type Desk } from './run-cli.ts'

/** The IBAN of the registry's example for the United Kingdom, and the same with a wrong check digit. */
const GOOD = '{"iban":"GB82 WEST 1234 5698 7654 32"}'
const WRONG = '{"iban":"GB83 WEST 1234 5698 7654 32"}'
const ESCAPE = '\u001b['

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

function hashOf(value: unknown): string {
  return `0x${bytesToHex(keccak_256(utf8ToBytes(canonicalize(value) ?? '')))}`
}

test('a piped answer is JSON, and its receipt covers input and result', async () => {
  const { code, stdout, stderr } = await desk.run(['call', 'iban-check', GOOD])
  assert.equal(code, 0)
  assert.match(stderr, /SANDBOX/)
  const answer = parsed(stdout) as { result: Record<string, unknown>; receipt: Record<string, unknown> }
  assert.equal(answer.result['valid'], true)
  const verdict = verifyReceipt(answer.receipt)
  assert.deepEqual([verdict.valid, verdict.warnings], [true, []])
  assert.equal(answer.receipt['input_hash'], hashOf(JSON.parse(GOOD)))
  assert.equal(answer.receipt['output_hash'], hashOf(answer.result))
  assert.deepEqual(Object.keys(answer), [
    'result',
    'receipt',
    'tier',
    'settlement',
    'allowance',
    'embeddable_badge',
    'proof_summary_markdown',
  ])
})

test('--brief writes the brief form, as text and as JSON, about the whole result', async () => {
  const text = await desk.run(['call', 'iban-check', GOOD, '--brief', '--text'])
  assert.equal(text.code, 0)
  assert.match(
    text.stdout,
    /^valid: .*\nValue: GB82WEST12345698765432\n.*\nNot checked: .*\nPrice: free\nReceipt 0x[0-9a-f]{64}, output_hash 0x/,
  )
  const { stdout } = await desk.run(['call', 'iban-check', GOOD, '--brief'])
  const whole = parsed((await desk.run(['call', 'iban-check', GOOD])).stdout) as { result: unknown }
  const brief = parsed(stdout)
  assert.deepEqual([brief['detail'], brief['value'], brief['output_hash']], ['brief', 'GB82WEST12345698765432', hashOf(whole.result)])
  assert.deepEqual([brief['allowance'], brief['answer_url']], [null, null])
})

test('a wrong identifier is a good answer; a link leads to the receipt before', async () => {
  const previous = `0x${'AB'.repeat(32)}`
  const { code, stdout } = await desk.run(['call', 'iban_check', WRONG, '--prev-receipt-hash', previous])
  assert.equal(code, 0)
  const answer = parsed(stdout) as { result: Record<string, unknown>; receipt: { signer: string }; chain: Record<string, unknown> }
  assert.equal(answer.result['valid'], false)
  const { digest } = verifyReceipt(answer.receipt)
  assert.equal(answer.chain['prev_receipt_hash'], previous.toLowerCase())
  assert.equal(verifyLink(answer.chain, digest ?? '', answer.receipt.signer).valid, true)
})

test('the input comes from a file or from standard input too', async () => {
  const file = await desk.file('input.json', GOOD)
  const [fromFile, fromStdin] = await Promise.all([
    desk.run(['call', 'iban-check', `@${file}`]),
    desk.run(['call', 'iban-check', '-'], { input: GOOD }),
  ])
  for (const { code, stdout } of [fromFile, fromStdin]) {
    assert.equal(code, 0)
    assert.equal((parsed(stdout)['receipt'] as Record<string, unknown>)['input_hash'], hashOf(JSON.parse(GOOD)))
  }
})

test('a person sees verdict, reason, parts, scope and proof, in colours where the terminal has them', async () => {
  const imports = [terminal(72, 'stdout')]
  const [coloured, plain, piped] = await Promise.all([
    desk.run(['call', 'iban-check', GOOD], { imports }),
    desk.run(['call', 'iban-check', WRONG], { imports, settings: { NO_COLOR: '1' } }),
    desk.run(['call', 'iban-check', WRONG, '--text']),
  ])
  assert.ok(coloured.stdout.includes(`${ESCAPE}32m● valid`), 'a valid verdict is green')
  assert.match(plain.stdout, /^○ invalid {2}iban-check/)
  assert.ok(!plain.stdout.includes(ESCAPE) && !piped.stdout.includes(ESCAPE), 'no colours with NO_COLOR, and none in a pipe')
  assert.ok(plain.stdout.includes('\nGB83WEST12345698765432\n  ^^\n'), 'the finding hangs under its characters')
  for (const word of ['Expected: 82', 'Not checked', 'who owns the account', 'Receipt', 'Signed by'])
    assert.ok(plain.stdout.includes(word), word)
  assert.ok(
    plain.stdout.split('\n').every((line) => line.length <= 72),
    'lines fit the terminal',
  )
})

test('a decision leads, in its own word and with the mark of its tone', async () => {
  const payee = '{"declared_country":"IR","recipient_iban":"GB83 WEST 1234 5698 7654 32","lei":"5493001KJTIIGC8Y1R13"}'
  const { code, stdout } = await desk.run(['call', 'pre-disbursement-guard', payee, '--text'])
  assert.equal(code, 0)
  assert.match(stdout, /^○ BLOCK {2}pre-disbursement-guard .*\nDo not pay/)
  assert.doesNotMatch(stdout, /answered/)
})

test('text of strangers cannot drive the terminal', async () => {
  const { code, stdout } = await desk.run(['call', 'context-distill', JSON.stringify({ text: 'Hello \u009b31m \u202eworld.' }), '--text'])
  assert.equal(code, 0)
  assert.match(stdout, /◆ 3 words/)
  for (const dangerous of ['\u001b', '\u009b', '\u202e']) assert.ok(!stdout.includes(dangerous))
})

test('what is wrong with an input is said with pointers, for machines and for people', async () => {
  const wrongs: [string, string, RegExp][] = [
    ['{"ibam":"x"}', 'INPUT_SCHEMA_INVALID', /\n {2}\/ibam {2}.*Did you mean "iban"/],
    ['{"iban":', 'PARSE_ERROR', /column 9/],
  ]
  for (const [input, problem_code, words] of wrongs) {
    const { code, stdout, stderr } = await desk.run(['call', 'iban-check', input])
    assert.equal(code, 65, input)
    assert.equal((parsed(stdout)['problem'] as Record<string, unknown>)['code'], problem_code)
    assert.match(stderr, words)
  }
})

test('mistakes on the command line are told, with what may be meant', async () => {
  const mistakes: [string[], string, RegExp][] = [
    [['iban-chek', GOOD], 'usage', /^Unknown tool "iban-chek"\. Did you mean "iban-check"\?$/],
    [['iban-check'], 'usage', /assay call iban-check '\{"iban":"GB82/],
    [[], 'usage', /assay tools/],
    [['iban-check', GOOD, '--no-receipt'], 'usage', /--jsonl/],
    [['iban-check', '--jsonl', '--brief'], 'usage', /--jsonl/],
    [['iban-check', GOOD, '--jsonl'], 'usage', /standard input/],
    [['iban-check', '--jsonl', '--prev-receipt-hash', '0x12'], 'usage', /single call/],
    [
      ['iban-check', GOOD, '--prev-receipt-hsah', '0x12'],
      'usage',
      /^Unknown option "--prev-receipt-hsah"\. Did you mean "--prev-receipt-hash"\?$/,
    ],
    [['iban-check', GOOD, '--prev-receipt-hash'], 'usage', /needs a value/],
    [['iban-check', GOOD, '--json=yes'], 'usage', /takes no value/],
    [['iban-check', 'GB82', 'WEST'], 'usage', /quotation marks/],
  ]
  const { options, most_words } = COMMANDS.call
  for (const [args, exit, message] of mistakes) {
    await assert.rejects(async () => run(parseArguments(args, options, most_words)), { exit, message }, args.join(' '))
  }
})

test('a file that is not there, and settings that contradict one another, stop a call', async () => {
  const [missing, unset] = await Promise.all([
    desk.run(['call', 'iban-check', '@/nowhere/at.all']),
    desk.run(['call', 'iban-check', GOOD], { settings: { ASSAY_MOED: 'live' } }),
  ])
  assert.deepEqual([missing.code, unset.code], [66, 78])
  assert.match(missing.stderr, /ENOENT/)
  assert.match(unset.stderr, /did you mean ASSAY_MODE/)
})

test('a call of a service: its free call, its problem, and what is not allowed with --url', async () => {
  const app = await startTestApp({ free_daily: 1 })
  try {
    const at = ['--url', app.url]
    const free = await desk.run(['call', 'iban-check', GOOD, ...at])
    assert.equal(free.code, 0, free.stderr)
    const answer = parsed(free.stdout) as { receipt: { signer: string }; tier: string }
    assert.equal(answer.tier, 'free')
    // The key of the service, not of this machine.
    const { keys } = (await (await fetch(`${app.url}/.well-known/xdr-1.json`)).json()) as { keys: { address: string }[] }
    assert.ok(keys.some(({ address }) => address === answer.receipt.signer))
    const unpaid = await desk.run(['call', 'iban-check', GOOD, ...at])
    assert.equal(unpaid.code, 65)
    assert.deepEqual([(parsed(unpaid.stdout)['problem'] as { code: string }).code], ['PAYMENT_REQUIRED'])
    const cases: [string[], number, RegExp][] = [
      [['call', 'iban-check', '{', ...at], 65, /JSON/],
      [['call', 'iban-check', ...at], 2, /its input/],
      [['call', 'iban-check', '--jsonl', ...at], 2, /--jsonl/],
      [['call', 'iban-check', GOOD, '--max-usdc', '1'], 2, /goes with --url/],
      [['call', 'iban-check', GOOD, '--max-usdc', '1', ...at], 2, /payer-key-file/],
      [['call', 'iban-check', GOOD, '--url', 'ftp://x'], 2, /http or https/],
      [['call', 'iban-check', GOOD, '--url', 'http://127.0.0.1:1'], 69, /keys/],
    ]
    for (const [args, code, words] of cases) {
      const ended = await desk.run(args)
      assert.equal(ended.code, code, `${args.join(' ')}: ${ended.stderr}`)
      assert.match(ended.stderr, words)
    }
  } finally {
    await app.stop()
  }
})
