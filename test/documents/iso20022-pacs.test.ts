import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MessageFinding, PACS_RULES } from '../../src/pure/documents/iso20022/rules.ts'
import { validateMessage, XmlValidator } from '../../src/pure/documents/iso20022/validate.ts'
import { runs } from '../support/counts.ts'
import { swap } from '../support/iso20022-messages.ts'
import { codesOf, ruleTests } from '../support/iso20022-rules.ts'
import { agent, clearingHead, clearingMessage, correspondentMessage, PACS_VERSIONS, TAIL, transfer } from './iso20022-pacs-messages.ts'
import { MONEY_CASES, TRANSFER_CASES } from './iso20022-pacs-money-rules.ts'
import { AGENT_CASES, GROUP_CASES } from './iso20022-pacs-rules.ts'

const CASES = [...GROUP_CASES, ...AGENT_CASES, ...MONEY_CASES, ...TRANSFER_CASES]

ruleTests(CASES)

test('every rule of pacs.008 has its case', () => {
  const covered = new Set<string>(CASES.map(({ code }) => code))
  assert.deepEqual(
    Object.keys(PACS_RULES).filter((code) => !covered.has(code)),
    [],
  )
  assert.equal(Object.keys(PACS_RULES).length, 40, '36 numbered rules, one of which has two codes, and three of CBPR+')
})

test('every version has clean messages in every profile that carries them', () => {
  for (const version of PACS_VERSIONS) {
    for (const profile of ['base', 'SEPA', 'SPS'] as const) assert.deepEqual(codesOf(clearingMessage(version), profile), [], version)
    if (version === '02') continue
    for (const profile of ['base', 'CBPR', 'SPS'] as const) assert.deepEqual(codesOf(correspondentMessage(version), profile), [], version)
  }
})

test('totals are those of the settled amounts', () => {
  const { tx_count, ctrl_sum, ctrl_sum_minor, currencies, message_id, version } = validateMessage({ payload: clearingMessage('12') })
  assert.deepEqual(
    { tx_count, ctrl_sum, ctrl_sum_minor, currencies, message_id, version },
    { tx_count: 2, ctrl_sum: '750.25', ctrl_sum_minor: '75025', currencies: ['EUR'], message_id: 'PACS-1', version: '12' },
  )
  const unreadable = swap(clearingMessage(), 'Ccy="EUR">250.25', 'Ccy="EUR">250,25')
  assert.deepEqual(codesOf(unreadable), ['AMT_LEXICAL'])
  assert.equal(validateMessage({ payload: unreadable }).ctrl_sum, null)
})

/** Where a version has an element or a form and others do not: of each, what stands there in place of what. */
const DIFFERENCES: readonly { versions: readonly string[]; change: readonly [string, string] }[] = [
  { versions: ['02', '08', '10', '12'], change: ['<ChrgBr>', '<AccptncDtTm>2026-11-21T09:00:00Z</AccptncDtTm><ChrgBr>'] },
  { versions: ['13'], change: ['<ChrgBr>', '<AddtlDtTm><AccptncDtTm>2026-11-21T09:00:00Z</AccptncDtTm></AddtlDtTm><ChrgBr>'] },
  { versions: ['13'], change: ['<ChrgBr>', '<AgrdRate><PreAgrdXchgRate>1.1</PreAgrdXchgRate></AgrdRate><ChrgBr>'] },
  { versions: ['13'], change: ['<NbOfTxs>', '<XpryDtTm>2026-11-22T09:00:00Z</XpryDtTm><NbOfTxs>'] },
  { versions: ['10', '12', '13'], change: ['</ChrgBr>', '</ChrgBr><MndtRltdInf/>'] },
  { versions: ['08', '10', '12', '13'], change: ['<RmtInf>', '<Tax/><RmtInf>'] },
  {
    versions: ['08', '10', '12', '13'],
    change: ['</FIToFICstmrCdtTrf>', '<SplmtryData><Envlp><a/></Envlp></SplmtryData></FIToFICstmrCdtTrf>'],
  },
  {
    versions: ['08', '10', '12', '13'],
    change: ['<Nm>Payer</Nm>', '<Nm>Payer</Nm><Id><OrgId><LEI>5493001KJTIIGC8Y1R12</LEI></OrgId></Id>'],
  },
  {
    versions: ['12', '13'],
    change: ['<Nm>Payer</Nm>', '<Nm>Payer</Nm><PstlAdr><CareOf>x</CareOf><TwnNm>Bonn</TwnNm><Ctry>DE</Ctry></PstlAdr>'],
  },
  { versions: ['10', '12', '13'], change: ['<RmtInf>', '<InstrForCdtrAgt><Cd>ABCD</Cd></InstrForCdtrAgt><RmtInf>'] },
  // The older form of a BIC forbids digits before the country.
  { versions: ['08', '10', '12', '13'], change: ['COBADEFFXXX', 'C0BADEFFXXX'] },
  {
    versions: [...PACS_VERSIONS],
    change: ['<ChrgBr>', '<SttlmTmReq><CLSTm>09:00:00Z</CLSTm><RjctTm>10:00:00Z</RjctTm></SttlmTmReq><ChrgBr>'],
  },
  { versions: [...PACS_VERSIONS], change: ['<TxId>TX-1</TxId>', '<TxId>TX-3</TxId>'] },
  { versions: ['08', '10', '12', '13'], change: ['<TxId>TX-1</TxId>', ''] },
]

test('versions differ where their definitions do', () => {
  for (const { versions, change } of DIFFERENCES) {
    for (const version of PACS_VERSIONS) {
      const { valid } = validateMessage({ payload: swap(clearingMessage(version), change[0], change[1]), profile: 'base' })
      assert.equal(valid, versions.includes(version), `${change[1]} in ${version}`)
    }
  }
})

test('agents are named as their version does', () => {
  const charges = (version: '02' | '08', element: string) =>
    swap(
      clearingMessage(version),
      '</ChrgBr>',
      `</ChrgBr><ChrgsInf><Amt Ccy="EUR">0.00</Amt>${agent(element, 'COBADEFFXXX', version)}</ChrgsInf>`,
    )
  assert.deepEqual(codesOf(charges('02', 'Pty')), [])
  assert.deepEqual(codesOf(charges('08', 'Agt')), [])
  assert.deepEqual(codesOf(charges('02', 'Agt')), ['STRUCT_MISSING', 'STRUCT_UNEXPECTED'])
  const previous = agent('PrvsInstgAgt', 'DEUTDEFFXXX', '02')
  assert.deepEqual(codesOf(swap(clearingMessage('02'), '</ChrgBr>', `</ChrgBr>${previous}`)), [])
  assert.deepEqual(codesOf(swap(clearingMessage('08'), '</ChrgBr>', `</ChrgBr>${previous}`)), ['STRUCT_UNEXPECTED'])
})

function judged(payload: string): Omit<MessageFinding, 'line'>[] {
  return validateMessage({ payload, profile: 'base' }).findings.map(({ line: _line, ...finding }) => finding)
}

test('prefixes and envelopes change no finding', () => {
  const broken = CASES.map(({ document = '', changes }) => changes.reduce((text, [from, to]) => swap(text, from, to), document))
  for (const message of broken) {
    const prefixed = message.replace(/<(\/?)(?=[A-Za-z])/g, '<$1p:').replaceAll('xmlns=', 'xmlns:p=')
    assert.deepEqual(judged(prefixed), judged(message))
    const wrapped = `<e:Outer xmlns:e="urn:outer"><e:Inner>${message.replace(/<\?.*\?>/, '')}</e:Inner></e:Outer>`
    assert.deepEqual(judged(wrapped), judged(message))
  }
})

test('a long message is read in pieces and added up exactly', () => {
  // n transfers of 0.01, 0.02 and so on make n(n + 1) / 2 cents.
  const count = runs(500, 50_000)
  const cents = (BigInt(count) * BigInt(count + 1)) / 2n
  const text = (amount: bigint) => `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`
  const validator = new XmlValidator({ profile: 'SEPA' })
  validator.write(clearingHead('08', count, text(cents)))
  for (let index = 1; index <= count; index++) validator.write(transfer(index, text(BigInt(index))))
  validator.write(TAIL)
  const { findings, tx_count, ctrl_sum_minor } = validator.end()
  assert.deepEqual({ findings, tx_count, ctrl_sum_minor }, { findings: [], tx_count: count, ctrl_sum_minor: cents.toString() })
})
