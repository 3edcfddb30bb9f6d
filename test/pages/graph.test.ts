import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assessReceipt } from '../../src/surfaces/pages/client/verify/assess.ts'
import { listChecks } from '../../src/surfaces/pages/components/assessed-document.ts'
import { readDocuments, type ReceiptInput } from '../../src/surfaces/pages/client/verify/documents.ts'
import { layOutReceipts } from '../../src/surfaces/pages/components/receipt-chain.ts'
import { RECEIPT, RESULT } from '../receipts/example.ts'
import { runs, SEED } from '../support/counts.ts'

type LinkedReceipt = Parameters<typeof layOutReceipts>[0][number]

const linked = (
  digest: string | null,
  follows: string | null = null,
  link_valid: boolean | null = follows === null ? null : true,
): LinkedReceipt => ({
  digest,
  follows,
  link_valid,
})

const places = (receipts: readonly LinkedReceipt[]) => layOutReceipts(receipts).rows.map(({ entry, lane }) => [entry, lane])

test('a single follower stays in its lane, several move to the next', () => {
  assert.deepEqual(places([linked('a'), linked('b', 'a'), linked('c', 'b')]), [
    [0, 0],
    [1, 0],
    [2, 0],
  ])
  const graph = layOutReceipts([linked('a'), linked('b', 'a'), linked('c', 'a'), linked('d', 'b', false)])
  assert.deepEqual(
    graph.rows.map(({ entry, lane }) => [entry, lane]),
    [
      [0, 0],
      [1, 1],
      [3, 1],
      [2, 1],
    ],
  )
  assert.deepEqual(
    graph.edges.map(({ from, to, state }) => [from, to, state]),
    [
      [0, 1, 'good'],
      [1, 2, 'broken'],
      [0, 3, 'good'],
    ],
  )
  assert.equal(graph.lanes, 2)
})

test('receipts may come in any order, and an earlier one that was not given has a row', () => {
  assert.deepEqual(places([linked('c', 'b'), linked('a'), linked('b', 'a')]), [
    [1, 0],
    [2, 0],
    [0, 0],
  ])
  const { rows, edges } = layOutReceipts([linked('b', 'x'), linked('c', 'x')])
  assert.deepEqual(
    rows.map(({ entry, digest }) => [entry, digest]),
    [
      [null, 'x'],
      [0, 'b'],
      [1, 'c'],
    ],
  )
  assert.deepEqual(
    edges.map(({ missing }) => missing),
    [true, true],
  )
})

test('a cycle is opened, a receipt that follows itself has no link, and one given twice has two rows', () => {
  assert.deepEqual(layOutReceipts([linked('a', 'b'), linked('b', 'a')]).circular, [0])
  assert.deepEqual(places([linked('a', 'b'), linked('b', 'a')]), [
    [0, 0],
    [1, 0],
  ])
  assert.deepEqual(layOutReceipts([linked('a', 'a')]).circular, [0])
  assert.deepEqual(places([linked('a'), linked('a'), linked('b', 'a')]), [
    [0, 0],
    [2, 0],
    [1, 0],
  ])
})

test('every receipt has one row, and long chains need no recursion', () => {
  const digest = fc.integer({ min: 0, max: 9 }).map(String)
  const one = fc.record({ digest: fc.option(digest), follows: fc.option(digest), link_valid: fc.option(fc.boolean()) })
  fc.assert(
    fc.property(fc.array(one, { maxLength: 14 }), (receipts) => {
      const { rows, edges, lanes } = layOutReceipts(receipts)
      const entries = rows.flatMap(({ entry }) => (entry === null ? [] : [entry]))
      assert.deepEqual(
        entries.toSorted((a, b) => a - b),
        receipts.map((_, index) => index),
      )
      assert.equal(new Set(edges.map(({ to }) => to)).size, edges.length)
      for (const { from, to } of edges) assert.ok(from < to)
      assert.ok(rows.every(({ lane }) => lane >= 0 && lane < lanes))
    }),
    { numRuns: runs(300, 20_000), seed: SEED },
  )
  const chain = Array.from({ length: 20_000 }, (_, index) => linked(String(index), index === 0 ? null : String(index - 1)))
  assert.equal(layOutReceipts(chain).lanes, 1)
})

test('one text may have many documents: an array, lines, links; each names its source', () => {
  const text = JSON.stringify(RECEIPT)
  const answer = JSON.stringify({ result: RESULT, receipt: RECEIPT })
  const kinds = (given: string, source = '') => readDocuments(given, source).map(({ kind, source: from }) => [kind, from])
  assert.deepEqual(kinds(`[${text},${answer},7]`, 'a.json'), [
    ['receipt', 'a.json, number 1'],
    ['receipt', 'a.json, number 2'],
    ['unreadable', 'a.json, number 3'],
  ])
  assert.deepEqual(kinds(`${text}\r\n\n${answer}\n{"v":1,"v":2}\n`), [
    ['receipt', 'line 1'],
    ['receipt', 'line 3'],
    ['unreadable', 'line 4'],
  ])
  const link = (given: string) => `[x](https://assay.example/verify#r=${Buffer.from(given).toString('base64url')})`
  assert.deepEqual(kinds(`${link(text)}\n${link('{')}`), [
    ['receipt', 'link 1'],
    ['unreadable', 'link 2'],
  ])
  assert.deepEqual(kinds('{"v":"POL-1"}'), [['policy', '']])
  assert.deepEqual(kinds('{"certificate":{"v":"POL-1"}}'), [['policy', '']])
  assert.deepEqual(kinds('[]'), [])
  // An empty field holds no broken JSON.
  assert.deepEqual(readDocuments(' \n', 'a.json'), [
    { kind: 'unreadable', source: 'a.json', reason: 'There is nothing to verify: paste a receipt or choose a file.' },
  ])
  assert.deepEqual(kinds('{"v":\n1,,}'), [['unreadable', 'line 2']])
})

test('failed checks name their fields; a signature cannot', () => {
  const checks = (input: ReceiptInput) =>
    listChecks(assessReceipt(input, { service: null, pasted: [], logs: { service: null, pasted: null } }), input)
  const bad = (input: ReceiptInput) => checks(input).flatMap(({ name, tone, fields }) => (tone === 'bad' ? [[name, ...fields]] : []))
  assert.deepEqual(bad({ receipt: RECEIPT }), [])
  assert.deepEqual(bad({ receipt: RECEIPT, result: { ...RESULT, valid: false } }), [['Result', 'output_hash']])
  const { amount: _, ...rest } = RECEIPT
  assert.deepEqual(bad({ receipt: rest }), [['Fields', 'amount']])
  assert.deepEqual(bad({ receipt: { ...RECEIPT, tool: 'a|b', ts: '1' } }), [['Fields', 'tool', 'ts']])
  assert.deepEqual(bad({ receipt: { ...RECEIPT, amount: '5001' } }), [['Signature', 'signature']])
  const signature = checks({ receipt: { ...RECEIPT, amount: '5001' } }).find(({ name }) => name === 'Signature')
  assert.match(signature?.message ?? '', /does not show which one was changed/)
  assert.deepEqual(bad({ receipt: { ...RECEIPT, signature: '0x00' } }), [['Signature', 'signature']])
  assert.deepEqual(bad({ receipt: RECEIPT, chain: { prev_receipt_hash: 'x' } }), [['Link']])
})
