/** What gas wallets send, against viem's encoding by the contracts' own interfaces, and waking. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeFunctionData, parseAbi, parseSignature, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Payment } from '../../src/ports/payments.ts'
import { BATCH_SETTLER } from '../../src/pure/contracts/deployment.ts'
import { failedItems } from '../../src/service/payments/wallet-send.ts'
import { USDC } from '../support/anvil.ts'
import { authorization, signTransfer } from '../support/authorization.ts'
import { contract } from '../support/contracts.ts'
import { isBatchable, batchCall, singleCall } from '../../src/service/payments/wallet-round.ts'
import { createWakeSignal } from '../../src/service/payments/wallet-writer.ts'

const TOKEN = USDC[8453] ?? '0x'
const PAY_TO = '0x00000000000000000000000000000000000000bb'
const BY_PARTS = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)'])
const BY_BYTES = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)'])

async function payment(change: Partial<Payment> = {}): Promise<Payment> {
  const signer = privateKeyToAccount(generatePrivateKey())
  const message = authorization(signer.address, PAY_TO, 10_000n, { validAfter: 5n, validBefore: 2_000_000_000n })
  const signature = await signTransfer(signer, 8453, TOKEN, message)
  const claim = { purpose: 'call' as const, subject: 'iban-check', input_hash: '0x', price_class: 'check', fence: 1, claim_until_ms: 0 }
  const times = { created_ms: 0, updated_ms: 0, settled_ms: null, block_number: null, block_hash: null }
  const rest = {
    state: 'settling' as const,
    method: 'self' as const,
    settler: null,
    asset: null,
    account_nonce: null,
    transaction: null,
    network_hash: null,
    identifier_hash: null,
    final: false,
    reason: null,
    deposit_call: null,
    cumulative_minor: null,
  }
  const terms = { to: PAY_TO, value_minor: 10_000n, valid_after_s: 5n, valid_before_s: 2_000_000_000n, signature, contract_payer: false }
  return { payer: signer.address.toLowerCase(), nonce: message.nonce, ...claim, ...times, ...rest, ...terms, ...change }
}

function words({ payer, to, value_minor, valid_after_s, valid_before_s, nonce }: Payment) {
  return [payer as Hex, to as Hex, value_minor, valid_after_s, valid_before_s, nonce as Hex] as const
}

test('a batch is encoded as the interface of its contract says', async () => {
  const payments = await Promise.all([payment(), payment({ value_minor: 50_000n }), payment()])
  const items = payments.map((one) => {
    const [from, to, value, validAfter, validBefore, nonce] = words(one)
    const { r, s, yParity } = parseSignature(one.signature as Hex)
    return { from, to, value, validAfter, validBefore, nonce, v: 27 + yParity, r, s }
  })
  const expected = encodeFunctionData({ abi: contract('batch-settler').abi, functionName: 'settle', args: [TOKEN, items] })
  assert.deepEqual(batchCall(BATCH_SETTLER, TOKEN.toLowerCase(), payments).data, expected)
})

test('an account settles by v, r, s, and whoever has code by the bytes that were given', async () => {
  const account = await payment()
  const { r, s, yParity } = parseSignature(account.signature as Hex)
  assert.equal(singleCall(TOKEN, account).data, encodeFunctionData({ abi: BY_PARTS, args: [...words(account), 27 + yParity, r, s] }))
  for (const signature of [account.signature, '0x', `0x${'ab'.repeat(100)}`]) {
    const smart = await payment({ contract_payer: true, signature })
    assert.equal(singleCall(TOKEN, smart).data, encodeFunctionData({ abi: BY_BYTES, args: [...words(smart), signature as Hex] }))
    assert.equal(isBatchable(smart), false)
  }
})

test('a failure is read from the contract that says it, and from no other', () => {
  const topics = ['0xc77ea6414b21b2cf2170f259ee35ec16a7cbf16eeace77cc3ae8c6d52556881a']
  const place = { block_number: 1n, block_hash: '0x', transaction_hash: '0x' }
  const log = (address: string, index: number) => ({
    ...place,
    address,
    topics,
    data: `0x${index.toString(16).padStart(64, '0')}`,
    log_index: index,
  })
  const receipt = {
    ...place,
    succeeded: true,
    gas_used: 1n,
    effective_gas_price: 1n,
    logs: [log(BATCH_SETTLER.address, 3), log(PAY_TO, 1)],
  }
  assert.deepEqual(failedItems(receipt, BATCH_SETTLER.address), new Set([3]))
  assert.deepEqual(failedItems(receipt, null), new Set())
})

test('a bell wakes its sleeper after so many rings, and rings before the sleep count', async () => {
  const bell = createWakeSignal()
  let awake = false
  const sleeping = bell.sleep(60_000, 2).then(() => (awake = true))
  bell.notify()
  await new Promise(setImmediate)
  assert.equal(awake, false)
  bell.notify()
  await sleeping
  bell.notify()
  await bell.sleep(60_000, 1)
})
