/**
 * The store has lost the row of a payment that the chain shows: the payer gets the answer without paying again, nobody takes it in the
 * payer's place, and nothing calls the payment uncharged.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, mock, test } from 'node:test'
import { encodeFunctionData, parseAbi, serializeSignature, parseSignature, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import { SANDBOX_OWNER } from '../../src/adapters/chain/sandbox-contracts.ts'
import { proveLedger } from '../../src/service/payments/prove-ledger.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { startAnvil } from '../support/anvil.ts'
import { startRpcProxy, type RpcProxy } from '../support/faults-rpc.ts'
import { invoiceUrl, issue, mine, send, sendAsStranger, signFor } from '../support/invoicing.ts'
import { call, INPUT, read, signed, statusUrl, TOOL, v1, v2, type Answered } from '../support/paying-calls.ts'
import { authorizationsUsed, spendElsewhere } from '../support/paying-chain.ts'
import { startLiveWorld, startWorld, type World } from '../support/paying-world.ts'
import { base64, held, headersOf, signTerms, termsOf, type Signed } from '../support/paying.ts'

// row: restored_payments

const PAYER = '198.51.100.7'
const NEIGHBOUR = '198.51.100.99'
const STRANGER = '203.0.113.9'
const OTHER = { iban: 'DE89 3704 0044 0532 0130 00' }

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

interface Paid {
  payer: PrivateKeyAccount
  payment: Signed
  answer: Answered
}

async function bought(at: World = world, client = PAYER): Promise<Paid> {
  const payer = await at.payer()
  const payment = await signed(at.url, payer)
  const answer = await call(at.url, v2(payment), { client })
  assert.equal(answer.status, 200, answer.text)
  return { payer, payment, answer }
}

function lose({ payment: { message } }: Pick<Paid, 'payment'>, at: World = world): void {
  at.sql((database) => {
    database.prepare('delete from payment_answer where payment in (select number from payment where nonce = ?)').run(message.nonce)
    database.prepare('delete from payment where nonce = ?').run(message.nonce)
  })
}

const rowOf = ({ payment: { message } }: Pick<Paid, 'payment'>, at: World = world) =>
  at.payments.find({ payer: message.from.toLowerCase(), nonce: message.nonce })

/** The same transaction, result and payment; the receipt is made again. */
function assertAnswered({ payment, answer: first }: Paid, again: Answered): void {
  assert.equal(again.status, 200, again.text)
  assert.deepEqual([again.body['result'], again.body['settlement']], [first.body['result'], first.body['settlement']])
  const receipt = again.body['receipt'] as Record<string, string>
  assert.equal(verifyReceipt(receipt).valid, true)
  assert.deepEqual([receipt['tier'], receipt['nonce']], ['paid', payment.message.nonce])
}

function assertUnknown({ status, headers, body, text }: Answered): void {
  assert.deepEqual([status, body['code'], body['charged']], [409, 'PAYMENT_ALREADY_USED', 'unknown'], text)
  assert.equal(headers.get('payment-required'), null)
  assert.doesNotMatch(text, /[Ss]ign a new|not used/)
  assert.match(String(body['detail']), /Do not sign another payment/)
}

async function assertChargedOnce({ payer }: Paid, at: World = world): Promise<void> {
  assert.equal((await authorizationsUsed(at.chain, payer.address)).length, 1)
}

async function assertProved(at: World): Promise<void> {
  const { rpc_url, chain_id, token, pay_to } = at.chain
  const chain = createChain({ urls: [rpc_url], chain_id, clock: systemClock })
  const proof = await proveLedger({
    payments: at.payments,
    chain,
    token: token.toLowerCase(),
    pay_to: pay_to.toLowerCase(),
    onProgress: () => undefined,
  })
  assert.equal(
    proof.proved,
    true,
    JSON.stringify(proof, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  )
  assert.equal(proof.foreign.count, 0)
}

test('the payer that merely resends is answered, once restored in the bytes of the restored answer, and the ledger is proved', async () => {
  const paid = await bought()
  lose(paid)
  assert.deepEqual((await read(statusUrl(world.url, paid.payment))).body['charged'], 'unknown')
  const again = await call(world.url, v2(paid.payment), { client: NEIGHBOUR })
  assertAnswered(paid, again)
  assert.equal((await call(world.url, v1(paid.payment), { client: PAYER })).text, again.text)
  const row = await rowOf(paid)
  assert.deepEqual([row?.state, row?.reason, row?.settler, row?.transaction], ['settled', 'restored', 'restored', transactionOf(paid)])
  await assertChargedOnce(paid)
  await assertProved(world)
})

const transactionOf = ({ answer }: Paid) => (answer.body['settlement'] as { transaction: string }).transaction

test('a stranger with the calldata gets nothing and keeps nothing from the payer, whatever the input and the version', async () => {
  const paid = await bought()
  lose(paid)
  const chain = headersOf(await termsOf(world.url, TOOL, OTHER), paid.payment.message, paid.payment.signature)
  for (const headers of [v2(chain), v1(chain)]) {
    for (const input of [INPUT, OTHER]) assertUnknown(await call(world.url, headers, { client: STRANGER, input }))
  }
  assert.equal(await rowOf(paid), null)
  assertAnswered(paid, await call(world.url, v2(paid.payment), { client: PAYER }))
  await assertChargedOnce(paid)
})

test('with another input the payer is refused as before the loss, and no other payment is asked for the same one', async () => {
  const paid = await bought()
  lose(paid)
  assert.equal((await call(world.url, v2(paid.payment), { client: PAYER, input: OTHER })).body['code'], 'NONCE_BOUND')
  assertAnswered(paid, await call(world.url, v2(paid.payment), { client: PAYER }))
})

test('fifty resends at once restore one answer', async () => {
  const paid = await bought()
  lose(paid)
  const answers = await Promise.all(Array.from({ length: 50 }, () => call(world.url, v2(paid.payment), { client: PAYER })))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  await assertChargedOnce(paid)
})

test('the answer token and a sign-in of the payer open it from anywhere', async () => {
  const [first, second] = [await bought(), await bought()]
  for (const paid of [first, second]) lose(paid)
  const secret = Buffer.from((await readFile(join(world.data_dir, 'secret.key'), 'utf8')).trim(), 'hex')
  const token = createSealer(secret).token(`${first.payment.message.from.toLowerCase()}:${first.payment.message.nonce}`)
  assert.equal((await read(`${world.url}/v1/answers/${token}`)).body['code'], 'ANSWER_NOT_FOUND')
  assertAnswered(first, await call(world.url, { ...v2(first.payment), 'x-answer-token': token }, { client: STRANGER }))
  const refused = await call(world.url, v2(second.payment), { client: STRANGER })
  assertUnknown(refused)
  const headers = { ...v2(second.payment), 'sign-in-with-x': await signIn(second.payer, refused) }
  assertAnswered(second, await call(world.url, headers, { client: STRANGER }))
})

test('an authorization that expired since is known as paid all the same', async () => {
  const paid = await bought()
  lose(paid)
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 3 * 60_000 })
  try {
    assertAnswered(paid, await call(world.url, v2(paid.payment), { client: PAYER }))
    const unused = await call(world.url, v2(await signed(world.url, paid.payer, { validBefore: 1n })), { client: PAYER })
    assert.deepEqual([unused.status, unused.body['code'], unused.body['charged']], [402, 'EXPIRED', false])
  } finally {
    mock.timers.reset()
  }
})

test('a cancelled authorization, or one used for another transfer, moved nothing here: REPLAY, uncharged, with terms', async () => {
  const payer = await world.payer()
  const [cancelled, elsewhere] = [await signed(world.url, payer), await signed(world.url, payer)]
  await cancel(payer, cancelled.message.nonce)
  await spendElsewhere(world.chain, payer, 1n, elsewhere.message.nonce)
  for (const payment of [cancelled, elsewhere]) {
    const { status, body, headers } = await call(world.url, v2(payment), { client: PAYER })
    assert.deepEqual([status, body['code'], body['charged']], [402, 'REPLAY', false])
    assert.notEqual(headers.get('payment-required'), null)
  }
})

test('a transfer that is no price of the call buys nothing, and is not called uncharged', async () => {
  const payer = await world.payer()
  const payment = await signed(world.url, payer, { value: 1n })
  const { from, to, value, validAfter, validBefore, nonce } = payment.message
  await sendAsStranger(world.chain, { message: { from, to, value, validAfter, validBefore, nonce }, signature: payment.signature })
  assertUnknown(await call(world.url, v2(payment), { client: PAYER }))
})

test('an invoice: the nonce that names it restores its payment; any other transfer to the merchant is left to the merchant', async () => {
  const payer = await world.payer(30_000_000n)
  const invoice = await issue(world, '10')
  const pay = (body: unknown, headers = {}) => send(`${invoiceUrl(world, invoice)}/pay`, body, headers)
  const named = await signFor(world.chain, payer, invoice)
  const paid = await pay(named.body)
  assert.equal(paid.status, 200, paid.text)
  const payment = { message: named.message, signature: named.signature, v1: '', v2: '' }
  lose({ payment })
  await mine(world.chain)
  const again = await pay(named.body)
  assert.deepEqual([again.status, again.text], [200, paid.text])
  assert.equal((await rowOf({ payment }))?.reason, 'restored')
  const twin = await issue(world, '10', invoice.merchant)
  const { headers } = await send(`${invoiceUrl(world, twin)}/pay`, {})
  const required = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as Parameters<typeof signTerms>[1]
  const random = await signTerms(payer, required)
  const other = await send(`${invoiceUrl(world, twin)}/pay`, {}, v2(random))
  assert.equal(other.status, 200, other.text)
  lose({ payment: random })
  assertUnknown(await send(`${invoiceUrl(world, twin)}/pay`, {}, v2(random)))
  assert.equal(await held(world.chain.rpc_url, world.chain.token, payer.address), 10_000_000n)
})

/** After a restart nothing is remembered. */
async function restarted(run: (start: () => Promise<World>, proxy: RpcProxy) => Promise<void>): Promise<void> {
  const [anvil, folder] = [await startAnvil(), await mkdtemp(join(tmpdir(), 'assay-lost-rows-'))]
  const proxy = await startRpcProxy(anvil.rpc_url)
  const pay_to = '0x00000000000000000000000000000000000a55a1'
  let current: World | null = null
  const start = async () => {
    await current?.stop()
    current = await startLiveWorld({
      anvil,
      rpc_url: proxy.url,
      data_dir: folder,
      settings: { ASSAY_PAY_TO: pay_to },
    })
    return current
  }
  try {
    await run(start, proxy)
  } finally {
    await (current as World | null)?.stop()
    await proxy.stop()
    await anvil.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** As the official client writes it: with the extensions of the terms sent back. */
async function signedWithOffers(at: World, payer: PrivateKeyAccount): Promise<Signed> {
  const required = (await termsOf(at.url, TOOL, INPUT)) as Awaited<ReturnType<typeof termsOf>> & { extensions: object }
  const payment = await signTerms(payer, required)
  const sent = JSON.parse(Buffer.from(payment.v2, 'base64').toString()) as object
  return { ...payment, v2: base64({ ...sent, extensions: required.extensions }) }
}

test('after a restart: the offers that the client sends back win over a stranger who came first, and a sign-in over both', async () => {
  await restarted(async (start) => {
    let at = await start()
    const payer = await at.payer()
    const payment = await signedWithOffers(at, payer)
    const answer = await call(at.url, v2(payment), { client: PAYER })
    assert.equal(answer.status, 200, answer.text)
    const paid = { payer, payment, answer }
    lose(paid, at)
    at = await start()
    const plain = headersOf(await termsOf(at.url, TOOL, OTHER), payment.message, payment.signature)
    const taken = await call(at.url, v2(plain), { client: STRANGER, input: OTHER })
    assert.deepEqual([taken.status, (await rowOf(paid, at))?.reason], [200, 'restored_by_time'])
    assertAnswered(paid, await call(at.url, v2(payment), { client: NEIGHBOUR }))
    assert.equal((await rowOf(paid, at))?.reason, 'restored_by_offer')
    // The stranger has lost it.
    assert.equal((await call(at.url, v2(plain), { client: STRANGER, input: OTHER })).status, 409)
    const refused = await call(at.url, v2(plain), { client: STRANGER, input: OTHER })
    const headers = { ...v2(plain), 'sign-in-with-x': await signIn(payer, refused, 8_453) }
    const signed_in = await call(at.url, headers, { client: STRANGER, input: OTHER })
    assert.equal(signed_in.status, 200, signed_in.text)
    assert.equal((await rowOf(paid, at))?.reason, 'restored')
    await assertChargedOnce(paid, at)
    await assertProved(at)
  })
})

test('after a restart and ten minutes the time speaks for nobody, and offers still do', async () => {
  await restarted(async (start) => {
    let at = await start()
    const [plain, payer] = [await bought(at), await at.payer()]
    const payment = await signedWithOffers(at, payer)
    const echoing = { payer, payment, answer: await call(at.url, v2(payment), { client: PAYER }) }
    assert.equal(echoing.answer.status, 200, echoing.answer.text)
    for (const paid of [plain, echoing]) lose(paid, at)
    at = await start()
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 })
    try {
      assertUnknown(await call(at.url, v2(plain.payment), { client: PAYER }))
      assertAnswered(echoing, await call(at.url, v2(echoing.payment), { client: STRANGER }))
    } finally {
      mock.timers.reset()
    }
  })
})

test('while the chain cannot be read, or does not return the log yet, nothing is said to be uncharged', async () => {
  await restarted(async (start, proxy) => {
    const at = await start()
    const paid = await bought(at)
    lose(paid, at)
    proxy.misbehave(async ({ calls, ask, answer }) => {
      const answers = await ask(calls)
      answer(answers.map((one, index) => (calls[index]?.method === 'eth_getLogs' ? { id: one.id, result: [] } : one)))
    })
    assertUnknown(await call(at.url, v2(paid.payment), { client: PAYER }))
    await proxy.power('off')
    const silent = await call(at.url, v2(paid.payment), { client: PAYER })
    assert.deepEqual([silent.status, silent.body['charged']], [503, 'unknown'], silent.text)
    assert.doesNotMatch(silent.text, /not used/)
    proxy.misbehave(undefined)
    await proxy.power('on')
  })
})

test('payments that are refused without verification, and requests of a status, use up no reads that payers need', async () => {
  await restarted(async (start, proxy) => {
    const at = await start()
    const payer = await at.payer()
    const reads = () => proxy.asked.filter((method) => method === 'eth_call').length
    const expired = await Promise.all(Array.from({ length: 120 }, () => signed(at.url, payer, { validBefore: 1n })))
    const before_expired = reads()
    for (const payment of expired) await call(at.url, v2(payment), { client: STRANGER })
    assert.ok(reads() - before_expired < 90, `${reads() - before_expired} reads for one client`)
    const before_status = reads()
    const statuses = Array.from(
      { length: 600 },
      (_, index) => `${at.url}/v1/payments/${payer.address}/0x${index.toString(16).padStart(64, '0')}`,
    )
    await Promise.all(statuses.map(read))
    assert.ok(reads() - before_status < 250, `${reads() - before_status} reads for status requests`)
    assert.equal((await call(at.url, v2(await signed(at.url, payer)), { client: PAYER })).status, 200)
  })
})

async function cancel(payer: PrivateKeyAccount, nonce: Hex): Promise<void> {
  const { rpc, token, chain_id } = world.chain
  const domain = { name: 'USDC', version: '2', chainId: chain_id, verifyingContract: token }
  const types = {
    CancelAuthorization: [
      { name: 'authorizer', type: 'address' },
      { name: 'nonce', type: 'bytes32' },
    ],
  }
  const message = { authorizer: payer.address, nonce }
  const signature = serializeSignature(
    parseSignature(await payer.signTypedData({ domain, types, primaryType: 'CancelAuthorization', message })),
  )
  const abi = parseAbi(['function cancelAuthorization(address,bytes32,bytes)'])
  const data = encodeFunctionData({ abi, functionName: 'cancelAuthorization', args: [payer.address, nonce, signature] })
  await rpc('anvil_impersonateAccount', [SANDBOX_OWNER])
  const hash = await rpc('eth_sendTransaction', [{ from: SANDBOX_OWNER, to: token, data, gas: '0x30d40' }])
  await rpc('evm_mine')
  const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as { status: string } | null
  assert.equal(receipt?.status, '0x1')
}

interface Challenge {
  info: Record<'domain' | 'uri' | 'statement' | 'nonce' | 'issuedAt' | 'expirationTime', string>
}

/** Signs the challenge of a refusal as EIP-4361 says. */
async function signIn(account: PrivateKeyAccount, { body }: Answered, chainId = 84_532): Promise<string> {
  const { info } = (body['extensions'] as { 'sign-in-with-x': Challenge })['sign-in-with-x']
  const { domain, uri, statement, nonce } = info
  const [issuedAt, expirationTime] = [new Date(info.issuedAt), new Date(info.expirationTime)]
  const message = createSiweMessage({
    address: account.address,
    chainId,
    domain,
    uri,
    version: '1',
    statement,
    nonce,
    issuedAt,
    expirationTime,
  })
  return base64({ ...info, address: account.address, type: 'eip191', signature: await account.signMessage({ message }) })
}
