import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { concat, encodeDeployData, encodeFunctionData, getContractAddress, keccak256, parseAbi, parseEther, toBytes, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { DEPOSIT_FACTORY, depositAddress, sweepCall, sweepGas, DETERMINISTIC_DEPLOYER } from '../../src/pure/contracts/deployment.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { contract } from '../support/contracts.ts'
import { runs, SEED } from '../support/counts.ts'
import { clientsOf, view, type Clients } from './clients.ts'

const FACTORY = DEPOSIT_FACTORY.address as Hex
const COIN = '0x0000000000000000000000000000000000000000'
const MERCHANTS = ['0x00000000000000000000000000000000000a11ce', '0x00000000000000000000000000000000000b0b00'] as const
const [MERCHANT, OTHER] = MERCHANTS
const DEPOSIT_ABI = parseAbi(['function merchant() view returns (address)', 'function sweep(address token)'])
const TOKEN_ABI = parseAbi(['function transfer(address to, uint256 value)', 'function mint(address to, uint256 value)'])
const FAILED_TOPIC = keccak256(toBytes('Failed(uint256)'))
/** Budget for the whole cost of a deposit in a batch, deployment included. */
const GAS_PER_DEPOSIT = 130_000

let anvil: Anvil
let clients: Clients
let sender: PrivateKeyAccount
let payer: PrivateKeyAccount
let clean: string

before(async () => {
  anvil = await startAnvil({ accounts: 2 })
  clients = clientsOf(anvil)
  const [first, second] = anvil.accounts
  assert.ok(first !== undefined && second !== undefined)
  sender = first
  payer = second
  await anvil.mint(payer.address, 1_000_000_000_000n)
  await anvil.mint(MERCHANT, 1n)
})
after(() => anvil.stop())
beforeEach(async () => {
  clean = await anvil.snapshot()
})
afterEach(() => anvil.revert(clean))

interface Owner {
  invoice_id: string
  merchant: Hex
}

const owner = (invoice_id: string, merchant: Hex = MERCHANT): Owner => ({ invoice_id, merchant })
const deposit = (one: Owner) => depositAddress(one) as Hex
const balance = async (account: Hex, token: Hex = anvil.token) => BigInt(String(await view(clients, token, 'balanceOf', [account])))
const transfer = (to: Hex, value: bigint, token: Hex = anvil.token) =>
  clients.send(payer, token, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transfer', args: [to, value] }))
const sweepAll = (owners: Owner[], token: Hex = anvil.token) =>
  clients.send(sender, FACTORY, sweepCall(token, owners) as Hex, sweepGas(owners.length))
const failures = (receipt: Awaited<ReturnType<Clients['send']>>) =>
  receipt.logs.filter(({ address, topics }) => address === FACTORY && topics[0] === FAILED_TOPIC).map(({ data }) => Number(data))

async function sample(name: string, args: unknown[] = []): Promise<Hex> {
  const text = readFileSync(new URL(`samples/${name}.json`, import.meta.url), 'utf8')
  const { abi, creation_code } = JSON.parse(text) as { abi: string[]; creation_code: Hex }
  const data = encodeDeployData({ abi: parseAbi(abi as readonly string[]), bytecode: creation_code, args })
  const { contractAddress } = await clients.send(sender, null, data)
  assert.ok(contractAddress)
  return contractAddress
}

/** A token of the samples whose balance at the deposit address is 1,000. */
async function sampleAt(to: Hex, name: string, args: unknown[] = []): Promise<Hex> {
  const token = await sample(name, args)
  await clients.send(sender, token, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [to, 1_000n] }))
  return token
}

test('the address is the one that viem and the factory compute, and differs by invoice and by merchant', async () => {
  const implementation = getContractAddress({ opcode: 'CREATE', from: FACTORY, nonce: 1n })
  for (const one of [owner('inv_000000000001'), owner('inv_000000000002'), owner('inv_000000000001', OTHER)]) {
    const salt = keccak256(toBytes(one.invoice_id))
    // EIP-1167, with the size of the code in two bytes and the merchant after it.
    const bytecode = concat([
      '0x6100413d81600a3d39f3363d3d373d3d3d363d73',
      implementation,
      '0x5af43d82803e903d91602b57fd5bf3',
      one.merchant,
    ])
    const expected = getContractAddress({ opcode: 'CREATE2', from: FACTORY, salt, bytecode })
    assert.equal(deposit(one), expected.toLowerCase())
    assert.equal(await view(clients, FACTORY, 'addressOf', [salt, one.merchant], contract('deposit-factory').abi), expected)
  }
})

test('calldata is what viem encodes', () => {
  const owners = [owner('inv_000000000001'), owner('inv_000000000002', OTHER)]
  const items = owners.map(({ invoice_id, merchant }) => ({ salt: keccak256(toBytes(invoice_id)), merchant }))
  const { abi } = contract('deposit-factory')
  assert.equal(sweepCall(anvil.token, owners), encodeFunctionData({ abi, functionName: 'sweep', args: [anvil.token, items] }))
})

test('the deterministic deployer of the chain puts the factory at its address', async () => {
  const placed = await clients.reader.getCode({ address: FACTORY })
  assert.ok(placed !== undefined && placed.length > 100)
  // A second deployment fails and changes nothing.
  const again = await clients.send(sender, DETERMINISTIC_DEPLOYER, DEPOSIT_FACTORY.deploy_calldata as Hex, 2_000_000n)
  assert.equal(again.status, 'reverted')
})

test('whatever is deposited and swept in any order by anyone, the merchant of the deposit receives it and no other account', async () => {
  const owners = MERCHANTS.flatMap((merchant) => [1, 2, 3].map((number) => owner(`inv_property${number}`, merchant)))
  const step = fc.oneof(
    fc.record({ kind: fc.constant('deposit' as const), at: fc.nat(5), amount: fc.bigInt(1n, 1_000_000n) }),
    fc.record({ kind: fc.constant('factory' as const), at: fc.array(fc.nat(5), { maxLength: 4 }) }),
    fc.record({ kind: fc.constant('direct' as const), at: fc.nat(5) }),
  )
  const check = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
    const start = await anvil.snapshot()
    const first = await Promise.all(MERCHANTS.map((merchant) => balance(merchant)))
    const supply = await view(clients, anvil.token, 'totalSupply')
    const waiting = owners.map(() => 0n)
    const received = new Map<Hex, bigint>(MERCHANTS.map((merchant) => [merchant, 0n]))
    const deployed = new Set<number>()
    const collect = (at: number) => {
      const { merchant } = owners[at] ?? owner('')
      received.set(merchant, (received.get(merchant) ?? 0n) + (waiting[at] ?? 0n))
      waiting[at] = 0n
    }
    for (const one of steps) {
      if (one.kind === 'deposit') {
        await transfer(deposit(owners[one.at] ?? owner('')), one.amount)
        waiting[one.at] = (waiting[one.at] ?? 0n) + one.amount
      } else if (one.kind === 'factory') {
        await sweepAll(one.at.map((at) => owners[at] ?? owner('')))
        for (const at of one.at) {
          deployed.add(at)
          collect(at)
        }
      } else {
        const data = encodeFunctionData({ abi: DEPOSIT_ABI, functionName: 'sweep', args: [anvil.token] })
        await clients.send(payer, deposit(owners[one.at] ?? owner('')), data, 200_000n)
        if (deployed.has(one.at)) collect(one.at)
      }
      const at_deposits = await Promise.all(owners.map((each) => balance(deposit(each))))
      const at_merchants = await Promise.all(MERCHANTS.map((merchant) => balance(merchant)))
      assert.deepEqual(at_deposits, waiting)
      assert.deepEqual(
        at_merchants.map((now, index) => now - (first[index] ?? 0n)),
        MERCHANTS.map((merchant) => received.get(merchant)),
      )
      assert.deepEqual([await balance(FACTORY), await balance(sender.address)], [0n, 0n])
    }
    assert.equal(await view(clients, anvil.token, 'totalSupply'), supply)
    await anvil.revert(start)
  })
  await fc.assert(check, { numRuns: runs(4, 40), seed: SEED, endOnFailure: true })
})

test('second and later deposits are swept too', async () => {
  const one = owner('inv_second')
  for (const [index, amount] of [7n, 5n, 11n].entries()) {
    const before_minor = await balance(MERCHANT)
    await transfer(deposit(one), amount)
    await sweepAll([one])
    assert.deepEqual([await balance(MERCHANT), await balance(deposit(one))], [before_minor + amount, 0n], `deposit ${index}`)
  }
  assert.equal(String(await view(clients, deposit(one), 'merchant', [], DEPOSIT_ABI)).toLowerCase(), MERCHANT)
})

test('tokens that return nothing, return false, keep a fee or call back are forwarded as far as they allow', async () => {
  const one = owner('inv_tokens')
  const quiet = await sampleAt(deposit(one), 'no-return-token')
  assert.deepEqual(failures(await sweepAll([one], quiet)), [])
  assert.deepEqual([await balance(MERCHANT, quiet), await balance(deposit(one), quiet)], [1_000n, 0n])

  const refusing = await sampleAt(deposit(one), 'false-token')
  assert.deepEqual(failures(await sweepAll([one], refusing)), [0])
  assert.equal(await balance(deposit(one), refusing), 1_000n)

  const taxed = await sampleAt(deposit(one), 'fee-token')
  assert.deepEqual(failures(await sweepAll([one], taxed)), [])
  assert.deepEqual([await balance(MERCHANT, taxed), await balance(deposit(one), taxed)], [990n, 0n])

  const reentrant = await sampleAt(deposit(one), 'reentrant-token', [FACTORY])
  assert.deepEqual(failures(await sweepAll([one], reentrant)), [])
  assert.deepEqual([await balance(MERCHANT, reentrant), await balance(deposit(one), reentrant)], [1_000n, 0n])
})

test('the coin of the chain that was sent by mistake reaches the merchant, who may sweep again meanwhile', async () => {
  const merchant = await sample('reentrant-merchant')
  const one = owner('inv_coin', merchant.toLowerCase() as Hex)
  await anvil.setBalance(deposit(one), parseEther('2'))
  assert.deepEqual(failures(await sweepAll([one], COIN)), [])
  assert.deepEqual(
    [await clients.reader.getBalance({ address: merchant }), await clients.reader.getBalance({ address: deposit(one) })],
    [parseEther('2'), 0n],
  )
})

test('a deposit of a blacklisted merchant fails alone', async () => {
  const [good, bad] = [owner('inv_good'), owner('inv_bad', OTHER)]
  for (const one of [good, bad]) await transfer(deposit(one), 1_000n)
  await anvil.asOwner(encodeFunctionData({ abi: parseAbi(['function blacklist(address)']), args: [OTHER] }))
  assert.deepEqual(failures(await sweepAll([bad, good])), [0])
  assert.deepEqual([await balance(deposit(good)), await balance(deposit(bad))], [0n, 1_000n])
})

test('deployment and sweep in batches cost at most 130,000 gas for each deposit', async (t) => {
  for (const [items, sent] of [
    [1, 'deploy'],
    [10, 'deploy'],
    [50, 'deploy'],
    [1, 'sweep again'],
    [50, 'sweep again'],
  ] as const) {
    const owners = Array.from({ length: items }, (_, index) => owner(`inv_gas_${items}_${index}`))
    for (const one of owners) await transfer(deposit(one), 2_000_000n)
    const receipt = await sweepAll(owners)
    assert.deepEqual(failures(receipt), [])
    const each = Math.ceil(Number(receipt.gasUsed) / items)
    t.diagnostic(`${sent}: ${each} gas for each of ${items}`)
    if (items > 1) assert.ok(each <= GAS_PER_DEPOSIT, `${each} gas`)
  }
})
