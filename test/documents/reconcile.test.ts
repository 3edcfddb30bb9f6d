import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BankEntry } from '../../src/pure/documents/reconcile/records.ts'
import { back, CREDITOR, entry, instruction, reconciled, STRANGER, type Given } from './reconcile-records.ts'

/** Every case by hand: what is asked for, what the bank says, and what follows. */

type Expected = [verdict: string, basis: string, kind: string | null]

function verdicts(given: Given): Expected[] {
  return reconciled(given).verdicts.map(({ verdict, basis, kind }) => [verdict, basis, kind])
}

/** One instruction of 100.00 EUR under E1. */
function one(...entries: Given['entries']): Expected | undefined {
  return verdicts({ instructions: [instruction()], entries })[0]
}

test('a booked debit of the exact amount settles', () => {
  const { verdicts: rows, unmatched, ignored, conserved } = reconciled({ instructions: [instruction()], entries: [entry()] })
  assert.deepEqual(rows, [
    {
      end_to_end_id: 'E1',
      source: 'pain.001',
      file: 0,
      position: 1,
      verdict: 'SETTLED',
      basis: 'exact',
      kind: null,
      matched_by: 'end_to_end_id',
      currency: 'EUR',
      amount_minor: '10000',
      net_minor: '10000',
      delta_minor: '0',
      charges_minor: '0',
      payments: 1,
      evidence: 'booked',
      final: true,
      reason: null,
      entries: ['1:1'],
      warnings: [],
    },
  ])
  assert.deepEqual([unmatched, ignored, conserved], [[], [], true])
})

test('an amount that differs is a mismatch with a signed difference', () => {
  assert.deepEqual(one(entry({ amount_minor: 9_999n })), ['AMOUNT_MISMATCH', 'exact', 'under'])
  assert.deepEqual(one(entry({ amount_minor: 10_001n })), ['AMOUNT_MISMATCH', 'exact', 'over'])
  const [row] = reconciled({ instructions: [instruction()], entries: [entry({ amount_minor: 2_500n })] }).verdicts
  assert.deepEqual([row?.net_minor, row?.delta_minor, row?.final], ['2500', '-7500', false])
})

test('parts that add up under one id settle; equal full payments are duplicates', () => {
  assert.deepEqual(one(entry({ amount_minor: 4_000n }), entry({ entry: 2, amount_minor: 6_000n })), ['SETTLED', 'split', null])
  assert.deepEqual(one(entry({ amount_minor: 4_000n }), entry({ entry: 2, amount_minor: 5_000n })), ['AMOUNT_MISMATCH', 'split', 'under'])
  const [row] = reconciled({ instructions: [instruction()], entries: [entry(), entry({ entry: 2 }), entry({ entry: 3 })] }).verdicts
  assert.deepEqual([row?.verdict, row?.payments, row?.delta_minor], ['DUPLICATE_PAYMENT', 3, '20000'])
  // 100 + 100 + 30: paid twice, and something on top.
  assert.equal(one(entry(), entry({ entry: 2 }), entry({ entry: 3, amount_minor: 3_000n }))?.[0], 'DUPLICATE_PAYMENT')
})

test('money that came back is taken off', () => {
  assert.deepEqual(one(entry(), back()), ['UNPAID', 'net_of_returns', 'returned'])
  assert.deepEqual(one(back()), ['UNPAID', 'exact', 'returned'])
  assert.deepEqual(one(entry(), back({ amount_minor: 4_000n })), ['AMOUNT_MISMATCH', 'net_of_returns', 'partly_returned'])
  // Paid twice, one of them returned.
  assert.deepEqual(one(entry(), entry({ entry: 2 }), back({ entry: 3 })), ['SETTLED', 'net_of_returns', null])
  const [row] = reconciled({ instructions: [instruction()], entries: [entry(), back()] }).verdicts
  assert.deepEqual([row?.reason, row?.net_minor, row?.warnings], ['AC04', '0', []])
  const [unmarked] = reconciled({ instructions: [instruction()], entries: [entry(), back({ returned: false })] }).verdicts
  assert.deepEqual([unmarked?.verdict, unmarked?.kind, unmarked?.warnings], ['UNPAID', 'returned', ['RETURN_NOT_MARKED']])
})

test('a reversal that runs with the payment is not read either way', () => {
  assert.deepEqual(one(entry({ returned: true })), ['UNPAID', 'ambiguous', 'reversal_sign'])
  assert.deepEqual(one(entry(), entry({ entry: 2, returned: true })), ['UNPAID', 'ambiguous', 'reversal_sign'])
  // It undoes a return: paid in the end.
  assert.deepEqual(one(entry(), back(), entry({ entry: 3, returned: true })), ['SETTLED', 'net_of_returns', null])
})

test('money that moved the other way settles nothing', () => {
  const { verdicts: rows, unmatched } = reconciled({ instructions: [instruction()], entries: [entry({ direction: 'CRDT' })] })
  assert.deepEqual([rows[0]?.verdict, rows[0]?.kind, unmatched[0]?.reason], ['UNPAID', 'wrong_direction', 'wrong_direction'])
  // On the creditor's account a credit pays and a debit takes back.
  assert.deepEqual(one(entry({ direction: 'CRDT', account: CREDITOR })), ['SETTLED', 'exact', null])
  assert.deepEqual(one(entry({ account: CREDITOR })), ['UNPAID', 'none', 'wrong_direction'])
})

test('statements of both sides show the same money once', () => {
  assert.deepEqual(one(entry(), entry({ entry: 2, direction: 'CRDT', account: CREDITOR })), ['SETTLED', 'exact', null])
})

test('another account is another payment', () => {
  const { verdicts: rows, unmatched } = reconciled({ instructions: [instruction()], entries: [entry({ account: STRANGER })] })
  assert.deepEqual([rows[0]?.kind, unmatched[0]?.reason], ['other_account', 'other_account'])
  // A number that is no IBAN cannot contradict one.
  assert.deepEqual(one(entry({ account: '1234567' })), ['SETTLED', 'exact', null])
})

test('an account whose digits the bank hides is no other account', () => {
  assert.equal(one(entry({ account: 'DE89XXXXXXXXXXXXXX3000' }))?.[0], 'SETTLED')
  assert.equal(one(entry({ account: 'DE89************3000' }))?.[0], 'SETTLED')
  // The registry's example of Malta, with three letters of its account changed and check digits that hold: an account of its own.
  assert.deepEqual(one(entry({ account: 'MT70MALT011000012345MTLCASTXXXS' })), ['UNPAID', 'none', 'other_account'])
})

test('another UETR than the one instructed is remarked', () => {
  const [uetr, other] = ['eb6305c9-1f7f-49de-aed0-16487c27b42d', '174c245f-2682-4291-ad67-2a41e530cd27']
  const warned = (asked: string | null, told: string | null, amount_minor = 10_000n) =>
    reconciled({ instructions: [instruction({ uetr: asked })], entries: [entry({ uetr: told, amount_minor })] }).verdicts[0]
  assert.deepEqual([warned(uetr, other)?.verdict, warned(uetr, other)?.warnings], ['SETTLED', ['OTHER_UETR']])
  assert.deepEqual(warned(uetr, other, 1n)?.warnings, ['OTHER_UETR'])
  for (const [asked, told] of [
    [uetr, uetr.toUpperCase()],
    [uetr, null],
    [null, other],
  ] as const) {
    assert.deepEqual(warned(asked, told)?.warnings, [])
  }
})

test('a UETR is one in capitals too', () => {
  const uetr = 'eb6305c9-1f7f-49de-aed0-16487c27b42d'
  const given = { instructions: [instruction({ uetr })], entries: [entry({ end_to_end_id: null, uetr: uetr.toUpperCase() })] }
  assert.equal(reconciled(given).verdicts[0]?.matched_by, 'uetr')
})

test('another counterparty than the one instructed is remarked', () => {
  const [row] = reconciled({ instructions: [instruction()], entries: [entry({ counterparty_account: STRANGER })] }).verdicts
  assert.deepEqual([row?.verdict, row?.warnings], ['SETTLED', ['OTHER_COUNTERPARTY']])
})

test('charges explain a difference only to the last unit', () => {
  assert.deepEqual(one(entry({ amount_minor: 10_500n, charges_minor: 500n })), ['SETTLED', 'net_of_charges', null])
  assert.deepEqual(one(entry({ amount_minor: 10_500n, charges_minor: 499n })), ['AMOUNT_MISMATCH', 'exact', 'over'])
  const arrived = { direction: 'CRDT', account: CREDITOR, amount_minor: 9_500n } as const
  assert.deepEqual(one(entry({ ...arrived, charges_minor: 500n })), ['SETTLED', 'net_of_charges', null])
  assert.deepEqual(one(entry({ ...arrived, charges_minor: 0n })), ['AMOUNT_MISMATCH', 'exact', 'under'])
  // A charge that the creditor's bank books by itself.
  const [shown] = reconciled({
    instructions: [instruction()],
    entries: [entry({ direction: 'CRDT', account: CREDITOR }), entry({ entry: 2, account: CREDITOR, amount_minor: 250n, charge: true })],
  }).verdicts
  assert.deepEqual([shown?.verdict, shown?.charges_minor, shown?.warnings], ['SETTLED', '250', []])
  // The instructed amount repeats what was asked for; where the rest went it does not say.
  const instructed = { currency: 'EUR', amount_minor: 10_000n }
  const unlisted = (changes: Partial<BankEntry>) => {
    const [row] = reconciled({ instructions: [instruction()], entries: [entry({ ...changes, instructed })] }).verdicts
    return [row?.verdict, row?.kind, row?.net_minor, row?.charges_minor, row?.final, row?.warnings.join()]
  }
  assert.deepEqual(unlisted(arrived), ['AMOUNT_MISMATCH', 'under', '9500', '0', false, 'CHARGES_INFERRED'])
  assert.deepEqual(unlisted({ ...arrived, amount_minor: 1n }), ['AMOUNT_MISMATCH', 'under', '1', '0', false, 'CHARGES_INFERRED'])
  assert.deepEqual(unlisted({ amount_minor: 25_000n }), ['AMOUNT_MISMATCH', 'over', '25000', '0', false, 'CHARGES_INFERRED'])
  assert.deepEqual(unlisted({ ...arrived, charges_minor: 500n }), ['SETTLED', null, '10000', '500', true, ''])
  // Less than instructed left the debtor's account: charges do not do that.
  assert.deepEqual(unlisted({ amount_minor: 9_500n }), ['AMOUNT_MISMATCH', 'under', '9500', '0', false, ''])
})

test('another currency is compared by the instructed amount and never converted', () => {
  const booked = { currency: 'USD', amount_minor: 10_850n }
  assert.deepEqual(one(entry({ ...booked, instructed: { currency: 'EUR', amount_minor: 10_000n } })), [
    'SETTLED',
    'instructed_amount',
    null,
  ])
  assert.deepEqual(one(entry({ ...booked, instructed: { currency: 'EUR', amount_minor: 9_000n } }))?.[0], 'AMOUNT_MISMATCH')
  const [row] = reconciled({ instructions: [instruction()], entries: [entry(booked)] }).verdicts
  assert.deepEqual([row?.verdict, row?.kind, row?.net_minor, row?.delta_minor], ['AMOUNT_MISMATCH', 'currency', null, null])
})

test('what is not booked settles nothing', () => {
  const pending = reconciled({ instructions: [instruction()], entries: [entry({ status: 'PDNG' })] })
  assert.deepEqual([pending.verdicts[0]?.verdict, pending.verdicts[0]?.kind], ['UNPAID', 'pending'])
  assert.deepEqual(
    pending.ignored.map(({ entry: place, reason }) => [place, reason]),
    [['1:1', 'pending']],
  )
  // By any id that would lead a booked entry there.
  for (const status of ['PDNG', 'INFO'] as const) {
    assert.deepEqual(one(entry({ status })), ['UNPAID', 'none', 'pending'])
    assert.deepEqual(one(entry({ status, end_to_end_id: ' e 1' })), ['UNPAID', 'none', 'pending'])
    assert.deepEqual(one(entry({ status, account: STRANGER })), ['UNPAID', 'none', 'not_found'])
    assert.deepEqual(one(entry({ status, end_to_end_id: 'E2' })), ['UNPAID', 'none', 'not_found'])
    const asked = instruction({ uetr: 'U1', instruction_id: 'X1' })
    const kind = (changes: Partial<BankEntry>) => verdicts({ instructions: [asked], entries: [entry({ status, ...changes })] })[0]?.[2]
    assert.equal(kind({ end_to_end_id: 'E2', uetr: 'U1' }), 'pending')
    assert.equal(kind({ end_to_end_id: null, instruction_id: 'X1' }), 'pending')
    assert.equal(kind({ end_to_end_id: 'E2', instruction_id: 'X1' }), 'not_found')
  }
  assert.deepEqual(one(entry(), entry({ entry: 2, status: 'PDNG' })), ['SETTLED', 'exact', null])
})

test('placeholders are no ids; weaker ids stand in', () => {
  for (const end_to_end_id of ['NOTPROVIDED', 'NonRef', ' not provided ', '', null]) {
    const given = { instructions: [instruction({ end_to_end_id })], entries: [entry({ end_to_end_id })] }
    assert.deepEqual(verdicts(given), [['UNPAID', 'none', 'not_found']])
    for (const name of ['uetr', 'instruction_id', 'transaction_id', 'clearing_reference'] as const) {
      const id = { end_to_end_id, [name]: 'X1' }
      const [row] = reconciled({ instructions: [instruction(id)], entries: [entry(id)] }).verdicts
      assert.deepEqual([row?.verdict, row?.matched_by], ['SETTLED', name])
    }
  }
})

test('a text longer than any id is none, however it begins', () => {
  const long = (tail: string) => `${'x'.repeat(256)}${tail}`
  const given = { instructions: [instruction({ end_to_end_id: long('1') })], entries: [entry({ end_to_end_id: long('2') })] }
  assert.deepEqual(verdicts(given), [['UNPAID', 'none', 'not_found']])
  const most = { end_to_end_id: 'x'.repeat(256) }
  assert.equal(verdicts({ instructions: [instruction(most)], entries: [entry(most)] })[0]?.[0], 'SETTLED')
})

test('an instruction id does not speak against two different end-to-end ids, a UETR does', () => {
  const asked = instruction({ instruction_id: 'X1', uetr: 'U1' })
  assert.deepEqual(verdicts({ instructions: [asked], entries: [entry({ end_to_end_id: 'E2', instruction_id: 'X1' })] })[0]?.[0], 'UNPAID')
  assert.deepEqual(verdicts({ instructions: [asked], entries: [entry({ end_to_end_id: 'E2', uetr: 'U1' })] })[0]?.[0], 'SETTLED')
})

test('an id that lost its case or spaces counts where nothing else can be meant', () => {
  assert.deepEqual(one(entry({ end_to_end_id: ' e 1' })), ['SETTLED', 'folded', null])
  // Two payments, or two instructions, that fold to one id.
  assert.deepEqual(one(entry({ end_to_end_id: 'e1' }), entry({ entry: 2, end_to_end_id: 'E 1' })), ['UNPAID', 'ambiguous', 'unclear_id'])
  const twins = [instruction({ end_to_end_id: 'inv-1' }), instruction({ end_to_end_id: 'Inv-1', position: 2 })]
  const { verdicts: rows, ambiguous } = reconciled({ instructions: twins, entries: [entry({ end_to_end_id: 'INV-1' })] })
  assert.deepEqual(
    rows.map(({ basis }) => basis),
    ['ambiguous', 'ambiguous'],
  )
  assert.deepEqual(ambiguous, [{ kind: 'unclear_id', instructions: ['0:1', '0:2'], entries: ['1:1'] }])
  // The exact one is not drawn into it.
  assert.deepEqual(one(entry(), entry({ entry: 2, end_to_end_id: 'e1' })), ['SETTLED', 'exact', null])
})

test('several instructions with one id are told apart by id, amount and account, or not at all', () => {
  const two = (first: object, second: object) => [instruction(first), instruction({ position: 2, ...second })]
  const both = (entries: Given['entries'], first: object = {}, second: object = {}) =>
    verdicts({ instructions: two(first, second), entries }).map(([verdict, basis, kind]) => `${verdict} ${basis} ${kind}`)
  const settled = ['SETTLED exact null', 'SETTLED exact null']
  const unclear = ['UNPAID ambiguous shared_id', 'UNPAID ambiguous shared_id']
  assert.deepEqual(both([entry(), entry({ entry: 2 })]), settled)
  assert.deepEqual(both([entry({ amount_minor: 700n }), entry({ entry: 2 })], {}, { amount_minor: 700n }), settled)
  assert.deepEqual(both([entry()]), unclear)
  assert.deepEqual(both([entry(), entry({ entry: 2 }), entry({ entry: 3 })]), unclear)
  assert.deepEqual(both([entry({ uetr: 'U2' })], { uetr: 'U1' }, { uetr: 'U2' }), ['UNPAID none not_found', 'SETTLED exact null'])
  assert.deepEqual(
    both(
      [entry({ counterparty_account: CREDITOR }), entry({ entry: 2, counterparty_account: CREDITOR })],
      {},
      { creditor_account: STRANGER },
    ),
    unclear,
  )
  assert.deepEqual(both([]), ['UNPAID none not_found', 'UNPAID none not_found'])
  // Each debtor account has its own statement.
  assert.deepEqual(both([entry()], {}, { debtor_account: STRANGER }), ['SETTLED exact null', 'UNPAID none not_found'])
  const { input_defects } = reconciled({ instructions: two({}, {}), entries: [] })
  assert.deepEqual(input_defects, [{ code: 'DUPLICATE_INSTRUCTION_ID', end_to_end_id: 'E1', instructions: ['0:1', '0:2'] }])
})

test('totals hold every row once, debits and credits apart', () => {
  const entries = [
    entry(),
    entry({ entry: 2, end_to_end_id: 'E9', amount_minor: 300n, direction: 'CRDT' }),
    entry({ entry: 3, status: 'PDNG', amount_minor: 50n }),
  ]
  const { totals, conserved } = reconciled({ instructions: [instruction(), instruction({ position: 2, end_to_end_id: 'E2' })], entries })
  const tally = (count: number, amount_minor: string) => ({ count, amount_minor })
  assert.ok(conserved)
  assert.deepEqual(totals, [
    {
      currency: 'EUR',
      minor_units: 2,
      instructions: tally(2, '20000'),
      verdicts: { SETTLED: tally(1, '10000'), UNPAID: tally(1, '10000'), AMOUNT_MISMATCH: tally(0, '0'), DUPLICATE_PAYMENT: tally(0, '0') },
      debits: { all: tally(2, '10050'), matched: tally(1, '10000'), unmatched: tally(0, '0'), ignored: tally(1, '50') },
      credits: { all: tally(1, '300'), matched: tally(0, '0'), unmatched: tally(1, '300'), ignored: tally(0, '0') },
    },
  ])
})
