import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LedgerComparison, type LedgerTransfer, LISTED_MAX, type SettledRow } from '../../src/service/payments/prove-ledger.ts'

/** Made by hand: four hexadecimal digits tell one word, hash or address from another. */
const hash = (digits: string) => `0x${digits.repeat(16)}`
const account = (digits: string) => `0x${digits.repeat(10)}`

function row(changes: Partial<SettledRow> = {}): SettledRow {
  const place = { transaction: hash('7a7a'), block_number: 100, block_hash: hash('b0b0') }
  return { payer: account('aaaa'), nonce: hash('0001'), value_minor: 5_000n, ...place, final: true, ...changes }
}

function transfer(changes: Partial<LedgerTransfer> = {}): LedgerTransfer {
  const place = { transaction: hash('7a7a'), block_number: 100, block_hash: hash('b0b0'), log_index: 7 }
  return { from: account('aaaa'), nonce: hash('0001'), value_minor: 5_000n, ...place, ...changes }
}

function compare(rows: SettledRow[], transfers: LedgerTransfer[], transfers_first = false) {
  const comparison = new LedgerComparison()
  const steps = [() => rows.forEach((one) => comparison.addRow(one)), () => transfers.forEach((one) => comparison.addTransfer(one))]
  for (const step of transfers_first ? steps.toReversed() : steps) step()
  return comparison.finish()
}

for (const transfers_first of [false, true]) {
  test(`rows and transfers that agree prove the ledger, ${transfers_first ? 'transfers' : 'rows'} first`, () => {
    const second = { nonce: hash('0002'), value_minor: 12_345n }
    const found = compare([row(), row({ ...second, final: false })], [transfer(second), transfer()], transfers_first)
    assert.equal(found.proved, true)
    assert.deepEqual(
      [found.rows, found.transfers],
      [
        { count: 2, value_minor: 17_345n },
        { count: 2, value_minor: 17_345n },
      ],
    )
    assert.deepEqual([found.foreign.count, found.differences.count], [0, 0])
    assert.deepEqual([found.not_final.count, found.not_final.value_minor], [1, 12_345n])
    assert.deepEqual(
      found.not_final.first.map(({ nonce }) => nonce),
      [hash('0002')],
    )
  })

  test(`each way to disagree has its name, ${transfers_first ? 'transfers' : 'rows'} first`, () => {
    const cases: [string, Partial<LedgerTransfer>][] = [
      ['other_value', { value_minor: 4_999n }],
      ['other_place', { block_number: 101 }],
      ['other_place', { block_hash: hash('b1b1') }],
      ['other_place', { transaction: hash('7b7b') }],
      // The nonces are those of a payer: another payer's says nothing.
      ['no_transfer', { from: account('bbbb') }],
      ['no_transfer', { nonce: hash('0003') }],
      ['no_transfer', { nonce: null }],
    ]
    for (const [kind, change] of cases) {
      const found = compare([row()], [transfer(change)], transfers_first)
      assert.equal(found.proved, false, kind)
      assert.deepEqual(
        found.differences.first.map((difference) => difference.kind),
        [kind],
      )
      assert.equal(found.foreign.count, kind === 'no_transfer' ? 1 : 0)
    }
  })
}

test('money that somebody just sent is counted apart and disproves nothing', () => {
  const found = compare([row()], [transfer(), transfer({ nonce: null, value_minor: 1n, log_index: 9 }), transfer({ nonce: hash('0009') })])
  assert.equal(found.proved, true)
  assert.deepEqual([found.rows.value_minor, found.transfers.value_minor, found.foreign.value_minor], [5_000n, 10_001n, 5_001n])
})

test('a row that is taken back counts no more, and long lists are cut while their sums stay exact', () => {
  const comparison = new LedgerComparison()
  const gone = row({ final: false })
  comparison.addRow(gone)
  comparison.removeRow(gone)
  comparison.removeRow(gone)
  for (let index = 0; index < LISTED_MAX + 5; index += 1)
    comparison.addTransfer(transfer({ nonce: null, log_index: index, value_minor: 3n }))
  const found = comparison.finish()
  assert.deepEqual([found.proved, found.rows, found.not_final.count], [true, { count: 0, value_minor: 0n }, 0])
  assert.deepEqual([found.foreign.count, found.foreign.value_minor, found.foreign.first.length], [1_005, 3_015n, 1_000])
})
