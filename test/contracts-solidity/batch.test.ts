import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { decodeFunctionResult, encodeFunctionData, parseEventLogs, parseSignature, type Hex, type PrivateKeyAccount } from 'viem'
import { BATCH_ITEMS_MAX, BATCH_SETTLER, batchGas, DETERMINISTIC_DEPLOYER } from '../../src/pure/contracts/deployment.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { authorization, signTransfer, type Authorization } from '../support/authorization.ts'
import { contract } from '../support/contracts.ts'
import { clientsOf, view, type Clients } from './clients.ts'

const { abi } = contract('batch-settler')
const PAYEE = '0x00000000000000000000000000000000000a11ce'
const SETTLER = BATCH_SETTLER.address as Hex
const AMOUNT = 10_000n
const GAS_PER_PAYMENT = 46_000

let anvil: Anvil
let clients: Clients
let payers: PrivateKeyAccount[]
let sender: PrivateKeyAccount
let clean: string

before(async () => {
  anvil = await startAnvil({ accounts: 21 })
  clients = clientsOf(anvil)
  const [first, ...rest] = anvil.accounts
  assert.ok(first !== undefined)
  sender = first
  payers = rest
  for (const { address } of payers) await anvil.mint(address, 1_000_000n)
  await anvil.mint(PAYEE, 1n)
})
after(() => anvil.stop())
beforeEach(async () => {
  clean = await anvil.snapshot()
})
afterEach(() => anvil.revert(clean))

async function payment(signer: PrivateKeyAccount, change: Partial<Authorization> = {}) {
  const message = authorization(signer.address, PAYEE, AMOUNT, change)
  const { r, s, yParity } = parseSignature(await signTransfer(signer, anvil.chain_id, anvil.token, message))
  return { ...message, v: 27 + yParity, r, s }
}

type Payment = Awaited<ReturnType<typeof payment>>

const calldata = (payments: Payment[], token: Hex = anvil.token) =>
  encodeFunctionData({ abi, functionName: 'settle', args: [token, payments] })

const settled = (payments: Payment[]) =>
  Promise.all(payments.map(({ from, nonce }) => view(clients, anvil.token, 'authorizationState', [from, nonce])))

const received = async () => BigInt(String(await view(clients, anvil.token, 'balanceOf', [PAYEE]))) - 1n

/** What the batch contract itself said, as [event, index]. */
function said(receipt: Awaited<ReturnType<Clients['send']>>): [string, number][] {
  const own = receipt.logs.filter(({ address }) => address === SETTLER)
  return parseEventLogs({ abi, logs: own }).map(({ eventName, args }) => [eventName, Number((args as { index: bigint }).index)])
}

test('twenty payments of twenty payers cost at most 46,000 gas each, everything included', async (t) => {
  const payments = await Promise.all(payers.map((payer) => payment(payer)))
  const receipt = await clients.send(sender, SETTLER, calldata(payments), batchGas(20))
  const each = Number(receipt.gasUsed) / payments.length
  t.diagnostic(`${each} gas per payment in a batch of ${payments.length}`)
  assert.equal(payments.length, 20)
  assert.deepEqual([await received(), said(receipt)], [20n * AMOUNT, []])
  assert.ok(each <= GAS_PER_PAYMENT, `${each} gas`)
})

test('a bad payment fails alone, and is told by its index', async () => {
  const [a, b, c, d] = payers
  assert.ok(a !== undefined && b !== undefined && c !== undefined && d !== undefined)
  const wallet = contract('test-wallet')
  const placed = (await clients.send(sender, null, `${wallet.bytecode}${a.address.slice(2).padStart(64, '0')}`)).contractAddress
  assert.ok(placed)
  await anvil.mint(placed, 1_000_000n)
  const good = [await payment(a), await payment(b), await payment(c)]
  const replayed = await payment(a)
  await clients.send(sender, SETTLER, calldata([replayed]), batchGas(1))
  const burning = { ...(await payment(a, { from: placed })), from: placed }
  await clients.send(sender, placed, encodeFunctionData({ abi: wallet.abi, functionName: 'setMood', args: [2] }))
  const poor = await payment(d, { value: 1_000_001n })
  const altered = { ...(await payment(d)), value: AMOUNT + 1n }
  const before_minor = await received()
  const [one, two, three] = good
  assert.ok(one !== undefined && two !== undefined && three !== undefined)
  const payments = [replayed, one, burning, two, poor, three, altered]
  const data = calldata(payments)
  const { data: answer } = await clients.reader.call({ account: sender.address, to: SETTLER, data })
  assert.ok(answer)
  assert.deepEqual(decodeFunctionResult({ abi, functionName: 'settle', data: answer }), [0b1010101n, 7n])
  const receipt = await clients.send(sender, SETTLER, data, batchGas(payments.length))
  assert.equal(receipt.status, 'success')
  assert.deepEqual(
    said(receipt),
    [0, 2, 4, 6].map((index) => ['Failed', index]),
  )
  assert.equal((await received()) - before_minor, 3n * AMOUNT)
  assert.deepEqual(await settled(good), [true, true, true])
})

test('with whatever gas it gets, a good payment is either settled or said to be not tried', async () => {
  const payments = await Promise.all(payers.slice(0, 5).map((payer) => payment(payer)))
  const outcomes = new Set<number>()
  for (let gas = 60_000n; gas <= 480_000n; gas += 20_000n) {
    const before_sending = await anvil.snapshot()
    const receipt = await clients.send(sender, SETTLER, calldata(payments), gas)
    const done = (await settled(payments)).filter((used) => used === true).length
    if (receipt.status === 'success') {
      assert.deepEqual(said(receipt), done === payments.length ? [] : [['NotTried', done]], `with ${gas} gas`)
      outcomes.add(done)
    } else {
      assert.equal(done, 0)
    }
    await anvil.revert(before_sending)
  }
  assert.deepEqual(
    [...outcomes].toSorted((a, b) => a - b),
    [0, 1, 2, 3, 4, 5],
  )
})

// attack: settlements that fail on chain
// in: money and signatures
// asset: gas
// attacker: payer
// defence: a gas cap for each payment; payers with repeated refusals get PAYER_SHUT_OUT; a daily budget
test('a payment burns no more than its cap, and the gas of batchGas tries all of a full batch', async () => {
  // In the token's place, code that burns all gas it is given: 0x5b600056 jumps for ever.
  const hungry = '0x00000000000000000000000000000000deadbeef'
  await anvil.setCode(hungry, '0x5b600056')
  const [a] = payers
  assert.ok(a !== undefined)
  const one = await payment(a)
  for (const items of [1, BATCH_ITEMS_MAX]) {
    const payments = Array.from({ length: items }, () => one)
    const receipt = await clients.send(sender, SETTLER, calldata(payments, hungry), batchGas(items))
    assert.deepEqual(
      said(receipt),
      payments.map((_, index) => ['Failed', index]),
    )
    const burnt = BigInt(items) * 120_000n
    assert.ok(receipt.gasUsed >= burnt && receipt.gasUsed <= burnt + 40_000n + BigInt(items) * 10_000n, `${receipt.gasUsed} gas`)
  }
})

test('a huge refusal is not copied', async () => {
  // Reverts with 64 KiB: paying for their copy would take a hundred thousand gas more than the call's own cap.
  const loud = '0x00000000000000000000000000000000000010dd'
  await anvil.setCode(loud, '0x620100006000fd')
  const [a] = payers
  assert.ok(a !== undefined)
  const receipt = await clients.send(sender, SETTLER, calldata([await payment(a)], loud), 300_000n)
  assert.deepEqual(said(receipt), [['Failed', 0]])
  assert.ok(receipt.gasUsed < 60_000n, `${receipt.gasUsed} gas`)
})

test('an empty batch, an oversized one and a token without code are refused', async () => {
  const [a] = payers
  assert.ok(a !== undefined)
  const one = await payment(a)
  const refusal = async (payments: Payment[], token: Hex) => {
    const request = { address: SETTLER, abi, functionName: 'settle', args: [token, payments] }
    return clients.reader.simulateContract(request).then(
      () => null,
      (error: unknown) => /Error: (\w+)\(\)/.exec(String(error))?.[1] ?? String(error),
    )
  }
  assert.equal(await refusal([], anvil.token), 'NoPayments')
  assert.equal(
    await refusal(
      Array.from({ length: 51 }, () => one),
      anvil.token,
    ),
    'TooManyPayments',
  )
  assert.equal(await refusal([one], a.address), 'NotAContract')
  assert.equal(
    await refusal(
      Array.from({ length: 50 }, () => one),
      anvil.token,
    ),
    null,
  )
})

test('it takes no ether', async () => {
  const [a] = payers
  assert.ok(a !== undefined)
  const request = { account: sender.address, to: SETTLER, value: 1n }
  await assert.rejects(clients.reader.call(request))
  await assert.rejects(clients.reader.call({ ...request, data: calldata([await payment(a)]) }))
})

test('the deterministic deployer puts this code at this address', async () => {
  const placed = await clients.reader.getCode({ address: SETTLER })
  await anvil.setCode(SETTLER, '0x')
  await clients.send(sender, DETERMINISTIC_DEPLOYER, BATCH_SETTLER.deploy_calldata as Hex)
  assert.equal(await clients.reader.getCode({ address: SETTLER }), placed)
  assert.ok(placed !== undefined && placed.length > 100)
})

test('the factory places a wallet where it said it would', async () => {
  const factory = contract('test-wallet-factory')
  const at = (await clients.send(sender, null, factory.bytecode)).contractAddress
  assert.ok(at)
  const args = [sender.address, `0x${'00'.repeat(31)}07`]
  const wallet = await view(clients, at, 'getAddress', args, factory.abi)
  await clients.send(sender, at, encodeFunctionData({ abi: factory.abi, functionName: 'createAccount', args }))
  assert.equal(await view(clients, wallet as Hex, 'owner', [], contract('test-wallet').abi), sender.address)
  // Asked again, it answers the same and makes nothing.
  await clients.send(sender, at, encodeFunctionData({ abi: factory.abi, functionName: 'createAccount', args }))
})
