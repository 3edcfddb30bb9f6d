import { PDFDocument, StandardFonts, rgb, type PDFFont, type PDFPage } from 'pdf-lib'
import { qrSquares } from './qr.ts'

const PAGE = { width: 595.28, height: 841.89 }
const LEFT = 56
const VALUE = 190
const WIDTH = PAGE.width - VALUE - LEFT
const SIZE = 10
const LEADING = 15
const LINES_MAX = 12
const QR_SIDE = 130

/**
 * The record on one page of A4 as a payment request; never called a tax invoice, since it has no tax data. The fonts are those that every reader
 * has, so characters outside Windows-1252 are shown as question marks; the record itself keeps them. The same record gives the same bytes.
 */
export async function invoicePdf(record: Record<string, unknown>): Promise<Uint8Array<ArrayBuffer>> {
  const document = await PDFDocument.create({ updateMetadata: false })
  const at = new Date(String(record['created_at']))
  document.setTitle(`Payment request ${String(record['invoice_id'])}`)
  document.setCreationDate(at)
  document.setModificationDate(at)
  const page = document.addPage([PAGE.width, PAGE.height])
  const plain = await document.embedFont(StandardFonts.Helvetica)
  const bold = await document.embedFont(StandardFonts.HelveticaBold)
  page.drawText('Payment request', { x: LEFT, y: 770, size: 22, font: bold })
  let y = 735
  for (const [label, value] of rowsOf(record)) {
    page.drawText(label, { x: LEFT, y, size: SIZE, font: bold })
    for (const line of wrapped(shown(value, plain), plain)) {
      page.drawText(line, { x: VALUE, y, size: SIZE, font: plain })
      y -= LEADING
    }
    y -= 3
  }
  drawCode(page, record['eip681_uri'], y - QR_SIDE)
  page.drawText('This is no tax invoice. Compare the address before you pay; transfers on a chain cannot be undone.', {
    x: LEFT,
    y: 48,
    size: 8,
    font: plain,
  })
  const bytes = await document.save({ useObjectStreams: false })
  return new Uint8Array(bytes)
}

function rowsOf(record: Record<string, unknown>): [string, string][] {
  const bank = record['bank_coordinates'] as Record<string, string | null> | null
  const text = (name: string) => (typeof record[name] === 'string' ? record[name] : null)
  const rows: [string, string | null][] = [
    ['Invoice', text('invoice_id')],
    ['Status', `${String(record['status'])} (as of ${String(record['updated_at'])})`],
    ['Pay to', text('merchant')],
    ['Merchant', record['merchant_verified'] === true ? 'Signed by the key of this address.' : 'Not proved. Compare the address.'],
    ['Client', text('client_name')],
    ['For', text('memo')],
    ['Amount', `${String(record['amount_usdc'])} USDC`],
    ['Due (millionths)', text('amount_due_minor')],
    ['Protocol fee', `${String(record['protocol_fee_usdc'])} USDC`],
    ['Chain', `eip155:${String(record['chain_id'])}`],
    ['Issued', text('created_at')],
    ['Payable until', text('expires_at')],
    ['Transaction', text('tx_hash')],
    ['Pay online', text('pay_url')],
    ['Bank account', bank === null ? null : `${bank['account_name'] ?? ''}, ${bank['iban'] ?? ''}, reference ${bank['reference'] ?? ''}`],
  ]
  return rows.flatMap(([label, value]) => (value === null ? [] : [[label, value]]))
}

/** What the font has; line ends become spaces. */
function shown(text: string, font: PDFFont): string {
  const known = new Set(font.getCharacterSet())
  return Array.from(text.replace(/\s+/gu, ' '), (character) => (known.has(character.codePointAt(0) ?? 0) ? character : '?')).join('')
}

/** Lines that fit beside the labels, by characters, so that a long word is broken too; at most a dozen. */
function wrapped(text: string, font: PDFFont): string[] {
  const lines: string[] = []
  let line = ''
  let width = 0
  for (const character of text) {
    const more = font.widthOfTextAtSize(character, SIZE)
    if (width + more > WIDTH) {
      lines.push(line)
      line = ''
      width = 0
    }
    line += character
    width += more
  }
  lines.push(line)
  return lines.length <= LINES_MAX ? lines : [...lines.slice(0, LINES_MAX - 1), '…']
}

function drawCode(page: PDFPage, text: unknown, y: number): void {
  if (typeof text !== 'string') return
  const { size, isDark } = qrSquares(text)
  const side = QR_SIDE / size
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (!isDark(row, column)) continue
      page.drawRectangle({ x: LEFT + column * side, y: y + (size - 1 - row) * side, width: side, height: side, color: rgb(0, 0, 0) })
    }
  }
}
