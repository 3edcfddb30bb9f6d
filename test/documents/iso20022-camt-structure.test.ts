import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { runs, SEED } from '../support/counts.ts'
import { swap } from '../support/iso20022-messages.ts'
import { codesOf } from '../support/iso20022-rules.ts'
import { MUTATION, mutated } from '../support/xml-mutations.ts'
import {
  bankCode,
  type CamtVersion,
  CAMT_VERSIONS,
  changed,
  entry,
  isLater,
  oneStatement,
  transaction,
  twoStatements,
} from './iso20022-camt-messages.ts'

/** The versions in which a change of the clean statement leaves it clean; in the others it is told as this code. */
function cleanIn(from: string, to: string, code = 'STRUCT_UNEXPECTED'): string[] {
  return CAMT_VERSIONS.filter((version) => {
    const codes = codesOf(swap(oneStatement(version), from, to))
    if (codes.length > 0) assert.deepEqual(codes, [code], version)
    return codes.length === 0
  })
}

const SINCE_2019 = CAMT_VERSIONS.filter(isLater)
const E2E = '<EndToEndId>E2E-1</EndToEndId>'
const PAID = '<RmtInf><Ustrd>Invoice 1</Ustrd></RmtInf>'
const IBAN = '<Id><IBAN>DE89370400440532013000</IBAN></Id>'

test('elements of references, accounts and transactions come and go with the versions', () => {
  assert.deepEqual(cleanIn(E2E, `${E2E}<UETR>8a562c67-ca16-48ba-b074-65581be6f001</UETR>`), SINCE_2019)
  assert.deepEqual(cleanIn(E2E, `${E2E}<PrcgId>1</PrcgId>`), ['04', ...SINCE_2019])
  assert.deepEqual(cleanIn('<Ccy>EUR</Ccy></Acct>', '<Ccy>EUR</Ccy><Prxy><Id>x</Id></Prxy></Acct>'), SINCE_2019)
  assert.deepEqual(cleanIn(PAID, `<LclInstrm><Cd>INST</Cd></LclInstrm>${PAID}`), SINCE_2019)
  assert.deepEqual(cleanIn(PAID, `<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>${PAID}`), ['10', '13'])
  assert.deepEqual(cleanIn(PAID, `${PAID}<CorpActn><EvtTp>a</EvtTp><EvtId>b</EvtId></CorpActn>`), ['04', '08', '10'])
  assert.deepEqual(cleanIn(PAID, `${PAID}<InstrCpy>copy</InstrCpy>`), ['13'])
})

test('elements of the statement come and go with the versions', () => {
  const pages = '<StmtPgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></StmtPgntn>'
  assert.deepEqual(cleanIn('<Id>STMT-1</Id>', `<Id>STMT-1</Id>${pages}`), ['04', ...SINCE_2019])
  assert.deepEqual(cleanIn('<CreDtTm>2026-11-20T22:00:00+01:00</CreDtTm>', '', 'STRUCT_MISSING'), SINCE_2019)
  assert.deepEqual(cleanIn('<Ntry>', '<Ntry><NtryRef>1</NtryRef>'), CAMT_VERSIONS)
})

test('balance types are a closed list up to version 04 and an open one later', () => {
  const other =
    '<Bal><Tp><CdOrPrtry><Cd>DEMO</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-20</Dt></Dt></Bal>'
  assert.deepEqual(cleanIn('<TxsSummry>', `${other}<TxsSummry>`, 'STRUCT_LEXICAL'), SINCE_2019)
})

test('a transaction has an amount of its own from version 04 on, and must have it there', () => {
  const amount = (version: CamtVersion) => transaction(version, '310.15', 'CRDT', E2E).slice('<TxDtls>'.length, -'</TxDtls>'.length)
  const without = (version: CamtVersion) => codesOf(swap(oneStatement(version), amount(version), `<Refs>${E2E}</Refs>`))
  assert.deepEqual(without('02'), [])
  assert.deepEqual(without('04'), ['STRUCT_MISSING'])
  assert.deepEqual(without('08'), [])
  const old = swap(oneStatement('02'), amount('02'), amount('04'))
  assert.deepEqual(codesOf(old), ['STRUCT_UNEXPECTED'])
})

test('the BIC has its name and its grammar by version', () => {
  assert.deepEqual(cleanIn('BNPAFRPPXXX', 'B1PAFRPPXXX', 'BIC_FORMAT'), SINCE_2019)
  const named = changed(oneStatement('02'), [
    ['<BIC>', '<BICFI>'],
    ['</BIC>', '</BICFI>'],
  ])
  assert.deepEqual(codesOf(named), ['STRUCT_UNEXPECTED'])
})

test('parties are told directly up to version 04, within Pty or Agt later', () => {
  const bare = '<Dbtr><Nm>Payer</Nm></Dbtr>'
  for (const version of CAMT_VERSIONS) {
    const inner = isLater(version) ? '<Dbtr><Pty><Nm>Payer</Nm></Pty></Dbtr>' : bare
    const other = isLater(version) ? bare : '<Dbtr><Pty><Nm>Payer</Nm></Pty></Dbtr>'
    assert.ok(codesOf(swap(oneStatement(version), inner, other)).includes('STRUCT_UNEXPECTED'), version)
  }
})

test('what stands in the account of a masked holder is told once and breaks nothing else', () => {
  assert.deepEqual(codesOf(swap(oneStatement('08'), IBAN, '<Id><IBAN>DE89XXXXXXXXXX2013000</IBAN></Id>')), ['S_IBAN_MASKED'])
})

test('prefixes, envelopes and white space change no finding', () => {
  const faulty = CAMT_VERSIONS.flatMap((version) => [
    swap(oneStatement(version), '1300.15', '1300.25'),
    swap(twoStatements(version), '<Cd>CLBD', '<Cd>XPCD'),
    changed(oneStatement(version), [
      [bankCode('ICDT'), ''],
      ['E2E-2', 'NOTPROVIDED'],
    ]),
    swap(oneStatement(version), '</Stmt>', `${entry(version, '0.00', 'DBIT', '2026-11-01', bankCode('RCDT'))}</Stmt>`),
  ])
  const told = (payload: string) => {
    const { findings, finding_counts, tx_count, ctrl_sum } = validateMessage({ payload })
    const places = findings.map(({ code, path, found, expected, message }) => ({ code, path, found, expected, message }))
    return { places, finding_counts, tx_count, ctrl_sum }
  }
  for (const message of faulty) {
    const before = told(message)
    assert.ok(before.places.length > 0)
    const prefixed = message.replace(/<(\/?)([A-Za-z])/g, '<$1b:$2').replace('xmlns=', 'xmlns:b=')
    const wrapped = `<e:Envelope xmlns:e="urn:e"><e:Body>${message.replace(/<\?.*\?>/, '')}</e:Body></e:Envelope>`
    const spaced = message.replace(/><(?!\/(?:Nm|Ustrd)>)/g, '>\n\t<')
    for (const other of [prefixed, wrapped, spaced]) assert.deepEqual(told(other), before)
  }
})

test('nothing that is done to a statement makes the rules fail themselves', () => {
  const property = fc.property(
    fc.constantFrom(...CAMT_VERSIONS),
    fc.array(MUTATION, { minLength: 1, maxLength: 4 }),
    (version, changes) => {
      const payload = changes.reduce(mutated, twoStatements(version))
      const { valid, finding_counts, findings } = validateMessage({ payload, profile: 'base' })
      const is_unknown = findings.some(({ code }) => code === 'NS_UNKNOWN')
      assert.equal(valid, is_unknown ? null : finding_counts.error === 0)
      assert.ok(findings.every(({ found }) => found === null || found.length <= 128))
    },
  )
  fc.assert(property, { numRuns: runs(100, 5_000), seed: SEED })
})

test('a statement in JSON is judged like one in XML', () => {
  const statement = (closing: string) => `{"Document": {"@xmlns": "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08", "BkToCstmrStmt": {
    "GrpHdr": {"MsgId": "M", "CreDtTm": "2026-11-20T22:00:00Z"}, "Stmt": {"Id": "S", "Ntry": [{"Sts": {"Cd": "BOOK"}, "CdtDbtInd": "DBIT",
    "Amt": {"@Ccy": "EUR", "#text": "0.30"}, "BookgDt": {"Dt": "2026-11-20"}, "BkTxCd": {"Prtry": {"Cd": "NTRF"}}}],
    "Bal": [{"Amt": {"@Ccy": "EUR", "#text": "0.10"}, "CdtDbtInd": "CRDT", "Dt": {"Dt": "2026-11-20"}, "Tp": {"CdOrPrtry": {"Cd": "OPBD"}}},
    {"Amt": {"@Ccy": "EUR", "#text": "${closing}"}, "CdtDbtInd": "DBIT", "Dt": {"Dt": "2026-11-20"}, "Tp": {"CdOrPrtry": {"Cd": "CLBD"}}}],
    "Acct": {"Id": {"Othr": {"Id": "1"}}, "Ccy": "EUR"}}}}}`
  // 0.10 less 0.30 are 0.20 owed.
  assert.deepEqual(codesOf(statement('0.20')), [])
  assert.deepEqual(codesOf(statement('0.2000001')), ['AMT_DIGITS'])
  assert.deepEqual(codesOf(statement('0.21')), ['S_BAL_EQ'])
})
