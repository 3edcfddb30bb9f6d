import { swap } from '../support/iso20022-messages.ts'

/**
 * Clean statements of every version. Worked out by hand: opening 1,000.00, a credit of 500.25 (310.15 and 190.10) and a debit of 200.10
 * make 1,300.15; both entries add up to 700.35, the net is 300.15. The next day a debit of 50.00 leaves 1,250.15.
 */
export const CAMT_VERSIONS = ['02', '04', '08', '10', '13'] as const
export type CamtVersion = (typeof CAMT_VERSIONS)[number]

/** Whether the version is that of 2019 or later. */
export function isLater(version: CamtVersion): boolean {
  return version !== '02' && version !== '04'
}

export function status(version: CamtVersion, code = 'BOOK'): string {
  return `<Sts>${isLater(version) ? `<Cd>${code}</Cd>` : code}</Sts>`
}

export function balance(code: string, amount: string, day: string, currency = 'EUR', direction = 'CRDT'): string {
  return (
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>` +
    `<Dt><Dt>${day}</Dt></Dt></Bal>\n`
  )
}

export function bankCode(family: string, sub_family = 'ESCT'): string {
  return `<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>${family}</Cd><SubFmlyCd>${sub_family}</SubFmlyCd></Fmly></Domn></BkTxCd>`
}

export function transaction(version: CamtVersion, amount: string, direction: string, references = '', rest = ''): string {
  const told =
    version === '02'
      ? `<AmtDtls><TxAmt><Amt Ccy="EUR">${amount}</Amt></TxAmt></AmtDtls>`
      : `<Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>`
  return `<TxDtls><Refs>${references}</Refs>${told}${rest}</TxDtls>`
}

export function entry(version: CamtVersion, amount: string, direction: string, day: string, rest: string): string {
  return `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${status(version)}<BookgDt><Dt>${day}</Dt></BookgDt>${rest}</Ntry>\n`
}

/** The transactions of the credit. */
export function creditDetails(version: CamtVersion): string {
  const party = (name: string) => (isLater(version) ? `<Pty><Nm>${name}</Nm></Pty>` : `<Nm>${name}</Nm>`)
  const agent = version === '02' ? '<BIC>BNPAFRPPXXX</BIC>' : '<BICFI>BNPAFRPPXXX</BICFI>'
  const rest =
    `<RltdPties><Dbtr>${party('Payer')}</Dbtr></RltdPties><RltdAgts><DbtrAgt><FinInstnId>${agent}</FinInstnId></DbtrAgt></RltdAgts>` +
    '<RmtInf><Ustrd>Invoice 1</Ustrd></RmtInf>'
  return (
    transaction(version, '310.15', 'CRDT', '<EndToEndId>E2E-1</EndToEndId>', rest) +
    transaction(version, '190.10', 'CRDT', '<EndToEndId>E2E-2</EndToEndId>')
  )
}

function summary(version: CamtVersion): string {
  const net =
    version === '02'
      ? '<TtlNetNtryAmt>300.15</TtlNetNtryAmt><CdtDbtInd>CRDT</CdtDbtInd>'
      : '<TtlNetNtry><Amt>300.15</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry>'
  return (
    `<TxsSummry><TtlNtries><NbOfNtries>2</NbOfNtries><Sum>700.35</Sum>${net}</TtlNtries>` +
    '<TtlCdtNtries><NbOfNtries>1</NbOfNtries><Sum>500.25</Sum></TtlCdtNtries>' +
    '<TtlDbtNtries><NbOfNtries>1</NbOfNtries><Sum>200.10</Sum></TtlDbtNtries>' +
    `<TtlNtriesPerBkTxCd><NbOfNtries>1</NbOfNtries><Sum>500.25</Sum>${bankCode('RCDT')}</TtlNtriesPerBkTxCd></TxsSummry>\n`
  )
}

const FIRST_DAY = '2026-11-20'
const SECOND_DAY = '2026-11-21'

/** What stands before the account, and the account. */
export function head(id: string, sequence: number, day: string, pages = ''): string {
  return (
    `<Id>${id}</Id>${pages}<ElctrncSeqNb>${sequence}</ElctrncSeqNb><CreDtTm>${day}T22:00:00+01:00</CreDtTm>` +
    `<FrToDt><FrDtTm>${day}T00:00:00+01:00</FrDtTm><ToDtTm>${day}T23:59:59+01:00</ToDtTm></FrToDt>\n` +
    '<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy></Acct>\n'
  )
}

function firstEntries(version: CamtVersion): string {
  const batch = '<Btch><PmtInfId>PMT-1</PmtInfId><NbOfTxs>2</NbOfTxs><TtlAmt Ccy="EUR">500.25</TtlAmt></Btch>'
  const details = `<NtryDtls>${batch}${creditDetails(version)}</NtryDtls>`
  return (
    entry(version, '500.25', 'CRDT', FIRST_DAY, `<AcctSvcrRef>REF-1</AcctSvcrRef>${bankCode('RCDT')}${details}`) +
    entry(version, '200.10', 'DBIT', FIRST_DAY, bankCode('ICDT'))
  )
}

function secondEntries(version: CamtVersion): string {
  return entry(version, '50.00', 'DBIT', SECOND_DAY, bankCode('ICDT'))
}

export function message(version: CamtVersion, ...statements: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}">
<BkToCstmrStmt>
<GrpHdr><MsgId>CAMT-1</MsgId><CreDtTm>2026-11-21T22:00:00+01:00</CreDtTm></GrpHdr>
${statements.map((statement) => `<Stmt>${statement}</Stmt>\n`).join('')}</BkToCstmrStmt>
</Document>
`
}

function first(version: CamtVersion): string {
  const balances = balance('OPBD', '1000.00', FIRST_DAY) + balance('CLBD', '1300.15', FIRST_DAY)
  return head('STMT-1', 17, FIRST_DAY) + balances + summary(version) + firstEntries(version)
}

/** One day. */
export function oneStatement(version: CamtVersion): string {
  return message(version, first(version))
}

/** Two days of one account. */
export function twoStatements(version: CamtVersion): string {
  const balances = balance('OPBD', '1300.15', SECOND_DAY) + balance('CLBD', '1250.15', SECOND_DAY)
  return message(version, first(version), head('STMT-2', 18, SECOND_DAY) + balances + secondEntries(version))
}

/** One statement on two pages, with the balances that are given for each. */
export function twoPages(version: CamtVersion, balances: readonly [string, string]): string {
  const page = (number: number, last: boolean) => `<StmtPgntn><PgNb>${number}</PgNb><LastPgInd>${last}</LastPgInd></StmtPgntn>`
  const one = head('STMT-1', 17, FIRST_DAY, page(1, false)) + balances[0] + firstEntries(version)
  const later = secondEntries(version).replace(SECOND_DAY, FIRST_DAY)
  return message(version, one, head('STMT-1', 17, FIRST_DAY, page(2, true)) + balances[1] + later)
}

export function changed(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((before, [from, to]) => swap(before, from, to), text)
}
