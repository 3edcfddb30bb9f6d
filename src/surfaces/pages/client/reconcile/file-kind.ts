import type { DocumentKind } from '../../../../pure/documents/reconcile/reconcile-documents.ts'
import type { FileSide } from './messages.ts'

/** Bytes from which the kind of a file is recognized. */
const HEAD_BYTES = 65_536
const ACH_START = /^(?:\u00EF\u00BB\u00BF)?101/

/** Recognizes pacs.008 by its name and an ACH file by its first record, 101; for other files the reader of pain.001 or camt.053 reports the fault. */
export async function documentKind(side: FileSide, file: File): Promise<DocumentKind> {
  const head = await headOf(file)
  if (side === 'statement') return ACH_START.test(head) ? 'nacha' : 'camt.053'
  return head.includes('pacs.008.') && !head.includes('pain.001.') ? 'pacs.008' : 'pain.001'
}

/** Recognizes by its first bytes whether a file has payments or a statement; null if unclear. */
export async function sideOf(file: File): Promise<FileSide | null> {
  const head = await headOf(file)
  if (/pain\.001\.|pacs\.008\.|<(?:\w+:)?(?:CstmrCdtTrfInitn|FIToFICstmrCdtTrf)\b/.test(head)) return 'instructions'
  return /camt\.05[234]\.|<(?:\w+:)?BkToCstmrStmt\b/.test(head) || ACH_START.test(head) ? 'statement' : null
}

async function headOf(file: File): Promise<string> {
  return new TextDecoder('latin1').decode(await file.slice(0, HEAD_BYTES).arrayBuffer())
}
