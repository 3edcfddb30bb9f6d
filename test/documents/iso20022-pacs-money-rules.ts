/** The same for amounts, rates, charges, instructions and remittance of pacs.008. */
import type { RuleCase } from '../support/iso20022-rules.ts'
import { agent, clearingMessage, correspondentMessage } from './iso20022-pacs-messages.ts'

const CLEARING = clearingMessage()
const CORRESPONDENT = correspondentMessage()
type Change = readonly [from: string, to: string]

const INSTRUCTED = '<InstdAmt Ccy="EUR">1010.00</InstdAmt>'
const charge = (amount: string, currency = 'EUR') =>
  `<ChrgsInf><Amt Ccy="${currency}">${amount}</Amt>${agent('Agt', 'COBADEFFXXX')}</ChrgsInf>`
const CHARGE = charge('10.00')
const dollars = (rate: string): Change => [
  INSTRUCTED,
  `<InstdAmt Ccy="USD">1100.00</InstdAmt>${rate === '' ? '' : `<XchgRate>${rate}</XchgRate>`}`,
]

export const MONEY_CASES: readonly RuleCase[] = [
  {
    code: 'C_XCHGRATE_SAMECCY',
    document: CORRESPONDENT,
    changes: [[INSTRUCTED, `${INSTRUCTED}<XchgRate>1.0000</XchgRate>`]],
    at: '/XchgRate',
  },
  { code: 'C_XCHGRATE_MISSING', document: CORRESPONDENT, changes: [dollars('')], keeps: [dollars('0.9182')], severity: 'warning' },
  // 1,100.00 dollars make 1,010.00 euro before the charge: 1,100.00 x 0.9182 = 1,010.02, where half a digit of the rate is worth 0.055.
  {
    code: 'C_XCHG_INCONSISTENT',
    document: CORRESPONDENT,
    changes: [dollars('0.9192')],
    keeps: [dollars('0.9182')],
    severity: 'warning',
    at: '/CdtTrfTxInf[1]',
  },
  // Quoted from the other side: 1,010.00 x 1.0891 = 1,099.991; with the rate of 1.0991 it would be 1,110.09.
  { code: 'C_XCHG_INCONSISTENT', document: CORRESPONDENT, changes: [dollars('1.0991')], keeps: [dollars('1.0891')], severity: 'warning' },
  // The charge was taken in dollars: 1,090.00 x 0.91743 = 999.9987.
  {
    code: 'C_XCHG_INCONSISTENT',
    document: CORRESPONDENT,
    changes: [dollars('0.91843'), [CHARGE, charge('10.00', 'USD')]],
    keeps: [dollars('0.91743'), [CHARGE, charge('10.00', 'USD')]],
    severity: 'warning',
  },
  // A charge in a third currency cannot be added; 0.00 of it can.
  {
    code: 'C_XCHG_INCONSISTENT',
    document: CORRESPONDENT,
    changes: [dollars('0.5000'), [CHARGE, CHARGE + charge('0.00', 'GBP')]],
    keeps: [dollars('0.5000'), [CHARGE, charge('10.00', 'GBP')]],
    severity: 'warning',
  },
  {
    code: 'C_CHRG_CRED',
    document: CORRESPONDENT,
    changes: [
      [INSTRUCTED, ''],
      [CHARGE, ''],
    ],
    keeps: [
      [INSTRUCTED, ''],
      [CHARGE, charge('0.00')],
    ],
  },
  // 990.00 and 10.00 of charges, paid by the debtor on top, make 1,000.00.
  {
    code: 'C_CHRG_DEBT',
    document: CORRESPONDENT,
    changes: [
      ['1010.00', '990.00'],
      ['CRED', 'DEBT'],
      [CHARGE, charge('4.00') + charge('6.00')],
    ],
    keeps: [
      ['1010.00', '990.00'],
      ['CRED', 'DEBT'],
    ],
  },
  {
    code: 'C_CHRG_DIFF',
    document: CORRESPONDENT,
    changes: [
      ['CRED', 'SHAR'],
      [CHARGE, ''],
    ],
    keeps: [
      ['1010.00', '1000.00'],
      ['CRED', 'SHAR'],
      [CHARGE, ''],
    ],
  },
  // 1,010.00 less 4.00 and 5.99 leaves 1,000.01.
  {
    code: 'C_CHRG_SUM',
    document: CORRESPONDENT,
    changes: [[CHARGE, charge('4.00') + charge('5.99')]],
    keeps: [[CHARGE, charge('4.00') + charge('6.00')]],
    severity: 'warning',
  },
  {
    code: 'C_CHRG_SUM',
    document: CORRESPONDENT,
    changes: [
      ['1010.00', '990.01'],
      ['CRED', 'DEBT'],
    ],
    keeps: [
      ['1010.00', '990.00'],
      ['CRED', 'DEBT'],
    ],
    severity: 'warning',
  },
  { code: 'C_SLEV', document: CLEARING, changes: [['SLEV', 'SHAR']], profile: 'SEPA', at: '/CdtTrfTxInf[1]/ChrgBr' },
]

const instructions = (...codes: string[]): Change => [
  '<RmtInf>',
  `${codes.map((code) => `<InstrForCdtrAgt><Cd>${code}</Cd></InstrForCdtrAgt>`).join('')}<RmtInf>`,
]
const service = (code: string): Change => [
  '<IntrBkSttlmAmt',
  `<PmtTpInf><SvcLvl><Cd>URGP</Cd></SvcLvl><SvcLvl><Cd>${code}</Cd></SvcLvl></PmtTpInf><IntrBkSttlmAmt`,
]
/** 4 x 2,048 and 1 make 8,193. */
const LINES = `${`<LineDtls><Id/><Desc>${'x'.repeat(2_048)}</Desc></LineDtls>`.repeat(4)}<LineDtls><Id/><Desc>y</Desc></LineDtls>`
/** 8,193 and `rest` characters in two pieces. */
const structured = (rest: number): Change => [
  '<RmtInf><Ustrd>Invoice 1</Ustrd></RmtInf>',
  `<RmtInf><Strd><RfrdDocInf>${LINES}</RfrdDocInf></Strd><Strd><RfrdDocInf><LineDtls><Id><Nb>1</Nb></Id><Desc>${'z'.repeat(rest - 1)}</Desc></LineDtls></RfrdDocInf></Strd></RmtInf>`,
]

export const TRANSFER_CASES: readonly RuleCase[] = [
  { code: 'C_INSTR_CODES', document: CLEARING, changes: [instructions('HOLD', 'CHQB')], keeps: [instructions('HOLD', 'PHOB')] },
  { code: 'C_INSTR_CODES', document: CLEARING, changes: [instructions('PHOB', 'HOLD', 'TELB')], keeps: [instructions('TELB', 'CHQB')] },
  {
    code: 'C_INSTR_CODES',
    document: CLEARING,
    changes: [instructions('HOLD', 'HOLD')],
    // What contradicts itself within one transaction does not between two.
    keeps: [instructions('HOLD'), ['<RmtInf><Ustrd>Invoice 2', '<InstrForCdtrAgt><Cd>CHQB</Cd></InstrForCdtrAgt><RmtInf><Ustrd>Invoice 2']],
    at: '/InstrForCdtrAgt[2]/Cd',
  },
  {
    code: 'C_GPI_SVCLVL',
    document: CORRESPONDENT,
    changes: [service('G002')],
    keeps: [service('G001')],
    profile: 'CBPR',
    at: '/SvcLvl[2]/Cd',
  },
  {
    code: 'C_RMT_RLTD',
    document: CLEARING,
    changes: [['<RmtInf>', '<RltdRmtInf><RmtId>R-1</RmtId></RltdRmtInf><RmtInf>']],
    keeps: [['<RmtInf><Ustrd>Invoice 1</Ustrd></RmtInf>', '<RltdRmtInf><RmtId>R-1</RmtId></RltdRmtInf>']],
    at: '/CdtTrfTxInf[1]',
  },
  // 8,193 and 807 make 9,000.
  { code: 'C_STRD_9000', document: CLEARING, changes: [structured(808)], keeps: [structured(807)], at: '/CdtTrfTxInf[1]/RmtInf' },
]
