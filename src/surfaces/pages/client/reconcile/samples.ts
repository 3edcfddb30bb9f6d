import type { FileSide } from './messages.ts'

/** Sample files: nine payments in three currencies, and a statement of three accounts. */

/** Account of the payer. */
interface Account {
  iban: string
  currency: string
  payments: readonly (readonly [id: string, amount: string, creditor: string, creditor_iban: string])[]
  entries: readonly SampleEntry[]
}

interface SampleEntry {
  amount: string
  direction: 'DBIT' | 'CRDT'
  status: 'BOOK' | 'PDNG'
  id: string | null
  /** Reason code of a return. */
  returned?: string
}

const debit = (id: string | null, amount: string): SampleEntry => ({ amount, direction: 'DBIT', status: 'BOOK', id })

const ACCOUNTS: readonly Account[] = [
  {
    iban: 'DE89370400440532013000',
    currency: 'EUR',
    payments: [
      ['INV-2041', '1250.00', 'Nordlicht Papier', 'DE75512108001245126199'],
      ['INV-2042', '89.90', 'Copper and Sons', 'NL91ABNA0417164300'],
      ['INV-2043', '4310.25', 'Atelier Moreau', 'FR1420041010050500013M02606'],
      ['INV-2044', '640.00', 'Hafen Spedition', 'AT611904300234573201'],
      ['INV-2045', '75.00', 'Lumen Studio', 'BE68539007547034'],
      ['INV-2046', '512.40', 'Old Mill Foods', 'CH9300762011623852957'],
    ],
    entries: [
      debit('INV-2041', '1250.00'),
      debit('INV-2042', '89.90'),
      debit('INV-2044', '604.00'),
      debit('INV-2045', '75.00'),
      debit('INV-2045', '75.00'),
      debit('INV-2046', '512.40'),
      { amount: '512.40', direction: 'CRDT', status: 'BOOK', id: 'INV-2046', returned: 'AC04' },
      debit(null, '14.90'),
      { amount: '4310.25', direction: 'DBIT', status: 'PDNG', id: 'INV-2043' },
    ],
  },
  {
    iban: 'GB82WEST12345698765432',
    currency: 'JPY',
    payments: [
      ['INV-2047', '180000', 'Kita Seiki', 'GB33BUKB20201555555555'],
      ['INV-2048', '96500', 'Minato Design', 'ES9121000418450200051332'],
    ],
    entries: [debit('INV-2047', '180000'), debit('INV-2048', '96500')],
  },
  {
    iban: 'KW81CBKU0000000000001234560101',
    currency: 'KWD',
    payments: [['INV-2049', '1240.500', 'Gulf Instruments', 'SA0380000000608010167519']],
    entries: [debit('INV-2049', '1240.500')],
  },
]

const account = (name: string, iban: string) => `<${name}><Id><IBAN>${iban}</IBAN></Id></${name}>`

function instructions(): string {
  const blocks = ACCOUNTS.map(
    ({ iban, currency, payments }, index) => `  <PmtInf>
    <PmtInfId>RUN-7-${index + 1}</PmtInfId>
    <ReqdExctnDt><Dt>2026-11-19</Dt></ReqdExctnDt>${account('DbtrAcct', iban)}
${payments.map((payment) => instruction(currency, payment)).join('\n')}
  </PmtInf>
`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
  <GrpHdr><MsgId>RUN-7</MsgId></GrpHdr>
${blocks.join('')}</CstmrCdtTrfInitn></Document>
`
}

function instruction(currency: string, [id, amount, creditor, creditor_iban]: Account['payments'][number]): string {
  return `    <CdtTrfTxInf>
      <PmtId><EndToEndId>${id}</EndToEndId></PmtId><Amt><InstdAmt Ccy="${currency}">${amount}</InstdAmt></Amt>
      <Cdtr><Nm>${creditor}</Nm></Cdtr>${account('CdtrAcct', creditor_iban)}
    </CdtTrfTxInf>`
}

function statement(): string {
  const blocks = ACCOUNTS.map(
    ({ iban, currency, payments, entries }, index) => `  <Stmt>
    <Id>2026-11-20-${index + 1}</Id>${account('Acct', iban)}
${entries.map((entry) => entryText(currency, entry, payments)).join('\n')}
  </Stmt>
`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>
${blocks.join('')}</BkToCstmrStmt></Document>
`
}

function entryText(currency: string, { amount, direction, status, id, returned }: SampleEntry, payments: Account['payments']): string {
  const creditor_iban = direction === 'DBIT' ? payments.find(([one]) => one === id)?.[3] : undefined
  const party = creditor_iban === undefined ? '' : `<RltdPties>${account('CdtrAcct', creditor_iban)}</RltdPties>`
  const reason = returned === undefined ? '' : `<RtrInf><Rsn><Cd>${returned}</Cd></Rsn></RtrInf>`
  const refs = `<Refs><EndToEndId>${id ?? 'NOTPROVIDED'}</EndToEndId></Refs>`
  return `    <Ntry>
      <Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd><Sts><Cd>${status}</Cd></Sts>
      <BookgDt><Dt>2026-11-20</Dt></BookgDt>
      <NtryDtls><TxDtls>${refs}${party}${reason}</TxDtls></NtryDtls>
    </Ntry>`
}

/** Payments and a statement; the faulty statement has an amount that is not a decimal number. */
export function sampleFiles(kind: 'correct' | 'faulty'): Record<FileSide, File> {
  const file = (name: string, text: string) => new File([text], name, { type: 'application/xml' })
  return {
    instructions: file('sample-payments.xml', instructions()),
    statement:
      kind === 'correct'
        ? file('sample-statement.xml', statement())
        : file('sample-statement-faulty.xml', statement().replace('>604.00<', '>604,00<')),
  }
}
