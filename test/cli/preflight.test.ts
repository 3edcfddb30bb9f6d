import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { after, before, test } from 'node:test'
import { X402_CLEAN } from '../protocols/x402-clean.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

const clean = X402_CLEAN['challenge_v2']?.document as Record<string, unknown>

test('a document that passes ends with 0, one with errors with 1, both as JSON in a pipe', async () => {
  const good = await desk.file('good.json', JSON.stringify(clean))
  const bad = await desk.file('bad.json', JSON.stringify({ ...clean, accepts: [] }))
  const [passed, failed] = await Promise.all([
    desk.run(['preflight', '--protocol', 'x402', good]),
    desk.run(['preflight', '--protocol', 'x402', bad]),
  ])
  assert.deepEqual([passed.code, parsed(passed.stdout)['status']], [0, 'pass'])
  assert.deepEqual([failed.code, parsed(failed.stdout)['status']], [1, 'fail'])
})

test('warnings alone end with 0; people read code, place and hint', async () => {
  const payee = ['--expected-payee', '0x209693Bc6afc0C5328bA36FaF03C514EF312287C']
  const { code, stdout } = await desk.run(['preflight', '--protocol', 'x402', '-', '--text', ...payee], { input: JSON.stringify(clean) })
  assert.equal(code, 0)
  for (const words of ['passes with warnings', 'X402-042 at /accepts/1/payTo', 'Do not pay before', 'not a conformance result']) {
    assert.ok(stdout.includes(words), words)
  }
})

test('what cannot be checked is said, with the exit code of its kind', async () => {
  const cases: [string[], string | Uint8Array, number, RegExp][] = [
    [['-'], '{}', 65, /No protocol recognises the document.*--protocol: one of ucp/],
    [['--format', 'sarf', '-'], '{}', 2, /Did you mean "sarif"/],
    [['--protocol', 'x403', '-'], '{}', 2, /Unknown protocol "x403"\. Did you mean "x402"\?/],
    [['--protocol', 'x402'], '{}', 2, /Name a file/],
    [['--protocol', 'x402', '/nowhere/at/all.json'], '', 66, /cannot be read/],
    [['--protocol', 'x402', '-'], '{"a":1,"a":2}', 65, /Duplicate key/],
    [['--protocol', 'x402', '-'], new Uint8Array([0xff]), 65, /not UTF-8/],
    [['--protocol', 'x402', '-'], `"${'a'.repeat(300_000)}"`, 65, /larger than 262144/],
    [['--protocol', 'x402', '-'], `{"a":"${'a'.repeat(65_537)}"}`, 65, /65536/],
  ]
  const ended = await Promise.all(cases.map(([args, input]) => desk.run(['preflight', ...args], { input })))
  for (const [index, [args, , code, words]] of cases.entries()) {
    assert.equal(ended[index]?.code, code, args.join(' '))
    assert.match(ended[index]?.stderr ?? '', words)
  }
})

test('type and version may be stated; what no rules cover ends with 3', async () => {
  const ways: [string[], string, number, RegExp][] = [
    [['--protocol', 'a2a'], '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}', 3, /"status":"not_covered"/],
    [['--protocol', 'x402', '--protocol-version', '3'], JSON.stringify(clean), 3, /"status":"not_covered"/],
    [['--protocol', 'x402', '--document-type', 'payment_required', '--protocol-version', '2'], JSON.stringify(clean), 0, /"stated"/],
  ]
  const ended = await Promise.all(ways.map(([args, input]) => desk.run(['preflight', ...args, '-'], { input })))
  for (const [index, [args, , code, words]] of ways.entries()) {
    assert.equal(ended[index]?.code, code, args.join(' '))
    assert.match(ended[index]?.stdout ?? '', words)
  }
  const wrong = await desk.run(['preflight', '--protocol', 'x402', '--document-type', 'payment_requird', '-'], { input: '{}' })
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /did you mean payment_required/)
})

test('the output of curl, a header and a token are decoded, and the part that was read is named', async () => {
  const header = Buffer.from(JSON.stringify(clean)).toString('base64')
  const response = `HTTP/2 402\r\ncontent-type: application/json\r\npayment-required: ${header}\r\n\r\n`
  const [curl, bare] = await Promise.all([
    desk.run(['preflight', '-', '--text'], { input: response }),
    desk.run(['preflight', '--protocol', 'x402', '-'], { input: header }),
  ])
  assert.equal(curl.code, 0)
  assert.match(curl.stdout, /read: header PAYMENT-REQUIRED[^]*passes[^]*x402 payment required/)
  assert.deepEqual([bare.code, parsed(bare.stdout)['part'], parsed(bare.stdout)['status']], [0, 'the Base64 text', 'pass'])
})

test('a protocol may be the first word, and a folder is checked file by file', async () => {
  const folder = dirname(await desk.file('x.json', '{}')) + '/folder'
  await mkdir(folder)
  const good = await desk.file('folder/a.json', JSON.stringify(clean))
  await desk.file('folder/b.json', JSON.stringify({ ...clean, accepts: [] }, null, 2))
  await desk.file('folder/notes.md', '# Notes')
  await desk.file('folder/package.json', '{"name":"x"}')
  const [meant, whole, sarif, github] = await Promise.all([
    desk.run(['preflight', 'x402', good]),
    desk.run(['preflight', folder]),
    desk.run(['preflight', folder, '--format', 'sarif']),
    desk.run(['preflight', folder, '--format', 'github']),
  ])
  assert.deepEqual([meant.code, parsed(meant.stdout)['status']], [0, 'pass'])
  const lines = whole.stdout.trim().split('\n').map(parsed)
  assert.deepEqual([whole.code, lines.map(({ status }) => status)], [1, ['pass', 'fail']])
  assert.match(whole.stderr, /package\.json: No protocol recognises/)
  const log = JSON.parse(sarif.stdout) as {
    version: string
    runs: { results: { ruleId: string; level: string; locations: unknown[] }[] }[]
  }
  const [result] = log.runs[0]?.results ?? []
  assert.deepEqual([sarif.code, log.version, result?.ruleId, result?.level], [1, '2.1.0', 'X402-002', 'error'])
  assert.match(JSON.stringify(result?.locations), /"startLine":\d+,"startColumn":\d+/)
  assert.match(github.stdout, /^::error file=.*b\.json,line=\d+,col=\d+,title=X402-002::accepts is empty\./)
})
