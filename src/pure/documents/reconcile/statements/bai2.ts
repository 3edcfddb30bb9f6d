import type { StatementBalance } from '../records.ts'
import { currencyDigits } from '../values.ts'
import { creditorReferences } from './information.ts'
import { LineSplitter } from './encodings.ts'
import { isoDay, PlainStatements, shortDay, type PlainTarget } from './plain-entries.ts'

/** Balance codes of account records: opening and closing ledger (BAI2, appendix A). */
const OPENING = '010'
const CLOSING = '015'
/** Transaction codes of returned items and reversals, and of charges. */
const RETURN_CODES: ReadonlySet<string> = new Set([
  '255',
  '256',
  '257',
  '258',
  '261',
  '266',
  '268',
  '278',
  '395',
  '555',
  '557',
  '561',
  '566',
  '577',
  '578',
  '695',
])
const CHARGE_CODES: ReadonlySet<string> = new Set(['564', '698'])

interface OpenRecord {
  line: number
  fields: string[]
  text: string
}

/**
 * Reads BAI2 cash management reports (Bank Administration Institute, version 2, 2005). A record ends with a slash or, if it has free text,
 * with its line; records of type 88 continue the one before. Amounts are whole minor units, and codes from 100 to 399 are credits, from 400
 * to 699 debits. The control totals of accounts are checked.
 */
export class Bai2Reader {
  private readonly statements: PlainStatements
  private readonly target: PlainTarget
  private readonly lines = new LineSplitter((text, line) => this.line(text, line))
  private record: OpenRecord | null = null
  private group = { day: null as number | null, currency: 'USD' }
  private currency = 'USD'
  private total = 0n

  constructor(target: PlainTarget) {
    this.target = target
    this.statements = new PlainStatements('bai2', target)
  }

  write(chunk: string | Uint8Array): boolean {
    this.lines.write(chunk)
    return true
  }

  end(): boolean {
    this.lines.end()
    this.endRecord()
    if (this.statements.entries === 0) this.target.findings.add('NOTHING_TO_READ', this.target.file, null)
    return true
  }

  private line(given: string, line: number): void {
    const text = given.trim()
    const code = /^([0-9]{2}),/.exec(text)?.[1]
    if (code === '88' && this.record !== null) {
      this.continueRecord(text.slice(3))
      return
    }
    if (code === undefined) {
      if (text !== '' && this.record !== null) this.record.text += ` ${text}`
      return
    }
    this.endRecord()
    this.record = { line, fields: [], text: '' }
    this.continueRecord(text)
  }

  /** Text of a transaction may contain commas and slashes, so it is kept as a whole too. */
  private continueRecord(text: string): void {
    const { record } = this
    if (record === null) return
    const plain = text.replace(/\/$/, '')
    record.text += record.text === '' ? plain : `\n${plain}`
    record.fields.push(...plain.split(','))
  }

  private endRecord(): void {
    const { record } = this
    this.record = null
    if (record === null) return
    const [code = ''] = record.fields
    switch (code) {
      case '02':
        this.group = { day: shortDay(record.fields[4] ?? ''), currency: record.fields[6]?.trim() || 'USD' }
        return
      case '03':
        return this.readAccount(record)
      case '16':
        return this.readTransaction(record)
      case '49':
        return this.checkTotal(record)
    }
  }

  private readAccount({ fields }: OpenRecord): void {
    const account = fields[1]?.trim() ?? ''
    this.currency = fields[2]?.trim() || this.group.currency
    this.total = 0n
    const balances: { opening?: StatementBalance; closing?: StatementBalance } = {}
    for (let at = 3; at < fields.length;) {
      const [code, amount, , funds] = fields.slice(at, at + 4)
      const amount_minor = wholeAmount(amount ?? '')
      if (amount_minor !== null) {
        this.total += amount_minor
        const balance = { currency: this.currency, amount_minor, day: this.group.day }
        if (code?.trim() === OPENING) balances.opening = balance
        if (code?.trim() === CLOSING) balances.closing = balance
      }
      at += 4 + fundsFields(funds ?? '', fields, at + 4)
    }
    const day = this.group.day
    this.statements.open({
      account: account === '' ? null : account,
      id: null,
      sequence: null,
      page: null,
      from_day: day,
      to_day: day,
      ...balances,
    })
  }

  private readTransaction({ line, fields, text }: OpenRecord): void {
    const { target } = this
    const code = fields[1]?.trim() ?? ''
    const amount_minor = wholeAmount(fields[2] ?? '')
    const number = /^[0-9]{3}$/.test(code) ? Number.parseInt(code, 10) : 0
    if (amount_minor !== null) this.total += amount_minor
    // Codes from 700 are loans and those from 900 are of the bank: they state no direction of money on the account.
    if (number >= 700 && number <= 999) return
    if (amount_minor === null || number < 100) return target.findings.add('ENTRY_UNREADABLE', target.file, line)
    const skipped = 4 + fundsFields(fields[3] ?? '', fields, 4)
    const [bank = '', customer = ''] = fields.slice(skipped, skipped + 2)
    const described = text
      .split(',')
      .slice(skipped + 2)
      .join(',')
      .split('\n')
    const tag = (name: string) =>
      described
        .find((part) => part.startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trim() || null
    const { day } = this.group
    const debit = number >= 400
    this.statements.add({
      line,
      direction: debit ? 'DBIT' : 'CRDT',
      currency: this.currency,
      amount_minor: amount_minor < 0n ? -amount_minor : amount_minor,
      day,
      booked_on: isoDay(day),
      returned: RETURN_CODES.has(code) || amount_minor < 0n,
      charge: CHARGE_CODES.has(code),
      end_to_end_id: tag('EREF') ?? (customer.trim() === '' ? null : customer.trim()),
      counterparty_name: tag(debit ? 'CRNM' : 'DBNM'),
      counterparty_account: tag(debit ? 'CACT' : 'DACT'),
      servicer_reference: bank.trim() === '' ? null : bank.trim(),
      creditor_references: creditorReferences(described.join(' ')),
      texts: described.map((part) => part.trim()).filter((part) => part !== ''),
    })
  }

  /** The control total is the sum of all amounts of the account and its transactions. */
  private checkTotal({ line, fields }: OpenRecord): void {
    const stated = wholeAmount(fields[1] ?? '')
    if (stated === null || stated === this.total) return
    this.target.findings.add(
      'CONTROL_TOTAL',
      this.target.file,
      line,
      `${stated}, not the sum ${this.total}, in units of 1/${10 ** currencyDigits(this.currency)}`,
    )
    this.statements.update({ incomplete: 'lines, by its control total,' })
  }
}

function wholeAmount(text: string): bigint | null {
  const found = /^([+-]?)0*([0-9]{1,18})$/.exec(text.trim())
  return found === null ? null : BigInt(`${found[1] === '-' ? '-' : ''}${found[2]}`)
}

/** Number of further fields of a funds type: V value date and time, S three amounts, D a number of pairs. */
function fundsFields(funds: string, fields: readonly string[], at: number): number {
  switch (funds.trim().toUpperCase()) {
    case 'V':
      return 2
    case 'S':
      return 3
    case 'D':
      return 1 + 2 * (Number.parseInt(fields[at] ?? '', 10) || 0)
    default:
      return 0
  }
}
