import assert from 'node:assert/strict'
import { after, before, beforeEach, afterEach, test } from 'node:test'
import { encodeFunctionData, getAddress, hashDomain, parseEventLogs, type Hex, type PrivateKeyAccount } from 'viem'
import { startAnvil, USDC, type Anvil } from '../support/anvil.ts'
import { authorization, signTransfer, transferTypes, usdcDomain, type Authorization } from '../support/authorization.ts'
import { contract } from '../support/contracts.ts'
import { argumentsOf, clientsOf, revertOf, signedArguments, view, type Clients } from './clients.ts'

const { abi } = contract('test-usdc')
const PAYEE = getAddress('0x00000000000000000000000000000000000a11ce')

let anvil: Anvil
let clients: Clients
let payer: PrivateKeyAccount
let other: PrivateKeyAccount
let clean: string

before(async () => {
  anvil = await startAnvil({ accounts: 3 })
  clients = clientsOf(anvil)
  const [first, second] = anvil.accounts
  assert.ok(first !== undefined && second !== undefined)
  payer = first
  other = second
  await anvil.mint(payer.address, 5_000_000n)
})
after(() => anvil.stop())
beforeEach(async () => {
  clean = await anvil.snapshot()
})
afterEach(() => anvil.revert(clean))

const transfer = (args: readonly unknown[]) => revertOf(clients, anvil.token, 'transferWithAuthorization', args)
const signed = (form: 'split' | 'bytes', change: Partial<Authorization> = {}) =>
  signedArguments(anvil, payer, authorization(payer.address, PAYEE, 10_000n, change), form)
const asOwner = (functionName: string, args: unknown[] = []) => anvil.asOwner(encodeFunctionData({ abi, functionName, args }))

for (const form of ['split', 'bytes'] as const) {
  test(`an authorization signed by viem moves exactly its amount, once (${form})`, async () => {
    const args = await signed(form)
    const data = encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args })
    const receipt = await clients.send(other, anvil.token, data)
    const events = parseEventLogs({ abi, logs: receipt.logs }).map(({ eventName, args: values }) => ({ eventName, values }))
    assert.deepEqual(events, [
      { eventName: 'AuthorizationUsed', values: { authorizer: payer.address, nonce: args[5] } },
      { eventName: 'Transfer', values: { from: payer.address, to: PAYEE, value: 10_000n } },
    ])
    assert.equal(await view(clients, anvil.token, 'balanceOf', [payer.address]), 4_990_000n)
    assert.equal(await view(clients, anvil.token, 'balanceOf', [PAYEE]), 10_000n)
    assert.equal(await view(clients, anvil.token, 'authorizationState', [payer.address, args[5]]), true)
    assert.equal(await transfer(args), 'FiatTokenV2: authorization is used or canceled')
  })

  test(`each refusal has the real token's text (${form})`, async () => {
    const { timestamp } = await clients.reader.getBlock()
    assert.equal(await transfer(await signed(form)), null)
    assert.equal(await transfer(await signed(form, { validAfter: timestamp + 600n })), 'FiatTokenV2: authorization is not yet valid')
    assert.equal(await transfer(await signed(form, { validBefore: timestamp })), 'FiatTokenV2: authorization is expired')
    assert.equal(await transfer(await signed(form, { value: 5_000_001n })), 'ERC20: transfer amount exceeds balance')
    const args = [...(await signed(form))]
    assert.equal(await transfer(args.with(2, 10_001n)), 'FiatTokenV2: invalid signature')
    assert.equal(await transfer(args.with(0, other.address)), 'FiatTokenV2: invalid signature')
    await asOwner('pause')
    assert.equal(await transfer(args), 'Pausable: paused')
    await asOwner('unpause')
    for (const account of [payer.address, PAYEE]) {
      await asOwner('blacklist', [account])
      assert.equal(await view(clients, anvil.token, 'isBlacklisted', [account]), true)
      assert.equal(await transfer(args), 'Blacklistable: account is blacklisted')
      await asOwner('unBlacklist', [account])
    }
    assert.equal(await transfer(args), null)
  })

  test(`a payer with code answers through ERC-1271, and its owner's key alone no longer counts (${form})`, async () => {
    const wallet = contract('test-wallet')
    const args = await signed(form)
    // EIP-7702: the payer delegates, to code that does not know its key, and to code that does.
    const stranger = await deploy(other, wallet, [other.address])
    await anvil.setCode(payer.address, `0xef0100${stranger.slice(2)}`)
    assert.equal(await transfer(args), 'FiatTokenV2: invalid signature')
    const account = await deploy(other, wallet, [payer.address])
    await anvil.setCode(payer.address, `0xef0100${account.slice(2)}`)
    assert.equal(await transfer(args), null)
    // The wallet itself pays.
    await anvil.setCode(payer.address, '0x')
    await anvil.mint(account, 1_000_000n)
    const message = authorization(account, PAYEE, 10_000n)
    const own = argumentsOf(message, await signTransfer(payer, anvil.chain_id, anvil.token, message), form)
    assert.equal(await transfer(own), null)
    for (const mood of [1, 2]) {
      await clients.send(other, account, encodeFunctionData({ abi: wallet.abi, functionName: 'setMood', args: [mood] }))
      assert.notEqual(await transfer(own), null, `mood ${mood}`)
    }
  })
}

async function deploy(from: PrivateKeyAccount, { bytecode }: { bytecode: Hex }, [owner]: [string]): Promise<Hex> {
  const receipt = await clients.send(from, null, `${bytecode}${owner.slice(2).padStart(64, '0')}`)
  assert.ok(receipt.contractAddress)
  return receipt.contractAddress
}

test('receiving is for the payee alone, and a cancelled authorization moves nothing', async () => {
  const message = authorization(payer.address, other.address, 10_000n)
  const domain = usdcDomain(anvil.chain_id, anvil.token)
  const types = { ReceiveWithAuthorization: transferTypes.TransferWithAuthorization }
  const received = argumentsOf(
    message,
    await payer.signTypedData({ domain, types, primaryType: 'ReceiveWithAuthorization', message }),
    'split',
  )
  assert.equal(await revertOf(clients, anvil.token, 'receiveWithAuthorization', received, other.address), null)
  const stranger = await revertOf(clients, anvil.token, 'receiveWithAuthorization', received, payer.address)
  assert.equal(stranger, 'FiatTokenV2: caller must be the payee')

  const cancelTypes = {
    CancelAuthorization: [
      { name: 'authorizer', type: 'address' },
      { name: 'nonce', type: 'bytes32' },
    ],
  }
  const cancel = { authorizer: payer.address, nonce: message.nonce }
  const signature = await payer.signTypedData({ domain, types: cancelTypes, primaryType: 'CancelAuthorization', message: cancel })
  const args = [cancel.authorizer, cancel.nonce, signature]
  await clients.send(other, anvil.token, encodeFunctionData({ abi, functionName: 'cancelAuthorization', args }))
  const used = 'FiatTokenV2: authorization is used or canceled'
  assert.equal(await revertOf(clients, anvil.token, 'receiveWithAuthorization', received, other.address), used)
})

test('only the owner mints, pauses and blacklists', async () => {
  const refusal = 'Ownable: caller is not the owner'
  for (const [name, args] of [
    ['mint', [payer.address, 1n]],
    ['pause', []],
    ['unpause', []],
    ['blacklist', [payer.address]],
    ['unBlacklist', [payer.address]],
  ] as const) {
    assert.equal(await revertOf(clients, anvil.token, name, args, payer.address), refusal, name)
  }
})

test('a paused token moves nothing, and approvals move what they allow', async () => {
  await clients.send(payer, anvil.token, encodeFunctionData({ abi, functionName: 'approve', args: [other.address, 7n] }))
  const args = [payer.address, PAYEE, 7n]
  assert.equal(await revertOf(clients, anvil.token, 'transferFrom', args, other.address), null)
  assert.equal(
    await revertOf(clients, anvil.token, 'transfer', [PAYEE, 5_000_001n], payer.address),
    'ERC20: transfer amount exceeds balance',
  )
  await asOwner('pause')
  assert.equal(await revertOf(clients, anvil.token, 'transfer', [PAYEE, 1n], payer.address), 'Pausable: paused')
  assert.equal(await revertOf(clients, anvil.token, 'transferFrom', args, other.address), 'Pausable: paused')
})

test('wallets sign over the names and domains of the two real tokens', async () => {
  const sepolia = await startAnvil({ chain_id: 84532, accounts: 0 })
  try {
    for (const [chain, name] of [
      [anvil, 'USD Coin'],
      [sepolia, 'USDC'],
    ] as const) {
      const seen = clientsOf(chain)
      const token = USDC[chain.chain_id]
      assert.ok(token !== undefined && token === chain.token)
      const fields = await Promise.all(['name', 'symbol', 'decimals', 'version'].map((field) => view(seen, token, field)))
      assert.deepEqual(fields, [name, 'USDC', 6, '2'])
      const types = { EIP712Domain: domainTypes }
      const domain = { name, version: '2', chainId: BigInt(chain.chain_id), verifyingContract: token }
      assert.equal(await view(seen, token, 'DOMAIN_SEPARATOR'), hashDomain({ domain, types }))
      assert.deepEqual(await seen.reader.getEip712Domain({ address: token }), {
        domain: { name, version: '2', chainId: chain.chain_id, verifyingContract: token, salt: `0x${'00'.repeat(32)}` },
        fields: '0x0f',
        extensions: [],
      })
    }
  } finally {
    await sepolia.stop()
  }
})

/** EIP-712. */
const domainTypes = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const
