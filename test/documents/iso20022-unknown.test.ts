import assert from 'node:assert/strict'
import { test } from 'node:test'
import tool from '../../src/tools/messages/iso20022-validate.ts'
import { painMessage } from '../support/iso20022-messages.ts'

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:'

async function refusalOf(raw_payload: string, more: Record<string, unknown> = {}) {
  return tool.refuses?.(await tool.execute({ raw_payload, ...more }, null)) ?? null
}

test('an unknown type or version is refused uncharged: neither valid nor invalid, with what is known', async () => {
  for (const name of ['pain.002.001.10', 'pacs.009.001.08', 'pain.001.001.10', 'camt.053.001.01']) {
    const refusal = await refusalOf(`<Document xmlns="${NAMESPACE}${name}"><Root/></Document>`)
    assert.ok(refusal !== null, name)
    assert.equal(refusal.problem, 'MESSAGE_UNKNOWN')
    const { valid, verdict, known_messages } = refusal.details.extra ?? {}
    assert.deepEqual([valid, verdict], [null, 'undetermined'])
    assert.ok(!JSON.stringify([refusal.message, refusal.details.extra]).includes(name), 'a problem gives no text of the caller back')
    assert.ok(Array.isArray(known_messages) && known_messages.includes('pacs.008.001.08') && known_messages.length === 14)
  }
})

test('a known message, a broken document and a list of transactions are answered', async () => {
  assert.equal(await refusalOf(painMessage()), null)
  assert.equal(await refusalOf('<Document'), null)
  assert.equal(await refusalOf('<Document xmlns="a"/>', { transactions: [{ amount: '1.00', currency: 'EUR' }] }), null)
})
