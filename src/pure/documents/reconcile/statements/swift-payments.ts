import type { InstructionSource, PaymentInstruction, ReadFindings } from '../records.ts'
import { LineSplitter } from './encodings.ts'
import { plainAmount, shortDay, type PlainTarget } from './plain-entries.ts'

const FIELD = /^:([0-9]{2}[A-Z]?):(.*)$/
const UETR = /\{121:([0-9a-fA-F-]{36})\}/
const AMOUNT = /^([A-Z]{3})([0-9]{1,15}(?:,[0-9]{0,6})?)\s*$/

interface OpenPayment {
  line: number
  reference: string | null
  currency: string | null
  amount: string
  creditor_account: string | null
  debtor_account: string | null
  remittance: string[]
  day: number | null
}

/**
 * Reads the payments of MT101 (request for transfer: sequence B, one for each field 21) and MT103 (customer transfer) of SWIFT, Category 1,
 * 2025. The end-to-end id is the text after /ROC/ in field 70, otherwise the reference of the payment.
 */
export class SwiftPaymentReader {
  private readonly source: InstructionSource & ('mt101' | 'mt103')
  private readonly target: Pick<PlainTarget, 'file' | 'findings'>
  private readonly emit: (instruction: PaymentInstruction) => void
  private readonly lines = new LineSplitter((text, line) => this.line(text, line))
  private field = ''
  private value: string[] = []
  private field_line = 0
  private message_reference: string | null = null
  private uetr: string | null = null
  private debtor_account: string | null = null
  private day: number | null = null
  private payment: OpenPayment | null = null
  private position = 0

  constructor(source: 'mt101' | 'mt103', file: number, findings: ReadFindings, emit: (instruction: PaymentInstruction) => void) {
    this.source = source
    this.target = { file, findings }
    this.emit = emit
  }

  write(chunk: string | Uint8Array): boolean {
    this.lines.write(chunk)
    return true
  }

  end(): boolean {
    this.lines.end()
    this.endMessage()
    if (this.position === 0) this.target.findings.add('NOTHING_TO_READ', this.target.file, null)
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
    if (/^-\}?/.test(text) && text.length < 3) return this.endMessage()
    if (text.startsWith('{') || text.startsWith('-}')) {
      this.endMessage()
      this.uetr = UETR.exec(text)?.[1] ?? (text.startsWith('{1:') ? null : this.uetr)
      return
    }
    if (this.field !== '' && this.value.length < 200) this.value.push(text)
  }

  private endMessage(): void {
    this.endField()
    this.endPayment()
    this.message_reference = null
    this.debtor_account = null
    this.day = null
  }

  private endField(): void {
    const { field, value } = this
    const [first = ''] = value
    this.field = ''
    const account = /^\/(?:[CD]\/)?([^/].*)$/.exec(first)?.[1]?.trim() ?? null
    switch (field) {
      case '20':
        this.endPayment()
        this.message_reference = first.trim()
        if (this.source === 'mt103') this.begin(first.trim())
        return
      case '21':
        this.endPayment()
        return this.begin(first.trim())
      case '30':
        this.day = shortDay(first.trim())
        return
      case '50F':
      case '50G':
      case '50H':
      case '50K':
      case '50A':
        if (account === null) return
        if (this.payment === null) this.debtor_account = account
        else this.payment.debtor_account = account
        return
      case '32A':
        return this.readAmount(first.slice(6), shortDay(first.slice(0, 6)))
      case '32B':
        return this.readAmount(first, null)
      case '59':
      case '59A':
      case '59F':
        if (this.payment !== null) this.payment.creditor_account = account
        return
      case '70':
        this.payment?.remittance.push(...value)
    }
  }

  private begin(reference: string): void {
    this.payment = {
      line: this.field_line,
      reference: reference === '' ? null : reference,
      currency: null,
      amount: '',
      creditor_account: null,
      debtor_account: null,
      remittance: [],
      day: null,
    }
  }

  private readAmount(text: string, day: number | null): void {
    const found = AMOUNT.exec(text)
    if (this.payment === null || found === null) return
    this.payment.currency = found[1] ?? null
    this.payment.amount = found[2] ?? ''
    this.payment.day = day
  }

  private endPayment(): void {
    const { payment, target } = this
    this.payment = null
    if (payment === null) return
    const { currency, amount, line, reference } = payment
    if (currency === null) return target.findings.add('AMOUNT_MISSING', target.file, line)
    const amount_minor = plainAmount(amount, currency, line, target)
    if (amount_minor === null) return
    const named = /\/ROC\/(.+)/.exec(payment.remittance.join(''))?.[1]?.split('//')[0]?.trim()
    this.emit({
      source: this.source,
      file: target.file,
      position: ++this.position,
      end_to_end_id: named === undefined || named === '' ? reference : named,
      instruction_id: reference,
      transaction_id: null,
      uetr: this.uetr,
      clearing_reference: null,
      payment_information_id: null,
      message_id: this.message_reference,
      currency,
      amount_minor,
      debtor_account: payment.debtor_account ?? this.debtor_account,
      creditor_account: payment.creditor_account,
      day: payment.day ?? this.day,
    })
  }
}
