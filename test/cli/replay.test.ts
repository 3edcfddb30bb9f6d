import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { valueHash, type ReceiptBody, signReceipt } from '../../src/pure/receipts/receipt.ts'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import tool from '../../src/tools/bank/iban-check.ts'
import { BODY, INPUT, RECEIPT, RESULT, signerOne } from '../receipts/example.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

const OUTSIDE = new Set('chain transfers prices registrations assured invoices disputes insurance registrar derive'.split(' '))

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

/** A genuine receipt over the example's input, for the tool as it is here. */
function signed(changes: Partial<ReceiptBody>) {
  return signReceipt({ ...BODY, tool_version: tool.version, ...changes }, signerOne, nobleCrypto).receipt
}

async function replay(receipt: unknown, input: unknown, ...options: string[]) {
  const files = [await desk.file('receipt.json', receipt), await desk.file('input.json', input)]
  return desk.run(['replay', ...files, ...options])
}

test('a receipt of the command line replays, with its input bare or as the body of a call', async () => {
  const answer = parsed((await desk.run(['call', 'iban-check', JSON.stringify(INPUT)])).stdout)
  for (const input of [INPUT, { input: INPUT }]) {
    const { code, stdout } = await replay(answer, input)
    assert.equal(code, 0)
    assert.deepEqual([parsed(stdout)['agrees'], parsed(stdout)['outcome']], [true, 'agrees'])
  }
})

test('each way of not agreeing has its own end', async () => {
  // The result of the example is genuine, but not what the tool here answers.
  const other_result = signed({ output_hash: valueHash(RESULT) })
  const cases: [unknown, unknown, number, string][] = [
    [other_result, INPUT, 1, 'output_differs'],
    [other_result, { iban: 'GB82WEST12345698765433' }, 1, 'input_differs'],
    [signed({ tool_version: '0.0.1' }), INPUT, 3, 'other_version'],
    [signed({ tool: 'no-such-tool' }), INPUT, 3, 'unknown_tool'],
  ]
  for (const [receipt, input, exit, outcome] of cases) {
    const { code, stdout } = await replay(receipt, input)
    assert.deepEqual([code, parsed(stdout)['outcome'], parsed(stdout)['agrees']], [exit, outcome, exit === 3 ? null : false])
  }
})

test('a tool that says when it was asked is replayed at that time, and not judged where only the receipt is here', async () => {
  for (const id of ['aci-trust-lookup', 'ofac-sdn-check']) {
    const example = (await loadCatalogue()).find(id)?.example ?? assert.fail(id)
    const answer = parsed((await desk.run(['call', id, JSON.stringify(example)])).stdout)
    const late = { ...answer, result: { ...(answer['result'] as object), evaluated_at: '2020-01-01T00:00:00.000Z' } }
    const cases: [unknown, number, string][] = [
      [answer, 0, 'agrees'],
      // The receipt knows the second alone.
      [{ receipt: answer['receipt'] }, 3, 'time_unknown'],
      // A result that the receipt does not cover says nothing of the time.
      [late, 3, 'time_unknown'],
    ]
    for (const [file, exit, outcome] of cases) {
      const { code, stdout } = await replay(file, example)
      assert.deepEqual([code, parsed(stdout)['outcome']], [exit, outcome], id)
    }
  }
})

test('a tool that reads what changes is not judged, and never run', async () => {
  const { tools } = await loadCatalogue()
  const outside = tools.filter(({ sources }) => sources.some((name) => OUTSIDE.has(name)))
  assert.ok(outside.length >= 15)
  for (const { id, version, example } of outside) {
    const decoded = decodeInput(tools.find((one) => one.id === id) ?? assert.fail(), example)
    assert.ok(decoded.ok, id)
    const receipt = signed({ tool: id, tool_version: version, input_hash: valueHash(decoded.input) })
    const { code, stdout } = await replay(receipt, example)
    assert.deepEqual([code, parsed(stdout)['outcome'], parsed(stdout)['agrees']], [3, 'not_reproducible', null], id)
  }
})

test('a receipt that was tampered with is not replayed', async () => {
  const { code, stderr } = await replay({ ...RECEIPT, output_hash: RECEIPT.input_hash }, INPUT)
  assert.equal(code, 1)
  assert.match(stderr, /does not verify/)
})

test('a person is told which versions and hashes stand against one another', async () => {
  const version = await replay(signed({ tool_version: '0.0.1' }), INPUT, '--text')
  assert.match(version.stdout, /◐ cannot be judged {2}iban-check 0\.0\.1[^]*receipt 0\.0\.1, here \d/)
  const output = await replay(signed({}), INPUT, '--text')
  assert.match(output.stdout, new RegExp(`○ disagrees[^]*receipt ${BODY.output_hash}\nhere {4}0x[0-9a-f]{64}`))
})
