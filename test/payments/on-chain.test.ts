/** What the chain says of a payment: every refusal on a real node with the test token, signatures by viem. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { encodeAbiParameters, encodeFunctionData, parseAbi, serializeErc6492Signature, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createOnChainCheck, type OnChainResult } from '../../src/service/payments/on-chain.ts'
import { placeWallet, startBench, type Bench, type Draft } from '../support/on-chain.ts'

const RICH_MINOR = 1_000_000n
const TOKEN = parseAbi(['function blacklist(address)', 'function pause()', 'function cancelAuthorization(address,bytes32,bytes)'])
const MOODS = { refusing: 1, burning: 2 } as const

let bench: Bench
let payer: PrivateKeyAccount
let pay_to: string
let clean: string

before(async () => {
  bench = await startBench()
  const [first, second] = bench.anvil.accounts
  assert.ok(first !== undefined && second !== undefined)
  payer = first
  pay_to = second.address
  await bench.anvil.mint(payer.address, RICH_MINOR)
  clean = await bench.anvil.snapshot()
})
after(() => bench.anvil.stop())
beforeEach(async () => {
  await bench.anvil.revert(clean)
  clean = await bench.anvil.snapshot()
})

/** A payment of the payer, checked by a fresh check over a fresh view of the chain. */
async function checked(draft: Partial<Draft> = {}, options: Parameters<Bench['parts']>[0] = {}): Promise<OnChainResult> {
  const signed = await bench.sign({ by: payer, to: pay_to, value_minor: 10_000n, ...draft })
  return createOnChainCheck(bench.parts(options))(signed.authorization, signed.recovered, 'client')
}

function refused(found: OnChainResult, code: string, x402_reason: string | null, retryable = false): void {
  assert.ok(!found.ok, 'it passed')
  assert.deepEqual({ code: found.code, x402_reason: found.x402_reason, retryable: found.retryable }, { code, x402_reason, retryable })
}

const owner = (functionName: 'blacklist' | 'pause', args: readonly [Hex] | readonly []) =>
  bench.anvil.asOwner(encodeFunctionData({ abi: TOKEN, functionName, args }))

describe('an account pays', () => {
  test('a good payment passes with what the payer holds, in one round trip', async () => {
    const signed = await bench.sign({ by: payer, to: pay_to, value_minor: 10_000n })
    const parts = bench.parts()
    const found = await createOnChainCheck(parts)(signed.authorization, signed.recovered, 'client')
    assert.deepEqual(found, { ok: true, balance_minor: RICH_MINOR, contract_payer: false, signature: signed.authorization.signature })
    assert.equal(bench.reads(), 1)
  })

  test('the whole balance may be paid, one unit more may not', async () => {
    assert.equal((await checked({ value_minor: RICH_MINOR })).ok, true)
    refused(await checked({ value_minor: RICH_MINOR + 1n }), 'INSUFFICIENT_FUNDS', 'invalid_exact_evm_insufficient_balance', true)
  })

  test('a signature of somebody else, or over another recipient or value, is no signature', async () => {
    const [, , stranger] = bench.anvil.accounts
    assert.ok(stranger !== undefined)
    for (const draft of [{ by: stranger, from: payer.address }, { signed_to: stranger.address }, { signed_value_minor: 9_999n }]) {
      refused(await checked(draft), 'BAD_SIGNATURE', 'invalid_exact_evm_signature')
    }
  })

  test('an authorization that is used, or cancelled, is a replay', async () => {
    const signed = await bench.sign({ by: payer, to: pay_to, value_minor: 10_000n })
    await bench.transfer(signed.authorization)
    const again = await createOnChainCheck(bench.parts())(signed.authorization, signed.recovered, 'client')
    refused(again, 'REPLAY', 'invalid_exact_evm_nonce_already_used')
  })

  test('terms that misname the token are told by name and by version', async () => {
    const name = await checked({ name: 'Coin USD' }, { name: 'Coin USD' })
    refused(name, 'ASSET_MISCONFIGURED', 'invalid_exact_evm_token_name_mismatch')
    const version = await checked({ version: '1' }, { version: '1' })
    refused(version, 'ASSET_MISCONFIGURED', 'invalid_exact_evm_token_version_mismatch')
  })

  test('a window that the chain is past, or has not reached, is told from the rest', async () => {
    refused(await checked({ valid_before_s: 1_000n }), 'EXPIRED', 'invalid_exact_evm_payload_authorization_valid_before')
    const later = await checked({ valid_after_s: 9_000_000_000n, valid_before_s: 9_000_000_100n })
    refused(later, 'NOT_YET_VALID', 'invalid_exact_evm_payload_authorization_valid_after', true)
  })
})

describe('the token refuses', () => {
  const SIMULATION = 'invalid_exact_evm_transaction_simulation_failed'

  test('a blacklisted payer', async () => {
    await owner('blacklist', [payer.address])
    refused(await checked(), 'PAYER_BLOCKED', SIMULATION)
  })

  test('a blacklisted recipient, which is our trouble', async () => {
    await owner('blacklist', [pay_to as Hex])
    refused(await checked(), 'RECIPIENT_BLOCKED', SIMULATION, true)
  })

  test('everybody while it is paused', async () => {
    await owner('pause', [])
    refused(await checked(), 'TOKEN_PAUSED', SIMULATION, true)
  })

  test('because it is not there, or knows no signed transfers', async () => {
    await bench.anvil.setCode(bench.anvil.token, '0x')
    refused(await checked(), 'ASSET_NOT_DEPLOYED', 'asset_not_deployed_contract')
    // A contract that answers every call by a revert without data: PUSH1 0, PUSH1 0, REVERT.
    await bench.anvil.setCode(bench.anvil.token, '0x60006000fd')
    refused(await checked(), 'EIP3009_NOT_SUPPORTED', 'invalid_exact_evm_eip3009_not_supported')
  })
})

describe('a payer with code', () => {
  let wallet: Hex

  beforeEach(async () => {
    wallet = await placeWallet(bench, payer.address)
    await bench.anvil.mint(wallet, RICH_MINOR)
  })

  test('a willing EIP-1271 wallet passes and is marked', async () => {
    const found = await checked({ from: wallet })
    assert.ok(found.ok)
    assert.deepEqual([found.balance_minor, found.contract_payer], [RICH_MINOR, true])
  })

  test('a wallet that refuses, or burns all gas, has not signed', async () => {
    for (const mood of [MOODS.refusing, MOODS.burning]) {
      await bench.setMood(wallet, mood)
      refused(await checked({ from: wallet }), 'BAD_SIGNATURE', 'invalid_exact_evm_signature')
    }
  })

  test('a wallet that signed but holds too little is told so', async () => {
    refused(
      await checked({ from: wallet, value_minor: RICH_MINOR + 1n }),
      'INSUFFICIENT_FUNDS',
      'invalid_exact_evm_insufficient_balance',
      true,
    )
  })

  test('a delegated account (EIP-7702) is judged by its code, though its key signed', async () => {
    const delegate = await placeWallet(bench, payer.address, '0x00000000000000000000000000000000000d1e9a')
    await bench.anvil.setCode(payer.address, `0xef0100${delegate.slice(2)}`)
    const willing = await checked()
    assert.deepEqual([willing.ok, willing.ok && willing.contract_payer], [true, true])
    const [, , stranger] = bench.anvil.accounts
    assert.ok(stranger !== undefined)
    const foreign = await placeWallet(bench, stranger.address, '0x00000000000000000000000000000000000d1e9b')
    await bench.anvil.setCode(payer.address, `0xef0100${foreign.slice(2)}`)
    refused(await checked(), 'BAD_SIGNATURE', 'invalid_exact_evm_signature')
  })

  test('a wrapper (ERC-6492) around the signature of a deployed wallet is taken off', async () => {
    const signed = await bench.sign({ by: payer, from: wallet, to: pay_to, value_minor: 10_000n })
    const inner = signed.authorization.signature as Hex
    const signature = serializeErc6492Signature({ address: bench.anvil.token, data: '0x1234', signature: inner })
    const found = await createOnChainCheck(bench.parts())({ ...signed.authorization, signature }, null, 'client')
    assert.deepEqual(found, { ok: true, balance_minor: RICH_MINOR, contract_payer: true, signature: inner })
  })

  test('a wallet that is not deployed is refused, by its factory or by what is not built here', async () => {
    const factory = '0x00000000000000000000000000000000000fac70'
    const signed = await bench.sign({ by: payer, from: '0x000000000000000000000000000000000000beef', to: pay_to, value_minor: 1n })
    const inner = signed.authorization.signature as Hex
    const signature = serializeErc6492Signature({ address: factory, data: '0x1234', signature: inner })
    const authorization = { ...signed.authorization, signature }
    refused(await createOnChainCheck(bench.parts())(authorization, null, 'c'), 'ERC6492_NOT_SUPPORTED', 'eip6492_factory_not_allowed')
    const listed = createOnChainCheck({ ...bench.parts(), erc6492_factories: [factory] })
    refused(await listed(authorization, null, 'c'), 'ERC6492_NOT_SUPPORTED', 'invalid_exact_evm_payload_undeployed_smart_wallet')
    // Two words and the magic: it says that it is wrapped, and is nothing.
    const broken = `0x${'00'.repeat(64)}${'6492'.repeat(16)}`
    refused(await listed({ ...authorization, signature: broken }, null, 'c'), 'BAD_SIGNATURE', 'invalid_exact_evm_signature')
  })
})

// attack: names with direction marks, hostile return data, revert messages
test('what a token shouts is told as a class, never repeated', async () => {
  const shouted = `08c379a0${encodeAbiParameters([{ type: 'string' }], ['<script>']).slice(2)}`
  const size = (shouted.length / 2).toString(16)
  // 36 bytes of call (balanceOf) answer 2^40, shorter and longer ones zero; a transfer reverts with the text that follows the code.
  const code = `366060106016576024361460281b60005260206000f35b60${size}602360003960${size}6000fd`
  await bench.anvil.setCode(bench.anvil.token, `0x${code}${shouted}`)
  const found = await checked()
  refused(found, 'SIMULATION_FAILED', 'invalid_exact_evm_transaction_simulation_failed')
  assert.ok(!found.ok && found.detail.includes('a message that assay does not recognise') && !found.detail.includes('script'))
})
