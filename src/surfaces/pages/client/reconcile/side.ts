import type { Side } from './messages.ts'

const HEAD_BYTES = 65_536

/** Which side a file is for, by its first bytes; null when they do not say. */
export async function sideOf(file: File): Promise<Side | null> {
  const text = new TextDecoder('latin1').decode(await file.slice(0, HEAD_BYTES).arrayBuffer())
  if (/pain\.001\.|pacs\.008\.|<(?:\w+:)?(?:CstmrCdtTrfInitn|FIToFICstmrCdtTrf)\b/.test(text)) return 'instructions'
  if (/camt\.05[234]\.|<(?:\w+:)?BkToCstmrStmt\b/.test(text) || /^(?:\u00EF\u00BB\u00BF)?101/.test(text)) return 'statement'
  return null
}
