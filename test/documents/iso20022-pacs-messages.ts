/** Clean messages of pacs.008 to start from, with totals worked out by hand. */

type PacsVersion = '02' | '08' | '10' | '12' | '13'

export const PACS_VERSIONS: readonly PacsVersion[] = ['02', '08', '10', '12', '13']

const URN = 'urn:iso:std:iso:20022:tech:xsd:'

export function agent(element: string, bic: string, version: PacsVersion = '08'): string {
  const name = version === '02' ? 'BIC' : 'BICFI'
  return `<${element}><FinInstnId><${name}>${bic}</${name}></FinInstnId></${element}>`
}

/** IBANs of public examples of the registry. */
const PARTIES = {
  debtor: '<Dbtr><Nm>Payer</Nm></Dbtr><DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct>',
  creditor: '<Cdtr><Nm>Creditor</Nm></Cdtr><CdtrAcct><Id><IBAN>FR1420041010050500013M02606</IBAN></Id></CdtrAcct>',
} as const

function parties(version: PacsVersion): string {
  return `${PARTIES.debtor}${agent('DbtrAgt', 'COBADEFFXXX', version)}${agent('CdtrAgt', 'BNPAFRPPXXX', version)}${PARTIES.creditor}`
}

/** Identifications of the transaction with this number, below 1,000,000. */
export function identification(index: number, version: PacsVersion = '08'): string {
  const uetr = version === '02' ? '' : `<UETR>8a562c67-ca16-48ba-b074-65581b${String(index).padStart(6, '0')}</UETR>`
  return `<PmtId><InstrId>INSTR-${index}</InstrId><EndToEndId>E2E-${index}</EndToEndId><TxId>TX-${index}</TxId>${uetr}</PmtId>`
}

export function transfer(index: number, amount: string, version: PacsVersion = '08'): string {
  return `<CdtTrfTxInf>
${identification(index, version)}
<IntrBkSttlmAmt Ccy="EUR">${amount}</IntrBkSttlmAmt>
<ChrgBr>SLEV</ChrgBr>
${parties(version)}
<RmtInf><Ustrd>Invoice ${index}</Ustrd></RmtInf>
</CdtTrfTxInf>
`
}

/** What stands before the transactions of a message through clearing; the settlement date is that of the message. */
export function clearingHead(version: PacsVersion, count: number, total: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${URN}pacs.008.001.${version}">
<FIToFICstmrCdtTrf>
<GrpHdr><MsgId>PACS-1</MsgId><CreDtTm>2026-11-21T10:00:00+01:00</CreDtTm><NbOfTxs>${count}</NbOfTxs><CtrlSum>${total}</CtrlSum>
<TtlIntrBkSttlmAmt Ccy="EUR">${total}</TtlIntrBkSttlmAmt><IntrBkSttlmDt>2026-11-23</IntrBkSttlmDt>
<SttlmInf><SttlmMtd>CLRG</SttlmMtd><ClrSys><Cd>ST2</Cd></ClrSys></SttlmInf>
${agent('InstgAgt', 'COBADEFFXXX', version)}${agent('InstdAgt', 'BNPAFRPPXXX', version)}
</GrpHdr>
`
}

export const TAIL = `</FIToFICstmrCdtTrf>
</Document>
`

/** Two transfers through clearing: 500.00 and 250.25 make 750.25. */
export function clearingMessage(version: PacsVersion = '08'): string {
  return clearingHead(version, 2, '750.25') + transfer(1, '500.00', version) + transfer(2, '250.25', version) + TAIL
}

/**
 * One transfer between correspondents with its header: 1,010.00 instructed, less 10.00 of charges makes 1,000.00 settled. The creditor
 * bears the charges.
 */
export function correspondentMessage(version: Exclude<PacsVersion, '02'> = '08'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Envelope xmlns="urn:envelope">
<AppHdr xmlns="${URN}head.001.001.02">
<Fr><FIId><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></FIId></Fr>
<To><FIId><FinInstnId><BICFI>BNPAFRPPXXX</BICFI></FinInstnId></FIId></To>
<BizMsgIdr>PACS-2</BizMsgIdr>
<MsgDefIdr>pacs.008.001.${version}</MsgDefIdr>
</AppHdr>
<Document xmlns="${URN}pacs.008.001.${version}">
<FIToFICstmrCdtTrf>
<GrpHdr><MsgId>PACS-2</MsgId><CreDtTm>2026-11-21T10:00:00+01:00</CreDtTm><NbOfTxs>1</NbOfTxs><SttlmInf><SttlmMtd>INDA</SttlmMtd></SttlmInf></GrpHdr>
<CdtTrfTxInf>
${identification(1, version)}
<IntrBkSttlmAmt Ccy="EUR">1000.00</IntrBkSttlmAmt>
<IntrBkSttlmDt>2026-11-23</IntrBkSttlmDt>
<InstdAmt Ccy="EUR">1010.00</InstdAmt>
<ChrgBr>CRED</ChrgBr>
<ChrgsInf><Amt Ccy="EUR">10.00</Amt>${agent('Agt', 'COBADEFFXXX', version)}</ChrgsInf>
${agent('InstgAgt', 'COBADEFFXXX', version)}${agent('InstdAgt', 'BNPAFRPPXXX', version)}
${parties(version)}
</CdtTrfTxInf>
</FIToFICstmrCdtTrf>
</Document>
</Envelope>
`
}
