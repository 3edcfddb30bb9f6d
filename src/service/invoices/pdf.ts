import { readFile } from 'node:fs/promises'
import fontkit from '@pdf-lib/fontkit'
import { PDFDocument, type PDFFont, type PDFPage, rgb, StandardFonts } from 'pdf-lib'
import type { BankPayment } from '../../pure/invoices/record-bank.ts'
import { isPrinted, printedText } from '../../pure/invoices/printable.ts'
import { fillMessage, type Messages } from '../../pure/messages.ts'
import { usdcText } from '../../pure/payments/usdc.ts'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import { SEAL_UNITS, sealPaths } from '../../pure/receipts/seal.ts'
import { qrSquares } from './qr.ts'

/** A text as its font prints it. */
interface Lettered {
  text: string
  font: PDFFont
}

/**
 * Chooses the font of a text: `plain`, which every reader has, or, for letters outside Windows-1252, DejaVu Sans, of which the document
 * then embeds the letters it uses. Throws for characters that cannot be printed: the caller checks the texts with `unprintable` first.
 */
function lettering(document: PDFDocument, plain: PDFFont): (text: string) => Promise<Lettered> {
  let wide: Promise<PDFFont> | undefined
  return async (given) => {
    const text = printedText(given)
    if (covers(plain, text)) return { text, font: plain }
    wide ??= embedded(document)
    const font = await wide
    return { text: printable(text, font), font }
  }
}

async function embedded(document: PDFDocument): Promise<PDFFont> {
  document.registerFontkit(fontkit)
  const file = await readFile(new URL(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')))
  return document.embedFont(file, { subset: true })
}

function covers(font: PDFFont, text: string): boolean {
  const known = new Set(font.getCharacterSet())
  return Array.from(text).every((character) => known.has(character.codePointAt(0) ?? 0) && isPrinted(character))
}

/** The text, when the font prints every character of it. */
function printable(text: string, font: PDFFont): string {
  if (!covers(font, text)) throw new RangeError('a text has characters that the document does not print')
  return text
}

/** A4, in points. */
const PAGE = { width: 595.28, height: 841.89 }
const LEFT = 56
const RIGHT = PAGE.width - LEFT
const VALUE = 170
const SIZE = 10
const LEADING = 14
/** A memo of the widest Latin letters takes 14. */
const LINES_MAX = 16
const BAND = 26
const CODE_SIDE = 128
const SEAL_SIDE = 104
/** Lowest start of the QR code and captions that keeps them above the foot. */
const PROOFS_LEAST = 230

/** Starts of the rows on the first page and on further ones, lowest line of a row, and highest start of the code on the first page. */
const FIRST_ROW = 598
const NEXT_PAGE_TOP = 770
const ROW_LEAST = 84
const PROOFS_MOST = 290

/** Ink, its paler tone, hairlines and the one metal: those of the pages on paper. */
const INK = rgb(0.106, 0.114, 0.129)
const MUTED = rgb(0.353, 0.373, 0.4)
const RULE = rgb(0.867, 0.847, 0.8)
const METAL = rgb(0.478, 0.329, 0.082)
const WHITE = rgb(1, 1, 1)

interface Sheet {
  page: PDFPage
  plain: PDFFont
  bold: PDFFont
  values: PDFFont
  messages: PdfMessages
}

/** Language tag of the document and its texts. */
export interface PdfLanguage {
  language: string
  messages: { pdf: PdfMessages }
}

type PdfMessages = Messages['pdf']

/**
 * The record on a page of A4 as a payment request, once paid as a confirmation of the payment: a transfer on the chain, or one that the merchant
 * confirmed with its signature. On more pages when its texts are very long; never called a tax invoice, since it has no tax data. `mark` is what must be known of the
 * deployment before anything else. Throws for a record with `pdf_unprintable`. The same record gives the same bytes.
 */
export async function invoicePdf(
  record: Record<string, unknown>,
  mark: string | null,
  { language, messages }: PdfLanguage,
): Promise<Uint8Array<ArrayBuffer>> {
  const document = await PDFDocument.create({ updateMetadata: false })
  const at = new Date(String(record['created_at']))
  document.setTitle(`${messages.pdf.title} ${String(record['invoice_id'])}`)
  document.setLanguage(language)
  document.setCreationDate(at)
  document.setModificationDate(at)
  const page = document.addPage([PAGE.width, PAGE.height])
  const [plain, bold, values] = await Promise.all(
    [StandardFonts.Helvetica, StandardFonts.HelveticaBold, StandardFonts.Courier].map((font) => document.embedFont(font)),
  )
  if (plain === undefined || bold === undefined || values === undefined) throw new TypeError('a font is missing')
  const sheet = { page, plain, bold, values, messages: messages.pdf }
  const framed = (one: Sheet) => {
    if (mark !== null) drawMark(one, mark)
    drawFoot(one, record)
    return one
  }
  const nextSheet = () => framed({ ...sheet, page: document.addPage([PAGE.width, PAGE.height]) })
  drawHead(framed(sheet), record)
  const rows = await letteredRows(document, sheet, rowsOf(record, messages.pdf))
  const end = drawRows(sheet, rows, FIRST_ROW, nextSheet)
  const top = end.sheet === sheet ? Math.min(end.y - 24, PROOFS_MOST) : end.y - 24
  if (top >= PROOFS_LEAST + (epcOf(record) === null ? 0 : CODE_LINES)) drawProofs(end.sheet, record, top)
  else drawProofs(nextSheet(), record, NEXT_PAGE_TOP)
  const bytes = await document.save({ useObjectStreams: false })
  return new Uint8Array(bytes)
}

/** Hatched band across the top of a document that is not a valid invoice. */
function drawMark({ page, bold }: Sheet, mark: string): void {
  const stripe = 9
  for (let x = -BAND; x < PAGE.width; x += 2 * stripe) {
    page.drawSvgPath(`M${x} ${BAND}L${x + BAND} 0h${stripe}l${-BAND} ${BAND}z`, { x: 0, y: PAGE.height, color: RULE })
  }
  const text = printable(mark, bold)
  page.drawRectangle({ x: LEFT - 6, y: PAGE.height - BAND + 5, width: bold.widthOfTextAtSize(text, 9) + 12, height: 16, color: WHITE })
  page.drawText(text, { x: LEFT, y: PAGE.height - BAND + 10, size: 9, font: bold, color: INK })
  rule(page, PAGE.height - BAND, 0, PAGE.width, INK)
}

/** Amount and state first: people look before they read. */
function drawHead(sheet: Sheet, record: Record<string, unknown>): void {
  const { page, plain, bold, values, messages } = sheet
  const is_paid = record['status'] === 'SETTLED'
  const bank = bankPaid(record)
  page.drawText(is_paid ? messages.title_paid : messages.title, { x: LEFT, y: 772, size: 20, font: bold, color: INK })
  page.drawText(String(record['invoice_id']), { x: LEFT, y: 755, size: SIZE, font: values, color: MUTED })
  const amount = bank?.amount ?? twoDecimals(String(record['amount_usdc']))
  page.drawText(amount, { x: LEFT, y: 700, size: 40, font: values, color: INK })
  page.drawText(bank?.currency ?? 'USDC', {
    x: LEFT + values.widthOfTextAtSize(amount, 40) + 10,
    y: 700,
    size: 20,
    font: plain,
    color: MUTED,
  })
  drawState(sheet, String(record['status']))
  const state = stateKey(record)
  const word = isPdfMessage(messages, state) ? messages[state] : String(record['status'])
  const when = is_paid ? String(record['settled_at']) : fillMessage(messages.as_of, { time: String(record['updated_at']) })
  page.drawText(word, { x: LEFT + 24, y: 664, size: 14, font: bold, color: INK })
  page.drawText(when, { x: LEFT + 34 + bold.widthOfTextAtSize(word, 14), y: 664, size: SIZE, font: plain, color: MUTED })
  page.drawText(merchantLabel(record, messages), { x: LEFT, y: 634, size: SIZE, font: plain, color: MUTED })
  const merchant = readEvmAddress(String(record['merchant']))?.checksummed ?? ''
  const fours = [merchant.slice(0, 2), ...(merchant.slice(2).match(/.{1,4}/g) ?? [])].join(' ')
  page.drawText(printable(fours, values), { x: VALUE, y: 634, size: 11.5, font: values, color: INK })
}

/** Message of the state: who confirmed a bank transfer decides it. */
function stateKey(record: Record<string, unknown>): string {
  const status = String(record['status'])
  if (bankPaid(record) !== null) return 'state_BANK'
  const is_open = status === 'ISSUED' || status === 'EXPIRED'
  return is_open && creatorReport(record) !== null ? 'state_REPORTED' : `state_${status}`
}

/** Label of the merchant's address: what was paid by bank, or is not payable, goes there neither before nor after. */
function merchantLabel(record: Record<string, unknown>, messages: PdfMessages): string {
  if (isPayable(record)) return messages.pay_to
  return record['paid_by'] === 'chain' ? messages.paid_to : messages.merchant
}

function isPayable(record: Record<string, unknown>): boolean {
  return BigInt(String(record['amount_due_minor'])) > 0n && record['status'] !== 'VOID' && record['status'] !== 'EXPIRED'
}

/** Bank transfer that paid the invoice, by the signature of the merchant; null if none did. */
function bankPaid(record: Record<string, unknown>): BankPayment | null {
  return record['paid_by'] === 'bank' ? (record['bank_payment'] as BankPayment | null) : null
}

interface CreatorReport {
  amount: string
  currency: string
  booked_at: string | null
  reported_by: string
}

/** Bank transfer that only the creator of the invoice reported; null if there is none. */
function creatorReport(record: Record<string, unknown>): CreatorReport | null {
  return (record['bank_reports'] as CreatorReport[]).find(({ reported_by }) => reported_by === 'creator') ?? null
}

function isPdfMessage(messages: PdfMessages, key: string): key is keyof PdfMessages {
  return Object.hasOwn(messages, key)
}

/** A ring: filled with a tick when paid, half filled while something is under way, with a stroke when nothing is to be paid any more. */
function drawState({ page }: Sheet, status: string): void {
  const at = { x: LEFT + 8, y: 669 }
  const ring = (filled: boolean) =>
    page.drawCircle({ ...at, size: 8, borderColor: INK, borderWidth: 1.4, ...(filled ? { color: INK } : { opacity: 0 }) })
  ring(status === 'SETTLED')
  if (status === 'SETTLED') page.drawSvgPath('M-4 0l2.8 3L4.4 -3.2', { ...at, borderColor: WHITE, borderWidth: 1.8 })
  if (status === 'PROCESSING' || status === 'PARTIALLY_PAID') page.drawSvgPath('M0 -8a8 8 0 0 1 0 16z', { ...at, color: INK })
  if (status === 'EXPIRED' || status === 'VOID') page.drawSvgPath('M-5.6 5.6L5.6 -5.6', { ...at, borderColor: INK, borderWidth: 1.4 })
}

type Row = { label: string; value: string; exact: boolean }

type RowText = [label: string, value: string | null, exact: boolean]

function rowsOf(record: Record<string, unknown>, messages: PdfMessages): Row[] {
  const rows = record['status'] === 'SETTLED' ? paidRows(record, messages) : askedRows(record, messages)
  return rows.flatMap(([label, value, exact]) => (value === null ? [] : [{ label, value, exact }]))
}

/** More payments than these are in the record only. */
const PAID_PARTS = 3

/** Rows of a paid invoice: a confirmation of the payment, without the ways to pay. */
function paidRows(record: Record<string, unknown>, messages: PdfMessages): RowText[] {
  const text = textsOf(record)
  const payments = record['payments'] as { tx_hash: string; payer: string; amount_minor: string; transaction_url: string | null }[]
  const parts = payments.length <= PAID_PARTS ? payments : payments.filter(({ tx_hash }) => tx_hash === record['tx_hash'])
  return [
    [messages.merchant, merchantText(record, messages), false],
    [messages.client, text('client_name'), false],
    [messages.order_number, text('order_number'), false],
    [messages.for, text('memo'), false],
    [messages.erased, text('erased_at'), false],
    ...bankPaidRows(record, messages),
    [messages.amount_paid, payments.length === 0 ? null : `${usdcText(BigInt(text('amount_paid_minor') ?? '0'))} USDC`, false],
    [messages.paid_on, text('settled_at'), false],
    ...parts.flatMap(({ tx_hash, payer, amount_minor, transaction_url }): RowText[] => [
      [messages.amount_paid, parts.length === 1 ? null : `${usdcText(BigInt(amount_minor))} USDC`, false],
      [messages.payer, payer, true],
      [messages.transaction, tx_hash, true],
      [messages.explorer, transaction_url, true],
    ]),
    [messages.fee, `${String(record['protocol_fee_usdc'])} USDC`, false],
    [messages.token, text('asset'), true],
    [messages.issued, text('created_at'), false],
    [messages.shop, text('return_url'), true],
  ]
}

/** Rows of the bank transfer that paid the invoice; none for a payment on the chain. */
function bankPaidRows(record: Record<string, unknown>, messages: PdfMessages): RowText[] {
  const paid = bankPaid(record)
  if (paid === null) return []
  const { amount, currency, iban, reference, booked_on, entry_reference, document_sha256 } = paid
  const entry = [booked_on, entry_reference].filter((part) => part !== null && covered(part)).join('  ')
  return [
    [messages.invoice_amount, `${twoDecimals(String(record['amount_usdc']))} USDC`, false],
    [messages.bank_amount, `${amount} ${currency}`, false],
    [messages.paid_by_bank, iban === null ? null : inFours(iban), true],
    [messages.bank_reference, reference === null ? null : inFours(reference), true],
    [messages.bank_entry, entry === '' ? null : entry, true],
    [messages.confirmed_by, messages.by_the_merchant, false],
    [messages.statement_hash, document_sha256, true],
  ]
}

/** Text of a bank that the font of exact values prints. */
function covered(text: string): boolean {
  return /^[ -~]*$/.test(text)
}

function inFours(text: string): string {
  return text.replace(/(.{4})(?=.)/g, '$1 ')
}

function textsOf(record: Record<string, unknown>): (name: string) => string | null {
  return (name) => (typeof record[name] === 'string' ? record[name] : null)
}

function askedRows(record: Record<string, unknown>, messages: PdfMessages): RowText[] {
  const bank = record['bank_coordinates'] as Record<string, string | null> | null
  const text = textsOf(record)
  const due = text('amount_due_minor')
  const report = creatorReport(record)
  return [
    [messages.merchant, merchantText(record, messages), false],
    [
      messages.deposit_address,
      record['eip681_uri'] === null ? null : ((record['deposit'] as { address: string } | null)?.address ?? null),
      true,
    ],
    [messages.client, text('client_name'), false],
    [messages.order_number, text('order_number'), false],
    [messages.for, text('memo'), false],
    [messages.erased, text('erased_at'), false],
    [messages.amount_due, due === null ? null : `${usdcText(BigInt(due))} USDC`, false],
    [messages.fee, `${String(record['protocol_fee_usdc'])} USDC`, false],
    [messages.token, text('asset'), true],
    [messages.issued, text('created_at'), false],
    [messages.payable_until, text('expires_at'), false],
    [messages.transaction, text('tx_hash'), true],
    [messages.pay_online, isPayable(record) ? text('pay_url') : null, true],
    [
      messages.bank_account,
      bank === null ? null : [bank['account_name'], bank['bank_name'], bank['bic']].filter(Boolean).join(', '),
      false,
    ],
    [messages.iban, bank === null ? null : inFours(bank['iban'] ?? ''), true],
    [messages.bank_amount, bank?.['amount'] == null ? null : `${bank['amount']} ${bank['currency']}`, false],
    [messages.bank_reference, bank === null ? null : inFours(bank['reference'] ?? ''), true],
    [messages.bank_report, report === null ? null : reportText(report, messages), false],
    [messages.shop, text('return_url'), true],
  ]
}

function reportText({ amount, currency, booked_at }: CreatorReport, messages: PdfMessages): string {
  return `${[`${amount} ${currency}`, booked_at].filter((part) => part !== null).join(', ')}: ${messages.reported_by_creator}`
}

function merchantText(record: Record<string, unknown>, messages: PdfMessages): string {
  const is_operator = record['entitlement'] !== null
  if (record['merchant_verified'] === true) return is_operator ? messages.signed_by_operator : messages.signed_by_merchant
  return is_operator ? messages.operator_not_signed : messages.not_signed
}

type LetteredRow = Lettered & { label: string }

/** Exact values are of letters that every font has. */
function letteredRows(document: PDFDocument, { plain, values }: Sheet, rows: readonly Row[]): Promise<LetteredRow[]> {
  const lettered = lettering(document, plain)
  return Promise.all(
    rows.map(async ({ label, value, exact }) => ({
      label,
      ...(exact ? { text: printable(value, values), font: values } : await lettered(value)),
    })),
  )
}

/** Draws the rows, on further pages where one is full; returns the last page and the height at which the rows ended. */
function drawRows(first: Sheet, rows: readonly LetteredRow[], from: number, nextSheet: () => Sheet): { sheet: Sheet; y: number } {
  let [sheet, y] = [first, from]
  for (const { label, text, font } of rows) {
    const lines = wrapped(text, font, RIGHT - VALUE)
    if (y - LEADING * (lines.length - 1) < ROW_LEAST) [sheet, y] = [nextSheet(), NEXT_PAGE_TOP]
    const { page, plain } = sheet
    rule(page, y + LEADING - 1, LEFT, RIGHT, RULE)
    page.drawText(label, { x: LEFT, y, size: SIZE, font: plain, color: MUTED })
    for (const line of lines) {
      page.drawText(line, { x: VALUE, y, size: SIZE, font, color: INK })
      y -= LEADING
    }
    y -= 5
  }
  rule(sheet.page, y + LEADING - 1, LEFT, RIGHT, RULE)
  return { sheet, y }
}

/** Width in points of the caption of the only code; of two codes each has a caption of its width, and three lines more. */
const CAPTION = 230
const CODE_GAP = 24
const CODE_LINES = 30
const CAPTION_SIZE = 8

/** The code that wallets read, where a transfer by it is matched, and the seal by which this paper and the page are compared. `top` is their upper edge. */
function drawProofs({ page, plain, values, messages }: Sheet, record: Record<string, unknown>, top: number): void {
  const caption = (text: string, x: number, y: number, font = plain) => page.drawText(text, { x, y, size: 8, font, color: MUTED })
  const { eip681_uri } = record
  const epc = epcOf(record)
  if (typeof eip681_uri === 'string') drawCode(page, eip681_uri, LEFT, top - CODE_SIDE)
  const below = eip681_uri === null ? 0 : CODE_SIDE
  const width = epc === null ? CAPTION : CODE_SIDE
  const lines = wrapped(eip681_uri === null ? messages.no_code : messages.code, plain, width, CAPTION_SIZE)
  if (isPayable(record)) for (const [index, line] of lines.entries()) caption(line, LEFT, top - below - 14 - 10 * index)
  if (epc !== null) {
    const at = LEFT + CODE_SIDE + CODE_GAP
    drawCode(page, epc, at, top - CODE_SIDE)
    for (const [index, line] of wrapped(messages.bank_code, plain, CODE_SIDE, CAPTION_SIZE).entries())
      caption(line, at, top - CODE_SIDE - 14 - 10 * index)
  }
  const digest = String(record['cart_hash'])
  const x = RIGHT - SEAL_SIDE
  for (const { d, stroke_width } of sealPaths(digest)) {
    page.drawSvgPath(d, { x, y: top, scale: SEAL_SIDE / SEAL_UNITS, borderColor: METAL, borderWidth: stroke_width })
  }
  const { seal } = messages
  caption(seal, RIGHT - plain.widthOfTextAtSize(seal, 8), top - SEAL_SIDE - 14)
  for (const [index, half] of [digest.slice(0, 34), digest.slice(34)].entries()) {
    caption(half, RIGHT - values.widthOfTextAtSize(half, 8), top - SEAL_SIDE - 26 - 10 * index, values)
  }
}

/** Code of a bank transfer; null if none is due, or if there is none for the account. */
function epcOf(record: Record<string, unknown>): string | null {
  const bank = record['bank_coordinates'] as { epc_payload: string | null; source: string } | null
  return record['status'] === 'ISSUED' && bank?.source === 'invoice' ? bank.epc_payload : null
}

function drawFoot({ page, plain, messages }: Sheet, { status, paid_by }: Record<string, unknown>): void {
  rule(page, 64, LEFT, RIGHT, RULE)
  const paid = paid_by === 'bank' ? messages.foot_bank : messages.foot_paid
  page.drawText(status === 'SETTLED' ? paid : messages.foot, { x: LEFT, y: 48, size: 8, font: plain, color: MUTED })
}

function rule(page: PDFPage, y: number, from: number, to: number, color: typeof INK): void {
  page.drawLine({ start: { x: from, y }, end: { x: to, y }, thickness: 0.6, color })
}

/** As the page shows it: 12.5 is 12.50, 0.000001 stays. */
function twoDecimals(amount: string): string {
  const [whole = '', part = ''] = amount.split('.')
  return `${whole}.${part.padEnd(2, '0')}`
}

/** Lines that fit, broken between words; at most `LINES_MAX`. */
function wrapped(text: string, font: PDFFont, most: number, size = SIZE): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((one) => pieces(one, font, most, size))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (font.widthOfTextAtSize(longer, size) <= most) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  lines.push(line)
  return lines.length <= LINES_MAX ? lines : [...lines.slice(0, LINES_MAX - 1), '…']
}

/** The word, in as many pieces as it fills lines. */
function pieces(word: string, font: PDFFont, most: number, size: number): string[] {
  const found: string[] = []
  let [piece, width] = ['', 0]
  for (const character of word) {
    const more = font.widthOfTextAtSize(character, size)
    if (width + more > most) {
      found.push(piece)
      ;[piece, width] = ['', 0]
    }
    piece += character
    width += more
  }
  return [...found, piece]
}

function drawCode(page: PDFPage, text: string, x: number, y: number): void {
  const { size, isDark } = qrSquares(text)
  const side = CODE_SIDE / size
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (!isDark(row, column)) continue
      page.drawRectangle({ x: x + column * side, y: y + (size - 1 - row) * side, width: side, height: side, color: rgb(0, 0, 0) })
    }
  }
}
