import fc from 'fast-check'
import type { BankEntry, PaymentInstruction } from '../../src/pure/documents/reconcile/records.ts'
import { ach, CREDITOR, DEBTOR, entry, instruction, STRANGER } from './reconcile-records.ts'

/** Random ledgers of few ids and few amounts, so that everything meets everything. */

const pick = <T>(...values: T[]) => fc.constantFrom(...values)

const ids = {
  end_to_end_id: pick('A', 'A', 'A', 'B', 'B', 'C', 'a', 'c ', 'NOTPROVIDED', null),
  uetr: pick(null, null, null, 'U1', 'U2'),
  instruction_id: pick(null, null, 'X1', 'X2', 'X3'),
}
const amount_minor = pick(100n, 200n, 300n, 300n)

export const instructions: fc.Arbitrary<PaymentInstruction[]> = fc
  .array(fc.record({ ...ids, amount_minor, currency: pick('EUR', 'EUR', 'EUR', 'EUR', 'USD'), payment_information_id: pick('P1', 'P2') }), {
    maxLength: 5,
  })
  .map((list) => list.map((changes, index) => instruction({ ...changes, position: index + 1 })))

const booked = fc.record({
  ...ids,
  amount_minor: pick(100n, 200n, 300n, 100n, 200n, 400n),
  currency: pick('EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'USD'),
  direction: pick('DBIT', 'DBIT', 'DBIT', 'DBIT', 'CRDT'),
  returned: pick(false, false, false, false, false, true),
  status: pick('BOOK', 'BOOK', 'BOOK', 'PDNG', 'INFO'),
  account: pick<string | null>(DEBTOR, DEBTOR, DEBTOR, null, STRANGER),
  charges_minor: pick(0n, 0n, 100n),
  payment_information_id: pick(null, 'P1', 'P2'),
} satisfies { [Name in keyof BankEntry]?: fc.Arbitrary<BankEntry[Name]> })

export const statements: fc.Arbitrary<BankEntry[]> = fc
  .array(booked, { maxLength: 7 })
  .map((list) => list.map((changes, index) => entry({ ...changes, entry: index + 1 })))

/** Close together, a month apart, and out of any window. */
const days = pick<number | null>(null, 20_000, 20_000, 20_001, 20_030, 20_400)

const NAMELESS = { end_to_end_id: null, uetr: null, instruction_id: null, transaction_id: null }

/** What the reference does not know: rows for several transactions, ACH, creditor accounts, instructed amounts, copies, messages between banks. */
const anything: fc.Arbitrary<BankEntry[]> = fc
  .array(
    fc.tuple(
      booked,
      fc.record({
        nacha: fc.boolean(),
        account: pick<string | null>(DEBTOR, CREDITOR, '123', null),
        counterparty_account: pick(null, CREDITOR, STRANGER),
        instructed: pick(null, { currency: 'EUR', amount_minor: 200n }),
        message_id: pick(null, 'M1'),
        batch_count: pick(null, null, 2),
        fixed: pick(null, { id: 'A', width: 1 }, { id: 'C', width: 2 }),
        trace: pick(null, 'T1', 'T2'),
        original_trace: pick(null, 'T1'),
        statement: pick(0, 1),
        booking: pick(null, null, '2026-11-20 R1', '2026-11-20 R2'),
        charge: pick(false, false, true),
        day: days,
        unclear: pick(false, false, true),
        also: pick(null, null, 'B', 'C'),
        named: pick(null, null, null, ['A', 'B'], ['A', null], ['a', 'C']),
      }),
    ),
    { maxLength: 7 },
  )
  .map((list) =>
    list.map(([changes, { nacha, named, also, unclear, ...others }], index) => {
      const place = { ...changes, ...others, booking: nacha ? null : others.booking, entry: index + 1 }
      const statement_only = { ...place, fixed: null, trace: null, original_trace: null }
      if (named !== null)
        return entry({ ...statement_only, ...NAMELESS, unclear, inside: named.map((end_to_end_id) => ({ ...NAMELESS, end_to_end_id })) })
      return nacha
        ? ach({
            ...place,
            account: null,
            end_to_end_id: null,
            references: [...new Set([changes.end_to_end_id, also])].filter((id) => id !== null),
          })
        : entry(statement_only)
    }),
  )
const anyone: fc.Arbitrary<PaymentInstruction[]> = fc
  .tuple(
    instructions,
    fc.array(
      fc.record({
        source: pick<PaymentInstruction['source']>('pain.001', 'pacs.008'),
        debtor_account: pick(DEBTOR, STRANGER, null),
        day: days,
      }),
      {
        minLength: 5,
        maxLength: 5,
      },
    ),
  )
  .map(([list, changes]) => list.map((one, index) => ({ ...one, ...changes[index] })))

export const given = fc.record({ instructions: anyone, entries: anything, require_settlement_evidence: fc.boolean() })
