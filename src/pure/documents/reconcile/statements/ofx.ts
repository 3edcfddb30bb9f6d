import type { StatementBalance } from '../records.ts'
import { parseDay } from '../values.ts'
import { creditorReferences } from './information.ts'
import { LineSplitter } from './encodings.ts'
import { isoDay, plainAmount, PlainStatements, type PlainTarget } from './plain-entries.ts'

const TOKEN = /<(\/?)([A-Za-z0-9._]{1,64})>([^<]*)/g
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }
/** Longer values are cut. */
const FIELD_CHARS = 1_024

/**
 * Reads OFX and QFX files: version 1 (SGML, elements without end tags) and version 2 (XML), bank and card statements (Open Financial
 * Exchange 2.3, 2020, chapter 11). The sign of the amount is the direction. A file states transactions of a period; it is complete for it.
 */
export class OfxReader {
  private readonly statements: PlainStatements
  private readonly target: PlainTarget
  private readonly lines = new LineSplitter((text, line) => this.line(text, line))
  private header: Record<string, string> = {}
  private fields: Record<string, string> | null = null
  private entry_line = 0
  private is_open = false
  private is_ledger = false
  private pending = ''

  constructor(target: PlainTarget) {
    this.target = target
    this.statements = new PlainStatements('ofx', target)
  }

  write(chunk: string | Uint8Array): boolean {
    this.lines.write(chunk)
    return true
  }

  end(): boolean {
    this.lines.end()
    if (this.statements.entries === 0) this.target.findings.add('NOTHING_TO_READ', this.target.file, null)
    return true
  }

  private line(text: string, line: number): void {
    // A tag, or the text of an element, can be cut by the end of a line.
    const all = this.pending + text
    const cut = all.lastIndexOf('<') > all.lastIndexOf('>') ? all.lastIndexOf('<') : all.length
    this.pending = all.slice(cut)
    for (const [, end, name = '', value = ''] of all.slice(0, cut).matchAll(TOKEN))
      this.token(end === '/', name.toUpperCase(), value.trim(), line)
  }

  private token(end: boolean, name: string, value: string, line: number): void {
    switch (name) {
      case 'STMTRS':
      case 'CCSTMTRS':
        if (!end) {
          this.header = {}
          this.is_open = false
        }
        return
      case 'BANKTRANLIST':
        if (end) this.openStatement()
        return
      case 'LEDGERBAL':
        this.is_ledger = !end
        return
      case 'STMTTRN':
        if (end) return this.endEntry()
        this.openStatement()
        this.fields = {}
        this.entry_line = line
        return
    }
    if (end || value === '') return
    const text = value.slice(0, FIELD_CHARS).replace(/&(#?[a-zA-Z0-9]{1,8});/g, (whole, entity: string) => decodeEntity(entity) ?? whole)
    if (this.fields !== null) this.fields[name] ??= text
    else if (this.is_ledger) this.readLedger(name, text, line)
    else this.header[name] ??= text
  }

  private openStatement(): void {
    if (this.is_open) return
    this.is_open = true
    const { ACCTID = null, BANKID = null, DTSTART = '', DTEND = '' } = this.header
    const account = ACCTID === null || BANKID === null || /^[A-Z]{2}[0-9]{2}/.test(ACCTID) ? ACCTID : `${BANKID}/${ACCTID}`
    this.statements.open({ account, id: null, sequence: null, page: null, from_day: ofxDay(DTSTART), to_day: ofxDay(DTEND) })
  }

  private readLedger(name: string, text: string, line: number): void {
    if (name === 'BALAMT') this.header['BALAMT'] = text
    if (name !== 'DTASOF') return
    const { BALAMT, CURDEF = '' } = this.header
    const amount_minor = BALAMT === undefined ? null : plainAmount(BALAMT, CURDEF, line, this.target)
    if (amount_minor === null) return
    const closing: StatementBalance = {
      currency: CURDEF,
      amount_minor: BALAMT?.startsWith('-') === true ? -amount_minor : amount_minor,
      day: ofxDay(text),
    }
    if (this.is_open) this.statements.update({ closing })
  }

  private endEntry(): void {
    const { fields, target, entry_line } = this
    this.fields = null
    if (fields === null) return
    const { TRNTYPE = '', DTPOSTED = '', TRNAMT = '', FITID, REFNUM, CHECKNUM, NAME, MEMO, CURSYM } = fields
    const currency = CURSYM ?? this.header['CURDEF'] ?? ''
    if (currency === '' || TRNAMT === '') return target.findings.add('AMOUNT_MISSING', target.file, entry_line)
    const amount_minor = plainAmount(TRNAMT, currency, entry_line, target)
    if (amount_minor === null) return
    const day = ofxDay(DTPOSTED)
    const texts = [MEMO, CHECKNUM].filter((text) => text !== undefined)
    this.statements.add({
      line: entry_line,
      direction: TRNAMT.startsWith('-') ? 'DBIT' : 'CRDT',
      currency,
      amount_minor,
      day,
      booked_on: isoDay(day),
      value_date: isoDay(ofxDay(fields['DTAVAIL'] ?? '')),
      charge: TRNTYPE === 'FEE' || TRNTYPE === 'SRVCHG',
      end_to_end_id: REFNUM ?? null,
      counterparty_account: fields['ACCTID'] ?? null,
      counterparty_name: NAME ?? null,
      servicer_reference: FITID ?? null,
      creditor_references: creditorReferences(texts.join(' ')),
      texts,
    })
  }
}

/** Day of YYYYMMDD with an optional time. */
function ofxDay(text: string): number | null {
  const found = /^([0-9]{4})([0-9]{2})([0-9]{2})/.exec(text.trim())
  return found === null ? null : parseDay(`${found[1]}-${found[2]}-${found[3]}`)
}

function decodeEntity(entity: string): string | null {
  if (!entity.startsWith('#')) return ENTITIES[entity.toLowerCase()] ?? null
  const code = /^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number.parseInt(entity.slice(1), 10)
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : null
}
