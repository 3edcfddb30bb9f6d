import type { DateWindow } from '../pure/documents/reconcile/dates.ts'
import type { Findings } from '../pure/documents/reconcile/extract/findings.ts'
import { Ledger } from '../pure/documents/reconcile/ledger.ts'
import { reconcile, type ReconcileOptions } from '../pure/documents/reconcile/reconcile.ts'
import type { Entry, Instruction } from '../pure/documents/reconcile/records.ts'
import { StatementBook } from '../pure/documents/reconcile/statements.ts'
import { readFiles, unreadable, type GivenFile } from './reconcile-read.ts'
import { inMemory, type Reconciled } from './reconcile-result.ts'
import { Spool } from './reconcile-spool.ts'

/** Bytes that an instruction or entry takes in memory with its ids and what is judged of it. */
const RECORD_BYTES = 400
/** Instructions and entries that are held in memory at once: half of what the machine has left. Beyond it parts go to disk, which takes three times as long. */
const LEAST_IN_MEMORY = 2_000_000

function recordsInMemory(): number {
  return Math.max(LEAST_IN_MEMORY, Math.floor(process.availableMemory() / 2 / RECORD_BYTES))
}

export interface FileOptions {
  require_settlement_evidence: boolean
  window: DateWindow
  records_in_memory?: number
}

/** A reconciliation and what it keeps on disk. */
export interface Found {
  report: Reconciled
  close(): void
}

/** Thrown by the sink to end the first reading early. */
class TooMany extends Error {}

/**
 * Reconciles files. When they hold more records than fit, they are read once more and spread over parts on disk. Throws a CliError when a
 * file cannot be read whole.
 */
export function reconcileFiles(files: readonly GivenFile[], findings: Findings, options: FileOptions): Found {
  const { require_settlement_evidence, window, records_in_memory = recordsInMemory() } = options
  const how = { require_settlement_evidence, window }
  try {
    const book = new StatementBook()
    const ledger = readLedger(files, findings, book, records_in_memory)
    return { report: inMemory(reconcile(ledger, { ...how, ...judged(findings, book) })), close: () => undefined }
  } catch (error) {
    if (!(error instanceof TooMany)) throw error
  }
  findings.clear()
  const book = new StatementBook()
  const spool = new Spool()
  try {
    if (!readFiles(files, findings, book, spool)) throw unreadable(files, findings)
    return { report: spool.reconcile({ ...how, ...judged(findings, book) }), close: () => spool.close() }
  } catch (error) {
    spool.close()
    throw error
  }
}

function readLedger(files: readonly GivenFile[], findings: Findings, book: StatementBook, most: number): Ledger {
  const ledger = new Ledger()
  const bounded = () => {
    if (ledger.instructions.size + ledger.entries.size >= most) throw new TooMany()
  }
  const sink = {
    instruction(instruction: Instruction) {
      bounded()
      ledger.addLast(instruction)
    },
    entry(entry: Entry) {
      bounded()
      ledger.entries.add(entry)
    },
  }
  if (!readFiles(files, findings, book, sink)) throw unreadable(files, findings)
  return ledger
}

function judged(findings: Findings, book: StatementBook): Pick<ReconcileOptions, 'repeated' | 'overlaps'> {
  const { repeated, overlaps, remarks } = book.judge()
  for (const { code, file } of remarks) findings.add(code, file, null)
  return { repeated, overlaps }
}
