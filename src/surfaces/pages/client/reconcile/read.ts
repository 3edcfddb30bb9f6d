import type { Findings } from '../../../../pure/documents/reconcile/extract/findings.ts'
import { Ledger } from '../../../../pure/documents/reconcile/ledger.ts'
import type { Entry, Instruction } from '../../../../pure/documents/reconcile/records.ts'
import { documentReader, type DocumentKind, type Sink } from '../../../../pure/documents/reconcile/report.ts'
import type { StatementBook } from '../../../../pure/documents/reconcile/statements.ts'
import type { Side } from './messages.ts'

/** What the first bytes of a file are looked at for. */
const HEAD_BYTES = 65_536

export interface Reading {
  ledger: Ledger
  /** Of the instructions and of the statement. */
  kinds: [DocumentKind, DocumentKind]
}

/**
 * Streams both files into one ledger, the statement first: then only those ids of instructions are kept that some entry has. Neither file is
 * ever in memory as a whole.
 */
export async function readFiles(
  files: Record<Side, File>,
  findings: Findings,
  book: StatementBook,
  passed: (bytes: number, records: number) => void,
): Promise<Reading> {
  const ledger = new Ledger()
  let [bytes, records] = [0, 0]
  const sink: Sink = {
    instruction(instruction: Instruction) {
      records++
      ledger.addLast(instruction)
    },
    entry(entry: Entry) {
      records++
      ledger.entries.add(entry)
    },
  }
  const read = async (side: Side): Promise<DocumentKind> => {
    const kind = kindOf(side, await files[side].slice(0, HEAD_BYTES).arrayBuffer())
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

/** A stream cannot be walked with `for await` in every browser. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

/**
 * Transfers between banks are known by the name of their message, an ACH file by its records, which begin with 101. Everything else is
 * taken for a pain.001 or a camt.053, which then says what is wrong.
 */
function kindOf(side: Side, head: ArrayBuffer): DocumentKind {
  const text = new TextDecoder('latin1').decode(head)
  if (side === 'statement') return /^(?:\u00EF\u00BB\u00BF)?101/.test(text) ? 'nacha' : 'camt.053'
  return text.includes('pacs.008.') && !text.includes('pain.001.') ? 'pacs.008' : 'pain.001'
}
