import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  encodeFunctionData,
  encodeFunctionResult,
  parseAbi,
  toHex,
  type Hex,
} from 'viem'
import { decodeBool, decodeString, decodeUint, uintWord } from '../../src/pure/payments/token-calls.ts'
import * as token from '../../src/pure/payments/token-calls.ts'
import { runs, SEED } from '../support/counts.ts'

const ABI = parseAbi([
  'function authorizationState(address,bytes32) view returns (bool)',
  'function balanceOf(address) view returns (uint256)',
  'function isBlacklisted(address) view returns (bool)',
  'function paused() view returns (bool)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])
// Both forms have one name, which viem tells apart by arguments; each alone leaves no doubt.
const VRS = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)'])
const BYTES = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)'])
const ERRORS = parseAbi(['error Error(string)', 'error Panic(uint256)', 'error ERC3009UsedAuthorization(address,bytes32)'])

const UINT256_MAX = 2n ** 256n - 1n
const UINT = fc.oneof(fc.bigInt(0n, UINT256_MAX), fc.constantFrom(0n, 5_000n, UINT256_MAX))

function hex(bytes: number, most = bytes) {
  return fc.uint8Array({ minLength: bytes, maxLength: most }).map((found) => toHex(found))
}

const FIELDS = fc.record({ from: hex(20), to: hex(20), value_minor: UINT, valid_after_s: UINT, valid_before_s: UINT, nonce: hex(32) })
const counts = { seed: SEED, numRuns: runs(100, 2_000) }

test('transfers are encoded as viem does, in both forms', () => {
  const property = fc.property(FIELDS, hex(32), hex(32), fc.constantFrom<27 | 28>(27, 28), hex(0, 200), (fields, r, s, v, signature) => {
    const { from, to, value_minor, valid_after_s, valid_before_s, nonce } = fields
    const common = [from, to, value_minor, valid_after_s, valid_before_s, nonce] as const
    assert.equal(token.transferCall(fields, { v, r, s }), encodeFunctionData({ abi: VRS, args: [...common, v, r, s] }))
    assert.equal(token.transferBytesCall(fields, signature), encodeFunctionData({ abi: BYTES, args: [...common, signature] }))
  })
  fc.assert(property, counts)
})

test('reads are encoded as viem does', () => {
  const property = fc.property(hex(20), hex(32), (account, nonce) => {
    const args = [account] as const
    assert.equal(
      token.authorizationStateCall(account, nonce),
      encodeFunctionData({ abi: ABI, functionName: 'authorizationState', args: [account, nonce] }),
    )
    assert.equal(token.balanceCall(account), encodeFunctionData({ abi: ABI, functionName: 'balanceOf', args }))
    assert.equal(token.blacklistedCall(account), encodeFunctionData({ abi: ABI, functionName: 'isBlacklisted', args }))
  })
  fc.assert(property, counts)
  assert.equal(token.PAUSED_CALL, encodeFunctionData({ abi: ABI, functionName: 'paused' }))
  assert.equal(token.NAME_CALL, encodeFunctionData({ abi: ABI, functionName: 'name' }))
  assert.equal(token.VERSION_CALL, encodeFunctionData({ abi: ABI, functionName: 'version' }))
})

test('what has no place in calldata throws, so that no call is made of it', () => {
  const address = `0x${'1a'.repeat(20)}`
  const nonce = `0x${'3c'.repeat(32)}`
  const fields = { from: address, to: address, value_minor: 1n, valid_after_s: 0n, valid_before_s: 1n, nonce }
  assert.throws(() => token.balanceCall(`${address}00`), RangeError)
  assert.throws(() => token.authorizationStateCall(address, address), RangeError)
  assert.throws(() => token.transferBytesCall(fields, '0x123'), RangeError)
  assert.throws(() => token.transferBytesCall({ ...fields, value_minor: -1n }, '0x'), RangeError)
  assert.throws(() => token.transferCall({ ...fields, valid_before_s: UINT256_MAX + 1n }, { v: 27, r: nonce, s: nonce }), RangeError)
})

test('return data is read as viem writes it', () => {
  const property = fc.property(UINT, fc.boolean(), fc.string({ unit: 'grapheme', maxLength: 100 }), (number, flag, text) => {
    assert.equal(decodeUint(encodeFunctionResult({ abi: ABI, functionName: 'balanceOf', result: number })), number)
    assert.equal(decodeBool(encodeFunctionResult({ abi: ABI, functionName: 'paused', result: flag })), flag)
    assert.equal(decodeString(encodeFunctionResult({ abi: ABI, functionName: 'name', result: text })), text)
  })
  fc.assert(property, counts)
})

test('return data of any other shape is null', () => {
  const usdc = encodeFunctionResult({ abi: ABI, functionName: 'name', result: 'USDC' })
  const bytes = (value: Hex) => encodeAbiParameters([{ type: 'bytes' }], [value])
  for (const data of ['', '0x', '0x01', `0x${'00'.repeat(31)}`, `0x${'00'.repeat(64)}`, `0x${'zz'.repeat(32)}`]) {
    assert.deepEqual([decodeUint(data), decodeBool(data), decodeString(data)], [null, null, null], data)
  }
  assert.equal(decodeBool(`0x${uintWord(2n)}`), null)
  const texts = [usdc.slice(0, -64), `${usdc}${uintWord(0n)}`, `${usdc.slice(0, -2)}01`, usdc.replace('20', '40'), bytes('0xff')]
  const lengths = [UINT256_MAX, 33n, 1n << 53n].map((length) => `0x${uintWord(32n)}${uintWord(length)}${'41'.repeat(32)}`)
  for (const data of [...texts, ...lengths]) assert.equal(decodeString(data), null, data)
})

test('logs are read as viem writes their topics', () => {
  const property = fc.property(hex(20), hex(20), hex(32), UINT, (from, to, nonce, value_minor) => {
    const used = encodeEventTopics({ abi: ABI, eventName: 'AuthorizationUsed', args: { authorizer: from, nonce } }) as string[]
    assert.deepEqual(token.decodeAuthorizationUsed({ topics: used, data: '0x' }), { payer: from, nonce })
    const moved = encodeEventTopics({ abi: ABI, eventName: 'Transfer', args: { from, to } }) as string[]
    const data = encodeAbiParameters([{ type: 'uint256' }], [value_minor])
    assert.deepEqual(token.decodeTransfer({ topics: moved, data }), { from, to, value_minor })
    assert.deepEqual([used[0], used[1]], [token.AUTHORIZATION_USED_TOPIC, token.addressTopic(from)])
    assert.deepEqual([moved[0], moved[2]], [token.TRANSFER_TOPIC, token.addressTopic(to)])
    // The one is not taken for the other.
    assert.equal(token.decodeTransfer({ topics: used, data }), null)
    assert.equal(token.decodeAuthorizationUsed({ topics: moved, data: '0x' }), null)
  })
  fc.assert(property, counts)
})

test('logs of other shapes are null', () => {
  const account = `0x${uintWord(5n)}`
  const dirty = `0x01${uintWord(5n).slice(2)}`
  const { TRANSFER_TOPIC, AUTHORIZATION_USED_TOPIC } = token
  const transfers = [[], [TRANSFER_TOPIC], [TRANSFER_TOPIC, account], [TRANSFER_TOPIC, account, dirty], [TRANSFER_TOPIC, account, '0x']]
  for (const topics of [...transfers, [TRANSFER_TOPIC, account, account, account]]) {
    assert.equal(token.decodeTransfer({ topics, data: account }), null)
  }
  assert.equal(token.decodeTransfer({ topics: [TRANSFER_TOPIC, account, account], data: '0x' }), null)
  assert.equal(token.decodeAuthorizationUsed({ topics: [AUTHORIZATION_USED_TOPIC, dirty, account], data: '0x' }), null)
  assert.equal(token.decodeAuthorizationUsed({ topics: [AUTHORIZATION_USED_TOPIC, account, account], data: account }), null)
})

test('reverts are told apart', () => {
  const text = encodeErrorResult({ abi: ERRORS, errorName: 'Error', args: ['FiatTokenV2: invalid signature'] })
  assert.deepEqual(token.decodeRevert(text), { kind: 'text', text: 'FiatTokenV2: invalid signature' })
  const panic = encodeErrorResult({ abi: ERRORS, errorName: 'Panic', args: [0x11n] })
  assert.deepEqual(token.decodeRevert(panic), { kind: 'panic', code: 0x11n })
  const args = [`0x${'1a'.repeat(20)}`, `0x${'3c'.repeat(32)}`] as const
  const custom = encodeErrorResult({ abi: ERRORS, errorName: 'ERC3009UsedAuthorization', args })
  assert.deepEqual(token.decodeRevert(custom), { kind: 'custom', selector: custom.slice(0, 10) })
  assert.deepEqual(token.decodeRevert(`0x${'AB'.repeat(4)}`), { kind: 'custom', selector: '0xabababab' })
  for (const data of ['0x', '', '0x08c379', 'execution reverted']) assert.deepEqual(token.decodeRevert(data), { kind: 'none' })
  // Cut off, and so not decodable.
  assert.deepEqual(token.decodeRevert(text.slice(0, -64)), { kind: 'custom', selector: '0x08c379a0' })
  const long = token.decodeRevert(
    encodeErrorResult({ abi: ERRORS, errorName: 'Error', args: [`${'x'.repeat(255)}\u{1f600}${'y'.repeat(900)}`] }),
  )
  assert.deepEqual(long, { kind: 'text', text: `${'x'.repeat(255)}\ufffd` })
})

test('no data makes a decoder throw', () => {
  const property = fc.property(fc.oneof(fc.string(), hex(0, 200), hex(64, 64)), (data) => {
    for (const decode of [decodeUint, decodeBool, decodeString, token.decodeRevert]) decode(data)
    token.decodeTransfer({ topics: [token.TRANSFER_TOPIC, data, data], data })
    assert.equal(token.decodeAuthorizationUsed({ topics: [data], data }), null)
  })
  fc.assert(property, counts)
})
