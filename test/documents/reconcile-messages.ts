/** Small messages, with the elements that matter, in the shapes of their versions. */

export const DEBTOR = 'DE89370400440532013000'
export const CREDITOR = 'FR1420041010050500013M02606'

const namespace = (kind: string) => `urn:iso:std:iso:20022:tech:xsd:${kind}`

export function transfer(id: string, amount: string, changes: { currency?: string; more?: string } = {}): string {
  const { currency = 'EUR', more = '' } = changes
  return (
    `<CdtTrfTxInf><PmtId><EndToEndId>${id}</EndToEndId>${more}</PmtId><Amt><InstdAmt Ccy="${currency}">${amount}</InstdAmt></Amt>` +
    `<CdtrAcct><Id><IBAN>${CREDITOR}</IBAN></Id></CdtrAcct></CdtTrfTxInf>`
  )
}

export function pain(transfers: string, version = 'pain.001.001.09'): string {
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${namespace(version)}"><CstmrCdtTrfInitn><GrpHdr><MsgId>M1</MsgId></GrpHdr>` +
    `<PmtInf><PmtInfId>P1</PmtInfId><DbtrAcct><Id><IBAN>${DEBTOR}</IBAN></Id></DbtrAcct>${transfers}</PmtInf></CstmrCdtTrfInitn></Document>`
  )
}

export function pacs(version = 'pacs.008.001.08'): string {
  return (
    `<Document xmlns="${namespace(version)}"><FIToFICstmrCdtTrf><GrpHdr><MsgId>B1</MsgId></GrpHdr><CdtTrfTxInf><PmtId><InstrId>I1</InstrId>` +
    `<EndToEndId>E1</EndToEndId><TxId>T1</TxId><UETR>eb6305c9-1f7f-49de-aed0-16487c27b42d</UETR><ClrSysRef>C1</ClrSysRef></PmtId>` +
    `<IntrBkSttlmAmt Ccy="EUR">100.00</IntrBkSttlmAmt><InstdAmt Ccy="USD">110.00</InstdAmt><DbtrAcct><Id><IBAN>${DEBTOR}</IBAN></Id></DbtrAcct>` +
    `<CdtrAcct><Id><Othr><Id>12345</Id></Othr></Id></CdtrAcct></CdtTrfTxInf></FIToFICstmrCdtTrf></Document>`
  )
}

/** Versions whose status is a bare code; it holds one in the later ones. */
const BARE_STATUS = new Set(['02', '04'])

export interface Booked {
  amount?: string
  direction?: string
  status?: string
  more?: string
  details?: string
}

export function booked(
  { amount = '100.00', direction = 'DBIT', status = 'BOOK', more = '', details = '' }: Booked,
  version = '08',
): string {
  const code = BARE_STATUS.has(version) ? status : `<Cd>${status}</Cd>`
  return (
    `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${more}<Sts>${code}</Sts>` +
    `<NtryDtls>${details}</NtryDtls></Ntry>`
  )
}

export function detail(id: string, more = ''): string {
  return `<TxDtls><Refs><EndToEndId>${id}</EndToEndId></Refs>${more}</TxDtls>`
}

export function camt(entries: string, version = '08'): string {
  return (
    `<Document xmlns="${namespace(`camt.053.001.${version}`)}"><BkToCstmrStmt><GrpHdr><MsgId>G1</MsgId></GrpHdr><Stmt><Id>S1</Id>` +
    `<ElctrncSeqNb>7</ElctrncSeqNb><Acct><Id><IBAN>${DEBTOR}</IBAN></Id></Acct>${entries}</Stmt></BkToCstmrStmt></Document>`
  )
}
