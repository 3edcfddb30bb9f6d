import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SHARED_RULES } from '../../src/pure/documents/iso20022/rules.ts'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { camtMessage, pacsMessage, painMessage } from '../support/iso20022-messages.ts'
import { codesOf, type RuleCase, ruleTests } from '../support/iso20022-rules.ts'

const ADDRESS = '<StrtNm>Rue Haute</StrtNm><PstCd>75001</PstCd><TwnNm>Paris</TwnNm><Ctry>FR</Ctry>'
const LINES = '<AdrLine>Rue Haute 1</AdrLine><AdrLine>75001 Paris</AdrLine>'
const MADE = '2026-11-21T10:00:00+01:00'
const SINGLE = { single: true } as const
/** A LEI of the public index, and the same with its last digit changed. */
const LEI = '5493001KJTIIGC8Y1R12'
const ORG = (inside: string) => `<Nm>Payer</Nm><Id><OrgId>${inside}</OrgId></Id></Dbtr>`

const DOCUMENTS: readonly RuleCase[] = [
  { code: 'XML_DOCTYPE', changes: [['<Document', '<!DOCTYPE Document [<!ENTITY a "b">]><Document']] },
  { code: 'XML_ENCODING', changes: [['<?xml', '\u0000<?xml']] },
  {
    code: 'XML_ENCODING_IGNORED',
    changes: [['encoding="UTF-8"', 'encoding="ISO-8859-1"']],
    keeps: [['encoding="UTF-8"', 'encoding="utf-8"']],
    severity: 'info',
    shown: 'XML_ENCODING',
  },
  { code: 'XML_NOT_WELLFORMED', changes: [['</GrpHdr>', '</Grphdr>']] },
  { code: 'XML_LIMIT', changes: [['Invoice 2', 'x'.repeat(65_537)]] },
  { code: 'XML_LIMIT', changes: [['<PmtInf>', `<PmtInf ${Array.from({ length: 17 }, (_, n) => `a${n}=""`).join(' ')}>`]] },
  { code: 'XML_LIMIT', changes: [['<InitgPty>', `<InitgPty>${'<a>'.repeat(70)}`]] },
  {
    code: 'XML_PI_OR_COMMENT',
    changes: [['1250.75<', '1250<!-- -->.75<']],
    keeps: [['<PmtInf>', '<!-- all --><PmtInf>']],
    severity: 'warning',
  },
  { code: 'XML_PI_OR_COMMENT', changes: [['<PmtInf>', '<?go on?><PmtInf>']], severity: 'warning' },
  { code: 'NS_UNKNOWN', changes: [['pain.001.001.09', 'pain.001.001.99']], severity: 'warning' },
  { code: 'NS_UNKNOWN', changes: [['pain.001.001.09', 'pain.018.001.01']], severity: 'warning' },
  { code: 'NS_VARIANT', changes: [['pain.001.001.03', 'pain.001.004.03']], message: { version: '03' }, severity: 'warning' },
  { code: 'NS_MISMATCH', changes: [], namespace: 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.03' },
  {
    code: 'ROOT_MISMATCH',
    changes: [
      ['<CstmrCdtTrfInitn>', '<CstmrDrctDbtInitn>'],
      ['</CstmrCdtTrfInitn>', '</CstmrDrctDbtInitn>'],
    ],
  },
]

const HYBRID = '<TwnNm>Paris</TwnNm><Ctry>FR</Ctry><AdrLine>a</AdrLine><AdrLine>b</AdrLine><AdrLine>c</AdrLine>'

const VALUES: readonly RuleCase[] = [
  { code: 'TEXT_CHARSET', changes: [['Creditor 1', 'Müller & Cie'.replace('&', '+')]], severity: 'warning' },
  { code: 'TEXT_CHARSET', changes: [['Creditor 1', 'Creditor_1']], profile: 'SEPA', at: '/Cdtr/Nm', severity: 'warning' },
  { code: 'TEXT_CHARSET', changes: [['Creditor 1', 'Müller GmbH']], profile: 'SEPA', at: '/Cdtr/Nm', severity: 'warning' },
  { code: 'TEXT_CHARSET', changes: [['Creditor 1', 'Smith &amp; Sons']], profile: 'SEPA', at: '/Cdtr/Nm', severity: 'warning' },
  { code: 'TEXT_CHARSET', changes: [['Creditor 1', 'Müller GmbH']], profile: 'CBPR', message: { single: true }, at: '/Cdtr/Nm' },
  { code: 'TEXT_CHARSET_ID', changes: [['E2E-1', 'Ü-1']], profile: 'SEPA', at: '/PmtId/EndToEndId', shown: 'TEXT_CHARSET' },
  { code: 'TEXT_CHARSET_EUROPEAN', changes: [['Creditor 1', 'Αθήνα']], profile: 'SEPA', shown: 'TEXT_CHARSET', severity: 'warning' },
  {
    code: 'TEXT_CHARSET_EUROPEAN',
    changes: [['Creditor 1', 'Кредитор']],
    keeps: [['Creditor 1', 'Müller']],
    profile: 'SPS',
    shown: 'TEXT_CHARSET',
  },
  { code: 'TEXT_CHARSET_FOREIGN', changes: [['Creditor 1', '株式会社']], profile: 'SEPA', shown: 'TEXT_CHARSET' },
  { code: 'ID_SLASH', changes: [['E2E-1', '/E2E']], keeps: [['E2E-1', 'E2/E']], profile: 'SEPA' },
  { code: 'ID_SLASH', changes: [['E2E-1', 'E2//E']], profile: 'SEPA' },
  { code: 'ID_WHITESPACE', changes: [['E2E-1', ' E2E-9']], severity: 'warning' },
  { code: 'ID_WHITESPACE', changes: [['E2E-1', 'E2E  9']], severity: 'warning' },
  { code: 'DATE_INVALID', changes: [['<Dt>2026-11-23', '<Dt>2027-02-29']], keeps: [['<Dt>2026-11-23', '<Dt>2027-02-28']] },
  { code: 'DATE_INVALID', changes: [[MADE, '2026-11-21T25:00:00+01:00']] },
  {
    code: 'DATETIME_NO_OFFSET',
    changes: [[MADE, '2026-11-21T10:00:00']],
    keeps: [[MADE, '2026-11-21T10:00:00Z']],
    profile: 'CBPR',
    message: SINGLE,
  },
  { code: 'AMT_LEXICAL', changes: [['1250.75<', '1.25075e3<']] },
  { code: 'AMT_LEXICAL', changes: [['1250.75<', '1,250.75<']] },
  { code: 'AMT_LEXICAL', changes: [['1250.75<', '-1250.75<']], keeps: [['1250.75<', '+01250.75<']] },
  { code: 'AMT_DIGITS', changes: [['1250.75<', '1250.750001<']] },
  { code: 'AMT_DIGITS', changes: [['1250.75<', '1234567890123456789<']] },
  {
    code: 'AMT_FRACTION',
    changes: [
      ['1250.75<', '1250.748<'],
      ['49.25<', '49.252<'],
    ],
  },
  {
    code: 'AMT_FRACTION_ZEROS',
    changes: [['1250.75<', '1250.75000<']],
    shown: 'AMT_FRACTION',
    severity: 'warning',
    at: '/CdtTrfTxInf[1]/Amt/InstdAmt',
  },
  { code: 'CCY_UNKNOWN', changes: [['EUR', 'EUX']], message: SINGLE },
  { code: 'CCY_METAL', changes: [['EUR', 'XAU']], profile: 'CBPR', message: SINGLE },
  { code: 'CCY_HISTORIC', changes: [['EUR', 'DEM']], severity: 'warning', message: SINGLE },
]

const PARTIES: readonly RuleCase[] = [
  { code: 'IBAN_LENGTH', changes: [['NL91ABNA0417164300', 'NL91ABNA041716430']] },
  { code: 'IBAN_FORMAT', changes: [['NL91ABNA0417164300', 'NL91ABN10417164300']] },
  { code: 'IBAN_FORMAT', changes: [['NL91ABNA0417164300', 'nl91abna0417164300']] },
  { code: 'IBAN_CHECK', changes: [['NL91ABNA0417164300', 'NL92ABNA0417164300']], at: '/CdtTrfTxInf[2]/CdtrAcct/Id/IBAN' },
  { code: 'S_IBAN_MASKED', document: camtMessage(), changes: [['DE89370400440532013000', 'DE89370400XXXXXX3000']], severity: 'warning' },
  // Digits in the prefix are allowed since 2014 and were not before.
  { code: 'BIC_FORMAT', changes: [['ABNANL2A', 'A1NANL2A']], message: { version: '03' }, keeps: [['ABNANL2A', 'ABNANL2AXXX']] },
  { code: 'BIC_FORMAT', changes: [['ABNANL2A', 'ABNANL2']], keeps: [['ABNANL2A', 'A1NANL2A']] },
  { code: 'BIC_COUNTRY', changes: [['ABNANL2A', 'ABNAXQ2A']] },
  { code: 'BIC_TEST', changes: [['ABNANL2A', 'ABNANL20']], severity: 'warning' },
  {
    code: 'LEI_CHECK',
    changes: [['<Nm>Payer</Nm></Dbtr>', ORG('<LEI>5493001KJTIIGC8Y1R13</LEI>')]],
    keeps: [['<Nm>Payer</Nm></Dbtr>', ORG(`<LEI>${LEI}</LEI>`)]],
  },
  { code: 'UETR_FORMAT', changes: [['8a562c67-ca16-48ba-b074-65581be6f001', '8A562C67-CA16-48BA-B074-65581BE6F001']] },
  { code: 'UETR_DUPLICATE', changes: [['65581be6f002', '65581be6f001']] },
  { code: 'IBAN_BIC_COUNTRY', changes: [['ABNANL2A', 'ABNABE2A']], severity: 'warning' },
  { code: 'ADDR_UNSTRUCTURED', changes: [[ADDRESS, LINES]], profile: 'SEPA', at: '/CdtTrfTxInf[1]/Cdtr/PstlAdr' },
  { code: 'ADDR_UNSTRUCTURED', changes: [[ADDRESS, `<Ctry>FR</Ctry>${LINES}`]], severity: 'warning' },
  {
    code: 'ADDR_UNSTRUCTURED_ON_14',
    changes: [
      [ADDRESS, LINES],
      [MADE, '2026-11-14T10:00:00Z'],
    ],
    shown: 'ADDR_UNSTRUCTURED',
    profile: 'CBPR',
    message: SINGLE,
  },
  {
    code: 'ADDR_UNSTRUCTURED_BEFORE',
    changes: [
      [ADDRESS, LINES],
      [MADE, '2026-11-13T10:00:00Z'],
    ],
    shown: 'ADDR_UNSTRUCTURED',
    profile: 'SEPA',
    severity: 'warning',
  },
  ...(['HYBRID_LINES', 'MIN'] as const).flatMap((rule): RuleCase[] => {
    const changes = [rule === 'MIN' ? (['<TwnNm>Paris</TwnNm>', ''] as const) : ([ADDRESS, HYBRID] as const)]
    const keeps = rule === 'MIN' ? [] : [[ADDRESS, HYBRID.replace('<AdrLine>c</AdrLine>', '')] as const]
    const on = (day: string) => [...changes, [MADE, `${day}T10:00:00Z`] as const]
    const early = { shown: `ADDR_${rule}`, severity: 'warning' } as const
    return [
      { code: `ADDR_${rule}`, changes, keeps, profile: 'SEPA' },
      { code: `ADDR_${rule}`, changes, keeps, severity: 'warning' },
      { code: `ADDR_${rule}_ON_14`, changes: on('2026-11-14'), shown: `ADDR_${rule}`, profile: 'CBPR', message: SINGLE },
      { code: `ADDR_${rule}_ON_14`, changes: on('2026-11-14'), profile: 'SEPA', ...early },
      { code: `ADDR_${rule}_BEFORE`, changes: on('2026-11-13'), profile: 'CBPR', message: SINGLE, ...early },
    ]
  }),
  { code: 'ADDR_MIN', changes: [[ADDRESS, '<UnitNb>3</UnitNb>']], message: { version: '12' }, profile: 'SEPA' },
  { code: 'ADDR_MIN', changes: [[ADDRESS, '<CareOf>Somebody</CareOf>']], message: { version: '12' }, profile: 'SEPA' },
  // The country alone is no structure.
  { code: 'ADDR_UNSTRUCTURED', changes: [[ADDRESS, '<Ctry>FR</Ctry>']], profile: 'SEPA' },
  {
    code: 'ADDR_UNSTRUCTURED_BEFORE',
    changes: [
      [ADDRESS, '<Ctry>FR</Ctry>'],
      [MADE, '2024-11-21T10:00:00+01:00'],
      ['<Dt>2026-11-23', '<Dt>2024-11-23'],
    ],
    shown: 'ADDR_UNSTRUCTURED',
    severity: 'warning',
  },
  {
    code: 'ADDR_DUPLICATED',
    changes: [[ADDRESS, '<TwnNm>Paris</TwnNm><Ctry>FR</Ctry><AdrLine>75001 PARIS</AdrLine>']],
    keeps: [[ADDRESS, '<TwnNm>Paris</TwnNm><Ctry>FR</Ctry><AdrLine>Rue du Parisis</AdrLine>']],
    severity: 'warning',
  },
  { code: 'ADDR_COUNTRY', changes: [['<Ctry>FR</Ctry>', '<Ctry>XQ</Ctry>']] },
  {
    code: 'PARTY_NAME_WITH_ADDR',
    changes: [['<Nm>Payer</Nm></Dbtr>', `<PstlAdr>${ADDRESS}</PstlAdr></Dbtr>`]],
    keeps: [['<Nm>Payer</Nm></Dbtr>', `<Nm>Payer</Nm><PstlAdr>${ADDRESS}</PstlAdr></Dbtr>`]],
    profile: 'CBPR',
    message: SINGLE,
  },
  {
    code: 'PARTY_BIC_EXCLUSIVE_CBPR',
    changes: [['<Nm>Payer</Nm></Dbtr>', ORG('<AnyBIC>COBADEFFXXX</AnyBIC>').replace('<Id>', `<PstlAdr>${ADDRESS}</PstlAdr><Id>`)]],
    keeps: [['<Nm>Payer</Nm></Dbtr>', ORG('<AnyBIC>COBADEFFXXX</AnyBIC>')]],
    severity: 'warning',
    shown: 'PARTY_BIC_EXCLUSIVE',
  },
  {
    code: 'PARTY_BIC_EXCLUSIVE',
    changes: [
      [
        '<InitgPty><Nm>Payer</Nm></InitgPty>',
        `<InitgPty><Nm>Payer</Nm><PstlAdr>${ADDRESS}</PstlAdr><Id><OrgId><AnyBIC>COBADEFFXXX</AnyBIC></OrgId></Id></InitgPty>`,
      ],
    ],
    severity: 'warning',
  },
]

const STRUCTURE: readonly RuleCase[] = [
  { code: 'STRUCT_UNEXPECTED', changes: [['<InitgPty>', '<Foo>1</Foo><InitgPty>']], at: '/GrpHdr' },
  // The UETR came with the release of 2019, the town's quarter too.
  {
    code: 'STRUCT_UNEXPECTED',
    changes: [['</EndToEndId>', '</EndToEndId><UETR>8a562c67-ca16-48ba-b074-65581be6f001</UETR>']],
    message: { version: '03' },
  },
  { code: 'STRUCT_MISSING', changes: [['<CreDtTm>2026-11-21T10:00:00+01:00</CreDtTm>', '']], at: '/GrpHdr' },
  { code: 'STRUCT_MISSING', document: pacsMessage(), changes: [['<ChrgBr>SLEV</ChrgBr>', '']], at: '/CdtTrfTxInf[1]' },
  {
    code: 'STRUCT_ORDER',
    changes: [
      ['<ChrgBr>SLEV</ChrgBr>', ''],
      ['<Dbtr>', '<ChrgBr>SLEV</ChrgBr><Dbtr>'],
    ],
  },
  { code: 'STRUCT_CHOICE', changes: [['<IBAN>NL91ABNA0417164300</IBAN>', '<IBAN>NL91ABNA0417164300</IBAN><Othr><Id>1</Id></Othr>']] },
  { code: 'STRUCT_LEXICAL', changes: [['PMT-1', 'P'.repeat(36)]], keeps: [['PMT-1', 'P'.repeat(35)]] },
  { code: 'STRUCT_LEXICAL', changes: [['<BtchBookg>true', '<BtchBookg>yes']], at: '/BtchBookg' },
  { code: 'STRUCT_ATTRIBUTE', changes: [['<Nm>Payer', '<Nm lang="de">Payer']] },
  { code: 'STRUCT_ATTRIBUTE', changes: [[' Ccy="EUR"', '']], message: SINGLE },
  { code: 'STRUCT_TEXT', changes: [['<PmtInf>', '<PmtInf>text']], at: '/PmtInf[1]' },
  { code: 'ELEMENT_REPEATED', changes: [['<MsgId>MSG-2026-1</MsgId>', '<MsgId>A</MsgId><MsgId>B</MsgId>']], at: '/GrpHdr/MsgId' },
  { code: 'ELEMENT_REPEATED', document: camtMessage('02'), changes: [['<Ccy>EUR</Ccy>', '<Ccy>EUR</Ccy><Ccy>EUR</Ccy>']] },
]

ruleTests([...DOCUMENTS, ...VALUES, ...PARTIES, ...STRUCTURE])

/** Those of JSON, of lists and of other formats have a file of their own. */
const ELSEWHERE = /^(JSON|T|FORMAT)_/

test('every shared rule has its case', () => {
  const covered = new Set<string>([...DOCUMENTS, ...VALUES, ...PARTIES, ...STRUCTURE].map(({ code }) => code))
  assert.deepEqual(
    Object.keys(SHARED_RULES).filter((code) => !covered.has(code) && !ELSEWHERE.test(code)),
    [],
  )
})

test('addresses of statements are not held against the cut-over', () => {
  const document = camtMessage().replace(
    '<Ccy>EUR</Ccy></Acct>',
    `<Ccy>EUR</Ccy><Ownr><Nm>Owner</Nm><PstlAdr>${LINES}</PstlAdr></Ownr></Acct>`,
  )
  assert.notEqual(document, camtMessage())
  assert.deepEqual(codesOf(document, 'CBPR'), [])
})

test('every version has a clean message', () => {
  for (const version of ['03', '09', '11', '12'] as const) assert.deepEqual(codesOf(painMessage({ version })), [], version)
  for (const version of ['02', '08', '10', '12', '13'] as const) assert.deepEqual(codesOf(pacsMessage(version)), [], version)
  for (const version of ['02', '04', '08', '10', '13'] as const) assert.deepEqual(codesOf(camtMessage(version)), [], version)
})

test('a bad amount is reported at its own element and line, with the corrected form', () => {
  const xml = painMessage().replace(/<InstdAmt Ccy="EUR">[^<]*</, '\n<InstdAmt Ccy="EUR">604,00<')
  const line = xml.split('\n').findIndex((text) => text.includes('604,00')) + 1
  const [found] = validateMessage({ payload: xml }).findings.filter(({ code }) => code === 'AMT_LEXICAL')
  assert.equal(found?.line, line)
  assert.match(found.path, /\/CdtTrfTxInf\[1\]\/Amt\/InstdAmt$/)
  assert.equal(found.message, '"604,00" is not a valid amount; use a decimal point: 604.00.')
})
