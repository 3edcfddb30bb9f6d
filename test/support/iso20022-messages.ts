/** Clean messages to start from. Totals are worked out by hand: two transfers of 1,250.75 and 49.25 make 1,300.00. */

const URN = 'urn:iso:std:iso:20022:tech:xsd:'

/** IBANs of public examples of the registry. */
const DEBTOR_IBAN = 'DE89370400440532013000'
const CREDITOR_IBANS = ['FR1420041010050500013M02606', 'NL91ABNA0417164300'] as const
const CREDITOR_BICS = ['BNPAFRPPXXX', 'ABNANL2A'] as const
const UETRS = ['8a562c67-ca16-48ba-b074-65581be6f001', '8a562c67-ca16-48ba-b074-65581be6f002'] as const

type PainVersion = '03' | '09' | '11' | '12'

function agent(version: PainVersion, bic: string): string {
  return version === '03' ? `<BIC>${bic}</BIC>` : `<BICFI>${bic}</BICFI>`
}

function transaction(version: PainVersion, index: 0 | 1, amount: string): string {
  const uetr = version === '03' ? '' : `<UETR>${UETRS[index]}</UETR>`
  return `<CdtTrfTxInf>
<PmtId><InstrId>INSTR-${index + 1}</InstrId><EndToEndId>E2E-${index + 1}</EndToEndId>${uetr}</PmtId>
<Amt><InstdAmt Ccy="EUR">${amount}</InstdAmt></Amt>
<CdtrAgt><FinInstnId>${agent(version, CREDITOR_BICS[index])}</FinInstnId></CdtrAgt>
<Cdtr><Nm>Creditor ${index + 1}</Nm><PstlAdr><StrtNm>Rue Haute</StrtNm><PstCd>75001</PstCd><TwnNm>Paris</TwnNm><Ctry>FR</Ctry></PstlAdr></Cdtr>
<CdtrAcct><Id><IBAN>${CREDITOR_IBANS[index]}</IBAN></Id></CdtrAcct>
<RmtInf><Ustrd>Invoice ${index + 1}</Ustrd></RmtInf>
</CdtTrfTxInf>
`
}

export interface PainOptions {
  version?: PainVersion
  namespace?: string
  /** Only the first transfer, as CBPR+ wants it. */
  single?: boolean
}

export function painMessage({ version = '09', namespace = `${URN}pain.001.001.${version}`, single = false }: PainOptions = {}): string {
  const day = version === '03' ? '2026-11-23' : '<Dt>2026-11-23</Dt>'
  const totals = single ? '<NbOfTxs>1</NbOfTxs><CtrlSum>1250.75</CtrlSum>' : '<NbOfTxs>2</NbOfTxs><CtrlSum>1300.00</CtrlSum>'
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${namespace}">
<CstmrCdtTrfInitn>
<GrpHdr><MsgId>MSG-2026-1</MsgId><CreDtTm>2026-11-21T10:00:00+01:00</CreDtTm>${totals}<InitgPty><Nm>Payer</Nm></InitgPty></GrpHdr>
<PmtInf>
<PmtInfId>${single ? 'MSG-2026-1' : 'PMT-1'}</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>${!single}</BtchBookg>${totals}
<PmtTpInf><SvcLvl><Cd>URGP</Cd></SvcLvl></PmtTpInf>
<ReqdExctnDt>${day}</ReqdExctnDt>
<Dbtr><Nm>Payer</Nm></Dbtr>
<DbtrAcct><Id><IBAN>${DEBTOR_IBAN}</IBAN></Id></DbtrAcct>
<DbtrAgt><FinInstnId>${agent(version, 'COBADEFFXXX')}</FinInstnId></DbtrAgt>
<ChrgBr>SLEV</ChrgBr>
${transaction(version, 0, '1250.75')}${single ? '' : transaction(version, 1, '49.25')}</PmtInf>
</CstmrCdtTrfInitn>
</Document>
`
}

/** One transfer of 500.00 euro through CLRG. */
export function pacsMessage(version: '02' | '08' | '10' | '12' | '13' = '08'): string {
  const bic = (code: string) => `<FinInstnId>${version === '02' ? `<BIC>${code}</BIC>` : `<BICFI>${code}</BICFI>`}</FinInstnId>`
  const uetr = version === '02' ? '' : `<UETR>${UETRS[0]}</UETR>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${URN}pacs.008.001.${version}">
<FIToFICstmrCdtTrf>
<GrpHdr><MsgId>PACS-1</MsgId><CreDtTm>2026-11-21T10:00:00+01:00</CreDtTm><NbOfTxs>1</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd><ClrSys><Cd>ST2</Cd></ClrSys></SttlmInf></GrpHdr>
<CdtTrfTxInf>
<PmtId><EndToEndId>E2E-1</EndToEndId><TxId>TX-1</TxId>${uetr}</PmtId>
<IntrBkSttlmAmt Ccy="EUR">500.00</IntrBkSttlmAmt>
<IntrBkSttlmDt>2026-11-23</IntrBkSttlmDt>
<ChrgBr>SLEV</ChrgBr>
<Dbtr><Nm>Payer</Nm></Dbtr>
<DbtrAcct><Id><IBAN>${DEBTOR_IBAN}</IBAN></Id></DbtrAcct>
<DbtrAgt>${bic('COBADEFFXXX')}</DbtrAgt>
<CdtrAgt>${bic('BNPAFRPPXXX')}</CdtrAgt>
<Cdtr><Nm>Creditor</Nm></Cdtr>
<CdtrAcct><Id><IBAN>${CREDITOR_IBANS[0]}</IBAN></Id></CdtrAcct>
</CdtTrfTxInf>
</FIToFICstmrCdtTrf>
</Document>
`
}

/** Opening 1,000.00, a credit of 500.00 and a debit of 200.00, closing 1,300.00. */
export function camtMessage(version: '02' | '04' | '08' | '10' | '13' = '08'): string {
  const status = version === '02' || version === '04' ? 'BOOK' : '<Cd>BOOK</Cd>'
  const balance = (code: string, amount: string, day: string) =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`
  const entry = (amount: string, direction: string, family: string) =>
    `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd><Sts>${status}</Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt>` +
    `<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>${family}</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd></Ntry>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="${URN}camt.053.001.${version}">
<BkToCstmrStmt>
<GrpHdr><MsgId>CAMT-1</MsgId><CreDtTm>2026-11-21T06:00:00+01:00</CreDtTm></GrpHdr>
<Stmt><Id>STMT-1</Id><ElctrncSeqNb>17</ElctrncSeqNb><CreDtTm>2026-11-21T06:00:00+01:00</CreDtTm>
<Acct><Id><IBAN>${DEBTOR_IBAN}</IBAN></Id><Ccy>EUR</Ccy></Acct>
${balance('OPBD', '1000.00', '2026-11-20')}
${balance('CLBD', '1300.00', '2026-11-20')}
${entry('500.00', 'CRDT', 'RCDT')}
${entry('200.00', 'DBIT', 'ICDT')}
</Stmt>
</BkToCstmrStmt>
</Document>
`
}

/** The text with the first `from` replaced; fails when there is none, so that no test tests nothing. */
export function swap(text: string, from: string, to: string): string {
  const at = text.indexOf(from)
  if (at === -1) throw new Error(`the message has no ${from}`)
  return text.slice(0, at) + to + text.slice(at + from.length)
}
