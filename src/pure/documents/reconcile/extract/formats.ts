/** Formats that begin with certain bytes, as Latin-1 or as replacement characters where they are no UTF-8. */
const SIGNATURES: readonly (readonly [name: string, ...begins: string[]])[] = [
  ['a ZIP archive (an .xlsx workbook is one too); unpack it, or export it in a format that is read', 'PK\u0003\u0004'],
  ['a gzip archive; unpack it', '\u001f\u008b', '\u001f\ufffd'],
  ['an .xls workbook', '\u00d0\u00cf\u0011\u00e0', '\ufffd\ufffd\u0011\ufffd'],
  ['a PDF', '%PDF-'],
]

/** Formats of bank files that are not read here, by how they begin, so that a refusal can name what it was given. */
const FORMATS: readonly (readonly [name: string, begins: RegExp])[] = [
  ['an MT940 or MT942 statement (SWIFT)', /^\s*(?:\{1:F01|:20:|:25:)/],
  ['a BAI2 report', /^\s*01,[^,\n]{0,40},[^,\n]{0,40},[0-9]{6},/],
  ['an OFX or QFX file', /^\s*(?:OFXHEADER:|<\?OFX|(?:<\?xml[^>]{0,200}\?>\s*)?<OFX>)/i],
  ['a QIF file', /^\s*!(?:Type|Account|Option):/i],
  ['an ACH file (Nacha)', /^\s{0,4}101[ 0-9]/],
  ['EDIFACT', /^\s*UN[AB][+:]/],
  ['an HTML page', /^\s*<(?:!doctype\s+html|html)[\s>]/i],
  ['JSON', /^\s*[[{]\s*["[{\]}]/],
]

/** Text in columns: two lines or more that have the same separator, and the same number of it. */
const SEPARATORS = [';', '\t', ',', '|'] as const
const HEAD_CHARS = 4_096

/** What the beginning of a file shows it to be; null where it is XML or cannot be told. */
export function formatOf(head: string): string | null {
  const text = head.slice(0, HEAD_CHARS).replace(/^\ufeff/, '')
  const signed = SIGNATURES.find(([, ...begins]) => begins.some((one) => text.startsWith(one)))
  const found = signed ?? FORMATS.find(([, begins]) => begins.test(text))
  if (found !== undefined) return found[0]
  if (/^\s*</.test(text)) return null
  const [first = '', second = ''] = text.split(/\r?\n/, 2)
  const columns = SEPARATORS.some((separator) => {
    const count = first.split(separator).length
    return count > 2 && second.split(separator).length === count
  })
  return columns ? 'text in columns (CSV)' : null
}

/** The name of an ISO 20022 message, `camt.054.001.08`, in the namespace of its schema; null for any other namespace. */
export function messageName(namespace: string): string | null {
  return /(?:^|[:/])([a-z]{4}\.[0-9]{3}(?:\.[0-9]{3}\.[0-9]{2})?)/.exec(namespace)?.[1] ?? null
}
