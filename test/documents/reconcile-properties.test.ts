import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BankEntry, PaymentInstruction } from '../../src/pure/documents/reconcile/records.ts'
import { verdictRowJson, verdictRow } from '../../src/pure/documents/reconcile/report-rows.ts'
import { runs, SEED } from '../support/counts.ts'
import { given, instructions, statements } from './reconcile-ledgers.ts'
import { naive } from './reconcile-naive.ts'
import { entry, instruction, outcomeOf, reconciled, statement } from './reconcile-records.ts'

/** What holds for every ledger, however odd. */

const OPTIONS = { numRuns: runs(200, 2_500), seed: SEED }

/** What chance seldom finds in a short run: parts that add up, a batch, charges, a second payment that came back. */
const EXAMPLES: [PaymentInstruction[], BankEntry[]][] = [
  [[instruction()], [entry({ amount_minor: 4_000n }), entry({ entry: 2, amount_minor: 6_000n })]],
  [[instruction()], [entry({ end_to_end_id: null, payment_information_id: 'P1' })]],
  [[instruction()], [entry({ amount_minor: 10_100n, charges_minor: 100n })]],
  [[instruction()], [entry(), entry({ entry: 2 }), entry({ entry: 3, direction: 'CRDT', returned: true })]],
]
const TWICE = [statement(), statement({ file: 2 })]

test('verdicts are those of the plain reference', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(instructions, statements, (asked, told) => {
      const report = reconciled({ instructions: asked, entries: told })
      const wanted = naive(asked, told)
      const found = asked.map(({ position }) => report.verdicts.find((row) => row.position === position))
      assert.deepEqual(
        found.map((row) => row && { verdict: row.verdict, kind: row.kind, basis: row.basis }),
        wanted.verdicts,
      )
      const open = new Set([...report.unmatched, ...report.ignored].map((row) => row.entry))
      assert.deepEqual(
        told.filter((one) => !open.has(`1:${one.entry}`)),
        told.filter((one) => wanted.matched.has(one)),
      )
      for (const row of found) if (row !== undefined) seen.add(`${row.verdict} ${row.kind} ${row.basis}`)
    }),
    { ...OPTIONS, examples: EXAMPLES },
  )
  const kinds = ['returned', 'pending', 'wrong_direction', 'other_account', 'shared_id', 'unclear_id', 'batch_total', 'reversal_sign']
  for (const kind of kinds)
    assert.ok(
      [...seen].some((name) => name.includes(kind)),
      `no ledger led to ${kind}`,
    )
  for (const basis of ['exact', 'split', 'batch', 'folded', 'net_of_charges', 'net_of_returns']) {
    assert.ok(seen.has(`SETTLED null ${basis}`), `nothing settled by ${basis}`)
  }
})

test('every instruction has one verdict, every entry one fate, and the sums are kept', () => {
  fc.assert(
    fc.property(given, (one) => {
      const report = reconciled({ ...one, statements: TWICE })
      assert.deepEqual(new Set(report.verdicts.map(({ position }) => position)), new Set(one.instructions.map(({ position }) => position)))
      assert.equal(report.verdicts.length, one.instructions.length)
      assert.ok(report.conserved)
      const listed = [...report.unmatched, ...report.ignored].map((row) => row.entry)
      assert.equal(new Set(listed).size, listed.length)
      for (const source of ['pain.001', 'pacs.008']) {
        const own = report.verdicts.filter((row) => row.source === source).flatMap((row) => row.entries)
        assert.equal(new Set([...listed, ...own]).size, listed.length + own.length, 'an entry stands for one payment, or for none')
      }
      const all = one.entries.reduce((sum, { amount_minor: value }) => sum + value, 0n)
      const told = (report.totals as { debits: Sums; credits: Sums }[]).flatMap(({ debits, credits }) => [debits.all, credits.all])
      assert.equal(
        told.reduce((sum, tally) => sum + BigInt(tally.amount_minor), 0n),
        all,
      )
    }),
    OPTIONS,
  )
})

interface Sums {
  all: { count: number; amount_minor: string }
}

test('the order of instructions and entries changes nothing', () => {
  const shuffled = given.chain((one) =>
    fc.tuple(
      fc.constant(one),
      fc.shuffledSubarray(one.instructions, { minLength: one.instructions.length }),
      fc.shuffledSubarray(one.entries, { minLength: one.entries.length }),
    ),
  )
  fc.assert(
    fc.property(shuffled, ([one, asked, told]) => {
      const [first, second] = [
        reconciled({ ...one, statements: TWICE }),
        reconciled({ ...one, instructions: asked, entries: told, statements: TWICE }),
      ]
      assert.deepEqual(second, first)
    }),
    OPTIONS,
  )
})

test('an entry about something else changes nothing else', () => {
  fc.assert(
    fc.property(given, (one) => {
      const stranger = entry({ entry: 99, file: 3, end_to_end_id: 'ELSEWHERE', statement: -1 })
      const [without, beside] = [reconciled(one), reconciled({ ...one, entries: [...one.entries, stranger] })]
      assert.deepEqual(beside.verdicts, without.verdicts)
      assert.deepEqual(beside.ambiguous, without.ambiguous)
      assert.deepEqual(
        beside.unmatched.filter((row) => row.entry !== '3:99'),
        without.unmatched,
      )
      assert.equal(beside.unmatched.length, without.unmatched.length + 1)
    }),
    OPTIONS,
  )
})

test('instructions of one source are judged as if the other were not there', () => {
  fc.assert(
    fc.property(given, (one) => {
      const together = reconciled(one)
      for (const source of ['pain.001', 'pacs.008']) {
        const alone = reconciled({ ...one, instructions: one.instructions.filter((row) => row.source === source) })
        assert.deepEqual(
          together.verdicts.filter((row) => row.source === source),
          alone.verdicts,
        )
      }
    }),
    OPTIONS,
  )
})

test('asking for evidence of settlement never settles more', () => {
  fc.assert(
    fc.property(given, (one) => {
      const [mild, strict] = [false, true].map((require_settlement_evidence) => reconciled({ ...one, require_settlement_evidence }))
      for (const [index, row] of (strict?.verdicts ?? []).entries()) {
        const before = mild?.verdicts[index]
        const paid = ['SETTLED', 'DUPLICATE_PAYMENT']
        if (row.verdict !== before?.verdict) {
          assert.ok(paid.includes(before?.verdict ?? ''))
          assert.deepEqual([row.verdict, row.kind], ['UNPAID', 'no_settlement_evidence'])
        }
        assert.ok(!paid.includes(row.verdict) || row.evidence !== 'ach_originated')
      }
    }),
    OPTIONS,
  )
})

test('rows written as JSON are those rows', () => {
  const odd = fc.constantFrom('A', 'quote"', 'back\\slash', 'tab\t', 'é\u202e', 'x'.repeat(70))
  fc.assert(
    fc.property(given, odd, (one, id) => {
      const renamed = <Row extends { end_to_end_id: string | null }>(row: Row): Row =>
        row.end_to_end_id === 'A' ? { ...row, end_to_end_id: id } : row
      const outcome = outcomeOf({ ...one, instructions: one.instructions.map(renamed), entries: one.entries.map(renamed) })
      for (let row = 0; row < one.instructions.length; row++)
        assert.equal(verdictRowJson(outcome, row), JSON.stringify(verdictRow(outcome, row)))
    }),
    OPTIONS,
  )
})
