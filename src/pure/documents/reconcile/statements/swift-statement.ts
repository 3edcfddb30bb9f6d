import type { StatementBalance } from '../records.ts'
import { readInformation, type OwnerInformation } from './information.ts'
import { LineSplitter } from './encodings.ts'
import { isoDay, plainAmount, PlainStatements, shortDay, type PlainTarget } from './plain-entries.ts'

/** Start of a field; Rabobank begins a file with a field 940 that SWIFT does not have. */
const FIELD = /^:([0-9]{2,3}[A-Z]?):(.*)$/
/** End of a message: a hyphen, with the end of the block, the sign of a printer file or a control character. */
const MESSAGE_END = /^-(?:\}.*|X{3}|\p{Cc}*)$/u
/** Debit or credit, or the reversal of one (RC, RD), or one that is expected (EC, ED), then an optional letter of funds. */
const ENTRY = /^([0-9]{6})([0-9]{4})?(RC|RD|EC|ED|C|D)([A-Z])?([0-9]{1,15}(?:[,.][0-9]{0,6})?)([A-Z][A-Z0-9]{3})?(.*)$/
const BALANCE = /^([CD])([0-9]{6})([A-Z]{3})([0-9]{1,15}(?:[,.][0-9]{0,6})?)\s*$/
/** Currency of a statement that does not state one (ISO 4217, no currency). */
const NO_CURRENCY = 'XXX'

/** Business transaction codes of returned transfers and direct debits (German standard of field 86). */
const RETURN_CODES: ReadonlySet<string> = new Set(['108', '109', '159', '181', '182', '183', '184', '185'])
const CHARGE_CODES: ReadonlySet<string> = new Set(['805', '808', '814', '820', '821', '822', '823'])

interface OpenEntry {
  line: number
  text: string
  supplementary: string[]
  information: string[]
}

/**
 * Reads MT940 customer statements and MT942 interim reports (SWIFT, Category 9, 2025), bare, in blocks, or with the first lines of a bank.
 * A field ends where the next begins; what precedes the first field of a message is skipped.
 */
export class SwiftStatementReader {
  private readonly statements: PlainStatements
  private readonly target: PlainTarget
  private readonly interim: boolean
  private readonly lines = new LineSplitter((text, line) => this.line(text, line))
  private field = ''
  private value: string[] = []
  private field_line = 0
  private id: string | null = null
  private account: string | null = null
  private currency: string | null = null
  private number: { sequence: string | null; page: string | null } = { sequence: null, page: null }
  private is_open = false
  private after_closing = false
  private entry: OpenEntry | null = null
  private currency_told = false

  constructor(interim: boolean, target: PlainTarget) {
    this.interim = interim
    this.target = target
    this.statements = new PlainStatements(interim ? 'mt942' : 'mt940', target)
  }

  write(chunk: string | Uint8Array): boolean {
    this.lines.write(chunk)
    return true
  }

  end(): boolean {
    this.lines.end()
    this.endMessage()
    if (this.statements.entries === 0) this.target.findings.add('NOTHING_TO_READ', this.target.file, null)
    return true
  }

  private line(text: string, line: number): void {
    const found = FIELD.exec(text)
    if (found !== null) {
      this.endField()
      this.field = found[1] ?? ''
      this.value = [found[2] ?? '']
      this.field_line = line
      return
    }
    if (MESSAGE_END.test(text)) return this.endMessage()
    if (text.startsWith('{')) return
    if (this.field !== '' && this.value.length < FIELD_LINES) this.value.push(text)
  }

  private endMessage(): void {
    this.endField()
    this.endEntry()
    this.field = ''
    this.value = []
  }

  private endField(): void {
    const { field, value } = this
    const [first = ''] = value
    this.field = ''
    if (field === '' || field.startsWith('9')) return
    if (field === '86') {
      if (this.entry !== null && !this.after_closing) this.entry.information.push(...value)
      return
    }
    this.endEntry()
    switch (field) {
      case '20':
        return this.begin(first.trim())
      case '25':
      case '25P':
        return this.readAccount(first.trim())
      case '28':
      case '28C': {
        const [sequence = '', page = ''] = first.trim().split('/')
        this.number = { sequence: numberOrNull(sequence), page: numberOrNull(page) }
        return
      }
      case '34F':
        this.currency ??= /^([A-Z]{3})/.exec(first)?.[1] ?? null
        return
      case '60F':
      case '60M':
        return this.readOpening(first)
      case '61':
        this.openStatement()
        this.entry = { line: this.field_line, text: first, supplementary: value.slice(1), information: [] }
        return
      case '62F':
      case '62M':
        return this.readClosing(first, field === '62F')
    }
  }

  private begin(id: string): void {
    this.id = id === '' ? null : id
    this.account = null
    this.currency = null
    this.number = { sequence: null, page: null }
    this.is_open = false
    this.after_closing = false
  }

  /** Account, with the currency or the bank's BIC in front of an IBAN, as some banks write it. */
  private readAccount(text: string): void {
    const hinted = /^(.*[0-9])([A-Z]{3})$/.exec(text)
    const account = hinted?.[1] ?? text
    this.currency ??= hinted?.[2] ?? null
    const last = account.split('/').at(-1) ?? ''
    this.account = /^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(last) ? last : account
  }

  private readBalance(text: string): StatementBalance | null {
    const found = BALANCE.exec(text)
    const [, sign, date = '', currency = '', amount = ''] = found ?? []
    const amount_minor = found === null ? null : plainAmount(amount, currency, this.field_line, this.target)
    if (amount_minor === null) return null
    return { currency, amount_minor: sign === 'D' ? -amount_minor : amount_minor, day: shortDay(date) }
  }

  private readOpening(text: string): void {
    const opening = this.readBalance(text)
    this.currency = opening?.currency ?? this.currency
    this.openStatement(opening)
  }

  private readClosing(text: string, last_page: boolean): void {
    this.openStatement()
    const closing = this.readBalance(text)
    if (closing !== null) this.statements.update({ closing, last_page })
    this.after_closing = true
  }

  private openStatement(opening: StatementBalance | null = null): void {
    if (this.is_open) {
      if (opening !== null) this.statements.update({ opening })
      return
    }
    this.is_open = true
    this.statements.open({
      account: this.account,
      id: this.id,
      ...this.number,
      ...(opening !== null && { opening }),
      ...(this.interim && { partial: true }),
    })
  }

  private endEntry(): void {
    const { entry, target } = this
    this.entry = null
    if (entry === null) return
    const found = ENTRY.exec(entry.text)
    if (found === null) return target.findings.add('ENTRY_UNREADABLE', target.file, entry.line)
    const [, value_text = '', entry_text = '', mark = '', , amount = '', type = '', rest = ''] = found
    const currency = this.currency ?? NO_CURRENCY
    if (this.currency === null && !this.currency_told) {
      this.currency_told = true
      target.findings.add('CURRENCY_MISSING', target.file, entry.line)
    }
    const amount_minor = plainAmount(amount, currency, entry.line, target)
    if (amount_minor === null) return
    const value_day = shortDay(value_text)
    const day = bookingDay(value_day, entry_text)
    const information = readInformation(entry.information)
    const [own, bank] = splitOnce(rest.trim(), '//')
    const reversal = mark === 'RC' || mark === 'RD'
    const debit = mark === 'D' || mark === 'RC' || mark === 'ED'
    this.statements.add({
      line: entry.line,
      direction: debit ? 'DBIT' : 'CRDT',
      currency,
      amount_minor,
      status: mark.startsWith('E') ? 'PDNG' : 'BOOK',
      day,
      booked_on: isoDay(day),
      value_date: isoDay(value_day),
      returned: reversal || type.endsWith('RTI') || information.return_reason !== null || RETURN_CODES.has(information.code ?? ''),
      reason: information.return_reason,
      charge: type.endsWith('CHG') || type.endsWith('COM') || CHARGE_CODES.has(information.code ?? ''),
      ...idsOf(information, own),
      counterparty_account: information.account,
      counterparty_name: information.name,
      servicer_reference: bank.trim() === '' || bank.trim() === 'NONREF' ? null : bank.trim(),
      creditor_references: information.creditor_references,
      texts: [...information.texts, ...entry.supplementary.map((text) => text.trim())].filter((text) => text !== ''),
    })
  }
}

const FIELD_LINES = 200

/** The reference for the account owner is an end-to-end id only where field 86 states none. */
function idsOf({ end_to_end_id, customer_reference, uetr }: OwnerInformation, own: string): Record<string, string | null> {
  const reference = own.trim() === '' ? null : own.trim()
  return {
    end_to_end_id: end_to_end_id ?? reference,
    instruction_id: customer_reference ?? (end_to_end_id === null ? null : reference),
    uetr,
  }
}

function numberOrNull(text: string): string | null {
  return /^0*$/.test(text.trim()) ? null : text.trim()
}

/** The booking day has no year: it is the one closest to the value day. */
function bookingDay(value_day: number | null, text: string): number | null {
  if (value_day === null || text === '') return value_day
  const year = Number(isoDay(value_day)?.slice(0, 4))
  const years = [year - 1, year, year + 1].map((one) => shortDay(`${String(one % 100).padStart(2, '0')}${text}`))
  const known = years.filter((day) => day !== null)
  return known.toSorted((one, other) => Math.abs(one - value_day) - Math.abs(other - value_day))[0] ?? value_day
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)]
}
