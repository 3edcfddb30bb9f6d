import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAIN_RULES } from '../../src/pure/documents/iso20022/rules.ts'
import { painMessage, swap } from '../support/iso20022-messages.ts'
import { codesOf, type RuleCase, ruleTests } from '../support/iso20022-rules.ts'

/** Totals of the clean message are 2 and 1,300.00; see `support/iso20022-messages.ts`. */
const SINGLE = { single: true } as const
const ONE = '<CtrlSum>1300.00</CtrlSum><InitgPty>'
const RF_GOOD = 'RF18539007547034'
/** Of the Swiss implementation guidelines for the QR-bill. */
const QR_GOOD = '210000000003139471430009017'
const strd = (type: string, reference: string) =>
  `<RmtInf><Strd><CdtrRefInf><Tp><CdOrPrtry>${type}</CdOrPrtry></Tp><Ref>${reference}</Ref></CdtrRefInf></Strd></RmtInf>`
/** The QR-IBAN of the same guidelines, and a Swiss bank for it. */
const TO_QR_IBAN: RuleCase['changes'] = [
  ['FR1420041010050500013M02606', 'CH4431999123000889012'],
  ['BNPAFRPPXXX', 'RAIFCH22XXX'],
]
const CREDITOR_ACCOUNT = '<CdtrAcct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></CdtrAcct>'
const USTRD = '<RmtInf><Ustrd>Invoice 1</Ustrd></RmtInf>'
const AMOUNT = '<InstdAmt Ccy="EUR">49.25</InstdAmt>'
const SUMS: readonly (readonly [string, string])[] = [
  ['<CtrlSum>1300.00</CtrlSum>', '<CtrlSum>1250.75</CtrlSum>'],
  ['<CtrlSum>1300.00</CtrlSum>', '<CtrlSum>1250.75</CtrlSum>'],
]

/** The single transfer in an envelope with the header of CBPR+. */
const SENT = `<Envelope><AppHdr xmlns="urn:iso:std:iso:20022:tech:xsd:head.001.001.02"><BizMsgIdr>MSG-2026-1</BizMsgIdr>
<MsgDefIdr>pain.001.001.09</MsgDefIdr><BizSvc>swift.cbprplus.03</BizSvc></AppHdr>
${painMessage({ single: true }).replace(/<\?.*\?>/, '')}</Envelope>`
const instructions = (...codes: readonly string[]) =>
  ['</CdtrAcct>', `</CdtrAcct>${codes.map((code) => `<InstrForCdtrAgt><Cd>${code}</Cd></InstrForCdtrAgt>`).join('')}`] as const
const BANK = 'BNPAFRPPXXX</BICFI>'
const bank = (rest: string) => [BANK, `${BANK}${rest}`] as const

const CBPR_CASES: readonly RuleCase[] = [
  { code: 'P_HDR_MSGDEF', document: SENT, changes: [['>pain.001.001.09<', '>pain.001.001.03<']], profile: 'CBPR' },
  { code: 'P_HDR_MSGDEF', document: SENT, changes: [['>pain.001.001.09<', '>pacs.008.001.09<']] },
  { code: 'P_HDR_BIZMSG', document: SENT, changes: [['<BizMsgIdr>MSG-2026-1', '<BizMsgIdr>OTHER']], profile: 'CBPR', at: '/GrpHdr/MsgId' },
  { code: 'P_HDR_BIZMSG', document: SENT, changes: [['<BizMsgIdr>MSG-2026-1', '<BizMsgIdr>OTHER']], severity: 'warning' },
  { code: 'P_HDR_BIZSVC', document: SENT, changes: [['swift.cbprplus.03', 'swift.cbprplus.cov.03']], profile: 'CBPR' },
  { code: 'P_PMTINFID_MSGID', changes: [['<PmtInfId>MSG-2026-1', '<PmtInfId>PMT-1']], profile: 'CBPR', message: SINGLE, at: '/PmtInfId' },
  { code: 'P_INSTR_CODES', changes: [instructions('HOLD', 'CHQB')], keeps: [instructions('HOLD', 'PHOB')] },
  { code: 'P_INSTR_CODES', changes: [instructions('PHOB', 'TELB')], profile: 'CBPR', message: SINGLE },
  { code: 'P_INSTR_CODES', changes: [instructions('HOLD', 'HOLD')], profile: 'CBPR', message: SINGLE },
  {
    code: 'P_AGENT_NAME_ADDR',
    changes: [bank('<Nm>Bank</Nm>')],
    keeps: [bank('<Nm>Bank</Nm><PstlAdr><TwnNm>Paris</TwnNm><Ctry>FR</Ctry></PstlAdr>')],
    profile: 'CBPR',
    message: SINGLE,
  },
]

const CASES: readonly RuleCase[] = [
  ...CBPR_CASES,
  { code: 'P_NBTX_GROUP', changes: [['<NbOfTxs>2', '<NbOfTxs>3']], keeps: [['<NbOfTxs>2', '<NbOfTxs>002']], at: '/GrpHdr/NbOfTxs' },
  { code: 'P_CTRLSUM_GROUP', changes: [['1300.00', '1300.01']], keeps: [['1300.00', '+1300.0']], at: '/GrpHdr/CtrlSum' },
  {
    code: 'P_NBTX_PMT',
    changes: [['<BtchBookg>true</BtchBookg><NbOfTxs>2', '<BtchBookg>true</BtchBookg><NbOfTxs>1']],
    at: '/PmtInf[1]/NbOfTxs',
  },
  {
    code: 'P_CTRLSUM_PMT',
    changes: [['<NbOfTxs>2</NbOfTxs><CtrlSum>1300.00</CtrlSum>\n', '<NbOfTxs>2</NbOfTxs><CtrlSum>1299.99</CtrlSum>\n']],
    at: '/PmtInf[1]/CtrlSum',
  },
  { code: 'P_CTRLSUM_MISSING', changes: [[ONE, '<InitgPty>']], severity: 'warning', at: '/GrpHdr' },
  { code: 'P_CTRLSUM_MISSING', changes: [[ONE, '<InitgPty>']], profile: 'SEPA', severity: 'warning' },
  { code: 'P_MSGID_EMPTY', changes: [['MSG-2026-1', '']] },
  { code: 'P_MSGID_EMPTY', changes: [['MSG-2026-1', '   ']] },
  { code: 'P_E2E_EMPTY', changes: [['E2E-2', '']], at: '/CdtTrfTxInf[2]/PmtId/EndToEndId' },
  { code: 'P_E2E_DUPLICATE', changes: [['E2E-2', 'E2E-1']], severity: 'warning' },
  {
    code: 'P_E2E_NOTPROVIDED',
    changes: [
      ['E2E-1', 'NOTPROVIDED'],
      ['E2E-2', 'NOTPROVIDED'],
    ],
    severity: 'info',
  },
  { code: 'P_E2E_CASE_COLLISION', changes: [['E2E-2', 'e2e-1']], severity: 'warning' },
  { code: 'P_E2E_CASE_COLLISION', changes: [['E2E-2', 'E2 E-1']], severity: 'warning' },
  { code: 'P_INSTRID_DUPLICATE', changes: [['INSTR-2', 'INSTR-1']], severity: 'warning' },
  {
    code: 'P_TX_DUPLICATE_CONTENT',
    changes: [
      ...SUMS.map(([from]) => [from, '<CtrlSum>2501.50</CtrlSum>'] as const),
      [AMOUNT, '<InstdAmt Ccy="EUR">1250.75</InstdAmt>'],
      ['NL91ABNA0417164300', 'FR1420041010050500013M02606'],
      ['ABNANL2A', 'BNPAFRPPXXX'],
      ['Invoice 2', 'Invoice 1'],
    ],
    severity: 'warning',
  },
  { code: 'P_AMT_ZERO', changes: [...SUMS, [AMOUNT, '<InstdAmt Ccy="EUR">0.00</InstdAmt>']] },
  {
    code: 'P_AMT_RANGE',
    changes: [
      ...SUMS.map(([from]) => [from, '<CtrlSum>1000001250.75</CtrlSum>'] as const),
      [AMOUNT, '<InstdAmt Ccy="EUR">1000000000.00</InstdAmt>'],
    ],
    keeps: [
      ...SUMS.map(([from]) => [from, '<CtrlSum>1000001250.74</CtrlSum>'] as const),
      [AMOUNT, '<InstdAmt Ccy="EUR">999999999.99</InstdAmt>'],
    ],
    profile: 'SEPA',
  },
  { code: 'P_CCY_EUR', changes: [['Ccy="EUR">1250.75', 'Ccy="CHF">1250.75']], profile: 'SEPA', message: SINGLE },
  { code: 'P_CCY_MIXED', changes: [['Ccy="EUR">49.25', 'Ccy="CHF">49.25']], severity: 'warning', at: '/GrpHdr/CtrlSum' },
  {
    code: 'P_EXEC_PAST',
    changes: [['<Dt>2026-11-23', '<Dt>2026-11-20']],
    keeps: [['<Dt>2026-11-23', '<Dt>2026-11-21']],
    severity: 'warning',
  },
  // 365 days after 2026-11-21 is 2027-11-21.
  {
    code: 'P_EXEC_FAR',
    changes: [['<Dt>2026-11-23', '<Dt>2027-11-22']],
    keeps: [['<Dt>2026-11-23', '<Dt>2027-11-21']],
    severity: 'warning',
  },
  { code: 'P_DBTR_ACCT', changes: [['<DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id>', '<DbtrAcct>']], message: { version: '12' } },
  { code: 'P_DBTR_ACCT', changes: [['<IBAN>DE89370400440532013000</IBAN>', '']], message: { version: '03' } },
  { code: 'P_DBTR_ACCT', changes: [['<DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id>', '<DbtrAcct>']] },
  {
    code: 'P_DBTR_AGENT',
    changes: [['<BICFI>COBADEFFXXX</BICFI>', '<Nm>Bank</Nm>']],
    keeps: [['<BICFI>COBADEFFXXX</BICFI>', '<Othr><Id>NOTPROVIDED</Id></Othr>']],
  },
  { code: 'P_CDTR_ACCT', changes: [[CREDITOR_ACCOUNT, '']] },
  { code: 'STRUCT_MISSING', changes: [[CREDITOR_ACCOUNT, '<CdtrAcct></CdtrAcct>']], at: '/CdtrAcct' },
  { code: 'STRUCT_MISSING', changes: [[CREDITOR_ACCOUNT, '<CdtrAcct><Ccy>EUR</Ccy></CdtrAcct>']], at: '/CdtrAcct' },
  {
    code: 'P_CDTR_ACCT',
    changes: [[CREDITOR_ACCOUNT, '<CdtrAcct><Ccy>EUR</Ccy></CdtrAcct>']],
    keeps: [[CREDITOR_ACCOUNT, '<CdtrAcct><Prxy><Id>payee.1</Id></Prxy></CdtrAcct>']],
    message: { version: '12' },
    at: '/CdtrAcct',
  },
  { code: 'P_CDTR_NAME', changes: [['<Nm>Creditor 2</Nm>', '']], keeps: [['<PmtMtd>TRF', '<PmtMtd>TRA']] },
  { code: 'P_CHRGBR_LEVEL', changes: [[`${AMOUNT}</Amt>`, `${AMOUNT}</Amt><ChrgBr>SLEV</ChrgBr>`]] },
  { code: 'P_CHRGBR_SLEV', changes: [['<ChrgBr>SLEV', '<ChrgBr>SHAR']], profile: 'SEPA' },
  { code: 'P_PMTTP_LEVEL', changes: [[`<Amt>${AMOUNT}`, `<PmtTpInf><SvcLvl><Cd>URGP</Cd></SvcLvl></PmtTpInf><Amt>${AMOUNT}`]] },
  {
    code: 'P_ULTMTDBTR_LEVEL',
    changes: [
      ['<ChrgBr>SLEV', '<UltmtDbtr><Nm>Group</Nm></UltmtDbtr><ChrgBr>SLEV'],
      [`${AMOUNT}</Amt>`, `${AMOUNT}</Amt><UltmtDbtr><Nm>Group</Nm></UltmtDbtr>`],
    ],
    keeps: [['<ChrgBr>SLEV', '<UltmtDbtr><Nm>Group</Nm></UltmtDbtr><ChrgBr>SLEV']],
  },
  { code: 'P_SVCLVL', changes: [['<Cd>URGP', '<Cd>NURG']], keeps: [['<Cd>URGP', '<Cd>SEPA']], profile: 'SEPA', severity: 'warning' },
  { code: 'P_BTCHBOOKG', changes: [['<BtchBookg>true</BtchBookg>', '']], severity: 'info', at: '/PmtInf[1]' },
  { code: 'P_BTCHBOOKG', changes: [['<BtchBookg>false', '<BtchBookg>true']], message: SINGLE, severity: 'info' },
  {
    code: 'P_RMT_BOTH',
    changes: [[USTRD, USTRD.replace('</RmtInf>', '<Strd><AddtlRmtInf>more</AddtlRmtInf></Strd></RmtInf>')]],
    profile: 'SEPA',
  },
  { code: 'P_RMT_LEN', changes: [[USTRD, '<RmtInf><Ustrd>Invoice 1</Ustrd><Ustrd>and more</Ustrd></RmtInf>']], profile: 'SEPA' },
  {
    code: 'P_SCOR_CHECK',
    changes: [[USTRD, strd('<Cd>SCOR</Cd>', 'RF19539007547034')]],
    keeps: [[USTRD, strd('<Cd>SCOR</Cd>', RF_GOOD)]],
  },
  {
    code: 'P_QRR_CHECK',
    changes: [...TO_QR_IBAN, [USTRD, strd('<Prtry>QRR</Prtry>', '210000000003139471430009018')]],
    keeps: [...TO_QR_IBAN, [USTRD, strd('<Prtry>QRR</Prtry>', QR_GOOD)]],
    profile: 'SPS',
  },
  {
    code: 'P_QRR_CHECK',
    changes: [...TO_QR_IBAN, [USTRD, strd('<Prtry>QRR</Prtry>', QR_GOOD.slice(1))]],
    severity: 'warning',
  },
  {
    code: 'P_QR_IBAN',
    changes: TO_QR_IBAN,
    keeps: [...TO_QR_IBAN, [USTRD, strd('<Prtry>QRR</Prtry>', QR_GOOD)]],
    profile: 'SPS',
    at: '/CdtTrfTxInf[1]',
  },
  { code: 'P_QR_IBAN', changes: [...TO_QR_IBAN, [USTRD, strd('<Cd>SCOR</Cd>', RF_GOOD)]], severity: 'warning' },
  { code: 'P_QR_IBAN', changes: [[USTRD, strd('<Prtry>QRR</Prtry>', QR_GOOD)]], profile: 'SPS' },
  { code: 'P_PMTMTD', changes: [['<PmtMtd>TRF', '<PmtMtd>DD']] },
  {
    code: 'P_CHK_AGENT',
    changes: [['<PmtMtd>TRF', '<PmtMtd>CHK']],
    keeps: [
      ['<PmtMtd>TRF', '<PmtMtd>CHK'],
      ['<CdtrAcct><Id><IBAN>FR1420041010050500013M02606</IBAN></Id></CdtrAcct>', ''],
    ],
    message: SINGLE,
    severity: 'warning',
  },
  {
    code: 'P_SELF_PAYMENT',
    changes: [
      ['NL91ABNA0417164300', 'DE89370400440532013000'],
      ['ABNANL2A', 'COBADEFF'],
    ],
    severity: 'warning',
  },
  {
    code: 'P_CBPR_SINGLE',
    changes: [
      ['<NbOfTxs>1</NbOfTxs><CtrlSum>1250.75', '<NbOfTxs>2</NbOfTxs><CtrlSum>1251.75'],
      [
        '<BtchBookg>false</BtchBookg><NbOfTxs>1</NbOfTxs><CtrlSum>1250.75',
        '<BtchBookg>false</BtchBookg><NbOfTxs>2</NbOfTxs><CtrlSum>1251.75',
      ],
      [
        '</PmtInf>',
        '<CdtTrfTxInf><PmtId><EndToEndId>E2E-9</EndToEndId><UETR>8a562c67-ca16-48ba-b074-65581be6f009</UETR></PmtId>' +
          '<Amt><InstdAmt Ccy="EUR">1.00</InstdAmt></Amt><Cdtr><Nm>Another</Nm></Cdtr>' +
          '<CdtrAcct><Id><Othr><Id>12345</Id></Othr></Id></CdtrAcct></CdtTrfTxInf></PmtInf>',
      ],
    ],
    profile: 'CBPR',
    message: SINGLE,
  },
  {
    code: 'P_UETR_MISSING',
    changes: [['<UETR>8a562c67-ca16-48ba-b074-65581be6f001</UETR>', '']],
    profile: 'CBPR',
    message: SINGLE,
  },
]

ruleTests(CASES)

test('P_PMTINFID_DUPLICATE: two payments of one message', () => {
  // Two payments of 1,250.75 each make 2,501.50; both carry their own identifications but for the first case.
  const one = painMessage(SINGLE)
  const payment = one.slice(one.indexOf('<PmtInf>'), one.indexOf('</PmtInf>') + '</PmtInf>'.length)
  const other = [
    ['E2E-1', 'E2E-3'],
    ['INSTR-1', 'INSTR-3'],
    ['6f001', '6f003'],
    ['Invoice 1', 'Invoice 3'],
  ].reduce((text, [from = '', to = '']) => swap(text, from, to), payment)
  const head = swap(one, '<NbOfTxs>1</NbOfTxs><CtrlSum>1250.75', '<NbOfTxs>2</NbOfTxs><CtrlSum>2501.50')
  const both = (second: string) => swap(head, '</PmtInf>', `</PmtInf>${second}`)
  assert.deepEqual(codesOf(both(other)), ['P_PMTINFID_DUPLICATE'])
  assert.deepEqual(codesOf(both(swap(other, '<PmtInfId>MSG-2026-1', '<PmtInfId>PMT-2'))), [])
})

test('every rule of pain.001 has its case', () => {
  const covered = new Set<string>([...CASES.map(({ code }) => code), 'P_PMTINFID_DUPLICATE'])
  assert.deepEqual(
    Object.keys(PAIN_RULES).filter((code) => !covered.has(code)),
    [],
  )
  assert.equal(Object.keys(PAIN_RULES).length, 45, '37 numbered rules, one of which has two codes, that of the QR-IBAN, and six of CBPR+')
})
