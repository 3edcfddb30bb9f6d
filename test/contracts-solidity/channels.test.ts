/** Payment channels on a chain: what the service signs and sends is what viem and the contract make of it, and no money appears or gets lost. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import {
  encodeAbiParameters,
  encodeFunctionData,
  getContractError,
  BaseError,
  ContractFunctionRevertedError,
  hashTypedData,
  keccak256,
  type Hex,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import * as calls from '../../src/pure/payments/channels.ts'
import type { ChannelConfig } from '../../src/pure/payments/channels.ts'
import { nobleCrypto, toHex } from '../../src/pure/receipts/crypto.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { CHANNEL_TYPES, channelDomain, COLLECTOR, type Config, SETTLEMENT } from '../support/channels.ts'
import { contract } from '../support/contracts.ts'
import { runs, SEED } from '../support/counts.ts'
import { clientsOf, view, type Clients } from './clients.ts'
import { placeChannelContracts } from '../../src/adapters/chain/sandbox-contracts.ts'

const { abi } = contract('channel-settlement')
const RECEIVER: Hex = '0x00000000000000000000000000000000000a11ce'
const DELAY_S = 900

let anvil: Anvil
let clients: Clients
let sender: PrivateKeyAccount
let authorizer: PrivateKeyAccount
let payers: PrivateKeyAccount[]
let clean: string

before(async () => {
  anvil = await startAnvil({ accounts: 4, chain_id: 84_532 })
  clients = clientsOf(anvil)
  await placeChannelContracts(anvil.rpc_url)
  const [first, second, ...others] = anvil.accounts
  assert.ok(first !== undefined && second !== undefined)
  sender = first
  authorizer = second
  payers = others
  for (const { address } of payers) await anvil.mint(address, 1_000_000n)
})
after(() => anvil.stop())
beforeEach(async () => {
  clean = await anvil.snapshot()
})
afterEach(() => anvil.revert(clean))

const payerAt = (index: number): PrivateKeyAccount => {
  const found = payers[index]
  assert.ok(found !== undefined)
  return found
}
const configOf = (payer: PrivateKeyAccount, change: Partial<Config> = {}): Config => ({
  payer: payer.address,
  payerAuthorizer: payer.address,
  receiver: RECEIVER,
  receiverAuthorizer: authorizer.address,
  token: anvil.token,
  withdrawDelay: DELAY_S,
  salt: `0x${'00'.repeat(32)}`,
  ...change,
})
const ours = (config: Config): ChannelConfig => ({
  payer: config.payer.toLowerCase(),
  payer_authorizer: config.payerAuthorizer.toLowerCase(),
  receiver: config.receiver.toLowerCase(),
  receiver_authorizer: config.receiverAuthorizer.toLowerCase(),
  token: config.token.toLowerCase(),
  withdraw_delay_s: config.withdrawDelay,
  salt: config.salt,
})
const hashes = calls.createChannelHashes(84_532, nobleCrypto)
const idOf = (config: Config) => hashes.channelId(ours(config)) as Hex
const domain = channelDomain(84_532)
const read = (functionName: string, ...args: unknown[]) => view(clients, SETTLEMENT, functionName, args, abi)
const balance = async (account: Hex) => BigInt(String(await view(clients, anvil.token, 'balanceOf', [account])))

/** The name of the error with which a call would fail; null when it would not. */
async function revertOf(data: Hex, from: PrivateKeyAccount = sender): Promise<string | null> {
  try {
    await clients.reader.call({ account: from, to: SETTLEMENT, data })
    return null
  } catch (error) {
    assert.ok(error instanceof BaseError)
    const named = getContractError(error, { abi, address: SETTLEMENT, functionName: 'multicall', args: [[]] })
    const cause = named.walk((one) => one instanceof ContractFunctionRevertedError)
    return cause instanceof ContractFunctionRevertedError ? (cause.reason ?? cause.data?.errorName ?? 'no reason') : 'no reason'
  }
}

const send = async (data: string, from: PrivateKeyAccount = sender) => {
  const receipt = await clients.send(from, SETTLEMENT, data as Hex, 1_000_000n)
  return receipt.status === 'success'
}
const call = (functionName: string, ...args: unknown[]) => encodeFunctionData({ abi, functionName, args })

const TOKEN_DOMAIN = { name: 'USDC', version: '2', chainId: 84_532 }
const RECEIVE = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const
let salts = 0n

async function authorize(payer: PrivateKeyAccount, config: Config, amount_minor: bigint) {
  const salt = ++salts
  const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [idOf(config), salt]))
  const validBefore = 4_000_000_000n
  const message = { from: payer.address, to: COLLECTOR, value: amount_minor, validAfter: 0n, validBefore, nonce }
  const signature = await payer.signTypedData({
    domain: { ...TOKEN_DOMAIN, verifyingContract: anvil.token },
    types: { ReceiveWithAuthorization: RECEIVE },
    primaryType: 'ReceiveWithAuthorization',
    message,
  })
  return { amount_minor, valid_after_s: 0n, valid_before_s: validBefore, salt, signature, nonce }
}

const voucher = (payer: PrivateKeyAccount, config: Config, total_minor: bigint) =>
  payer.signTypedData({
    domain,
    types: CHANNEL_TYPES,
    primaryType: 'Voucher',
    message: { channelId: idOf(config), maxClaimableAmount: total_minor },
  })

const deposit = async (payer: PrivateKeyAccount, config: Config, amount_minor: bigint) =>
  send(calls.depositCall(ours(config), await authorize(payer, config, amount_minor)))

async function claimData(items: { payer: PrivateKeyAccount; config: Config; ceiling_minor: bigint; total_minor: bigint }[]) {
  const claims = await Promise.all(
    items.map(async ({ payer, config, ceiling_minor, total_minor }) => {
      return { config: ours(config), signature: await voucher(payer, config, ceiling_minor), ceiling_minor, total_minor }
    }),
  )
  return calls.claimCall(claims, await authorizer.sign({ hash: toHex(hashes.claims(claims)) as Hex })) as Hex
}

async function refundData(config: Config, amount_minor: bigint, nonce: bigint): Promise<Hex> {
  const signature = await authorizer.sign({ hash: toHex(hashes.refund(idOf(config), nonce, amount_minor)) as Hex })
  return calls.refundCall(ours(config), amount_minor, nonce, signature) as Hex
}

test('ids and digests are those of viem and of the contract', async () => {
  const config = configOf(payerAt(0), { salt: `0x${'5a'.repeat(32)}` })
  const id = hashTypedData({ domain, types: CHANNEL_TYPES, primaryType: 'ChannelConfig', message: config })
  assert.equal(idOf(config), id)
  assert.equal(await read('getChannelId', config), id)
  for (const total of [0n, 1n, 5_000n, 2n ** 128n - 1n]) {
    const message = { channelId: id, maxClaimableAmount: total }
    const digest = toHex(hashes.voucher(id, total))
    assert.equal(digest, hashTypedData({ domain, types: CHANNEL_TYPES, primaryType: 'Voucher', message }))
    assert.equal(digest, await read('getVoucherDigest', id, total))
    const refund = { channelId: id, nonce: 7n, amount: total }
    assert.equal(
      toHex(hashes.refund(id, 7n, total)),
      hashTypedData({ domain, types: CHANNEL_TYPES, primaryType: 'Refund', message: refund }),
    )
    assert.equal(toHex(hashes.refund(id, 7n, total)), await read('getRefundDigest', id, 7n, total))
  }
  assert.throws(() => hashes.voucher(id, 2n ** 128n), RangeError)
  const claims = [1n, 2n, 3n].map((total_minor) => ({ config: ours(config), signature: '0x', ceiling_minor: 9n, total_minor }))
  const entries = claims.map(({ total_minor }) => ({ channelId: id, maxClaimableAmount: 9n, totalClaimed: total_minor }))
  const digest = hashTypedData({ domain, types: CHANNEL_TYPES, primaryType: 'ClaimBatch', message: { claims: entries } })
  assert.equal(toHex(hashes.claims(claims)), digest)
  const tuples = claims.map(({ total_minor }) => ({
    voucher: { channel: config, maxClaimableAmount: 9n },
    signature: '0x',
    totalClaimed: total_minor,
  }))
  assert.equal(await read('getClaimBatchDigest', tuples), digest)
})

test('signatures of viem recover to their account, and calldata is what viem encodes', async () => {
  const payer = payerAt(0)
  const config = configOf(payer)
  const signature = await voucher(payer, config, 5_000n)
  assert.equal(calls.signerOf(hashes.voucher(idOf(config), 5_000n), signature, nobleCrypto), payer.address.toLowerCase())
  assert.equal(calls.signerOf(hashes.voucher(idOf(config), 5_001n), signature, nobleCrypto) === payer.address.toLowerCase(), false)
  const authorization = await authorize(payer, config, 50_000n)
  const { nonce, salt } = authorization
  assert.equal(calls.depositNonce(idOf(config), salt, nobleCrypto), nonce)
  const token = { name: 'USDC', version: '2', chain_id: 84_532, address: anvil.token.toLowerCase() }
  const digest = calls.depositDigest(token, { ...authorization, payer: payer.address.toLowerCase() }, nobleCrypto)
  assert.equal(calls.signerOf(digest, authorization.signature, nobleCrypto), payer.address.toLowerCase())
  const data = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
    [0n, authorization.valid_before_s, salt, authorization.signature],
  )
  assert.equal(calls.depositCall(ours(config), authorization), call('deposit', config, 50_000n, COLLECTOR, data))
  const other = configOf(payerAt(1))
  const claims = [
    { config: ours(config), signature, ceiling_minor: 5_000n, total_minor: 4_000n },
    { config: ours(other), signature: '0xabcdef', ceiling_minor: 7n, total_minor: 7n },
  ]
  const tuples = [
    { voucher: { channel: config, maxClaimableAmount: 5_000n }, signature, totalClaimed: 4_000n },
    { voucher: { channel: other, maxClaimableAmount: 7n }, signature: '0xabcdef', totalClaimed: 7n },
  ]
  const claim = calls.claimCall(claims, signature)
  assert.equal(claim, call('claimWithSignature', tuples, signature))
  const refund = calls.refundCall(ours(config), 3n, 9n, signature)
  assert.equal(refund, call('refundWithSignature', config, 3n, 9n, signature))
  const settle = calls.settleCall(RECEIVER, anvil.token)
  assert.equal(settle, call('settle', RECEIVER, anvil.token))
  assert.equal(calls.multicall([claim, settle]), call('multicall', [claim, settle]))
  assert.equal(calls.channelsCall(idOf(config)), call('channels', idOf(config)))
  assert.equal(calls.withdrawalsCall(idOf(config)), call('pendingWithdrawals', idOf(config)))
  assert.equal(calls.refundNonceCall(idOf(config)), call('refundNonce', idOf(config)))
  assert.equal(calls.receiversCall(RECEIVER, anvil.token), call('receivers', RECEIVER, anvil.token))
})

test('what must not happen reverts with the published errors', async () => {
  const payer = payerAt(0)
  const config = configOf(payer)
  assert.ok(await deposit(payer, config, 50_000n))
  const item = { payer, config, ceiling_minor: 10_000n, total_minor: 10_000n }
  const cases: [error: string, data: Hex, from?: PrivateKeyAccount][] = [
    ['ClaimExceedsCeiling', await claimData([{ ...item, total_minor: 10_001n }])],
    ['ClaimExceedsBalance', await claimData([{ ...item, ceiling_minor: 60_000n, total_minor: 50_001n }])],
    ['InvalidSignature', await claimData([{ ...item, payer: payerAt(1) }])],
    ['EmptyBatch', call('claimWithSignature', [], '0x')],
    ['NotAuthorizedToClaim', call('claim', [{ voucher: { channel: config, maxClaimableAmount: 1n }, signature: '0x', totalClaimed: 1n }])],
    ['InvalidRefundNonce', await refundData(config, 1n, 1n)],
    ['ZeroRefund', await refundData(config, 0n, 0n)],
    ['NotAuthorizedToRefund', call('refund', config, 1n), payer],
    ['InvalidChannel', call('initiateWithdraw', config, 1n), authorizer],
    ['WithdrawAmountExceedsAvailable', call('initiateWithdraw', config, 50_001n), payer],
    ['WithdrawalNotPending', call('finalizeWithdraw', config), payer],
    ['WithdrawDelayOutOfRange', calls.depositCall(ours({ ...config, withdrawDelay: 899 }), await authorize(payer, config, 1n)) as Hex],
    // An authorization for one channel deposits into no other: its nonce names the channel.
    [
      'FiatTokenV2: invalid signature',
      calls.depositCall(ours(configOf(payer, { salt: `0x${'01'.repeat(32)}` })), await authorize(payer, config, 1n)) as Hex,
    ],
  ]
  for (const [error, data, from] of cases) assert.equal(await revertOf(data, from), error, error)
  assert.ok(await send(call('initiateWithdraw', config, 50_000n), payer))
  assert.equal(await revertOf(call('finalizeWithdraw', config), payer), 'WithdrawDelayNotElapsed')
  // A claim during the delay comes first; the withdrawal takes what is left.
  assert.ok(await send(await claimData([item])))
  await anvil.rpc('evm_increaseTime', [DELAY_S])
  const before_minor = await balance(payer.address)
  assert.ok(await send(call('finalizeWithdraw', config), payer))
  assert.equal((await balance(payer.address)) - before_minor, 40_000n)
  assert.deepEqual(await read('channels', idOf(config)), [10_000n, 10_000n])
})

test('gas of what the service sends stays within what it allows', async () => {
  const [payer, other] = [payerAt(0), payerAt(1)]
  const [config, second] = [configOf(payer), configOf(other)]
  const gasOf = async (data: string) => (await clients.send(sender, SETTLEMENT, data as Hex, 2_000_000n)).gasUsed
  const { CHANNEL_GAS } = calls
  const first_deposit = await gasOf(calls.depositCall(ours(config), await authorize(payer, config, 100_000n)))
  const next_deposit = await gasOf(calls.depositCall(ours(second), await authorize(other, second, 100_000n)))
  const settle = calls.settleCall(RECEIVER, anvil.token)
  const one = { payer, config, ceiling_minor: 5_000n, total_minor: 5_000n }
  const first_claim = await gasOf(calls.multicall([await claimData([one]), settle]))
  const later = { ceiling_minor: 9_000n, total_minor: 9_000n }
  await gasOf(calls.multicall([await claimData([{ payer, config, ...later }]), settle]))
  const both = await gasOf(
    calls.multicall([
      await claimData([
        { ...one, ceiling_minor: 20_000n, total_minor: 20_000n },
        { payer: other, config: second, ...later },
      ]),
      settle,
    ]),
  )
  const refund = await gasOf(
    calls.multicall([await claimData([{ ...one, ceiling_minor: 30_000n, total_minor: 30_000n }]), await refundData(config, 1n, 0n)]),
  )
  // A third is left for the proxy and the blacklist of the real token.
  for (const used of [first_deposit, next_deposit]) assert.ok((used * 3n) / 2n <= CHANNEL_GAS.deposit, `a deposit takes ${used}`)
  assert.ok((first_claim * 3n) / 2n <= CHANNEL_GAS.transaction + CHANNEL_GAS.claim, `a first claim takes ${first_claim}`)
  assert.ok((both * 3n) / 2n <= CHANNEL_GAS.transaction + 2n * CHANNEL_GAS.claim, `a claim of two takes ${both}`)
  assert.ok((refund * 3n) / 2n <= CHANNEL_GAS.refund + CHANNEL_GAS.claim, `a refund takes ${refund}`)
})

test('whatever is deposited, claimed, settled, refunded and withdrawn in any order: every unit is where the rules put it', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('deposit' as const), at: fc.nat(1), amount: fc.bigInt(1n, 1_000n) }),
    fc.record({ kind: fc.constant('claim' as const), at: fc.nat(1), ceiling: fc.bigInt(0n, 2_000n), total: fc.bigInt(0n, 2_000n) }),
    fc.record({ kind: fc.constant('settle' as const) }),
    fc.record({ kind: fc.constant('refund' as const), at: fc.nat(1), amount: fc.bigInt(0n, 2_000n) }),
    fc.record({ kind: fc.constant('withdraw' as const), at: fc.nat(1), amount: fc.bigInt(0n, 2_000n) }),
    fc.record({ kind: fc.constant('finalize' as const), at: fc.nat(1) }),
  )
  const check = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
    const start = await anvil.snapshot()
    const first = await balance(RECEIVER)
    const held = await Promise.all(payers.map(({ address }) => balance(address)))
    const model = [0, 1].map(() => ({ balance: 0n, claimed: 0n, nonce: 0n, withdraw: null as bigint | null, out: 0n, in: 0n }))
    const sums = { claimed: 0n, settled: 0n }
    for (const one of steps) {
      if (one.kind === 'settle') {
        assert.ok(await send(calls.settleCall(RECEIVER, anvil.token)))
        sums.settled = sums.claimed
        continue
      }
      const [payer, channel] = [payerAt(one.at), model[one.at]]
      assert.ok(channel !== undefined)
      const config = configOf(payer)
      const available = channel.balance - channel.claimed
      if (one.kind === 'deposit') {
        assert.ok(await deposit(payer, config, one.amount))
        channel.balance += one.amount
        channel.in += one.amount
      } else if (one.kind === 'claim') {
        const { ceiling: ceiling_minor, total: total_minor } = one
        const is_new = total_minor > channel.claimed
        const valid = !is_new || (total_minor <= ceiling_minor && total_minor <= channel.balance)
        assert.equal(await send(await claimData([{ payer, config, ceiling_minor, total_minor }])), valid)
        if (!valid || !is_new) continue
        sums.claimed += total_minor - channel.claimed
        channel.claimed = total_minor
      } else if (one.kind === 'refund') {
        assert.equal(await send(await refundData(config, one.amount, channel.nonce)), one.amount > 0n)
        if (one.amount === 0n) continue
        channel.nonce += 1n
        const amount = one.amount < available ? one.amount : available
        channel.balance -= amount
        channel.out += amount
        if (channel.withdraw !== null && amount > 0n) channel.withdraw = amount >= channel.withdraw ? null : channel.withdraw - amount
      } else if (one.kind === 'withdraw') {
        const valid = channel.withdraw === null && one.amount > 0n && one.amount <= available
        assert.equal(await send(call('initiateWithdraw', config, one.amount), payer), valid)
        if (valid) channel.withdraw = one.amount
      } else {
        await anvil.rpc('evm_increaseTime', [DELAY_S])
        assert.equal(await send(call('finalizeWithdraw', config), payer), channel.withdraw !== null)
        if (channel.withdraw === null) continue
        const amount = channel.withdraw < available ? channel.withdraw : available
        channel.balance -= amount
        channel.out += amount
        channel.withdraw = null
      }
    }
    for (const [index, channel] of model.entries()) {
      const config = configOf(payerAt(index))
      assert.deepEqual(await read('channels', idOf(config)), [channel.balance, channel.claimed])
      assert.equal(await read('refundNonce', idOf(config)), channel.nonce)
      assert.equal(await balance(payerAt(index).address), (held[index] ?? 0n) - channel.in + channel.out)
    }
    assert.deepEqual(await read('receivers', RECEIVER, anvil.token), [sums.claimed, sums.settled])
    assert.equal(await balance(RECEIVER), first + sums.settled)
    const rest = model.reduce((sum, channel) => sum + channel.balance - channel.claimed, 0n) + sums.claimed - sums.settled
    assert.equal(await balance(SETTLEMENT), rest)
    await anvil.revert(start)
  })
  await fc.assert(check, { numRuns: runs(6, 60), seed: SEED })
})
