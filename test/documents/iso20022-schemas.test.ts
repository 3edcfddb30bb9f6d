import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { camtMessage, pacsMessage, painMessage, swap } from '../support/iso20022-messages.ts'
import { schemaTakes } from '../support/iso20022-oracle.ts'

/** A clean message, a change that its schema refuses, and the same change as the schema takes it. */
interface SchemaCase {
  name: string
  schema: string
  message: string
  from: string
  refused: string
  taken: string
  code?: string
}

const PAIN_RMT = '<RmtInf><Ustrd>Invoice 1</Ustrd></RmtInf>'
const PACS_END = '</CdtrAcct>\n</CdtTrfTxInf>'
const reference = (code: string) =>
  `<RmtInf><Strd><CdtrRefInf><Tp><CdOrPrtry>${code}</CdOrPrtry></Tp><Ref>A1</Ref></CdtrRefInf></Strd></RmtInf>`
const document = (code: string) =>
  `<RmtInf><Strd><RfrdDocInf><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Nb>1</Nb></RfrdDocInf></Strd></RmtInf>`
const account = (code: string) => `</Id><Tp><Cd>${code}</Cd></Tp></DbtrAcct>`
const remitted = (amount: string) =>
  `</CdtrAcct><RmtInf><Strd><RfrdDocAmt><RmtAmtAndTp>${amount}</RmtAmtAndTp></RfrdDocAmt></Strd></RmtInf></CdtTrfTxInf>`
const AMOUNT = '<Amt Ccy="EUR">1.00</Amt>'
const rate = (id: string) => `<AgrdRate><PreAgrdXchgRate>1.1</PreAgrdXchgRate><QtId>${id}</QtId></AgrdRate><ChrgBr>`
const mail = (length: number) => `<Dbtr><Nm>Payer</Nm><CtctDtls><EmailAdr>${'a'.repeat(length)}</EmailAdr></CtctDtls></Dbtr>`
const till = (time: string) => `</IntrBkSttlmDt><SttlmTmReq><TillTm>${time}</TillTm></SttlmTmReq>`
const cheque = (more: string) => `<ChqInstr><ChqTp>CCHQ</ChqTp>${more}</ChqInstr><CdtrAgt>`
const line = (inside: string) => `</CdOrPrtry></Tp><CdtLine>${inside}</CdtLine>`
const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'

const pain = (version: '03' | '09' | '11' | '12') => ({ schema: `pain.001.001.${version}`, message: painMessage({ version }) })
const pacs = (version: '02' | '08' | '10' | '12' | '13') => ({ schema: `pacs.008.001.${version}`, message: pacsMessage(version) })
const camt = (version: '02' | '04' | '08' | '10' | '13') => ({ schema: `camt.053.001.${version}`, message: camtMessage(version) })

const REFERENCES = (['03', '09', '11'] as const).map((version) => ({
  name: `creditor reference type is DocumentType3Code in pain.001.001.${version}: QRR is none`,
  ...pain(version),
  from: PAIN_RMT,
  refused: reference('<Cd>QRR</Cd>'),
  taken: reference('<Cd>SCOR</Cd>'),
}))

const DOCUMENTS = [
  {
    name: 'document type is DocumentType5Code: PUOR is none',
    ...pain('03'),
    from: PAIN_RMT,
    refused: document('PUOR'),
    taken: document('TSUT'),
  },
  {
    name: 'document type is DocumentType6Code: QRRR is none',
    ...pain('09'),
    from: PAIN_RMT,
    refused: document('QRRR'),
    taken: document('PUOR'),
  },
]

const ACCOUNTS = [
  { ...pain('03'), name: 'account type is CashAccountType4Code in pain.001.001.03' },
  { ...pacs('02'), name: 'account type is CashAccountType4Code in pacs.008.001.02' },
].map((one) => ({ ...one, from: '</Id></DbtrAcct>', refused: account('XXXX'), taken: account('CACC') }))

const PACS_CASES = (['12', '13'] as const).map((version) => ({
  name: `RmtAmtAndTp has a type in pacs.008.001.${version}`,
  ...pacs(version),
  from: PACS_END,
  refused: remitted(AMOUNT),
  taken: remitted(`<Tp><Cd>DUEP</Cd></Tp>${AMOUNT}`),
}))

const CASES: readonly SchemaCase[] = [
  ...REFERENCES,
  ...DOCUMENTS,
  ...ACCOUNTS,
  ...PACS_CASES,
  {
    name: 'QtId is a UUID in pacs.008.001.13',
    ...pacs('13'),
    from: '<ChrgBr>',
    refused: rate('a'),
    taken: rate('8a562c67-ca16-48ba-b074-65581be6f00a'),
  },
  { name: 'EmailAdr has 256 characters', ...pacs('12'), from: '<Dbtr><Nm>Payer</Nm></Dbtr>', refused: mail(257), taken: mail(256) },
  { name: 'a time of day', ...pacs('08'), from: '</IntrBkSttlmDt>', refused: till('99:99:99'), taken: till('23:59:59Z') },
  {
    name: 'a cheque has no signature in pain.001.001.03',
    ...pain('03'),
    from: '<CdtrAgt>',
    refused: cheque('<Sgntr>a</Sgntr>'),
    taken: cheque('<PrtLctn>a</PrtLctn>'),
  },
  { name: 'an IBAN of camt.053', ...camt('08'), from: 'DE89370400440532013000', refused: 'any text', taken: 'DE89XXXXXXXXXXXX013000' },
  {
    name: 'a credit line has no text',
    ...camt('08'),
    from: '</CdOrPrtry></Tp>',
    refused: line('stray<Foo/>'),
    taken: line('<Incl>true</Incl>'),
  },
  { name: 'xsi:nil', ...camt('08'), from: '<Acct>', refused: `<Acct ${XSI} xsi:nil="true">`, taken: `<Acct ${XSI}>` },
  { name: 'xml:lang', ...pain('09'), from: '<Nm>', refused: '<Nm xml:lang="de">', taken: '<Nm >' },
  {
    name: 'a foreign attribute',
    ...pacs('08'),
    from: '<Dbtr>',
    refused: '<Dbtr xmlns:a="urn:a" a:b="c">',
    taken: '<Dbtr xmlns:a="urn:a">',
  },
  {
    name: 'a foreign attribute of Document',
    ...pain('09'),
    from: '<Document ',
    refused: `<Document ${XSI} xsi:nil="false" `,
    taken: `<Document ${XSI} xsi:schemaLocation="a b" `,
  },
  {
    name: 'a foreign attribute of the message',
    ...pain('09'),
    from: '<CstmrCdtTrfInitn>',
    refused: '<CstmrCdtTrfInitn xml:lang="de">',
    taken: '<CstmrCdtTrfInitn >',
  },
]

for (const { name, schema, message, from, refused, taken } of CASES) {
  test(`${name}: refused and taken as the schema does`, () => {
    const [bad, good] = [swap(message, from, refused), swap(message, from, taken)]
    assert.deepEqual([schemaTakes(schema, bad), schemaTakes(schema, good)], [false, true])
    const { valid, findings } = validateMessage({ payload: bad, profile: 'base' })
    assert.equal(valid, false)
    assert.ok(findings.some(({ code }) => code.startsWith('STRUCT_')))
    assert.deepEqual(
      validateMessage({ payload: good, profile: 'base' }).findings.filter(({ severity }) => severity === 'error'),
      [],
    )
  })
}
