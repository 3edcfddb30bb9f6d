import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MessageFinding } from '../../src/pure/documents/iso20022/rules.ts'
import { validateMessage, XmlValidator, type MessageValidation } from '../../src/pure/documents/iso20022/validate.ts'
import { runs, SEED } from '../support/counts.ts'
import { camtMessage, pacsMessage, painMessage, swap } from '../support/iso20022-messages.ts'

/** Messages with and without faults; what is done to them below must change no finding. */
const MESSAGES = [
  painMessage(),
  painMessage({ version: '03' }),
  swap(painMessage(), '1250.75<', '1250.755<'),
  swap(painMessage(), '<CtrlSum>1300.00', '<CtrlSum>1300.10'),
  swap(swap(painMessage(), 'NL91', 'NL90'), '<InitgPty>', '<Foo/><InitgPty>'),
  swap(painMessage(), '<NbOfTxs>2</NbOfTxs>', ''),
  pacsMessage('08'),
  swap(pacsMessage('02'), 'BNPAFRPP', 'bnpafrpp'),
  camtMessage('08'),
  swap(camtMessage('04'), '<CdtDbtInd>CRDT', '<CdtDbtInd>CREDIT'),
] as const

function judged(payload: string): Omit<MessageValidation, 'namespace' | 'findings'> & { findings: Omit<MessageFinding, 'line'>[] } {
  const { namespace: _namespace, format: _format, findings, ...rest } = validateMessage({ payload })
  return { ...rest, findings: findings.map(({ line: _line, ...finding }) => finding) }
}

function unchanged(change: (message: string) => string): void {
  for (const message of MESSAGES) {
    const other = change(message)
    assert.notEqual(other, message)
    assert.deepEqual(judged(other), judged(message))
  }
}

test('prefixes are only names', () => {
  unchanged((message) => message.replace(/<(\/?)([A-Za-z])/g, '<$1ns2:$2').replace('xmlns=', 'xmlns:ns2='))
  unchanged((message) =>
    message
      .replace(/<(\/?)(?=Document|GrpHdr)/g, '<$1x:')
      .replace('xmlns="', 'xmlns:x="urn:none" xmlns="')
      .replace(/x:/g, ''),
  )
})

test('the order and the quotes of attributes mean nothing', () => {
  const location = 'xsi:schemaLocation="a b"'
  const declared = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
  unchanged((message) => message.replace('<Document ', `<Document ${location} ${declared} `))
  unchanged((message) => message.replace(/<Document ([^>]*)>/, `<Document $1 ${declared} ${location}>`))
  unchanged((message) => message.replaceAll('Ccy="EUR"', " Ccy = 'EUR' ").replace('?>', ' ?>'))
})

test('white space, comments between elements and CDATA mean nothing', () => {
  unchanged((message) => message.replaceAll('><', '>\r\n\t<').replaceAll(/<(Nm|StrtNm|Ustrd)>\r\n\t</g, '<$1><'))
  unchanged((message) => message.replaceAll('\n<', '\n<!-- note --><'))
  unchanged((message) => message.replace(/<MsgId>([^<]*)</, '<MsgId><![CDATA[$1]]><').replace(/EUR">/g, 'EU&#82;">'))
})

test('an envelope and a header change nothing but what they say', () => {
  // The header says of the message what the message says of itself.
  const header = (message: string) => {
    const definition = /xsd:([\w.]+)"/.exec(message)?.[1]
    const identification = /<MsgId>(.*?)</.exec(message)?.[1]
    const says = `<BizMsgIdr>${identification}</BizMsgIdr><MsgDefIdr>${definition}</MsgDefIdr>`
    return `<AppHdr xmlns="urn:iso:std:iso:20022:tech:xsd:head.001.001.02">${says}</AppHdr>`
  }
  const wrapped = (message: string) =>
    `<e:Envelope xmlns:e="urn:envelope"><e:Body>${header(message)}${message.replace(/<\?.*\?>/, '')}</e:Body></e:Envelope>`
  unchanged(wrapped)
  unchanged((message) => `<outer>${wrapped(message)}</outer>`)
  const sent = wrapped(painMessage({ single: true })).replace('</MsgDefIdr>', '</MsgDefIdr><BizSvc>swift.cbprplus.03</BizSvc>')
  const { profile, profile_source } = validateMessage({ payload: sent })
  assert.deepEqual([profile, profile_source], ['CBPR', 'business_service'])
})

test('the profile is chosen by argument, header, namespace, service level, in this order', () => {
  const asked = (payload: string, profile: 'SPS' | null = null) => {
    const answer = validateMessage({ payload, profile })
    return [answer.profile, answer.profile_source]
  }
  const sepa = swap(painMessage(), '<Cd>URGP', '<Cd>SEPA')
  assert.deepEqual(asked(painMessage()), ['base', 'default'])
  assert.deepEqual(asked(sepa), ['SEPA', 'service_level'])
  assert.deepEqual(asked(sepa, 'SPS'), ['SPS', 'argument'])
  const swiss = 'http://www.six-interbank-clearing.com/de/pain.001.001.03.ch.02.xsd'
  assert.deepEqual(asked(painMessage({ version: '03', namespace: swiss })), ['SPS', 'namespace'])
  const german = 'urn:iso:std:iso:20022:tech:xsd:pain.001.003.03'
  assert.deepEqual(asked(painMessage({ version: '03', namespace: german })), ['SEPA', 'namespace'])
})

test('it does not matter where a message is cut into pieces', () => {
  const message = swap(painMessage(), 'Creditor 2', 'Crédit 😀 AG')
  const bytes = new TextEncoder().encode(message)
  const { format: _format, ...whole } = validateMessage({ payload: message })
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 40 }), fc.boolean(), (sizes, as_bytes) => {
      const validator = new XmlValidator()
      const source = as_bytes ? bytes : message
      for (let at = 0, index = 0; at < source.length; index++) {
        const size = sizes[index % sizes.length] ?? 1
        validator.write(source.slice(at, at + size))
        at += size
      }
      assert.deepEqual(validator.end(), whole)
    }),
    { numRuns: runs(40, 500), seed: SEED },
  )
})

test('more findings than are listed are counted, errors first', () => {
  const one = painMessage()
  const transaction = one.slice(one.indexOf('<CdtTrfTxInf>'), one.indexOf('</CdtTrfTxInf>') + '</CdtTrfTxInf>'.length)
  const many = Array.from({ length: 400 }, () => transaction).join('\n')
  const { findings, finding_counts, truncated } = validateMessage({ payload: swap(one, '</PmtInf>', `${many}</PmtInf>`) })
  // Each of the 400 repeats end-to-end and instruction identification, UETR and content; two totals are wrong at two levels.
  assert.deepEqual(finding_counts, { error: 404, warning: 1_200, info: 0 })
  assert.equal(findings.length, 200)
  assert.equal(truncated, true)
  assert.ok(findings.every(({ severity }) => severity === 'error'))
})
