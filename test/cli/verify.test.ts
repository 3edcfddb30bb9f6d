import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseArguments, COMMANDS } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/verify.ts'
import { signLink } from '../../src/pure/receipts/chain.ts'
import { encodeReceipt } from '../../src/pure/receipts/compact.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { valueHash, type ReceiptBody, signReceipt } from '../../src/pure/receipts/receipt.ts'
import { readEntry } from '../../src/pure/rulebooks/pol1-registry.ts'
import { verifyPolicy } from '../../src/pure/rulebooks/pol1.ts'
import { issuePolicy } from '../../src/tools/insurance/bind-insurance-policy.ts'
import { ADDRESS_ONE, BODY, DIGEST, INPUT, RECEIPT, RESULT, signerOne } from '../receipts/example.ts'
import { fixedRegistrar } from '../support/fixed-registrar.ts'
import { insurer } from '../support/insurer.ts'
import { NOON_S } from '../support/underwriters.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

/** A key list with the key of the example receipt, whose date is 1,790,000,000. */
function keyList(life: Record<string, unknown>) {
  const row = { address: ADDRESS_ONE, status: 'active', not_before: 1_700_000_000, not_after: null, revoked_at: null, reason: null }
  return { keys: [{ ...row, mode: 'live', chain_id: 8453, ...life }] }
}

/** The example receipt with another nonce, linked to an earlier digest. */
function linked(byte: string, previous: string, changes: Partial<ReceiptBody> = {}) {
  const { receipt, digest } = signReceipt({ ...BODY, nonce: `0x${byte.repeat(32)}`, ...changes }, signerOne)
  return { answer: { result: RESULT, receipt, chain: signLink(digest, previous, signerOne) }, digest }
}

test('compact receipts and links of badges are verified: in a file, line by line, on standard input and as the argument', async () => {
  const compact = encodeReceipt(RECEIPT)
  assert.ok(compact.ok)
  const keys = await desk.file('compact-keys.json', keyList({}))
  const badge = `[![assay iban-check: valid](https://assay.example/badge/iban-check/valid/${DIGEST}.svg)](https://assay.example/verify#r=${compact.text})`
  const old = `https://assay.example/verify#r=${Buffer.from(JSON.stringify(RECEIPT)).toString('base64url')}`
  for (const text of [compact.text, `${compact.text}\n`, badge, `https://assay.example/verify#r=${compact.text}`, old]) {
    for (const given of [await desk.file('link.txt', text), text.trim()]) {
      const { code, stdout, stderr } = await desk.run(['verify', given, '--keys', keys])
      assert.equal(code, 0, stderr)
      assert.deepEqual([parsed(stdout)['verified'], parsed(stdout)['digest']], [true, DIGEST])
    }
  }
  const lines = await desk.file('lines.txt', `${compact.text}\n${badge}\n${JSON.stringify(RECEIPT)}\n`)
  assert.match((await desk.run(['verify', lines, '--keys', keys, '--text'])).stdout, /● (?:all )?3 (?:of 3 )?receipts verified/)
  for (const [broken, reason] of [
    [compact.text.slice(0, -2), /ends before its last field/],
    [`${compact.text}AA`, /bytes after its last field|another encoding/],
  ] as const) {
    const { code, stderr } = await desk.run(['verify', broken, '--keys', keys])
    assert.notEqual(code, 0)
    assert.match(stderr, reason)
  }
})

test('a forged receipt without a key list is a valid signature of an unknown issuer, never verified', async () => {
  // Anyone can make a key and sign a receipt in the name of the service.
  const { receipt } = signReceipt({ ...BODY, amount: '999999' }, signerOne)
  const forged = await desk.file('forged.json', { result: RESULT, receipt })
  const text = await desk.run(['verify', forged, '--text'])
  assert.equal(text.code, 3)
  assert.match(text.stdout, /^◐ signature valid, issuer unknown/)
  assert.doesNotMatch(text.stdout, /●/)
  const json = parsed((await desk.run(['verify', forged])).stdout)
  assert.deepEqual([json['verified'], json['outcome'], json['failures']], [false, 'issuer_unknown', []])
  const listed = await desk.file('listed.json', keyList({ address: `0x${'12'.repeat(20)}` }))
  const unknown = await desk.run(['verify', forged, '--keys', listed, '--text'])
  assert.equal(unknown.code, 1)
  assert.match(unknown.stdout, /^○ unknown signer[^\n]*\nThe signer is not on the key list/)
  // A certificate and many receipts end alike.
  const many = await desk.run(['verify', await desk.file('many.json', [RECEIPT, receipt]), '--text'])
  assert.equal(many.code, 3)
  assert.match(many.stdout, /◐ 0 of 2 receipts verified; 2 with a valid signature of an unknown issuer/)
})

test('with a key list an altered file is told what was altered, not to give a key list', async () => {
  const keys = await desk.file('own.json', keyList({}))
  const whole = { result: RESULT, receipt: RECEIPT }
  const alterations: [unknown, RegExp][] = [
    [
      { ...whole, receipt: { ...RECEIPT, amount: '5001' } },
      /^○ receipt altered or forged[^\n]*\nThe signature was made by another key .*altered\./,
    ],
    [{ ...whole, result: { ...RESULT, valid: false } }, /^○ result was changed[^\n]*\nThe result was changed: this receipt was issued for/],
    [
      { ...whole, receipt: { ...RECEIPT, signature: '0x00' } },
      /^○ not a valid receipt[^\n]*\nThe signature must have 65 bytes: 0x and 130 hex digits\./,
    ],
  ]
  for (const [document, words] of alterations) {
    const { code, stdout } = await desk.run(['verify', await desk.file('altered.json', document), '--keys', keys, '--text'])
    assert.equal(code, 1)
    assert.match(stdout, words)
    assert.doesNotMatch(stdout, /--keys/)
  }
  const { code, stdout } = await desk.run(['verify', await desk.file('whole.json', whole), '--keys', keys, '--text'])
  assert.equal(code, 0)
  assert.match(stdout, /^● verified/)
})

test('a receipt verifies in each of its wrappings, and says what is not proved', async () => {
  const wrappings: [unknown, string][] = [
    [RECEIPT, 'not_checked'],
    [{ receipt: RECEIPT }, 'not_checked'],
    [`${JSON.stringify({ result: RESULT, receipt: RECEIPT, tier: 'paid' }, null, 2)}\n`, 'match'],
  ]
  for (const [document, output] of wrappings) {
    const { code, stdout } = await desk.run(['verify', await desk.file('one.json', document)])
    const report = parsed(stdout)
    assert.deepEqual(
      [code, report['verified'], report['digest'], report['signer'], report['output']],
      [3, false, DIGEST, ADDRESS_ONE, output],
    )
    assert.ok((report['not_proved'] as string[]).includes('whose key it is'))
  }
})

test('each question has its own answer: signature, key list, key then, input, result', async () => {
  const other = { ...RESULT, valid: false }
  const files = {
    good: await desk.file('good.json', keyList({})),
    late: await desk.file('late.json', keyList({ not_before: 1_790_000_001 })),
    revoked: await desk.file('revoked.json', keyList({ status: 'revoked', revoked_at: 1_789_999_999, reason: 'lost' })),
    other: await desk.file('other.json', keyList({ address: `0x${'12'.repeat(20)}` })),
    input: await desk.file('input.json', INPUT),
    body: await desk.file('body.json', { input: INPUT }),
    result: await desk.file('result.json', RESULT),
    wrong: await desk.file('wrong.json', other),
  }
  const tampered = { ...RECEIPT, amount: '5001' }
  const cases: [unknown, string[], number, Record<string, unknown>][] = [
    [
      RECEIPT,
      ['--keys', files.good, '--input', files.input, '--result', files.result],
      0,
      { signer_published: true, signer_valid_at_ts: true, input: 'match', output: 'match', key_mode: 'live' },
    ],
    [RECEIPT, ['--keys', files.late], 1, { signer_published: true, signer_valid_at_ts: false }],
    [
      RECEIPT,
      ['--keys', files.revoked],
      1,
      { signer_published: true, signer_valid_at_ts: false, failures: ['The key of this receipt has been revoked.'] },
    ],
    [RECEIPT, ['--keys', files.other], 1, { signer_published: false }],
    [RECEIPT, ['--input', files.body], 3, { input: 'match' }],
    [
      RECEIPT,
      ['--input', files.wrong],
      1,
      { input: 'mismatch', failures: ['The input does not match: this receipt was issued for a different input.'] },
    ],
    [{ receipt: RECEIPT, result: other }, [], 1, { output: 'mismatch' }],
    [tampered, ['--keys', files.good], 1, { signer_published: 'not_checked', verified: false }],
  ]
  const ends = await Promise.all(
    cases.map(async ([document, args], index) => desk.run(['verify', await desk.file(`case-${index}.json`, document), ...args])),
  )
  ends.forEach(({ code, stdout }, index) => {
    const [, args, exit, facts] = cases[index] ?? [null, [], -1, {}]
    const report = parsed(stdout)
    assert.deepEqual([args, code], [args, exit])
    for (const [name, value] of Object.entries(facts)) assert.deepEqual(report[name], value, name)
  })
})

test('a file of many receipts: each is judged, and so are the links between them', async () => {
  const first = linked('41', `0x${'00'.repeat(32)}`)
  const second = linked('42', first.digest)
  const third = linked('43', second.digest)
  const whole = [first, second, third].map(({ answer }) => answer)
  const forged = { ...third.answer, chain: { ...third.answer.chain, prev_receipt_hash: first.digest } }
  const asLines = (answers: unknown[]) => `${answers.map((one) => JSON.stringify(one)).join('\n')}\n`
  const [array, lines, gap, forgery] = await Promise.all([
    desk.run(['verify', await desk.file('array.json', whole)]),
    desk.run(['verify', '-'], { input: asLines(whole) }),
    desk.run(['verify', '-', '--text'], { input: asLines([first.answer, third.answer]) }),
    desk.run(['verify', '-'], { input: asLines([first.answer, second.answer, forged]) }),
  ])
  assert.deepEqual([array.code, lines.code, gap.code, forgery.code], [3, 3, 1, 1])
  assert.equal(array.stdout, lines.stdout)
  assert.deepEqual(
    lines.stdout
      .trim()
      .split('\n')
      .map((line) => parsed(line)['digest']),
    [first.digest, second.digest, third.digest],
  )
  assert.match(gap.stdout, /○ broken link[^\n]*\n[^\n]*is not earlier in this file/)
  assert.match(gap.stdout, /○ 0 of 2 receipts verified; 1 with a valid signature of an unknown issuer/)
  const last = parsed(forgery.stdout.trim().split('\n').at(-1) ?? '') as { link: { code: string } }
  assert.equal(last.link.code, 'digest_mismatch')
})

test('a bare answer verifies: its `chain` is a word of the tool, and `receipt_chain` the link', async () => {
  const result = { ...RESULT, chain: 'base' }
  const covered = { output_hash: valueHash(result) }
  const { answer, digest } = linked('41', `0x${'00'.repeat(32)}`, covered)
  const bare = { ...result, receipt: answer.receipt }
  const next = linked('42', digest, covered)
  const followed = { ...result, receipt: next.answer.receipt, receipt_chain: next.answer.chain }
  const forged = { ...followed, receipt_chain: answer.chain }
  const alone = await desk.run(['verify', await desk.file('bare.json', bare)])
  assert.deepEqual([alone.code, parsed(alone.stdout)['outcome']], [3, 'issuer_unknown'], alone.stdout)
  const both = await desk.run(['verify', await desk.file('both.json', [bare, followed])])
  assert.equal(both.code, 3, both.stdout)
  const wrong = await desk.run(['verify', await desk.file('wrong.json', forged)])
  assert.deepEqual([wrong.code, (parsed(wrong.stdout)['link'] as { code: string }).code], [1, 'digest_mismatch'])
})

test('the result of a bare answer is held against its receipt', async () => {
  const result = { ...RESULT, tool: 'token-contract-risk', chain: 'base', is_contract: true }
  const { receipt } = signReceipt({ ...BODY, tool: 'token-contract-risk', output_hash: valueHash(result) }, signerOne)
  const beside = { receipt, tier: 'free', settlement: null, allowance: null, embeddable_badge: '', proof_summary_markdown: '' }
  const genuine = await desk.run(['verify', await desk.file('genuine.json', { ...result, ...beside })])
  assert.deepEqual([genuine.code, parsed(genuine.stdout)['output']], [3, 'match'], genuine.stdout)
  const altered = await desk.run(['verify', await desk.file('altered.json', { ...result, is_contract: false, ...beside })])
  assert.deepEqual([altered.code, parsed(altered.stdout)['output']], [1, 'mismatch'], altered.stdout)
})

test('a person sees every answer and what is not proved', async () => {
  const { code, stdout } = await desk.run(['verify', '-', '--text'], { input: JSON.stringify({ result: RESULT, receipt: RECEIPT }) })
  assert.equal(code, 3)
  for (const words of [
    '◐ signature valid, issuer unknown',
    'On the key list  not checked: give the key list of the issuer with --keys',
    'matches the receipt',
    'Not proved: ',
    'money moved',
  ]) {
    assert.ok(stdout.includes(words), words)
  }
})

test('a certificate is verified only with the key list of its registrar', async () => {
  const underwriter = insurer(`0x${'8'.repeat(64)}`)
  const read = readEntry(await underwriter.registration('https://assay.test', NOON_S), 'https://assay.test', NOON_S)
  assert.ok(read.ok)
  const subject = { tx_hash: null, transaction_id: null, invoice_id: 'INV-1' }
  const asked = { coverage_minor: 1_000_001n, policyholder: `0x${'1'.repeat(40)}`, beneficiary: null, subject }
  const maker = { registrar: fixedRegistrar(), crypto: nobleCrypto, hmac: () => 'a'.repeat(64), now_s: NOON_S }
  const policy = issuePolicy(read.entry, read.entry_hash, asked, maker)
  const registrar = verifyPolicy(policy).registrar ?? ''
  const own = await desk.file('own.json', keyList({ address: registrar }))
  const other = await desk.file('other.json', keyList({ address: `0x${'12'.repeat(20)}` }))
  const ends: [unknown, string[], number, RegExp][] = [
    [policy, [], 3, /^◐ signatures valid, registrar unknown/],
    [policy, ['--keys', own], 0, /^● verified/],
    [policy, ['--keys', other], 1, /^○ unknown registrar/],
    [{ ...policy, coverage_minor: '1000002' }, ['--keys', own], 1, /^○ certificate altered or not valid/],
  ]
  for (const [document, args, exit, words] of ends) {
    const { code, stdout } = await desk.run(['verify', await desk.file('policy.json', document), ...args, '--text'])
    assert.match(stdout, words)
    assert.equal(code, exit, stdout)
  }
})

test('what is no receipt is told from what cannot be read', async () => {
  const none = await desk.run(['verify', '-'], { input: '{"receipt":{}}' })
  assert.equal(none.code, 1)
  const receipt = await desk.file('receipt.json', RECEIPT)
  const unreadable: [string[], string, RegExp][] = [
    [[await desk.file('broken.json', '{"receipt":')], 'data', /line 1, column 12/],
    [[await desk.file('empty.json', '[]')], 'data', /contains no receipt/],
    [['/nowhere/at.all'], 'no_input', /ENOENT/],
    [[receipt, '--keys', await desk.file('no-list.json', {})], 'data', /is not a key list/],
    [[await desk.file('two.json', [RECEIPT, RECEIPT]), '--input', receipt], 'usage', /single receipt/],
    [['-', '--keys', '-'], 'usage', /Only one/],
    [[], 'usage', /Give the file/],
  ]
  const { options, most_words } = COMMANDS.verify
  for (const [args, exit, message] of unreadable) {
    await assert.rejects(async () => run(parseArguments(args, options, most_words)), { exit, message }, args.join(' '))
  }
})
