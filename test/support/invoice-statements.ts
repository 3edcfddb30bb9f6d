/** Small camt.053 documents about invoices, put together by hand. */

export interface Booking {
  amount: string
  /** Structured creditor reference. */
  reference?: string
  /** Lines of free text. */
  text?: string[]
  direction?: 'CRDT' | 'DBIT'
  status?: string
  reversal?: boolean
  currency?: string
  name?: string
  /** Booking date; a time if it has one. Null for none. */
  booked?: string | null
  /** Value date. */
  value?: string
  /** Transactions inside one entry, instead of reference and text. */
  details?: { amount: string; reference: string }[]
}

const remittance = (lines: string[], reference?: string) =>
  `<RmtInf>${lines.map((line) => `<Ustrd>${line}</Ustrd>`).join('')}` +
  `${reference === undefined ? '' : `<Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry></Tp><Ref>${reference}</Ref></CdtrRefInf></Strd>`}</RmtInf>`

/** Invoices of tests are created now. */
export const today = () => new Date().toISOString().slice(0, 10)

function dateOf(name: string, text: string | null): string {
  if (text === null) return ''
  const kind = text.includes('T') ? 'DtTm' : 'Dt'
  return `<${name}><${kind}>${text}</${kind}></${name}>`
}

function entry(booking: Booking): string {
  const {
    amount,
    reference,
    text = [],
    direction = 'CRDT',
    status = 'BOOK',
    reversal,
    currency = 'USD',
    name,
    booked = today(),
    value,
  } = booking
  const details = booking.details?.map(
    (one) =>
      `<TxDtls><Amt Ccy="${currency}">${one.amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${remittance([], one.reference)}</TxDtls>`,
  ) ?? [`<TxDtls>${remittance(text, reference)}</TxDtls>`]
  return (
    `<Ntry>${name === undefined ? '' : `<NtryRef>${name}</NtryRef>`}<Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>` +
    `${reversal === undefined ? '' : `<RvslInd>${reversal}</RvslInd>`}<Sts><Cd>${status}</Cd></Sts>${dateOf('BookgDt', booked)}${dateOf('ValDt', value ?? null)}` +
    `<NtryDtls>${details.join('')}</NtryDtls></Ntry>`
  )
}

export const IBAN = 'DE33100205000001194700'

export function statementOf(bookings: readonly Booking[], { id = 'S1', iban = IBAN }: { id?: string; iban?: string } = {}): string {
  return `${statementHead(id, iban)}${bookings.map(entry).join('')}${STATEMENT_TAIL}`
}

export function statementHead(id: string, iban: string): string {
  return (
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>G1</MsgId></GrpHdr><Stmt><Id>${id}</Id>` +
    `<Acct><Id><IBAN>${iban}</IBAN></Id></Acct>`
  )
}

export const STATEMENT_TAIL = '</Stmt></BkToCstmrStmt></Document>'

export function bookingText(booking: Booking): string {
  return entry(booking)
}
