/** Files for those who have none at hand: nine payments in three currencies, and what three accounts say of them. */

/** An account of the payer, its currency and its payments. */
interface Account {
  iban: string
  currency: string
  payments: readonly (readonly [id: string, amount: string, to: string])[]
  entries: readonly Booked[]
}

interface Booked {
  amount: string
  direction: 'DBIT' | 'CRDT'
  status: 'BOOK' | 'PDNG'
  id: string | null
  /** The bank's reason, where money came back. */
  returned?: string
}

const debit = (id: string | null, amount: string): Booked => ({ amount, direction: 'DBIT', status: 'BOOK', id })

const ACCOUNTS: readonly Account[] = [
  {
    iban: 'DE89370400440532013000',
    currency: 'EUR',
    payments: [
      ['INV-2041', '1250.00', 'Nordlicht Papier'],
      ['INV-2042', '89.90', 'Copper and Sons'],
      ['INV-2043', '4310.25', 'Atelier Moreau'],
      ['INV-2044', '640.00', 'Hafen Spedition'],
      ['INV-2045', '75.00', 'Lumen Studio'],
      ['INV-2046', '512.40', 'Old Mill Foods'],
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
      ['INV-2047', '180000', 'Kita Seiki'],
      ['INV-2048', '96500', 'Minato Design'],
    ],
    entries: [debit('INV-2047', '180000'), debit('INV-2048', '96500')],
  },
  {
    iban: 'KW81CBKU0000000000001234560101',
    currency: 'KWD',
    payments: [['INV-2049', '1240.500', 'Gulf Instruments']],
    entries: [debit('INV-2049', '1240.500')],
  },
]

const element = (name: string, inner: string) => `<${name}>${inner}</${name}>`
const iban = (name: string, value: string) => element(name, element('Id', element('IBAN', value)))
const amount = (name: string, currency: string, value: string) => `<${name} Ccy="${currency}">${value}</${name}>`

function paymentBlock({ iban: from, currency, payments }: Account, index: number): string[] {
  return [
    '  <PmtInf>',
    `    ${element('PmtInfId', `RUN-7-${index + 1}`)}`,
    `    ${iban('DbtrAcct', from)}`,
    ...payments.flatMap(([id, value, to]) => [
      '    <CdtTrfTxInf>',
      `      ${element('PmtId', element('EndToEndId', id))}`,
      `      ${element('Amt', amount('InstdAmt', currency, value))}`,
      `      ${element('Cdtr', element('Nm', to))}`,
      '    </CdtTrfTxInf>',
    ]),
    '  </PmtInf>',
  ]
}

function instructions(): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>',
    `  ${element('GrpHdr', element('MsgId', 'RUN-7'))}`,
    ...ACCOUNTS.flatMap(paymentBlock),
    '</CstmrCdtTrfInitn></Document>',
    '',
  ].join('\n')
}

function statementBlock({ iban: of, currency, entries }: Account, index: number): string[] {
  return [
    '  <Stmt>',
    `    ${element('Id', `2026-11-20-${index + 1}`)}${iban('Acct', of)}`,
    ...entries.flatMap(({ amount: value, direction, status, id, returned }) => [
      '    <Ntry>',
      `      ${amount('Amt', currency, value)}${element('CdtDbtInd', direction)}${element('Sts', element('Cd', status))}`,
      ...(id === null
        ? []
        : [
            `      <NtryDtls><TxDtls>${element('Refs', element('EndToEndId', id))}${returned === undefined ? '' : element('RtrInf', element('Rsn', element('Cd', returned)))}</TxDtls></NtryDtls>`,
          ]),
      '    </Ntry>',
    ]),
    '  </Stmt>',
  ]
}

function statement(): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>',
    ...ACCOUNTS.flatMap(statementBlock),
    '</BkToCstmrStmt></Document>',
    '',
  ].join('\n')
}

export interface SampleFile {
  name: string
  text: string
}

/** Instructions and statement; of the faulty pair the statement has an amount that no reader may guess at. */
export function sampleFiles(kind: 'correct' | 'faulty'): { instructions: SampleFile; statement: SampleFile } {
  const told = kind === 'correct' ? statement() : statement().replace('>604.00<', '>604,00<')
  return {
    instructions: { name: 'sample-payments.xml', text: instructions() },
    statement: { name: `sample-statement${kind === 'correct' ? '' : '-faulty'}.xml`, text: told },
  }
}
