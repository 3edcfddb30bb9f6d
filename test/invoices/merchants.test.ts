/** Merchants that are contracts, and money of another kind, over HTTP and a chain of its own. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createPublicClient, encodeFunctionData, http, keccak256, recoverAddress, serializeErc6492Signature, toBytes, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { registerUnderwriter } from '../../src/service/records/insurance.ts'
import { createContractSignatures } from '../../src/service/invoices/contract-signature.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import {
  invoiceUrl,
  issue,
  looked,
  mine,
  newMerchant,
  send,
  sendAsStranger,
  signAsMerchant,
  signFor,
  transferPlainly,
} from '../support/invoicing.ts'
import { contract } from '../support/contracts.ts'
import { insurer } from '../support/insurer.ts'
import type { InvoiceShown } from '../support/invoicing.ts'
import { FREE_READS, fixedInvoices } from '../support/invoices-memory.ts'
import { fund } from '../support/paying.ts'
import { placeWallet, refuseSignatures, type ChainView } from '../support/paying-chain.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { placeCode } from '../../src/adapters/chain/sandbox-contracts.ts'

/** Circle's published address of EURC on Base Sepolia, and one that stands for a token nobody knows. */
const EURC = '0x808456652fdb597867f38412077A9182bf77359F'
const UNKNOWN = '0x00000000000000000000000000000000000dec0d'
const TEN = 10_000_000n

let world: World
let euro: ChainView
let unknown: ChainView
before(async () => {
  world = await startWorld({ free_daily: 10 })
  const { chain } = world
  euro = { ...chain, token: EURC }
  unknown = { ...chain, token: UNKNOWN }
  for (const { token } of [euro, unknown]) await placeCode(chain.rpc_url, token, [])
})
after(() => world.stop())

const act = (invoice: InvoiceShown, what: 'sign' | 'void', signature: string) =>
  send(`${invoiceUrl(world, invoice)}/${what}`, { signature })
const name = (invoice: InvoiceShown, tx_hash: string) => send(`${invoiceUrl(world, invoice)}/transactions`, { tx_hash })
const others = (record: Record<string, unknown>) =>
  (record['other_assets'] as Record<string, unknown>[]).map(({ symbol, amount, named_by }) => [symbol, amount, named_by])

test('a contract wallet signs and voids by its own word on the chain, as long as it gives it', async () => {
  const owner = newMerchant()
  const wallet = await placeWallet(world.chain, owner.address)
  const [signed, voided] = [await issue(world, '10', wallet), await issue(world, '11', wallet)]
  const forged = await act(signed, 'sign', await signAsMerchant(world.chain, newMerchant(), signed, 'Issue'))
  assert.deepEqual([forged.status, forged.body['code']], [403, 'INVOICE_SIGNATURE_INVALID'])
  const ends = [
    await act(signed, 'sign', await signAsMerchant(world.chain, owner, signed, 'Issue')),
    await act(voided, 'void', await signAsMerchant(world.chain, owner, voided, 'Void')),
  ]
  assert.deepEqual(
    ends.map(({ status, body }) => [status, body['status'], body['merchant_verified']]),
    [
      [200, 'ISSUED', true],
      [200, 'VOID', false],
    ],
  )
  await refuseSignatures(world.chain, wallet)
  const again = await act(signed, 'void', await signAsMerchant(world.chain, owner, signed, 'Void'))
  assert.equal(again.body['code'], 'INVOICE_SIGNATURE_INVALID')
  const account = await issue(world, '12')
  for (const nonsense of ['0x00', `0x${'ab'.repeat(4_096)}`]) {
    assert.equal((await act(account, 'sign', nonsense)).body['code'], 'INVOICE_SIGNATURE_INVALID')
  }
  assert.equal((await act(account, 'sign', `0x${'ab'.repeat(4_097)}`)).status, 400)
})

test('a wallet that is not deployed yet signs in the wrapper of ERC-6492; the factory deploys it only to ask it', async () => {
  const owner = newMerchant()
  const { rpc, rpc_url } = world.chain
  const made = contract('test-wallet-factory')
  const factory = privateKeyToAccount(generatePrivateKey()).address
  await rpc('anvil_setCode', [factory, await rpc('eth_call', [{ data: made.bytecode }, 'latest'])])
  const client = createPublicClient({ transport: http(rpc_url) })
  const salt = keccak256(toBytes('wallet'))
  const args = [owner.address, salt] as const
  const wallet = (await client.readContract({ address: factory, abi: made.abi, functionName: 'getAddress', args })) as Hex
  const data = encodeFunctionData({ abi: made.abi, functionName: 'createAccount', args })
  const wrapped = (signature: Hex, to = factory, call = data) => serializeErc6492Signature({ address: to, data: call, signature })
  const invoice = await issue(world, '10', wallet)
  const signature = await signAsMerchant(world.chain, owner, invoice, 'Issue')
  const refused = [
    // Without the wrapper there is no wallet to ask.
    signature,
    wrapped(await signAsMerchant(world.chain, newMerchant(), invoice, 'Issue')),
    // A factory that deploys another wallet, one that reverts, one without code.
    wrapped(signature, factory, encodeFunctionData({ abi: made.abi, functionName: 'createAccount', args: [newMerchant().address, salt] })),
    wrapped(signature, factory, '0x12345678'),
    wrapped(signature, newMerchant().address),
  ]
  for (const one of refused) assert.equal((await act(invoice, 'sign', one)).body['code'], 'INVOICE_SIGNATURE_INVALID')
  const signed = await act(invoice, 'sign', wrapped(signature))
  assert.deepEqual([signed.status, signed.body['merchant_verified']], [200, true], signed.text)
  assert.equal(await client.getCode({ address: wallet }), undefined)
})

test('a contract wallet registers as underwriter and countersigns; the registrar attests it in the certificate', async () => {
  const key = generatePrivateKey()
  const owner = privateKeyToAccount(key)
  const wallet = await placeWallet(world.chain, owner.address)
  const now_s = Math.floor(systemClock.now_ms() / 1_000)
  const registered = await send(
    `${world.url}/api/insurance/register`,
    await insurer(key).registration(world.url, now_s, { underwriter: wallet }),
  )
  assert.equal(registered.status, 201, registered.text)
  const wish = { underwriter_id: registered.body['underwriter_id'], amount_usdc: 20_000, invoice_id: 'INV-7' }
  const bind = async () =>
    (await send(`${world.url}/v1/tools/bind-insurance-policy/call`, { input: wish })).body['result'] as Record<string, unknown>
  const pending = await bind()
  const { policy_id } = pending['certificate'] as Record<string, unknown>
  const { typed_data } = pending['sign'] as { typed_data: Parameters<typeof owner.signTypedData>[0] }
  const countersign = (signature: string) => send(`${world.url}/api/insurance/countersign`, { policy_id, signature })
  const foreign = await countersign(await privateKeyToAccount(generatePrivateKey()).signTypedData(typed_data))
  assert.deepEqual([foreign.status, foreign.body['code']], [400, 'INSURANCE_REQUEST_INVALID'])
  assert.deepEqual(foreign.body['sign'], pending['sign'])
  const signature = await owner.signTypedData(typed_data)
  const bound = await countersign(signature)
  assert.equal(bound.status, 201, bound.text)
  const certificate = bound.body['certificate'] as Record<string, unknown>
  assert.deepEqual([certificate['status'], certificate['underwriter_signature']], ['BOUND', signature])
  // As docs/guide/pol-1.md describes it, by viem alone.
  const attestation = certificate['underwriter_attestation'] as { method: string; checked_at: number; registrar_signature: Hex }
  const digest = typed_data.message as { policy_digest: Hex }
  const hash = keccak256(toBytes(`POL-1-CONTRACT|${digest.policy_digest}|${signature}|${attestation.checked_at}`))
  const registrar = await recoverAddress({ hash, signature: attestation.registrar_signature })
  assert.deepEqual([attestation.method, registrar.toLowerCase()], ['erc1271', certificate['registrar']])
  const read = await send(String(pending['certificate_url']))
  assert.deepEqual(read.body['certificate'], certificate)
  assert.equal((read.body['verification'] as Record<string, unknown>)['reason_code'], 'ok_attested')
  assert.equal((await bind())['status'], 'BOUND')
  // Bound, it asks the wallet no more.
  assert.equal((await countersign(`0x${'ab'.repeat(97)}`)).body['code'], 'INSURANCE_REQUEST_INVALID')
})

test('while the chain is down a contract wallet is told so, and a key needs no chain', async () => {
  const down = Object.assign(new Error('down'), { code: 'CHAIN_UNAVAILABLE' })
  const desk = fixedInvoices(
    systemClock,
    undefined,
    createContractSignatures(() => Promise.reject(down), FREE_READS),
  )
  const merchant = newMerchant()
  const made = await desk.make(
    { amount: '10', merchant: merchant.address },
    { client: null, address: null, network: null, request_key: null, signature: null },
  )
  assert.ok(made.kind === 'made')
  const invoice = made.view.record as InvoiceShown
  const place = { ...world.chain, chain_id: 84_532, token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' as Hex }
  const unsure = await desk.act(invoice.invoice_id, 'issue', await signAsMerchant(place, newMerchant(), invoice, 'Issue'), '127.0.0.1')
  assert.deepEqual([unsure.ok, unsure.ok ? null : unsure.problem.code], [false, 'UPSTREAM_RPC_UNAVAILABLE'])
  assert.equal((await desk.act(invoice.invoice_id, 'issue', await signAsMerchant(place, merchant, invoice, 'Issue'), '127.0.0.1')).ok, true)
})

test('EURC under a nonce of the invoice: the exception says what came, and nothing is settled', async () => {
  const [payer, invoice] = [newMerchant(), await issue(world, '10')]
  await fund(world.chain.rpc_url, EURC, payer.address, TEN)
  const tx_hash = await sendAsStranger(euro, await signFor(euro, payer, invoice))
  await mine(world.chain, 4)
  const record = await looked(world, invoice)
  assert.deepEqual([record.status, record.exceptions, record.amount_paid_minor], ['ISSUED', ['wrong_asset'], '0'])
  assert.deepEqual(others(record), [['EURC', '10', 'nonce']])
  const [came] = record['other_assets'] as Record<string, unknown>[]
  assert.deepEqual(
    [came?.['tx_hash'], came?.['asset'], came?.['payer']],
    [tx_hash, `eip155:84532/erc20:${EURC.toLowerCase()}`, payer.address.toLowerCase()],
  )
})

test('a transaction that somebody names shows what it moved: EURC, the coin of the chain, and no token that nobody knows', async () => {
  const payer = newMerchant()
  await fund(world.chain.rpc_url, EURC, payer.address, TEN)
  await fund(world.chain.rpc_url, UNKNOWN, payer.address, TEN)
  const invoice = await issue(world, '10')
  const token = await transferPlainly(euro, payer, invoice.merchant, 4_000_000n)
  const stray = await transferPlainly(unknown, payer, invoice.merchant, TEN)
  const coin = String(
    await world.chain.rpc('eth_sendTransaction', [{ from: payer.address, to: invoice.merchant, value: '0x2386f26fc10000' }]),
  )
  await mine(world.chain)
  const unnamed = await looked(world, invoice)
  assert.deepEqual([unnamed.exceptions, others(unnamed)], [[], []])
  for (const hash of [token, stray, coin, coin]) assert.equal((await name(invoice, hash)).status, 200)
  const record = await looked(world, invoice)
  assert.deepEqual([record.status, record.exceptions, record.payments], ['ISSUED', ['wrong_asset'], []])
  assert.deepEqual(others(record), [
    ['EURC', '4', 'submitted'],
    ['ETH', '0.01', 'submitted'],
  ])
})

test('money that came to somebody else, or was named for another invoice before, says nothing', async () => {
  const payer = newMerchant()
  await fund(world.chain.rpc_url, EURC, payer.address, TEN)
  const first = await issue(world, '10')
  const [second, stranger] = [await issue(world, '10', first.merchant), await issue(world, '10')]
  const hash = await transferPlainly(euro, payer, first.merchant, TEN)
  await mine(world.chain)
  for (const invoice of [first, second, stranger]) await name(invoice, hash)
  const records = [await looked(world, first), await looked(world, second), await looked(world, stranger)]
  assert.deepEqual(
    records.map(({ exceptions }) => exceptions),
    [['wrong_asset'], [], []],
  )
})

test('an underwriter that is a contract registers by its own word; while the chain is down nothing is kept', async () => {
  const { insurance } = world.running.app.deps
  const [key, now_s] = [generatePrivateKey(), Math.floor(insurance.clock.now_ms() / 1_000)]
  const owner = insurer(key)
  const wallet = await placeWallet(world.chain, owner.address)
  await mine(world.chain)
  const body = await owner.registration(world.url, now_s, { underwriter: wallet })
  const forged = await insurer(generatePrivateKey()).registration(world.url, now_s, { underwriter: wallet })
  const register = (given: unknown) => send(`${world.url}/api/insurance/register`, given)
  assert.deepEqual(
    [(await register(forged)).body['code'], (await register({ ...body, signature: '0x' })).status],
    ['INSURANCE_REQUEST_INVALID', 400],
  )
  const down = () => Promise.reject(Object.assign(new Error('down'), { code: 'CHAIN_UNAVAILABLE' }))
  const unsure = await registerUnderwriter({ ...insurance, contracts: createContractSignatures(down, FREE_READS) }, body, '127.0.0.1')
  assert.deepEqual([unsure.ok, unsure.ok ? null : unsure.problem.code], [false, 'UPSTREAM_RPC_UNAVAILABLE'])
  const registered = await register(body)
  assert.deepEqual([registered.status, registered.body['underwriter_id']], [201, `uw_${wallet.slice(2).toLowerCase()}`], registered.text)
})
