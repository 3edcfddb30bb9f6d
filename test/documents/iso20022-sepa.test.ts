/** SEPA orders as banks judge them: by the EPC guidelines, and by the schemas of Deutsche Kreditwirtschaft in their namespaces. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SEPA_RULES } from '../../src/pure/documents/iso20022/rules.ts'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { painMessage, swap } from '../support/iso20022-messages.ts'

const URN = 'urn:iso:std:iso:20022:tech:xsd:'
const STRUCTURED = '<PstlAdr><StrtNm>Rue Haute</StrtNm><PstCd>75001</PstCd><TwnNm>Paris</TwnNm><Ctry>FR</Ctry></PstlAdr>'
const LINES = (count: number) => `<PstlAdr><Ctry>FR</Ctry>${'<AdrLine>Rue Haute</AdrLine>'.repeat(count)}</PstlAdr>`
const CREDITOR = `<Cdtr><Nm>Creditor 1</Nm>${STRUCTURED}</Cdtr>`
const NAMED = (length: number) => 'C'.repeat(length)

/** Two transfers without addresses, created before the cut-over of November 2026. */
function order(version: '03' | '09', number: '001' | '002' | '003' = '001'): string {
  const message = painMessage({ version, namespace: `${URN}pain.001.${number}.${version}` })
  return message.replace('2026-11-21T10', '2026-10-21T10').replaceAll(STRUCTURED, '').replace('<Cd>URGP</Cd>', '<Cd>SEPA</Cd>')
}

function errorsOf(payload: string): string[] {
  const { findings, profile } = validateMessage({ payload })
  assert.equal(profile, 'SEPA')
  return findings.filter(({ severity }) => severity === 'error').map(({ code, path }) => `${code} ${path.slice(path.lastIndexOf('/') + 1)}`)
}

const BIC_1 = (name: string) => `<CdtrAgt><FinInstnId><${name}>BNPAFRPPXXX</${name}></FinInstnId></CdtrAgt>`
const DEBTOR_BIC = (name: string) => `<DbtrAgt><FinInstnId><${name}>COBADEFFXXX</${name}></FinInstnId></DbtrAgt>`
const DEBTOR_IBAN = '<DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct>'
const NOT_PROVIDED = '<FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId>'

interface Case {
  name: string
  change: (message: string, bic: string) => string
  /** The code in the namespace of ISO 20022; null where the order is valid. In those of the German banks the schema refuses it. */
  code: string | null
}

const CASES: readonly Case[] = [
  { name: 'no change', change: (text) => text, code: null },
  { name: 'no control sum in the group header', change: (text) => text.replace('<CtrlSum>1300.00</CtrlSum>', ''), code: null },
  { name: 'a creditor name of 70', change: (text) => swap(text, '<Nm>Creditor 1</Nm>', `<Nm>${NAMED(70)}</Nm>`), code: null },
  { name: 'a creditor name with umlauts', change: (text) => swap(text, '<Nm>Creditor 1</Nm>', '<Nm>Müller</Nm>'), code: null },
  { name: 'two address lines', change: (text) => swap(text, '<Nm>Creditor 1</Nm>', `<Nm>A</Nm>${LINES(2)}`), code: null },
  { name: 'no creditor agent', change: (text, bic) => swap(text, BIC_1(bic), ''), code: null },
  {
    name: 'a debtor agent NOTPROVIDED',
    change: (text, bic) => swap(text, DEBTOR_BIC(bic), `<DbtrAgt>${NOT_PROVIDED}</DbtrAgt>`),
    code: null,
  },
  {
    name: 'a purpose code',
    change: (text) => swap(text, '<RmtInf><Ustrd>Invoice 1', '<Purp><Cd>SALA</Cd></Purp><RmtInf><Ustrd>Invoice 1'),
    code: null,
  },
  { name: 'a creditor name of 71', change: (text) => swap(text, '<Nm>Creditor 1</Nm>', `<Nm>${NAMED(71)}</Nm>`), code: 'SEPA_NAME Nm' },
  { name: 'a debtor name of 71', change: (text) => swap(text, '<Dbtr><Nm>Payer', `<Dbtr><Nm>${NAMED(71)}`), code: 'SEPA_NAME Nm' },
  {
    name: 'an ultimate creditor name of 71',
    change: (text) => swap(text, '<RmtInf><Ustrd>Invoice 1', `<UltmtCdtr><Nm>${NAMED(71)}</Nm></UltmtCdtr><RmtInf><Ustrd>Invoice 1`),
    code: 'SEPA_NAME Nm',
  },
  { name: 'no debtor name', change: (text) => swap(text, '<Dbtr><Nm>Payer</Nm></Dbtr>', '<Dbtr></Dbtr>'), code: 'SEPA_NAME_MISSING Dbtr' },
  {
    name: 'a creditor agent NOTPROVIDED',
    change: (text, bic) => swap(text, BIC_1(bic), `<CdtrAgt>${NOT_PROVIDED}</CdtrAgt>`),
    code: 'SEPA_AGENT FinInstnId',
  },
  {
    name: 'a debtor agent with another ID',
    change: (text, bic) => swap(text, DEBTOR_BIC(bic), `<DbtrAgt>${NOT_PROVIDED.replace('NOTPROVIDED', 'ABC')}</DbtrAgt>`),
    code: 'SEPA_AGENT FinInstnId',
  },
  {
    name: 'a creditor agent without ID',
    change: (text, bic) => swap(text, BIC_1(bic), '<CdtrAgt><FinInstnId/></CdtrAgt>'),
    code: 'SEPA_AGENT FinInstnId',
  },
  { name: 'the payment method TRA', change: (text) => swap(text, '<PmtMtd>TRF', '<PmtMtd>TRA'), code: 'SEPA_PMTMTD PmtMtd' },
  {
    name: 'three address lines',
    change: (text) => swap(text, '<Nm>Creditor 1</Nm>', `<Nm>A</Nm>${LINES(3)}`),
    code: 'SEPA_ADDR_LINES PstlAdr',
  },
  {
    name: 'a debtor account without IBAN',
    change: (text) => swap(text, DEBTOR_IBAN, '<DbtrAcct><Id><Othr><Id>123</Id></Othr></Id></DbtrAcct>'),
    code: 'SEPA_ACCT Othr',
  },
  {
    name: 'a proprietary purpose',
    change: (text) => swap(text, '<RmtInf><Ustrd>Invoice 1', '<Purp><Prtry>X</Prtry></Purp><RmtInf><Ustrd>Invoice 1'),
    code: 'SEPA_CODE Prtry',
  },
  {
    name: 'a pooling date',
    change: (text) => swap(text, '<Dbtr><Nm>Payer', '<PoolgAdjstmntDt>2026-11-23</PoolgAdjstmntDt><Dbtr><Nm>Payer'),
    code: 'SEPA_UNUSED PoolgAdjstmntDt',
  },
]

for (const { name, change, code } of CASES) {
  test(`${name}: ${code === null ? 'valid' : 'invalid'} as SEPA order`, () => {
    for (const version of ['03', '09'] as const) {
      const expected = code === null ? [] : [code]
      assert.deepEqual(errorsOf(change(order(version), version === '03' ? 'BIC' : 'BICFI')), expected, version)
    }
    const german = errorsOf(change(order('03', '003'), 'BIC'))
    if (code === null) assert.deepEqual(german, [])
    else assert.ok(german.length > 0)
    // The base profile has no such rule.
    const base = validateMessage({ payload: change(order('09'), 'BICFI'), profile: 'base' })
    const base_errors = base.findings.filter(({ severity, code: found }) => severity === 'error' && found in SEPA_RULES)
    assert.deepEqual(base_errors, [])
  })
}

test('a structured address is valid by ISO 20022, and no part of the German schema of 2013', () => {
  const addressed = (text: string) => swap(text, '<Cdtr><Nm>Creditor 1</Nm></Cdtr>', CREDITOR)
  assert.deepEqual(errorsOf(addressed(order('09'))), [])
  assert.ok(errorsOf(addressed(order('03', '003'))).some((error) => error.startsWith('STRUCT_UNEXPECTED')))
})

/** One SEPA direct debit of 100.00. */
const DEBIT = `<Document xmlns="${URN}pain.008.001.02"><CstmrDrctDbtInitn><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-10-21T10:00:00Z</CreDtTm>
<NbOfTxs>1</NbOfTxs><CtrlSum>100.00</CtrlSum><InitgPty><Nm>Creditor</Nm></InitgPty></GrpHdr><PmtInf><PmtInfId>P1</PmtInfId><PmtMtd>DD</PmtMtd>
<NbOfTxs>1</NbOfTxs><CtrlSum>100.00</CtrlSum><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl><LclInstrm><Cd>CORE</Cd></LclInstrm><SeqTp>RCUR</SeqTp></PmtTpInf>
<ReqdColltnDt>2026-10-28</ReqdColltnDt><Cdtr><Nm>Creditor</Nm></Cdtr><CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>
<CdtrAgt><FinInstnId><BIC>COBADEFFXXX</BIC></FinInstnId></CdtrAgt><ChrgBr>SLEV</ChrgBr><CdtrSchmeId><Id><PrvtId><Othr><Id>DE98ZZZ09999999999</Id>
<SchmeNm><Prtry>SEPA</Prtry></SchmeNm></Othr></PrvtId></Id></CdtrSchmeId><DrctDbtTxInf><PmtId><EndToEndId>E1</EndToEndId></PmtId>
<InstdAmt Ccy="EUR">100.00</InstdAmt><DrctDbtTx><MndtRltdInf><MndtId>MD1</MndtId><DtOfSgntr>2026-01-01</DtOfSgntr></MndtRltdInf></DrctDbtTx>
<DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt><Dbtr><Nm>Debtor</Nm></Dbtr>
<DbtrAcct><Id><IBAN>FR1420041010050500013M02606</IBAN></Id></DbtrAcct></DrctDbtTxInf></PmtInf></CstmrDrctDbtInitn></Document>`

const DEBIT_CASES: readonly (readonly [from: string, to: string, error: string | null])[] = [
  ['MD1', 'MD2', null],
  ['<LclInstrm><Cd>CORE', '<LclInstrm><Cd>B2B', null],
  ['<InstdAmt Ccy="EUR">100.00', '<InstdAmt Ccy="EUR">100.01', 'M_CTRLSUM_PART CtrlSum'],
  ['<NbOfTxs>1</NbOfTxs><CtrlSum>100.00</CtrlSum><PmtTpInf>', '<NbOfTxs>2</NbOfTxs><PmtTpInf>', 'M_NBTX_PART NbOfTxs'],
  ['<NbOfTxs>1</NbOfTxs><CtrlSum>100.00</CtrlSum><InitgPty>', '<NbOfTxs>2</NbOfTxs><InitgPty>', 'M_NBTX NbOfTxs'],
  ['<LclInstrm><Cd>CORE', '<LclInstrm><Cd>XXXX', 'SEPA_DEBIT Cd'],
  ['<Dbtr><Nm>Debtor', `<Dbtr><Nm>${NAMED(71)}`, 'SEPA_NAME Nm'],
  ['<MndtId>MD1</MndtId>', '', 'M_MNDT_ID MndtRltdInf'],
  ['<DtOfSgntr>2026-01-01</DtOfSgntr>', '', 'M_MNDT_SIGNED MndtRltdInf'],
  ['</DtOfSgntr>', '</DtOfSgntr><AmdmntInd>true</AmdmntInd>', 'M_MNDT_AMENDED MndtRltdInf'],
  ['<PmtMtd>DD', '<PmtMtd>XX', 'STRUCT_LEXICAL PmtMtd'],
]

test('direct debits: sums, mandates and codes', () => {
  assert.deepEqual(errorsOf(DEBIT), [])
  for (const [from, to, error] of DEBIT_CASES) {
    const found = errorsOf(swap(DEBIT, from, to))
    if (error === null) assert.deepEqual(found, [], to)
    else assert.ok(found.includes(error), `${to}: ${found.join()}`)
  }
})
