import { StoreNewerError } from './errors.ts'
import type { Dialect, Migration } from './migration.ts'
import { firstTables } from './migrations/0001-first-tables.ts'
import { payments } from './migrations/0002-payments.ts'
import { closedStretches } from './migrations/0003-closed-stretches.ts'
import { assuredRecords } from './migrations/0004-assured-records.ts'
import { disputes } from './migrations/0005-disputes.ts'
import { insurance } from './migrations/0006-insurance.ts'
import { invoices } from './migrations/0007-invoices.ts'
import { invoiceBank } from './migrations/0008-invoice-bank.ts'
import { credits } from './migrations/0009-credits.ts'
import { a2aTasks } from './migrations/0010-a2a-tasks.ts'
import { receiptsLog } from './migrations/0011-receipts-log.ts'
import { paymentsOfInvoices } from './migrations/0012-payments-of-invoices.ts'
import { underwriterProofs } from './migrations/0013-underwriter-proofs.ts'
import { unsignedAndAdvisory } from './migrations/0014-unsigned-and-advisory.ts'
import { privateResends } from './migrations/0015-private-resends.ts'

export const SQLITE_DIALECT: Dialect = {
  wide_integer: 'integer',
  row_number: 'integer primary key',
  table: ' strict',
  clustered_table: ' strict, without rowid',
  now_s: 'unixepoch()',
  counted_columns: '',
}

export const POSTGRES_DIALECT: Dialect = {
  wide_integer: 'bigint',
  row_number: 'bigint generated always as identity primary key',
  table: '',
  clustered_table: '',
  now_s: 'extract(epoch from now())::bigint',
  counted_columns: `,
      allowed integer not null,
      granted integer not null`,
}

export const MIGRATIONS: readonly Migration[] = [
  firstTables,
  payments,
  closedStretches,
  assuredRecords,
  disputes,
  insurance,
  invoices,
  invoiceBank,
  credits,
  a2aTasks,
  receiptsLog,
  paymentsOfInvoices,
  underwriterProofs,
  unsignedAndAdvisory,
  privateResends,
]

/** Holds one row for each migration that ran. Both databases undo table definitions with their transaction. */
export const CREATE_MIGRATION_TABLE = 'create table if not exists migration (number integer primary key, name text not null)'
export const READ_SCHEMA = 'select coalesce(max(number), 0) as number from migration'

/** The SQL that brings a store from schema `found` to the newest, to be run in order within the lock; throws for a newer store. */
export function pendingSteps(found: number, dialect: Dialect): string[] {
  const known = MIGRATIONS.at(-1)?.number ?? 0
  if (found > known) throw new StoreNewerError(found, known)
  return MIGRATIONS.filter(({ number }) => number > found).map(
    (migration) => `${migration.text(dialect)}; insert into migration (number, name) values (${migration.number}, '${migration.name}')`,
  )
}
