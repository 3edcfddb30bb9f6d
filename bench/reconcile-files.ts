import { closeSync, openSync, writeSync } from 'node:fs'

const DEBTOR = 'DE89370400440532013000'
const CREDITORS = ['FR1420041010050500013M02606', 'GB29NWBK60161331926819', 'NL91ABNA0417164300', 'AT611904300234573201']
const BLOCK = 10_000

/** A pain.001.001.09 with so many transfers, each with the elements that such files usually have. */
export function writeInstructions(path: string, count: number): void {
  const file = openSync(path, 'w')
  writeSync(
    file,
    '<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><GrpHdr><MsgId>MSG-1</MsgId>' +
      `<CreDtTm>2026-11-20T08:00:00Z</CreDtTm><NbOfTxs>${count}</NbOfTxs><InitgPty><Nm>Payer GmbH</Nm></InitgPty></GrpHdr>\n` +
      `<PmtInf><PmtInfId>BLOCK-1</PmtInfId><PmtMtd>TRF</PmtMtd><ReqdExctnDt><Dt>2026-11-21</Dt></ReqdExctnDt><Dbtr><Nm>Payer GmbH</Nm></Dbtr>` +
      `<DbtrAcct><Id><IBAN>${DEBTOR}</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></DbtrAgt>\n`,
  )
  writeBlocks(file, count, (index) => {
    const creditor = CREDITORS[index % CREDITORS.length]
    return (
      `<CdtTrfTxInf><PmtId><InstrId>I${id(index)}</InstrId><EndToEndId>${endToEnd(index)}</EndToEndId><UETR>${uetr(index)}</UETR></PmtId>` +
      `<Amt><InstdAmt Ccy="EUR">${amount(index)}</InstdAmt></Amt><CdtrAgt><FinInstnId><BICFI>BNPAFRPPXXX</BICFI></FinInstnId></CdtrAgt>` +
      `<Cdtr><Nm>Supplier ${index}</Nm><PstlAdr><TwnNm>Paris</TwnNm><Ctry>FR</Ctry></PstlAdr></Cdtr><CdtrAcct><Id><IBAN>${creditor}</IBAN></Id></CdtrAcct>` +
      `<RmtInf><Ustrd>Invoice ${id(index)}</Ustrd></RmtInf></CdtTrfTxInf>\n`
    )
  })
  writeSync(file, '</PmtInf></CstmrCdtTrfInitn></Document>\n')
  closeSync(file)
}

/** The matching camt.053.001.08: every tenth entry has another amount, every fiftieth is missing, every thousandth is duplicated. */
export function writeStatement(path: string, count: number): void {
  const file = openSync(path, 'w')
  writeSync(
    file,
    '<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>ST-1</MsgId>' +
      '<CreDtTm>2026-11-21T20:00:00Z</CreDtTm></GrpHdr>\n<Stmt><Id>STMT-1</Id><ElctrncSeqNb>224</ElctrncSeqNb>' +
      `<Acct><Id><IBAN>${DEBTOR}</IBAN></Id><Ccy>EUR</Ccy></Acct>\n`,
  )
  writeBlocks(file, count, (index) => {
    const own = index % 50 === 49 ? `OTHER-${id(index)}` : endToEnd(index % 1_000 === 500 ? index - 2 : index)
    const value = amount(index % 1_000 === 500 ? index - 2 : index % 10 === 7 ? index + 1 : index)
    return (
      `<Ntry><NtryRef>${index}</NtryRef><Amt Ccy="EUR">${value}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-21</Dt></BookgDt>` +
      `<AcctSvcrRef>REF${id(index)}</AcctSvcrRef><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>` +
      `<NtryDtls><TxDtls><Refs><EndToEndId>${own}</EndToEndId></Refs><Amt Ccy="EUR">${value}</Amt>` +
      `<RltdPties><CdtrAcct><Id><IBAN>${CREDITORS[index % CREDITORS.length]}</IBAN></Id></CdtrAcct></RltdPties></TxDtls></NtryDtls></Ntry>\n`
    )
  })
  writeSync(file, '</Stmt></BkToCstmrStmt></Document>\n')
  closeSync(file)
}

function writeBlocks(file: number, count: number, line: (index: number) => string): void {
  for (let start = 0; start < count; start += BLOCK) {
    const lines = Array.from({ length: Math.min(BLOCK, count - start) }, (_, index) => line(start + index))
    writeSync(file, lines.join(''))
  }
}

function id(index: number): string {
  return String(index).padStart(9, '0')
}

/** Not in the order of the file, as ids of real systems are not. */
function endToEnd(index: number): string {
  return `INV-${((index * 7_919) % 999_983).toString(36).toUpperCase()}-${id(index)}`
}

function uetr(index: number): string {
  const hex = index.toString(16).padStart(12, '0')
  return `eb6305c9-1f7f-49de-aed0-${hex}`
}

function amount(index: number): string {
  const cents = BigInt((index * 37) % 5_000_000) + 100n
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
}
