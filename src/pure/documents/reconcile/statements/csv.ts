import { printableText } from '../values.ts'
import { creditorReferences } from './information.ts'
import { LineSplitter } from './encodings.ts'
import { dayOf, isoDay, plainAmount, PlainStatements, type PlainTarget } from './plain-entries.ts'

/** Meanings of a column. */
export const CSV_COLUMNS = [
  'booked_on',
  'value_date',
  'amount',
  'debit',
  'credit',
  'direction',
  'currency',
  'account',
  'end_to_end_id',
  'reference',
  'counterparty_name',
  'counterparty_account',
  'text',
] as const
export type CsvColumn = (typeof CSV_COLUMNS)[number]

/** Header of the column for each; headers are compared without case and accents. */
export type CsvColumns = Partial<Record<CsvColumn, string>>

/** Headers of common banks and accounting programs, without case, accents and signs. */
const HEADERS: Readonly<Record<CsvColumn, readonly string[]>> = {
  booked_on: words(
    'buchungstag|buchungsdatum|buchung|booking date|posting date|posted date|date|datum|transaction date|completed date|data operacji|data ksiegowania|fecha|fecha operacion|date comptable|date operation|boekdatum|boekingsdatum|data contabile',
  ),
  value_date: words(
    'valuta|valutadatum|valuta datum|wertstellung|wertstellungsdatum|value date|data waluty|fecha valor|date valeur|date de valeur|rentedatum|data valuta',
  ),
  amount: words(
    'betrag|betrag eur|betrag in eur|umsatz|umsatz in eur|amount|amount eur|transaction amount|kwota|kwota operacji|importe|montant|bedrag|bedrag eur|importo',
  ),
  debit: words('soll|belastung|lastschrift|debit|debit amount|withdrawal|withdrawals|paid out|money out|ausgang|obciazenia|cargo|af'),
  credit: words('haben|gutschrift|credit|credit amount|deposit|deposits|paid in|money in|eingang|uznania|abono|bij'),
  direction: words(
    'soll haben|soll haben kennzeichen|s h|sh|af bij|debit credit|credit debit|dc|cr dr|debit credit indicator|transaction type dc',
  ),
  currency: words('waehrung|wahrung|currency|ccy|waluta|divisa|devise|munt|muntsoort|valuta code'),
  account: words(
    'auftragskonto|iban auftragskonto|konto|account|account number|account iban|own iban|rekening|iban bban|compte|cuenta|rachunek',
  ),
  end_to_end_id: words(
    'kundenreferenz end to end|kundenreferenz|end to end id|endtoendid|end to end reference|end to end referenz|ende zu ende referenz|e2e|end to end',
  ),
  reference: words('bank reference|bankreferenz|referenz|reference|transaction id|volgnr|referentie|transaktionsnummer|numer referencyjny'),
  counterparty_name: words(
    'beguenstigter zahlungspflichtiger|begunstigter zahlungspflichtiger|name zahlungsbeteiligter|auftraggeber empfanger|auftraggeber beguenstigter|empfanger|zahlungsempfanger|zahlungspflichtige r|zahlungsempfanger in|name|counterparty|counterparty name|payee|beneficiary|naam tegenpartij|tegenpartij|nadawca odbiorca|beneficiario|naam omschrijving',
  ),
  counterparty_account: words(
    'kontonummer iban|kontonummer|iban|iban zahlungsbeteiligter|counterparty account|counterparty iban|tegenrekening|tegenrekening iban bban|numer konta|beneficiary account',
  ),
  text: words(
    'verwendungszweck|zweck|buchungstext verwendungszweck|description|details|memo|text|omschrijving|mededelingen|opis|tytul|opis operacji|concepto|libelle|narrative|communication|particulars|descrizione',
  ),
}

function words(text: string): readonly string[] {
  return text.split('|')
}

const SEPARATORS = [';', '\t', ',', '|'] as const
/** Lines of a bank in front of the header. */
const LINES_BEFORE_HEADER = 40
/** Rows of a file, held until its dates and amounts are understood. */
const ROWS = 500_000
const CELLS = 200

interface CsvRow {
  line: number
  cells: string[]
}

/**
 * Reads statements in columns (RFC 4180, with any of four separators). Columns are found by the headers of common banks, or named by the
 * caller; dates and amounts must be unambiguous over the whole file.
 */
export class CsvReader {
  private readonly statements: PlainStatements
  private readonly target: PlainTarget
  private readonly named: CsvColumns | null
  private readonly lines = new LineSplitter((text, line) => this.line(text, line))
  private readonly before: { text: string; line: number }[] = []
  private separator = ''
  private columns: Partial<Record<CsvColumn, number>> | null = null
  private readonly rows: CsvRow[] = []
  private currency_told = false
  private quoted: { line: number; text: string } | null = null

  constructor(target: PlainTarget, named: CsvColumns | null) {
    this.target = target
    this.named = named
    this.statements = new PlainStatements('csv', target)
  }

  write(chunk: string | Uint8Array): boolean {
    this.lines.write(chunk)
    return true
  }

  end(): boolean {
    this.lines.end()
    const { target } = this
    if (this.columns === null) {
      const [first] = this.before
      const headers = first === undefined ? 'no header' : `the headers ${printableText(first.text.slice(0, 200)) ?? ''}`
      target.findings.add('CSV_COLUMNS', target.file, first?.line ?? null, headers)
      return true
    }
    if (this.rows.length === 0) target.findings.add('NOTHING_TO_READ', target.file, null)
    else this.readRows(this.columns)
    return true
  }

  private line(text: string, line: number): void {
    const whole = this.quoted === null ? text : `${this.quoted.text}\n${text}`
    const first = this.quoted?.line ?? line
    // A quoted cell continues in the next line.
    if ((whole.match(/"/g)?.length ?? 0) % 2 === 1 && whole.length < 65_536) {
      this.quoted = { line: first, text: whole }
      return
    }
    this.quoted = null
    if (whole.trim() === '') return
    if (this.columns === null) return this.findHeader(whole, first)
    if (this.rows.length === ROWS) {
      this.target.findings.add('CSV_ROWS', this.target.file, first)
      return
    }
    if (this.rows.length < ROWS) this.rows.push({ line: first, cells: cellsOf(whole, this.separator) })
  }

  private findHeader(text: string, line: number): void {
    this.before.push({ text, line })
    if (this.before.length > LINES_BEFORE_HEADER) return
    for (const separator of SEPARATORS) {
      const columns = columnsOf(cellsOf(text, separator), this.named)
      if (columns === null) continue
      this.columns = columns
      this.separator = separator
      return
    }
  }

  private readRows(columns: Partial<Record<CsvColumn, number>>): void {
    const { target, rows } = this
    const cell = ({ cells }: CsvRow, column: CsvColumn) => cells[columns[column] ?? -1]?.trim() ?? ''
    const order = dateOrder(rows.flatMap((row) => [cell(row, 'booked_on'), cell(row, 'value_date')]))
    const point = decimalSign(rows.flatMap((row) => [cell(row, 'amount'), cell(row, 'debit'), cell(row, 'credit')]))
    if (order === null || point === null) {
      target.findings.add(order === null ? 'CSV_DATES' : 'CSV_AMOUNTS', target.file, rows[0]?.line ?? null)
      return
    }
    const accounts = new Map<string, CsvRow[]>()
    for (const row of rows) {
      const account = cell(row, 'account')
      const known = accounts.get(account)
      if (known === undefined) accounts.set(account, [row])
      else known.push(row)
    }
    for (const [account, own] of accounts) {
      const days = own.map((row) => dayIn(cell(row, 'booked_on'), order)).filter((day) => day !== null)
      const least = days.reduce((one, other) => Math.min(one, other), Infinity)
      this.statements.open({
        account: account === '' ? null : account.replace(/\s/g, ''),
        id: null,
        sequence: null,
        page: null,
        ...(days.length > 0 && { from_day: least }),
      })
      for (const row of own) this.readRow(row, (column) => cell(row, column), { order, point })
    }
  }

  /** A code in place of a header names the currency of all rows. */
  private namedCurrency(): string {
    const code = this.named?.currency?.trim() ?? ''
    return /^[A-Z]{3}$/.test(code) ? code : ''
  }

  private readRow({ line }: CsvRow, cell: (column: CsvColumn) => string, how: { order: DateOrder; point: DecimalSign }): void {
    const { target } = this
    const [debit, credit] = [cell('debit'), cell('credit')]
    const written = cell('amount') || debit || credit
    const amount = plainDecimal(written, how.point)
    if (amount === null) {
      // Totals and notes below the rows have no date.
      if (cell('booked_on') !== '') target.findings.add('ENTRY_UNREADABLE', target.file, line)
      return
    }
    const currency = cell('currency').toUpperCase() || this.namedCurrency() || NO_CURRENCY
    if (currency === NO_CURRENCY && !this.currency_told) {
      this.currency_told = true
      target.findings.add('CURRENCY_MISSING', target.file, line)
    }
    const amount_minor = plainAmount(amount.text, currency, line, target)
    if (amount_minor === null) return
    const day = dayIn(cell('booked_on'), how.order)
    const is_debit =
      cell('amount') === '' ? debit !== '' : amount.negative || /^(?:s|d|dr|af|soll|debit|debet|obciazenie)$/i.test(cell('direction'))
    const text = cell('text')
    this.statements.add({
      line,
      direction: is_debit ? 'DBIT' : 'CRDT',
      currency,
      amount_minor,
      day,
      booked_on: isoDay(day),
      value_date: isoDay(dayIn(cell('value_date'), how.order)),
      end_to_end_id: cell('end_to_end_id') || null,
      counterparty_name: cell('counterparty_name') || null,
      counterparty_account: cell('counterparty_account').replace(/\s/g, '') || null,
      servicer_reference: cell('reference') || null,
      creditor_references: creditorReferences(text),
      texts: text === '' ? [] : [text],
    })
  }
}

const NO_CURRENCY = 'XXX'

function cellsOf(line: string, separator: string): string[] {
  const cells: string[] = []
  let [cell, quoted] = ['', false]
  for (let index = 0; index < line.length; index++) {
    const character = line.charAt(index)
    if (character === '"' && quoted && line.charAt(index + 1) === '"') {
      cell += '"'
      index++
    } else if (character === '"') quoted = !quoted
    else if (character === separator && !quoted) {
      if (cells.length < CELLS) cells.push(cell)
      cell = ''
    } else cell += character
  }
  return [...cells, cell]
}

/** Header without case, accents and signs. */
function headerKey(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
}

/** Columns of a header line; null if it has no date or no amount, so it is none. */
function columnsOf(cells: readonly string[], named: CsvColumns | null): Partial<Record<CsvColumn, number>> | null {
  const keys = cells.map(headerKey)
  const found: Partial<Record<CsvColumn, number>> = {}
  const taken = new Set<number>()
  const choose = (column: CsvColumn, wanted: readonly string[]) => {
    const at = wanted.map((header) => keys.findIndex((key, index) => key === header && !taken.has(index))).find((index) => index !== -1)
    if (at === undefined || found[column] !== undefined) return
    found[column] = at
    taken.add(at)
  }
  for (const column of CSV_COLUMNS) {
    const header = named?.[column]
    if (header !== undefined) choose(column, [headerKey(header)])
  }
  for (const column of CSV_COLUMNS) if (named?.[column] === undefined) choose(column, HEADERS[column])
  const has_amount = found.amount !== undefined || (found.debit !== undefined && found.credit !== undefined)
  return found.booked_on !== undefined && has_amount ? found : null
}

type DateOrder = 'ymd' | 'dmy' | 'mdy'
type DecimalSign = ',' | '.'

/** Order of the parts of a date that fits every date of the file; null if two fit and say different days. */
function dateOrder(texts: readonly string[]): DateOrder | null {
  let [first, second] = [0, 0]
  for (const text of texts) {
    if (text === '' || /^[0-9]{4}/.test(text)) continue
    // Dots and hyphens separate days from months in every country that writes them.
    const found = /^([0-9]{1,2})([./-])([0-9]{1,2})\2[0-9]{2,4}/.exec(text)
    if (found === null) continue
    if (found[2] !== '/') return 'dmy'
    first = Math.max(first, Number(found[1]))
    second = Math.max(second, Number(found[3]))
  }
  if (first > 12) return 'dmy'
  if (second > 12) return 'mdy'
  return first === 0 || first === second ? 'ymd' : null
}

function dayIn(text: string, order: DateOrder): number | null {
  const whole = /^([0-9]{4})[-./]?([0-9]{2})[-./]?([0-9]{2})/.exec(text)
  if (whole !== null) return dayOf(Number(whole[1]), Number(whole[2]), Number(whole[3]))
  const found = /^([0-9]{1,2})[./-]([0-9]{1,2})[./-]([0-9]{4}|[0-9]{2})(?![0-9])/.exec(text)
  if (found === null) return null
  const year = Number(found[3])
  const [one, other] = [Number(found[1]), Number(found[2])]
  const full = year < 100 ? 2_000 + year : year
  return order === 'mdy' ? dayOf(full, one, other) : dayOf(full, other, one)
}

const NUMBER = /^[^0-9+-]{0,4}([+-]?)\s*([0-9](?:[0-9.,'\u00A0\u202F ]*[0-9])?)\s*([+-]?)[^0-9]{0,4}$/

/** Decimal sign of the amounts of a file; null if it is not certain. */
function decimalSign(texts: readonly string[]): DecimalSign | null {
  let doubtful = false
  for (const text of texts) {
    const digits = NUMBER.exec(text)?.[2] ?? ''
    const last = /([.,])([0-9]*)$/.exec(digits)
    if (last === null) continue
    const [, sign = '', fraction = ''] = last
    const other = digits.includes(sign === ',' ? '.' : ',')
    if (fraction.length !== 3 || other) return sign === ',' ? ',' : '.'
    if (digits.split(sign).length > 2) return sign === ',' ? '.' : ','
    doubtful = true
  }
  return doubtful ? null : '.'
}

/** Digits with a point, and the presence of a minus sign before or after them. */
function plainDecimal(text: string, point: DecimalSign): { text: string; negative: boolean } | null {
  const found = NUMBER.exec(text)
  if (found === null) return null
  const [, before = '', digits = '', behind = ''] = found
  const [whole = '', fraction] = digits.replace(point === ',' ? /[.'\u00A0\u202F ]/g : /[,'\u00A0\u202F ]/g, '').split(point)
  return { text: fraction === undefined ? whole : `${whole}.${fraction}`, negative: before === '-' || behind === '-' }
}
