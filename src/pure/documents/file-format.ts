/** Recognizes the format of a file from its beginning, so that a refusal can name what was sent and what reads it. */

interface FileFormat {
  readonly id: 'mt_statement' | 'mt' | 'bai2' | 'csv' | 'ach' | 'ofx' | 'qif' | 'edifact' | 'html' | 'binary' | 'json' | 'text'
  /** With an article, for a sentence. */
  readonly name: string
}

const HEAD_CHARS = 16_384

/** Formats with a binary signature, as Latin-1 or with replacement characters. */
const SIGNATURES: readonly (readonly [name: string, ...begins: string[]])[] = [
  ['a ZIP archive (an .xlsx workbook is one too)', 'PK\u0003\u0004'],
  ['a gzip archive', '\u001f\u008b', '\u001f\ufffd'],
  ['an .xls workbook', '\u00d0\u00cf\u0011\u00e0', '\ufffd\ufffd\u0011\ufffd'],
  ['a PDF', '%PDF-'],
]

/** Blocks 1 and 2 of a SWIFT message: the type after I (input) or O (output). */
const MT_BLOCKS = /\{1:[A-Z]\d{2}[A-Z0-9]{12}[^{}]{0,20}\}(?:\s{0,4}\{2:[IO](\d{3}))?/
/** Tags at the start of a line: those of statements, also of a part of one, and those of other messages. */
const MT_STATEMENT = /(?:^|\n)[^\S\n]{0,4}:(?:25[A-Z]?|28C|60[FM]|61|62[FM]|86|34F|94[0-2]):/
const MT_TAGS = /(?:^|\n)[^\S\n]{0,4}:20:[^\n]{0,40}\n[^\S\n]{0,4}:\d\d[A-Z]?:/
const STATEMENTS = new Set(['940', '941', '942', '950'])

const BEGINNINGS: readonly (readonly [id: FileFormat['id'], name: string, begins: RegExp])[] = [
  ['bai2', 'a BAI2 report', /^\s{0,20}01,[^,\n]{0,40},[^,\n]{0,40},[0-9]{6},/],
  ['ofx', 'an OFX or QFX file', /^\s{0,20}(?:OFXHEADER:|<\?OFX|(?:<\?xml[^>]{0,200}\?>\s{0,20})?(?:<\?OFX[^>]{0,200}\?>\s{0,20})?<OFX>)/i],
  ['qif', 'a QIF file', /^\s{0,20}!(?:Type|Account|Option):/i],
  ['ach', 'an ACH file (Nacha)', /^\s{0,4}101[ 0-9]{20}/],
  ['edifact', 'an EDIFACT message', /^\s{0,20}UN[AB][+:]/],
  ['html', 'an HTML page', /^\s{0,20}<(?:!doctype\s{1,20}html|html)[\s>]/i],
  ['json', 'JSON without a message', /^\s{0,20}[[{]\s{0,200}["[{\]}]/],
]

const SEPARATORS = [';', '\t', ',', '|'] as const

/** The format of a text; null for XML, also where it is broken, and for an empty text. */
export function fileFormat(text: string): FileFormat | null {
  const head = text.slice(0, HEAD_CHARS).replace(/^\ufeff/, '')
  const signed = SIGNATURES.find(([, ...begins]) => begins.some((one) => head.startsWith(one)))
  if (signed !== undefined) return { id: 'binary', name: signed[0] }
  const beginning = BEGINNINGS.find(([, , begins]) => begins.test(head))
  if (beginning !== undefined) return { id: beginning[0], name: beginning[1] }
  if (/^\s*$/.test(head) || /^\s*</.test(head)) return null
  const found = swiftFormat(head) ?? (hasColumns(head) ? { id: 'csv' as const, name: 'text in columns (CSV)' } : null)
  return found ?? (head.includes('<') ? null : { id: 'text', name: 'text of an unknown format' })
}

/** MT messages, also after a line that a bank puts before them. */
function swiftFormat(head: string): FileFormat | null {
  const blocks = MT_BLOCKS.exec(head)
  const type = blocks?.[1]
  if (type !== undefined) return { id: STATEMENTS.has(type) ? 'mt_statement' : 'mt', name: `an MT${type} message (SWIFT)` }
  if (MT_STATEMENT.test(head)) return { id: 'mt_statement', name: 'an MT940 or MT942 statement (SWIFT)' }
  return blocks !== null || MT_TAGS.test(head) ? { id: 'mt', name: 'an MT message (SWIFT)' } : null
}

/** Two lines with the same number of the same separator. */
function hasColumns(head: string): boolean {
  const [first = '', second = ''] = head.split(/\r?\n/).filter((line) => line.trim() !== '')
  return SEPARATORS.some((separator) => {
    const count = first.split(separator).length
    return count > 2 && second.split(separator).length === count
  })
}
