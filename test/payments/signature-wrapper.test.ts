import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseErc6492Signature, serializeErc6492Signature, toHex } from 'viem'
import { isWrappedSignature, readSignatureWrapper } from '../../src/pure/payments/signature-wrapper.ts'
import { runs, SEED } from '../support/counts.ts'

function hex(bytes: number, most = bytes) {
  return fc.uint8Array({ minLength: bytes, maxLength: most }).map((found) => toHex(found))
}

test('wrappers are opened as viem makes them', () => {
  const property = fc.property(hex(20), hex(0, 150), hex(1, 150), (factory, factory_data, inner_signature) => {
    const wrapped = serializeErc6492Signature({ address: factory, data: factory_data, signature: inner_signature })
    assert.ok(isWrappedSignature(wrapped))
    assert.deepEqual(readSignatureWrapper(wrapped), { factory, factory_data, inner_signature })
  })
  fc.assert(property, { seed: SEED, numRuns: runs(100, 2_000) })
})

test('a plain signature is in no wrapper', () => {
  const plain = `0x${'11'.repeat(64)}1b`
  for (const signature of [plain, '0x', '', `${plain}6492`]) {
    assert.equal(isWrappedSignature(signature), false)
    assert.equal(readSignatureWrapper(signature), null)
  }
})

test('a wrapper that is cut, stretched or laid out otherwise is broken', () => {
  const wrapped = serializeErc6492Signature({ address: `0x${'1a'.repeat(20)}`, data: '0x1234', signature: `0x${'5e'.repeat(65)}` })
  const magic = wrapped.slice(-64)
  const body = wrapped.slice(2, -64)
  const words = body.match(/.{64}/g) ?? []
  const rebuilt = (change: (list: string[]) => void) => {
    const list = [...words]
    change(list)
    return `0x${list.join('')}${magic}`
  }
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  assert.equal(
    rebuilt(() => {}),
    wrapped,
  )
  const broken = [
    `0x${magic}`,
    rebuilt((list) => list.pop()),
    rebuilt((list) => list.push(word(0n))),
    // The upper bytes of the address, both offsets, both lengths, the padding.
    rebuilt((list) => list.splice(0, 1, `01${words[0]?.slice(2)}`)),
    rebuilt((list) => list.splice(1, 1, word(128n))),
    rebuilt((list) => list.splice(2, 1, word(96n))),
    rebuilt((list) => list.splice(2, 1, word(2n ** 256n - 32n))),
    rebuilt((list) => list.splice(3, 1, word(2n ** 255n))),
    rebuilt((list) => list.splice(5, 1, word(200n))),
    rebuilt((list) => list.splice(4, 1, `1234${'00'.repeat(29)}01`)),
    `0x00${body}${magic}`,
    `0x${body.slice(1)}g${magic}`,
  ]
  for (const signature of broken) {
    assert.ok(isWrappedSignature(signature))
    assert.equal(readSignatureWrapper(signature), null)
  }
  assert.deepEqual(parseErc6492Signature(wrapped).signature, `0x${'5e'.repeat(65)}`)
})
