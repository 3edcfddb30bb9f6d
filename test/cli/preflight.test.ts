import assert from 'node:assert/strict'
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
    [['-'], '{}', 2, /--protocol: one of ucp/],
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
