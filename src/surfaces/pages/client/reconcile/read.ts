import type { ReadFindings, BankEntry, PaymentInstruction, StatementBook } from '../../../../pure/documents/reconcile/records.ts'
import { Ledger } from '../../../../pure/documents/reconcile/ledger.ts'
import { documentReader, type DocumentKind, type RecordSink } from '../../../../pure/documents/reconcile/reconcile-documents.ts'
import { documentKind } from './file-kind.ts'
import type { FileSide } from './messages.ts'

interface ReadLedger {
  ledger: Ledger
  /** Formats of the payments and of the statement. */
  kinds: [DocumentKind, DocumentKind]
}

/**
 * Streams both files into one ledger, the statement first, so that only ids of instructions that some entry has are stored. Neither file is
 * in memory as a whole.
 */
export async function readFiles(
  files: Record<FileSide, File>,
  findings: ReadFindings,
  book: StatementBook,
  passed: (bytes: number, records: number) => void,
): Promise<ReadLedger> {
  const ledger = new Ledger()
  let [bytes, records] = [0, 0]
  const sink: RecordSink = {
    instruction(instruction: PaymentInstruction) {
      records++
      ledger.addInstructionLast(instruction)
    },
    entry(entry: BankEntry) {
      records++
      ledger.entries.add(entry)
    },
  }
  const read = async (side: FileSide): Promise<DocumentKind> => {
    const kind = await documentKind(side, files[side])
    const reader = documentReader(kind, side === 'instructions' ? 0 : 1, findings, book, sink)
    for await (const chunk of chunksOf(files[side])) {
      if (!reader.write(chunk)) return kind
      bytes += chunk.length
      passed(bytes, records)
    }
    reader.end()
    return kind
  }
  const statement = await read('statement')
  return { kinds: [await read('instructions'), statement], ledger }
}

/** Not every browser supports `for await` on a stream. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}
