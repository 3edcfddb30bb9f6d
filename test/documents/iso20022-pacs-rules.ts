/** For each rule of pacs.008 a message that breaks it and nothing else, and one that keeps it. */
import type { RuleCase } from '../support/iso20022-rules.ts'
import { agent, clearingMessage, correspondentMessage, identification } from './iso20022-pacs-messages.ts'

const CLEARING = clearingMessage()
const CORRESPONDENT = correspondentMessage()
type Change = readonly [from: string, to: string]

const DATE = '<IntrBkSttlmDt>2026-11-23</IntrBkSttlmDt>'
const FIRST = '<IntrBkSttlmAmt Ccy="EUR">500.00</IntrBkSttlmAmt>'
const SECOND = '<IntrBkSttlmAmt Ccy="EUR">250.25</IntrBkSttlmAmt>'
/** 750.25 less 250.25. */
const LESS_SECOND: readonly Change[] = [
  ['<CtrlSum>750.25', '<CtrlSum>500.00'],
  ['Ccy="EUR">750.25', 'Ccy="EUR">500.00'],
]

export const GROUP_CASES: readonly RuleCase[] = [
  {
    code: 'C_NBTX',
    document: CLEARING,
    changes: [['<NbOfTxs>2', '<NbOfTxs>3']],
    keeps: [['<NbOfTxs>2', '<NbOfTxs>002']],
    at: '/GrpHdr/NbOfTxs',
  },
  {
    code: 'C_CTRLSUM',
    document: CLEARING,
    changes: [['<CtrlSum>750.25', '<CtrlSum>750.24']],
    keeps: [['<CtrlSum>750.25', '<CtrlSum>+0750.250']],
    at: '/GrpHdr/CtrlSum',
  },
  { code: 'C_TTLAMT', document: CLEARING, changes: [['Ccy="EUR">750.25', 'Ccy="EUR">750.20']], at: '/GrpHdr/TtlIntrBkSttlmAmt' },
  {
    code: 'C_TTLAMT_CCY',
    document: CLEARING,
    changes: [[SECOND, SECOND.replace('EUR', 'USD')]],
    at: '/CdtTrfTxInf[2]/IntrBkSttlmAmt',
  },
  { code: 'C_TTLAMT_CCY', document: CLEARING, changes: [['Ccy="EUR">750.25', 'Ccy="USD">750.25']], at: '/CdtTrfTxInf[1]/IntrBkSttlmAmt' },
  {
    code: 'C_STTLMDT_LEVEL',
    document: CLEARING,
    changes: [[DATE, '']],
    keeps: [
      [DATE, ''],
      [FIRST, FIRST + DATE],
      [SECOND, SECOND + DATE],
    ],
    at: '/CdtTrfTxInf[1]',
  },
  { code: 'C_STTLMDT_LEVEL', document: CLEARING, changes: [[SECOND, SECOND + DATE]], at: '/CdtTrfTxInf[2]' },
  {
    code: 'C_AMT_ZERO',
    document: CLEARING,
    changes: [...LESS_SECOND, [SECOND, SECOND.replace('250.25', '0.00')]],
    at: '/CdtTrfTxInf[2]/IntrBkSttlmAmt',
  },
  {
    code: 'C_TXID_MISSING',
    document: clearingMessage('02'),
    changes: [['<TxId>TX-2</TxId>', '']],
    at: '/CdtTrfTxInf[2]/PmtId',
  },
  { code: 'C_TXID_DUPLICATE', document: CLEARING, changes: [['TX-2', 'TX-1']], keeps: [['<TxId>TX-2</TxId>', '']] },
  { code: 'C_INSTRID_DUPLICATE', document: CLEARING, changes: [['INSTR-2', 'INSTR-1']], keeps: [['<InstrId>INSTR-2</InstrId>', '']] },
  {
    code: 'C_UETR_MISSING',
    document: CORRESPONDENT,
    changes: [['<UETR>8a562c67-ca16-48ba-b074-65581b000001</UETR>', '']],
    profile: 'CBPR',
  },
  { code: 'C_E2E_EMPTY', document: CLEARING, changes: [['E2E-2', ' ']], at: '/CdtTrfTxInf[2]/PmtId/EndToEndId' },
  {
    code: 'C_E2E_DUPLICATE',
    document: CLEARING,
    changes: [['E2E-2', 'E2E-1']],
    keeps: [
      ['E2E-1', 'NOTPROVIDED'],
      ['E2E-2', 'NOTPROVIDED'],
    ],
    severity: 'warning',
  },
  {
    code: 'C_SINGLE_TX',
    document: CORRESPONDENT,
    changes: [
      ['<NbOfTxs>1', '<NbOfTxs>2'],
      ['</CdtTrfTxInf>', `</CdtTrfTxInf>\n${correspondentTransfer()}`],
    ],
    profile: 'CBPR',
    at: '/GrpHdr/NbOfTxs',
  },
  {
    code: 'C_STTLMMTD_CLRG',
    document: CLEARING,
    changes: [['<ClrSys><Cd>ST2</Cd></ClrSys>', '']],
    keeps: [['<SttlmMtd>CLRG</SttlmMtd><ClrSys><Cd>ST2</Cd></ClrSys>', '<SttlmMtd>INGA</SttlmMtd>']],
    at: '/GrpHdr/SttlmInf',
  },
  {
    code: 'C_STTLMMTD_COVE',
    document: CORRESPONDENT,
    changes: [['INDA', 'COVE']],
    keeps: [['INDA</SttlmMtd>', `COVE</SttlmMtd>${agent('InstdRmbrsmntAgt', 'CHASUS33XXX')}`]],
  },
  {
    code: 'C_STTLMMTD_REIMB',
    document: CORRESPONDENT,
    changes: [['INDA</SttlmMtd>', `INDA</SttlmMtd>${agent('InstgRmbrsmntAgt', 'CHASUS33XXX')}`]],
    keeps: [['INDA</SttlmMtd>', `COVE</SttlmMtd>${agent('InstgRmbrsmntAgt', 'CHASUS33XXX')}`]],
  },
  {
    code: 'C_STTLMMTD_REIMB',
    document: CORRESPONDENT,
    changes: [['INDA</SttlmMtd>', `INGA</SttlmMtd>${agent('ThrdRmbrsmntAgt', 'CHASUS33XXX')}`]],
    keeps: [['INDA', 'INGA']],
  },
  // The message was made at 09:00:00 UTC.
  {
    code: 'C_XPRY',
    document: clearingMessage('13'),
    changes: [['<NbOfTxs>', '<XpryDtTm>2026-11-21T08:59:59Z</XpryDtTm><NbOfTxs>']],
    keeps: [['<NbOfTxs>', '<XpryDtTm>2026-11-21T09:00:00Z</XpryDtTm><NbOfTxs>']],
    at: '/GrpHdr/XpryDtTm',
  },
  {
    code: 'C_XPRY',
    document: correspondentMessage('13'),
    changes: [['<InstdAmt', '<AddtlDtTm><XpryDtTm>2026-11-21T07:59:59-01:00</XpryDtTm></AddtlDtTm><InstdAmt']],
    keeps: [['<InstdAmt', '<AddtlDtTm><XpryDtTm>2026-11-21T08:00:00-01:00</XpryDtTm></AddtlDtTm><InstdAmt']],
  },
  // Without an offset it may be that of a clock 14 hours away: 19:00:00 of the day before is still possible.
  {
    code: 'C_XPRY',
    document: clearingMessage('13'),
    changes: [['<NbOfTxs>', '<XpryDtTm>2026-11-20T18:59:59</XpryDtTm><NbOfTxs>']],
    keeps: [['<NbOfTxs>', '<XpryDtTm>2026-11-20T19:00:00.5</XpryDtTm><NbOfTxs>']],
  },
]

const INSTRUCTING = agent('InstgAgt', 'COBADEFFXXX')
const NO_DEBTOR: Change = ['<Dbtr><Nm>Payer</Nm></Dbtr><DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct>', '<Dbtr></Dbtr>']

const HEADER_PRIORITY = ['</MsgDefIdr>', '</MsgDefIdr><Prty>HIGH</Prty>'] as const

export const AGENT_CASES: readonly RuleCase[] = [
  {
    code: 'C_INSTGAGT',
    document: CORRESPONDENT,
    changes: [[INSTRUCTING, '<InstgAgt><FinInstnId><ClrSysMmbId><MmbId>37040044</MmbId></ClrSysMmbId></FinInstnId></InstgAgt>']],
    profile: 'CBPR',
    at: '/CdtTrfTxInf[1]',
  },
  { code: 'C_INSTGAGT', document: CORRESPONDENT, changes: [[agent('InstdAgt', 'BNPAFRPPXXX'), '']], profile: 'CBPR' },
  {
    code: 'C_AGENT_LEVEL',
    document: CLEARING,
    changes: [['<ChrgBr>SLEV</ChrgBr>', `<ChrgBr>SLEV</ChrgBr>${INSTRUCTING}`]],
    keeps: [
      [INSTRUCTING, ''],
      ['<ChrgBr>SLEV</ChrgBr>', `<ChrgBr>SLEV</ChrgBr>${INSTRUCTING}`],
    ],
    at: '/CdtTrfTxInf[1]',
  },
  {
    code: 'C_HDR_BIC',
    document: CORRESPONDENT,
    changes: [['<Fr><FIId><FinInstnId><BICFI>COBADEFFXXX', '<Fr><FIId><FinInstnId><BICFI>DEUTDEFFXXX']],
    keeps: [['<Fr><FIId><FinInstnId><BICFI>COBADEFFXXX', '<Fr><FIId><FinInstnId><BICFI>COBADEFF']],
    profile: 'CBPR',
    at: '/InstgAgt/FinInstnId/BICFI',
  },
  {
    code: 'C_HDR_BIC',
    document: CORRESPONDENT,
    changes: [['<To><FIId><FinInstnId><BICFI>BNPAFRPPXXX', '<To><FIId><FinInstnId><BICFI>BNPAFRPPPAR']],
    keeps: [
      ['<To><FIId><FinInstnId><BICFI>BNPAFRPPXXX', '<To><FIId><FinInstnId><BICFI>BNPAFRPPPAR'],
      ['</MsgDefIdr>', '</MsgDefIdr><CpyDplct>COPY</CpyDplct>'],
    ],
    profile: 'CBPR',
    at: '/InstdAgt/FinInstnId/BICFI',
  },
  {
    code: 'C_HDR_MSGDEF',
    document: CORRESPONDENT,
    changes: [['<MsgDefIdr>pacs.008.001.08', '<MsgDefIdr>pacs.008.001.09']],
    keeps: [['<MsgDefIdr>pacs.008.001.08', '<MsgDefIdr>pacs.008.002.08']],
    at: '/Document/FIToFICstmrCdtTrf',
  },
  { code: 'C_HDR_MSGDEF', document: CORRESPONDENT, changes: [['<MsgDefIdr>pacs.008', '<MsgDefIdr>pacs.009']] },
  { code: 'C_HDR_BIZMSG', document: CORRESPONDENT, changes: [['<BizMsgIdr>PACS-2', '<BizMsgIdr>PACS-3']], at: '/GrpHdr/MsgId' },
  {
    code: 'C_HDR_PRTY',
    document: CORRESPONDENT,
    changes: [HEADER_PRIORITY, ['</PmtId>', '</PmtId><PmtTpInf><InstrPrty>NORM</InstrPrty></PmtTpInf>']],
    keeps: [HEADER_PRIORITY, ['</PmtId>', '</PmtId><PmtTpInf><InstrPrty>HIGH</InstrPrty></PmtTpInf>']],
    profile: 'CBPR',
    at: '/InstrPrty',
  },
  {
    code: 'C_HDR_BIZSVC',
    document: CORRESPONDENT,
    changes: [['</MsgDefIdr>', '</MsgDefIdr><BizSvc>swift.cbprplus.cov.04</BizSvc>']],
    keeps: [['</MsgDefIdr>', '</MsgDefIdr><BizSvc>swift.cbprplus.stp.04</BizSvc>']],
    profile: 'CBPR',
  },
  {
    code: 'C_RMT_BOTH',
    document: CORRESPONDENT,
    changes: [['</CdtTrfTxInf>', '<RmtInf><Ustrd>a</Ustrd><Strd><AddtlRmtInf>b</AddtlRmtInf></Strd></RmtInf></CdtTrfTxInf>']],
    keeps: [['</CdtTrfTxInf>', '<RmtInf><Strd><AddtlRmtInf>b</AddtlRmtInf></Strd></RmtInf></CdtTrfTxInf>']],
    profile: 'CBPR',
  },
  {
    code: 'C_PREV_AGENT_ORDER',
    document: CORRESPONDENT,
    changes: [[INSTRUCTING, agent('PrvsInstgAgt2', 'DEUTDEFFXXX') + INSTRUCTING]],
    keeps: [[INSTRUCTING, agent('PrvsInstgAgt1', 'DEUTDEFFXXX') + agent('PrvsInstgAgt2', 'DEUTDEFFXXX') + INSTRUCTING]],
  },
  {
    code: 'C_PREV_AGENT_ORDER',
    document: CORRESPONDENT,
    changes: [['<Dbtr>', `${agent('IntrmyAgt1', 'DEUTDEFFXXX')}${agent('IntrmyAgt3', 'CHASUS33XXX')}<Dbtr>`]],
    keeps: [['<Dbtr>', `${agent('IntrmyAgt1', 'DEUTDEFFXXX')}${agent('IntrmyAgt2', 'CHASUS33XXX')}<Dbtr>`]],
  },
  {
    code: 'C_AGENT_NAME_ADDR',
    document: CORRESPONDENT,
    changes: [['BNPAFRPPXXX</BICFI></FinInstnId></CdtrAgt>', 'BNPAFRPPXXX</BICFI><Nm>Bank</Nm></FinInstnId></CdtrAgt>']],
    keeps: [
      [
        'BNPAFRPPXXX</BICFI></FinInstnId></CdtrAgt>',
        'BNPAFRPPXXX</BICFI><Nm>Bank</Nm><PstlAdr><TwnNm>Paris</TwnNm><Ctry>FR</Ctry></PstlAdr></FinInstnId></CdtrAgt>',
      ],
    ],
    profile: 'CBPR',
    at: '/CdtrAgt/FinInstnId',
  },
  {
    code: 'C_DBTR_ID',
    document: CLEARING,
    changes: [NO_DEBTOR],
    keeps: [[NO_DEBTOR[0], '<Dbtr><Nm>Payer</Nm></Dbtr>']],
    at: '/CdtTrfTxInf[1]',
  },
  {
    code: 'C_DBTR_ID',
    document: clearingMessage('10'),
    changes: [[NO_DEBTOR[0], '<Dbtr><CtryOfRes>DE</CtryOfRes></Dbtr><DbtrAcct><Ccy>EUR</Ccy></DbtrAcct>']],
    keeps: [[NO_DEBTOR[0], '<Dbtr><Id><OrgId><AnyBIC>COBADEFFXXX</AnyBIC></OrgId></Id></Dbtr>']],
  },
]

/** A second transfer beside that of the clean message, with identifications of its own. */
function correspondentTransfer(): string {
  const clean = correspondentMessage()
  const end = '</CdtTrfTxInf>'
  const one = clean.slice(clean.indexOf('<CdtTrfTxInf>'), clean.indexOf(end) + end.length)
  return one.replace(identification(1), identification(2))
}
