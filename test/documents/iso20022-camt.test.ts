import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CAMT_RULES } from '../../src/pure/documents/iso20022/rules.ts'
import { runs } from '../support/counts.ts'
import { type RuleCase, ruleTests } from '../support/iso20022-rules.ts'
import {
  balance,
  bankCode,
  type CamtVersion,
  CAMT_VERSIONS,
  creditDetails,
  entry,
  isLater,
  oneStatement,
  status,
  transaction,
  twoStatements,
} from './iso20022-camt-messages.ts'

type Change = readonly [from: string, to: string]

const DAY = '2026-11-20'
const LAST = balance('CLBD', '1300.15', DAY)
const DEBIT = bankCode('ICDT')
const BOOKED = `<BookgDt><Dt>${DAY}</Dt></BookgDt>`
const ACCOUNT = '<Id><IBAN>DE89370400440532013000</IBAN></Id>'
const TOTAL = '<TtlNtries><NbOfNtries>2</NbOfNtries><Sum>700.35'
const DEBITS = '<TtlDbtNtries><NbOfNtries>1</NbOfNtries><Sum>200.10'

const more = (text: string): Change => [LAST, LAST + text]
const debit = (text: string): Change => [`${DEBIT}</Ntry>`, `${text}</Ntry>`]
const third = (text: string): Change => ['</Stmt>', `${text}</Stmt>`]

function balanceCases(version: CamtVersion): RuleCase[] {
  const document = oneStatement(version)
  const opening = (amount: string) => `${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-21`
  return [
    {
      code: 'S_BAL_OPEN',
      document,
      changes: [['<Cd>OPBD', '<Cd>OPAV']],
      keeps: [['<Cd>OPBD', '<Cd>PRCD']],
      severity: 'warning',
      at: '/Stmt[1]',
    },
    { code: 'S_BAL_OPEN', document, changes: [['<Cd>OPBD', '<Cd>OPAV']], profile: 'SPS', at: '/Stmt[1]' },
    { code: 'S_BAL_CLOSE', document, changes: [['<Cd>CLBD', '<Cd>CLAV']], severity: 'warning', at: '/Stmt[1]' },
    { code: 'S_BAL_CLOSE', document, changes: [['<Cd>CLBD', '<Cd>CLAV']], profile: 'CBPR', at: '/Stmt[1]' },
    { code: 'S_BAL_EQ', document, changes: [['1300.15', '1300.16']], keeps: [['1300.15', '+01300.15']], at: '/Bal[2]' },
    { code: 'S_BAL_EQ', document, changes: [['1300.15</Amt><CdtDbtInd>CRDT', '1300.15</Amt><CdtDbtInd>DBIT']] },
    {
      code: 'S_BAL_SIGN',
      document,
      changes: [more(balance('OPAV', '0.00', DAY, 'EUR', 'DBIT'))],
      keeps: [more(balance('OPAV', '0.00', DAY))],
      severity: 'warning',
    },
    {
      code: 'S_BAL_CCY',
      document,
      changes: [more(balance('CLAV', '1', DAY, 'CHF'))],
      keeps: [more(balance('CLAV', '1', DAY))],
      at: '/Bal[3]/Amt',
    },
    {
      code: 'S_BAL_DUP',
      document,
      changes: [more(balance('FWAV', '1', '2026-11-23') + balance('FWAV', '2', '2026-11-23'))],
      keeps: [more(balance('FWAV', '1', '2026-11-23') + balance('FWAV', '2', '2026-11-24'))],
      severity: 'warning',
      at: '/Bal[4]',
    },
    {
      code: 'S_BAL_CHAIN',
      document: twoStatements(version),
      changes: [
        [opening('1300.15'), opening('1300.05')],
        ['1250.15', '1250.05'],
      ],
      at: '/Stmt[2]/Bal[1]',
    },
  ]
}

function statementCases(version: CamtVersion): RuleCase[] {
  const document = oneStatement(version)
  const two = twoStatements(version)
  const pages = (number: number): Change => [
    '</CreDtTm></GrpHdr>',
    `</CreDtTm><MsgPgntn><PgNb>${number}</PgNb><LastPgInd>1</LastPgInd></MsgPgntn></GrpHdr>`,
  ]
  const copied = (kind: string): Change => ['<Acct>', `<CpyDplctInd>${kind}</CpyDplctInd><Acct>`]
  return [
    { code: 'S_STMT_ID_DUP', document: two, changes: [['STMT-2', 'STMT-1']], at: '/Stmt[2]/Id' },
    {
      code: 'S_SEQ_GAP',
      document: two,
      changes: [['<ElctrncSeqNb>18', '<ElctrncSeqNb>19']],
      severity: 'warning',
      at: '/Stmt[2]/ElctrncSeqNb',
    },
    { code: 'S_SEQ_GAP', document: two, changes: [['<ElctrncSeqNb>18', '<ElctrncSeqNb>017']], severity: 'warning' },
    { code: 'S_PAGINATION', document, changes: [pages(0)], keeps: [pages(1)], at: '/GrpHdr/MsgPgntn' },
    { code: 'S_COPY_DUPL', document, changes: [copied('DUPL')], keeps: [copied('COPY')], severity: 'warning' },
    { code: 'S_COPY_DUPL', document, changes: [copied('CODU')], severity: 'warning' },
    { code: 'S_ACCT_ID', document, changes: [[ACCOUNT, '']], keeps: [[ACCOUNT, '<Id><Othr><Id>12345</Id></Othr></Id>']], at: '/Acct' },
    { code: 'S_ACCT_ID', document, changes: [[ACCOUNT, '<Id><Othr><Id></Id></Othr></Id>']] },
    { code: 'S_SUM_TTL', document, changes: [[TOTAL, TOTAL.replace('>2<', '>3<')]], keeps: [[TOTAL, TOTAL.replace('>2<', '>02<')]] },
    { code: 'S_SUM_TTL', document, changes: [['700.35', '700.34']], keeps: [['700.35', '700.350']], at: '/TtlNtries/Sum' },
    { code: 'S_SUM_CDT', document, changes: [['<TtlCdtNtries><NbOfNtries>1', '<TtlCdtNtries><NbOfNtries>2']] },
    { code: 'S_SUM_CDT', document, changes: [['500.25', '500.26']], at: '/TtlCdtNtries/Sum' },
    { code: 'S_SUM_DBT', document, changes: [[DEBITS, DEBITS.replace('>1<', '>0<')]] },
    { code: 'S_SUM_DBT', document, changes: [['200.10', '200.11']], at: '/TtlDbtNtries/Sum' },
    { code: 'S_SUM_NET', document, changes: [['>300.15', '>300.16']] },
    {
      code: 'S_SUM_NET',
      document,
      changes: [
        version === '02'
          ? ['>300.15</TtlNetNtryAmt><CdtDbtInd>CRDT', '>300.15</TtlNetNtryAmt><CdtDbtInd>DBIT']
          : ['>300.15</Amt><CdtDbtInd>CRDT', '>300.15</Amt><CdtDbtInd>DBIT'],
      ],
    },
    {
      code: 'S_SUM_BKTXCD',
      document,
      changes: [['<TtlNtriesPerBkTxCd><NbOfNtries>1', '<TtlNtriesPerBkTxCd><NbOfNtries>2']],
      severity: 'warning',
    },
    {
      code: 'S_SUM_BKTXCD',
      document,
      changes: [[`500.25</Sum>${bankCode('RCDT')}`, `500.24</Sum>${bankCode('RCDT')}`]],
      keeps: [[`500.25</Sum>${bankCode('RCDT')}`, `200.1</Sum>${DEBIT}`]],
      severity: 'warning',
    },
  ]
}

function entryCases(version: CamtVersion): RuleCase[] {
  const document = oneStatement(version)
  const pending = (code: string) =>
    third(`<Ntry><Amt Ccy="EUR">10.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>${status(version, code)}${bankCode('RCDT')}</Ntry>`)
  const zero = (amount: string) => third(entry(version, amount, 'DBIT', DAY, bankCode('ICDT', 'DMCT')))
  const counted: Change[] = [
    [TOTAL, TOTAL.replace('>2<', '>3<')],
    [DEBITS, DEBITS.replace('>1<', '>2<')],
  ]
  // The debit once more: debits of 400.20, 900.45 in all, a net of 100.05, and 1,100.05 are left.
  const again: Change[] = [...counted, ['700.35', '900.45'], ['<Sum>200.10', '<Sum>400.20'], ['>300.15', '>100.05'], ['1300.15', '1100.05']]
  const repeated = (rest: string) => third(entry(version, '200.10', 'DBIT', DAY, DEBIT).replace('<Ntry>', `<Ntry>${rest}`))
  const reversed = (value: string): Change => [
    `200.10</Amt><CdtDbtInd>DBIT</CdtDbtInd>`,
    `200.10</Amt><CdtDbtInd>DBIT</CdtDbtInd><RvslInd>${value}</RvslInd>`,
  ]
  return [
    {
      code: 'S_STS_PENDING',
      document,
      changes: [pending('PDNG')],
      severity: 'warning',
      at: isLater(version) ? '/Ntry[3]/Sts/Cd' : '/Ntry[3]/Sts',
    },
    { code: 'S_STS_PENDING', document, changes: [pending('INFO')], severity: 'warning' },
    { code: 'S_ENTRY_CCY', document, changes: [['Ccy="EUR">200.10', 'Ccy="CHF">200.10']], at: '/Ntry[2]/Amt' },
    { code: 'S_ENTRY_ZERO', document, changes: [...counted, zero('0.00')], severity: 'warning', at: '/Ntry[3]/Amt' },
    { code: 'S_BOOKDT_MISSING', document, changes: [[BOOKED, '']], severity: 'warning', at: '/Ntry[1]' },
    {
      code: 'S_BOOKDT_RANGE',
      document,
      changes: [[BOOKED, BOOKED.replace('20<', '19<')]],
      keeps: [[BOOKED, '<BookgDt><DtTm>2026-11-20T12:00:00Z</DtTm></BookgDt>']],
      severity: 'warning',
    },
    {
      code: 'S_ACCTSVCRREF_DUP',
      document,
      changes: [debit(`<AcctSvcrRef>REF-1</AcctSvcrRef>${DEBIT}`)],
      keeps: [debit(`<AcctSvcrRef>REF-2</AcctSvcrRef>${DEBIT}`)],
      severity: 'warning',
    },
    {
      code: 'S_ENTRY_DUP',
      document,
      changes: [...again, repeated('')],
      keeps: [...again, repeated('<NtryRef>3</NtryRef>')],
      severity: 'warning',
      at: '/Ntry[3]',
    },
    { code: 'S_RVSL', document, changes: [reversed('true')], keeps: [reversed('false')], severity: 'info' },
    { code: 'S_BKTXCD_MISSING', document, changes: [debit('')], at: '/Ntry[2]' },
    {
      code: 'S_BKTXCD_MISSING',
      document,
      changes: [debit('<BkTxCd></BkTxCd>')],
      keeps: [debit('<BkTxCd><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd>')],
    },
    {
      code: 'S_BKTXCD_DIR',
      document,
      changes: [debit(bankCode('RCDT', 'DMCT'))],
      keeps: [debit(bankCode('RCDT', 'CHRG'))],
      severity: 'warning',
    },
  ]
}

function detailCases(version: CamtVersion): RuleCase[] {
  const document = oneStatement(version)
  const returned = (reason: string) =>
    debit(`${bankCode('ICDT', 'RRTN')}<NtryDtls>${transaction(version, '200.10', 'DBIT', '', reason)}</NtryDtls>`)
  const reason = (code: string) => returned(`<RtrInf><Rsn><Cd>${code}</Cd></Rsn></RtrInf>`)
  const charged = (value: string) =>
    debit(`${DEBIT}<Chrgs><Rcrd><Amt Ccy="EUR">2.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><ChrgInclInd>${value}</ChrgInclInd></Rcrd></Chrgs>`)
  const cases: RuleCase[] = [
    { code: 'S_ENTRY_SUM', document, changes: [['310.15', '310.16']], keeps: [['Ccy="EUR">310.15', 'Ccy="CHF">310.16']], at: '/Ntry[1]' },
    { code: 'S_BTCH_COUNT', document, changes: [['<NbOfTxs>2', '<NbOfTxs>3']], severity: 'warning', at: '/NtryDtls[1]' },
    { code: 'S_BTCH_TOTAL', document, changes: [['<TtlAmt Ccy="EUR">500.25', '<TtlAmt Ccy="EUR">500.26']], severity: 'warning' },
    { code: 'S_BATCH_NO_DETAILS', document, changes: [[creditDetails(version), '']], severity: 'info' },
    { code: 'S_RTR_REASON', document, changes: [debit(bankCode('ICDT', 'RRTN'))], severity: 'warning', at: '/Ntry[2]' },
    { code: 'S_RTR_REASON', document, changes: [reason('ZZ99')], keeps: [reason('AC04')], severity: 'warning', at: '/RtrInf/Rsn/Cd' },
    { code: 'S_RTR_REASON', document, changes: [returned('<RtrInf></RtrInf>')], severity: 'warning', at: '/RtrInf' },
    { code: 'S_E2E_NOTPROVIDED', document, changes: [['E2E-1', 'NOTPROVIDED']], severity: 'info' },
  ]
  cases.push(...chargeCases(version))
  if (version === '02') return cases
  const both: Change[] = [
    ['310.15</Amt><CdtDbtInd>CRDT', '520.25</Amt><CdtDbtInd>CRDT'],
    ['190.10</Amt><CdtDbtInd>CRDT', '20.00</Amt><CdtDbtInd>DBIT'],
  ]
  // 520.25 less 20.00 are 500.25, added up they are not.
  const added: Change[] = both.map(([from, to]) => [from, to.replace('DBIT', 'CRDT')])
  return [
    ...cases,
    { code: 'S_ENTRY_SUM', document, changes: added, keeps: both },
    { code: 'S_CHRG_INCLUDED', document, changes: [charged('true')], keeps: [charged('false')], severity: 'info' },
  ]
}

/** Only charges that are the difference stand between an entry and its transactions: 310.15 + 190.10 = 500.25, one cent more is not. */
function chargeCases(version: CamtVersion): RuleCase[] {
  const document = oneStatement(version)
  const charges = (amount: string, currency = 'EUR') => {
    const inner = `<Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd>`
    return version === '02' ? `<Chrgs>${inner}</Chrgs>` : `<Chrgs><Rcrd>${inner}</Rcrd></Chrgs>`
  }
  const cent: Change = ['310.15', '310.16']
  const listed = (text: string): Change => ['<NtryDtls>', `${text}<NtryDtls>`]
  const code = 'S_ENTRY_SUM'
  const exempt = [charges('0.01'), charges('0.01', 'CHF')]
  const not = [charges('0.00'), charges('0.02'), '<Chrgs></Chrgs>'].slice(0, version === '02' ? 2 : 3)
  return exempt.flatMap((kept) =>
    not.map((broken): RuleCase => ({ code, document, changes: [cent, listed(broken)], keeps: [cent, listed(kept)], at: '/Ntry[1]' })),
  )
}

/** The shapes of the message differ up to version 08; the others are versions of that. */
const VERSIONS = CAMT_VERSIONS.slice(0, runs(3, CAMT_VERSIONS.length))

const CASES = VERSIONS.flatMap((version) => [
  ...balanceCases(version),
  ...statementCases(version),
  ...entryCases(version),
  ...detailCases(version),
])

ruleTests(CASES)
for (const version of VERSIONS.filter(isLater)) {
  const shape = ['</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>', '</CdtDbtInd><Sts><Prtry>posted</Prtry></Sts>'] as const
  ruleTests([{ code: 'S_STS_PRTRY', document: oneStatement(version), changes: [shape], severity: 'warning', at: '/Sts/Prtry' }])
}

/** The first has a case for each version in a file of its own, since older versions find it another way. */
const ELSEWHERE = ['S_STS_SHAPE', 'S_STS_PRTRY']

test('every rule of camt.053 has its case', () => {
  const covered = new Set<string>([...CASES.map(({ code }) => code), ...ELSEWHERE])
  assert.deepEqual(
    Object.keys(CAMT_RULES).filter((code) => !covered.has(code)),
    [],
  )
  assert.equal(Object.keys(CAMT_RULES).length, 36, '36 numbered rules, one of which has two codes and one stands with the shared ones')
})
