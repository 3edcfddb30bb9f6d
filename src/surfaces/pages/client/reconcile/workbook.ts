import type { EntryCells, PaymentCells, ReportCells } from './messages.ts'
import type { ReportRows } from './report-rows.ts'

/**
 * The report as a workbook (ECMA-376, Office Open XML, 5th edition 2016; ZIP by APPNOTE 6.3.3). Texts are inline strings, which no
 * spreadsheet runs as a formula; amounts are numbers where a spreadsheet keeps all their digits, else text. Compressed by the browser.
 */
export async function workbookBlob(rows: ReportRows): Promise<Blob> {
  const zip = new Zip()
  const names: string[] = []
  for (const { name, columns, cells } of sheetsOf(rows)) {
    const cursor = cells[Symbol.iterator]()
    let next = cursor.next()
    for (let part = 1; part === 1 || next.done !== true; part++) {
      const taken = function* (): Generator<ReportCells> {
        for (let count = 0; count < ROWS_MAX && next.done !== true; count++, next = cursor.next()) yield next.value
      }
      names.push(part === 1 ? name : `${name} ${part}`)
      await zip.add(`xl/worksheets/sheet${names.length}.xml`, sheetXml(columns, taken()))
    }
  }
  const numbers = names.map((_, index) => index + 1)
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
  const overrides = numbers.map((at) => `<Override PartName="/xl/worksheets/sheet${at}.xml" ContentType="${type}.worksheet+xml"/>`)
  const sheets = names.map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="r${index + 1}"/>`)
  await zip.add('[Content_Types].xml', [
    `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`,
    `<Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/>${overrides.join('')}</Types>`,
  ])
  await zip.add('_rels/.rels', [relationships([['officeDocument', 'xl/workbook.xml']])])
  await zip.add('xl/_rels/workbook.xml.rels', [relationships(numbers.map((at) => ['worksheet', `worksheets/sheet${at}.xml`]))])
  await zip.add('xl/workbook.xml', [`${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets.join('')}</sheets></workbook>`])
  return zip.blob(`${type}.sheet`)
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'

function relationships(targets: readonly (readonly [kind: string, target: string])[]): string {
  const each = targets.map(([kind, target], index) => `<Relationship Id="r${index + 1}" Type="${OFFICE}/${kind}" Target="${target}"/>`)
  return `${XML}<Relationships xmlns="${PACKAGE}/relationships">${each.join('')}</Relationships>`
}

type Column = readonly [head: string, name: keyof PaymentCells | keyof EntryCells, width: number, kind?: 'amount']

interface Sheet {
  name: string
  columns: readonly Column[]
  cells: Iterable<ReportCells>
}

/** Rows of a sheet, without its head. */
const ROWS_MAX = 1_048_575

function sheetsOf(rows: ReportRows): Sheet[] {
  return [
    { name: 'Payments', columns: PAYMENT_COLUMNS, cells: rows.each('all') },
    { name: 'Entries without a payment', columns: ENTRY_COLUMNS, cells: rows.each('unmatched') },
    { name: 'Ignored entries', columns: ENTRY_COLUMNS, cells: rows.each('ignored') },
  ]
}

const PAYMENT_COLUMNS: readonly Column[] = [
  ['End-to-end id', 'id', 36],
  ['Verdict', 'verdict', 20],
  ['Reason', 'why', 32],
  ['Currency', 'currency', 9],
  ['Instructed', 'amount', 16, 'amount'],
  ['Paid', 'net', 16, 'amount'],
  ['Difference', 'difference', 14, 'amount'],
  ['Due', 'date', 12],
  ['Counterparty account', 'account', 30],
  ['Position in the file', 'place', 12],
]
const ENTRY_COLUMNS: readonly Column[] = [
  ['Entry', 'entry', 10],
  ['End-to-end id', 'id', 36],
  ['Reference', 'reference', 30],
  ['Direction', 'direction', 10],
  ['Currency', 'currency', 9],
  ['Amount', 'amount', 16, 'amount'],
  ['Booked', 'date', 12],
  ['Counterparty account', 'account', 30],
  ['Reason', 'reason', 32],
]

function* sheetXml(columns: readonly Column[], rows: Iterable<ReportCells>): Generator<string> {
  const widths = columns.map(([, , width], index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`)
  const frozen = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
  yield `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">${frozen}</sheetView></sheetViews>`
  yield `<cols>${widths.join('')}</cols><sheetData><row>${columns.map(([head]) => textCell(head)).join('')}</row>`
  for (const row of rows) {
    const cells: Partial<Record<Column[1], string | null>> = row
    yield `<row>${columns.map(([, name, , kind]) => (kind === 'amount' ? amountCell : textCell)(cells[name] ?? null)).join('')}</row>`
  }
  yield '</sheetData></worksheet>'
}

/** A spreadsheet computes with binary floating point numbers, which keep 15 digits. */
const EXACT_NUMBER = /^(?=(?:\D*\d){1,15}\D*$)-?\d+(?:\.\d+)?$/

function amountCell(text: string | null): string {
  return text !== null && EXACT_NUMBER.test(text) ? `<c><v>${text}</v></c>` : textCell(text)
}

const CELL_CHARS_MAX = 32_767
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' }

/** ST_Xstring: `_x0041_` is an escape there, so its underscore is escaped. XML 1.0 has no form for the other control characters. */
function textCell(text: string | null): string {
  if (text === null || text === '') return '<c/>'
  const clean = text
    .slice(0, CELL_CHARS_MAX)
    .toWellFormed()
    .replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replace(/[&<>\r]/g, (character) => ENTITIES[character] ?? '')
  return `<c t="inlineStr"><is><t xml:space="preserve">${clean}</t></is></c>`
}

/** Lines are joined into blocks, so that each is encoded and compressed together. */
const BLOCK_CHARS = 262_144
const SIZE_MAX = 0xffff_ffff
/** 1980-01-01, the first day of the format: the same report gives the same file. */
const DATE = 0x21
const DEFLATED = 8
const UTF8_NAMES = 0x0800
const VERSION = 20

/** ZIP archive without ZIP64: no file and no archive beyond 4 GiB. */
class Zip {
  private readonly parts: BlobPart[] = []
  private readonly directory: Uint8Array<ArrayBuffer>[] = []
  private size = 0

  /** Throws a RangeError beyond 4 GiB. */
  async add(name: string, lines: Iterable<string>): Promise<void> {
    const { body, crc, bytes } = await deflate(lines)
    const encoded = new TextEncoder().encode(name)
    const offset = this.size
    this.size += 30 + encoded.length + body.size
    if (bytes > SIZE_MAX || this.size > SIZE_MAX) throw new RangeError('the workbook is larger than 4 GiB')
    const common = [...two(VERSION), ...two(UTF8_NAMES), ...two(DEFLATED), ...two(0), ...two(DATE), ...four(crc), ...four(body.size)]
    const rest = [...four(bytes), ...two(encoded.length), ...two(0)]
    this.parts.push(new Uint8Array([...four(0x0403_4b50), ...common, ...rest, ...encoded]), body)
    const place = [...two(0), ...two(0), ...two(0), ...four(0), ...four(offset)]
    this.directory.push(new Uint8Array([...four(0x0201_4b50), ...two(VERSION), ...common, ...rest, ...place, ...encoded]))
  }

  blob(type: string): Blob {
    const length = this.directory.reduce((sum, entry) => sum + entry.length, 0)
    const count = two(this.directory.length)
    const end = [...four(0x0605_4b50), ...two(0), ...two(0), ...count, ...count, ...four(length), ...four(this.size), ...two(0)]
    return new Blob([...this.parts, ...this.directory, new Uint8Array(end)], { type })
  }
}

function two(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff]
}

function four(value: number): number[] {
  return [...two(value & 0xffff), ...two(value >>> 16)]
}

async function deflate(lines: Iterable<string>): Promise<{ body: Blob; crc: number; bytes: number }> {
  const { readable, writable } = new CompressionStream('deflate-raw')
  const body = new Response(readable).blob()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  let [crc, bytes, block] = [0xffff_ffff, 0, '']
  const write = async () => {
    const chunk = encoder.encode(block)
    block = ''
    bytes += chunk.length
    for (const byte of chunk) crc = (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
    await writer.write(chunk)
  }
  for (const line of lines) {
    block += line
    if (block.length >= BLOCK_CHARS) await write()
  }
  await write()
  await writer.close()
  return { body: await body, crc: (crc ^ 0xffff_ffff) >>> 0, bytes }
}

/** CRC-32 (ISO 3309) of each byte. */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb8_8320 ^ (value >>> 1) : value >>> 1
  return value
})
