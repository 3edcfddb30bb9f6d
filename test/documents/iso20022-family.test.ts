/** Rules of returns, cancellations and cover payments. Totals are worked out by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageProfile } from '../../src/pure/documents/iso20022/rules.ts'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { swap } from '../support/iso20022-messages.ts'

const URN = 'urn:iso:std:iso:20022:tech:xsd:'
const UETR = '8a562c67-ca16-48ba-b074-65581be6f001'
const BANK = (code: string) => `<FinInstnId><BICFI>${code}</BICFI></FinInstnId>`

/** Returns of 60.00 and 40.00 euro. */
const RETURNS = `<Document xmlns="${URN}pacs.004.001.09"><PmtRtr><GrpHdr><MsgId>R1</MsgId><CreDtTm>2026-11-21T10:00:00Z</CreDtTm><NbOfTxs>2</NbOfTxs>
<TtlRtrdIntrBkSttlmAmt Ccy="EUR">100.00</TtlRtrdIntrBkSttlmAmt><IntrBkSttlmDt>2026-11-23</IntrBkSttlmDt>
<SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf></GrpHdr>
<TxInf><RtrId>A</RtrId><OrgnlEndToEndId>E1</OrgnlEndToEndId><RtrdIntrBkSttlmAmt Ccy="EUR">60.00</RtrdIntrBkSttlmAmt>
<RtrRsnInf><Rsn><Cd>AC04</Cd></Rsn></RtrRsnInf></TxInf>
<TxInf><RtrId>B</RtrId><OrgnlTxId>T2</OrgnlTxId><RtrdIntrBkSttlmAmt Ccy="EUR">40.00</RtrdIntrBkSttlmAmt>
<RtrRsnInf><Rsn><Cd>MS03</Cd></Rsn></RtrRsnInf></TxInf></PmtRtr></Document>`

/** A cover payment of 100.00 dollars. */
const COVER = `<Document xmlns="${URN}pacs.009.001.08"><FICdtTrf><GrpHdr><MsgId>C1</MsgId><CreDtTm>2026-11-21T10:00:00Z</CreDtTm><NbOfTxs>1</NbOfTxs>
<SttlmInf><SttlmMtd>INDA</SttlmMtd></SttlmInf></GrpHdr><CdtTrfTxInf><PmtId><EndToEndId>E1</EndToEndId><TxId>T1</TxId><UETR>${UETR}</UETR></PmtId>
<IntrBkSttlmAmt Ccy="USD">100.00</IntrBkSttlmAmt><IntrBkSttlmDt>2026-11-23</IntrBkSttlmDt><Dbtr>${BANK('COBADEFFXXX')}</Dbtr>
<Cdtr>${BANK('BNPAFRPPXXX')}</Cdtr><UndrlygCstmrCdtTrf><Dbtr><Nm>Payer</Nm></Dbtr><DbtrAgt>${BANK('COBADEFFXXX')}</DbtrAgt>
<CdtrAgt>${BANK('BNPAFRPPXXX')}</CdtrAgt><Cdtr><Nm>Payee</Nm></Cdtr><InstdAmt Ccy="USD">100.00</InstdAmt></UndrlygCstmrCdtTrf></CdtTrfTxInf></FICdtTrf></Document>`

/** A request to cancel one payment. */
const CANCELLATION = `<Document xmlns="${URN}camt.056.001.08"><FIToFIPmtCxlReq><Assgnmt><Id>A1</Id><Assgnr><Agt>${BANK('COBADEFFXXX')}</Agt></Assgnr>
<Assgne><Agt>${BANK('BNPAFRPPXXX')}</Agt></Assgne><CreDtTm>2026-11-21T10:00:00Z</CreDtTm></Assgnmt><Undrlyg><TxInf><OrgnlEndToEndId>E1</OrgnlEndToEndId>
<CxlRsnInf><Rsn><Cd>DUPL</Cd></Rsn></CxlRsnInf></TxInf></Undrlyg></FIToFIPmtCxlReq></Document>`

interface Case {
  message: string
  from: string
  to: string
  found: string
  profile?: MessageProfile
}

const CASES: readonly Case[] = [
  { message: RETURNS, from: '<NbOfTxs>2', to: '<NbOfTxs>3', found: 'error M_NBTX 3 → 2' },
  { message: RETURNS, from: 'Ccy="EUR">100.00', to: 'Ccy="EUR">100.01', found: 'error M_TTLAMT 100.01 → 100.00' },
  { message: RETURNS, from: 'Ccy="EUR">40.00', to: 'Ccy="USD">40.00', found: 'error M_CCY USD → EUR' },
  { message: RETURNS, from: '<RtrId>B', to: '<RtrId>A', found: 'error M_ID_DUPLICATE A → null' },
  { message: RETURNS, from: '<RtrRsnInf><Rsn><Cd>MS03</Cd></Rsn></RtrRsnInf>', to: '', found: 'warning M_REASON null → RtrRsnInf/Rsn' },
  {
    message: RETURNS,
    from: '<RtrRsnInf><Rsn><Cd>MS03</Cd></Rsn></RtrRsnInf>',
    to: '',
    found: 'error M_REASON null → RtrRsnInf/Rsn',
    profile: 'SEPA',
  },
  {
    message: RETURNS,
    from: '<OrgnlTxId>T2</OrgnlTxId>',
    to: '',
    found: 'warning M_REFERENCE null → OrgnlEndToEndId or OrgnlTxId or OrgnlUETR',
  },
  { message: COVER, from: '<NbOfTxs>1', to: '<NbOfTxs>2', found: 'error M_NBTX 2 → 1' },
  {
    message: COVER,
    from: '<InstdAmt Ccy="USD">100.00',
    to: '<InstdAmt Ccy="USD">99.99',
    found: 'warning M_COVER_AMT 99.99 → at least 100.00',
  },
  { message: COVER, from: '"USD">100.00</IntrBk', to: '"USD">0</IntrBk', found: 'error M_AMT_ZERO 0 → null' },
  {
    message: CANCELLATION,
    from: '<CxlRsnInf><Rsn><Cd>DUPL</Cd></Rsn></CxlRsnInf>',
    to: '',
    found: 'warning M_REASON null → CxlRsnInf/Rsn',
  },
]

function findingsOf(payload: string, profile: MessageProfile): string[] {
  return validateMessage({ payload, profile }).findings.map((one) => `${one.severity} ${one.code} ${one.found} → ${one.expected}`)
}

test('returns, cover payments and cancellations: counts, sums, currencies, references and reasons', () => {
  for (const message of [RETURNS, COVER, CANCELLATION]) assert.deepEqual(findingsOf(message, 'base'), [])
  for (const { message, from, to, found, profile = 'base' } of CASES) {
    assert.deepEqual(findingsOf(swap(message, from, to), profile), [found], `${from} → ${to}`)
  }
})

test('totals of a returned group without transactions are those of the group', () => {
  const group = RETURNS.replace(/<TxInf>[^]*<\/TxInf>/, '').replace('<NbOfTxs>2', '<NbOfTxs>9')
  assert.deepEqual(findingsOf(group, 'base'), [])
})
