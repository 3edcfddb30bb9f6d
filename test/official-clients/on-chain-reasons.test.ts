/** Our check against the official facilitator's, @x402/evm 2.27.0, on one chain: the same payments, and the same reason for each refusal. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, beforeEach, test } from 'node:test'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createPublicClient, encodeFunctionData, http, parseAbi, serializeErc6492Signature, type Hex } from 'viem'
import { base } from 'viem/chains'
import type { SignedAuthorization } from '../../src/pure/payments/eip3009.ts'
import { createOnChainCheck } from '../../src/service/payments/on-chain.ts'
import { placeWallet, startBench, type Bench, type Draft } from '../support/on-chain.ts'

const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
const RICH_MINOR = 1_000_000n
const TOKEN = parseAbi(['function blacklist(address)', 'function pause()'])

let bench: Bench
let clean: string

before(async () => {
  bench = await startBench()
  // The official diagnosis goes through this contract and says less where it is missing.
  const source = await readFile('test/official-clients/node_modules/viem/_esm/constants/contracts.js', 'utf8')
  const data = /multicall3Bytecode = '(0x[0-9a-f]+)'/.exec(source)?.[1]
  await bench.anvil.setCode(MULTICALL3, String(await bench.anvil.rpc('eth_call', [{ data }, 'latest'])))
  await bench.anvil.mint(account(0).address, RICH_MINOR)
  clean = await bench.anvil.snapshot()
})
after(() => bench.anvil.stop())
beforeEach(async () => {
  await bench.anvil.revert(clean)
  clean = await bench.anvil.snapshot()
})

function account(index: number) {
  const found = bench.anvil.accounts[index]
  assert.ok(found !== undefined)
  return found
}

interface Terms {
  name?: string
  version?: string
}

/** What the official facilitator says to a payment that is exactly what was asked for. */
async function official(authorization: SignedAuthorization, { name = 'USD Coin', version = '2' }: Terms): Promise<string | null> {
  const client = createPublicClient({ chain: base, transport: http(bench.anvil.rpc_url) })
  const never = () => Promise.reject(new Error('verifying sends nothing'))
  const scheme = new ExactEvmScheme({
    getAddresses: () => [account(3).address],
    readContract: (call) => client.readContract(call),
    verifyTypedData: never,
    writeContract: never,
    sendTransaction: never,
    waitForTransactionReceipt: never,
    getCode: (call) => client.getCode(call),
  })
  const { from, to, value_minor, valid_after_s, valid_before_s, nonce, signature } = authorization
  const requirements = {
    scheme: 'exact',
    network: 'eip155:8453' as const,
    amount: String(value_minor),
    asset: bench.anvil.token,
    payTo: to,
    maxTimeoutSeconds: 120,
    extra: { name, version },
  }
  const times = { validAfter: String(valid_after_s), validBefore: String(valid_before_s) }
  const found = await scheme.verify(
    {
      x402Version: 2,
      resource: { url: 'https://tools.example/', description: '', mimeType: 'application/json' },
      accepted: requirements,
      payload: { signature, authorization: { from, to, value: String(value_minor), ...times, nonce } },
    },
    requirements,
  )
  return found.isValid ? null : (found.invalidReason ?? '')
}

async function both(signed: { authorization: SignedAuthorization; recovered: string | null }, terms: Terms = {}) {
  const ours = await createOnChainCheck(bench.parts(terms))(signed.authorization, signed.recovered, 'client')
  return { ours: ours.ok ? null : ours.x402_reason, official: await official(signed.authorization, terms) }
}

async function agree(reason: string | null, draft: Partial<Draft> = {}, terms: Terms = {}): Promise<void> {
  const signed = await bench.sign({ by: account(0), to: account(1).address, value_minor: 10_000n, ...terms, ...draft })
  assert.deepEqual(await both(signed, terms), { ours: reason, official: reason })
}

// First: the official check remembers for the life of the process that an asset is a contract.
test('a token that is not there', async () => {
  await bench.anvil.setCode(bench.anvil.token, '0x')
  await agree('asset_not_deployed_contract')
})

test('a good payment of an account', () => agree(null))
test('a forged signature', () => agree('invalid_exact_evm_signature', { by: account(2), from: account(0).address }))
test('too little money', () => agree('invalid_exact_evm_insufficient_balance', { value_minor: RICH_MINOR + 1n }))
test('a wrong token name', () => agree('invalid_exact_evm_token_name_mismatch', {}, { name: 'USDC' }))
test('a wrong token version', () => agree('invalid_exact_evm_token_version_mismatch', {}, { version: '1' }))

test('a used authorization', async () => {
  const signed = await bench.sign({ by: account(0), to: account(1).address, value_minor: 10_000n })
  await bench.transfer(signed.authorization)
  const reason = 'invalid_exact_evm_nonce_already_used'
  assert.deepEqual(await both(signed), { ours: reason, official: reason })
})

test('a blacklisted payer, a blacklisted recipient and a paused token', async () => {
  for (const [functionName, args] of [
    ['blacklist', [account(0).address]],
    ['blacklist', [account(1).address]],
    ['pause', []],
  ] as const) {
    const before_this = await bench.anvil.snapshot()
    await bench.anvil.asOwner(encodeFunctionData({ abi: TOKEN, functionName, args }))
    await agree('invalid_exact_evm_transaction_simulation_failed')
    await bench.anvil.revert(before_this)
  }
})

test('a token without signed transfers', async () => {
  await bench.anvil.setCode(bench.anvil.token, '0x60006000fd')
  await agree('invalid_exact_evm_eip3009_not_supported')
})

test('wallets: willing, refusing, burning all gas, refusing with too little money', async () => {
  const wallet = await placeWallet(bench, account(0).address)
  await bench.anvil.mint(wallet, RICH_MINOR)
  for (const mood of [1, 2]) {
    await bench.setMood(wallet, mood)
    await agree('invalid_exact_evm_signature', { from: wallet })
    await agree('invalid_exact_evm_signature', { from: wallet, value_minor: RICH_MINOR + 1n })
  }
  await bench.setMood(wallet, 0)
  await agree('invalid_exact_evm_insufficient_balance', { from: wallet, value_minor: RICH_MINOR + 1n })
  await agree(null, { from: wallet })
})

test('a delegated account whose code does not know its key', async () => {
  const foreign = await placeWallet(bench, account(2).address)
  await bench.anvil.setCode(account(0).address, `0xef0100${foreign.slice(2)}`)
  await agree('invalid_exact_evm_signature')
})

test('a wallet that is not deployed', async () => {
  const signed = await bench.sign({
    by: account(0),
    from: '0x000000000000000000000000000000000000beef',
    to: account(1).address,
    value_minor: 1n,
  })
  const factory = '0x00000000000000000000000000000000000fac70'
  const signature = serializeErc6492Signature({ address: factory, data: '0x1234', signature: signed.authorization.signature as Hex })
  const reason = 'eip6492_factory_not_allowed'
  assert.deepEqual(await both({ authorization: { ...signed.authorization, signature }, recovered: null }), {
    ours: reason,
    official: reason,
  })
})
