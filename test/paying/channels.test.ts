/** Vouchers as a stranger may send them: each refusal with the scheme's own code, nothing charged twice, and no answer for nothing. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { createWalletClient, defineChain, encodeFunctionData, http, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { rpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'
import { CHANNEL_ABI, channelEntry, channelFor, type PayingChannel, SETTLEMENT, settlementIn } from '../support/channels.ts'
import { asMembers, readJson } from '../support/documents.ts'
import { fund, fundedPayer, held } from '../support/paying.ts'
import { placeWallet } from '../support/paying-chain.ts'
import { until } from '../support/until.ts'

const TOOL = 'iban-check'
const PREFIX = 'invalid_batch_settlement_evm_'
const PRICE_MINOR = 5_000n

let app: TestApp
let rpc_url: string
let token: Hex
let pay_to: Hex

before(async () => {
  app = await startTestApp({
    free_daily: 0,
    settings: { ASSAY_BATCH_SETTLEMENT: 'on', ASSAY_TRUSTED_PROXIES: '127.0.0.1' },
    // The job reads channels again at once; claims wait for a withdrawal.
    start: { rules: { channels: { watch_ms: 0, watch_every_ms: 200, fresh_ms: 300_000 } } },
  })
  const sandbox = asMembers((await readJson(`${app.url}/health`))['sandbox'])
  rpc_url = String(sandbox['rpc_url'])
  token = sandbox['usdc'] as Hex
  pay_to = sandbox['pay_to'] as Hex
})
after(() => app.stop())

let inputs = 0
const newInput = () => ({ iban: `GB82WEST1234569876${String(++inputs).padStart(4, '0')}` })
/** A network of its own, so that the limits of one client are not met. */
const stranger = () => `198.51.${100 + (++inputs % 100)}.${inputs % 250}`

async function call(header: string, input: object = newInput(), client = stranger()) {
  return restCall(app.url, TOOL, input, { 'payment-signature': header, 'x-forwarded-for': client })
}

/** The refund that this payment asks for, from this client. */
function refundOf(header: string, client: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${app.url}/v1/channels/refund`, { headers: { 'payment-signature': header, 'x-forwarded-for': client, ...headers } })
}

type Answered = Awaited<ReturnType<typeof call>>

async function open(balance_minor = 1_000_000n): Promise<PayingChannel> {
  return channelFor(app.url, TOOL, newInput(), await fundedPayer(rpc_url, token, balance_minor))
}

/** A channel with 50,000 in it, of which one call was charged to this client. */
async function used(client = stranger()): Promise<PayingChannel> {
  const channel = await open()
  const { status, body } = await call(await channel.deposit(50_000n, PRICE_MINOR), newInput(), client)
  assert.equal(status, 200, JSON.stringify(body))
  return channel
}

function assertRefused({ status, body, headers }: Answered, word: string, expected_status = 402): void {
  assert.deepEqual([status, body['invalid_reason'], body['charged']], [expected_status, PREFIX + word, false], JSON.stringify(body))
  if (status !== 402) return
  const { error } = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as { error: string }
  assert.equal(error, PREFIX + word)
}

async function charged(channel: PayingChannel): Promise<string> {
  const { headers } = await call(await channel.voucher(10n ** 20n))
  return String(channelEntry(headers.get('payment-required')).extra.channelState?.['chargedCumulativeAmount'])
}

/** Balance and claimed total of the channel. */
function onChain(channel: PayingChannel): Promise<string[]> {
  return read(`0x7a7ebd7b${channel.id.slice(2)}`)
}

async function read(data: string): Promise<string[]> {
  const found = String(await rpcRequest(rpc_url)('eth_call', [{ to: SETTLEMENT, data }, 'latest']))
  return [found.slice(2, 66), found.slice(66)].map((half) => String(BigInt(`0x${half}`)))
}

const addressWord = (address: string) => address.slice(2).toLowerCase().padStart(64, '0')

test('bad input is refused with the codes of the scheme, and nothing is charged', async () => {
  const channel = await used()
  const good = (await decoded(await channel.voucher(2n * PRICE_MINOR))) as Record<string, Record<string, Record<string, unknown>>>
  const changed = (change: (payment: typeof good) => void) => {
    const payment = structuredClone(good)
    change(payment)
    return Buffer.from(JSON.stringify(payment)).toString('base64')
  }
  const other = `0x${'77'.repeat(20)}`
  const cases: [word: string, header: string][] = [
    ['network_mismatch', changed(({ accepted }) => void (accepted && Object.assign(accepted, { network: 'eip155:1' })))],
    [
      'channel_id_mismatch',
      changed(
        ({ payload }) => void (payload?.['channelConfig'] && Object.assign(payload['channelConfig'], { salt: `0x${'01'.repeat(32)}` })),
      ),
    ],
    [
      'voucher_signature',
      changed(({ payload }) => void (payload?.['voucher'] && Object.assign(payload['voucher'], { signature: `0x${'11'.repeat(65)}` }))),
    ],
    ...['00', '01', ''].map((v): [string, string] => [
      'voucher_signature',
      changed(({ payload }) => withRecovery(payload?.['voucher'], v)),
    ]),
    ['payload_type', changed(({ payload }) => void (payload && Object.assign(payload, { type: 'claim' })))],
    ['cumulative_amount_mismatch', await channel.voucher(PRICE_MINOR)],
    ['cumulative_amount_mismatch', await channel.voucher(3n * PRICE_MINOR)],
    ['payload_type', await channel.refund(PRICE_MINOR)],
  ]
  for (const [member, word] of [
    ['receiver', 'receiver_mismatch'],
    ['receiverAuthorizer', 'receiver_authorizer_mismatch'],
    ['token', 'token_mismatch'],
  ] as const) {
    const strange = await open()
    Object.assign(strange.config, { [member]: other })
    cases.push([word, await strange.rehashed().voucher(PRICE_MINOR)])
  }
  const slow = await open()
  Object.assign(slow.config, { withdrawDelay: 900 })
  cases.push(['withdraw_delay_mismatch', await slow.rehashed().voucher(PRICE_MINOR)])
  for (const [word, header] of cases) assertRefused(await call(header), word)
  const amount = changed(({ payload }) => void (payload?.['voucher'] && Object.assign(payload['voucher'], { maxClaimableAmount: '-1' })))
  const { status, body } = await call(amount)
  assert.deepEqual([status, body['code'], body['invalid_reason']], [402, 'MALFORMED_PAYMENT', 'invalid_payload'])
  assert.match(String(body['detail']), /payload\.voucher\.maxClaimableAmount must be a whole number below 2\^128/)
  assert.equal(await charged(channel), '5000')
})

/** The same signature in a form that the contract does not take: such a voucher could never be claimed. */
function withRecovery(voucher: Record<string, unknown> | undefined, v: string): void {
  if (voucher !== undefined) voucher['signature'] = String(voucher['signature']).slice(0, -2) + v
}

async function decoded(header: string): Promise<unknown> {
  return JSON.parse(Buffer.from(header, 'base64').toString())
}

test('deposits that cannot be made are refused before anything is sent', async () => {
  const poor = await open(PRICE_MINOR)
  assertRefused(await call(await poor.deposit(50_000n, PRICE_MINOR)), 'insufficient_balance')
  const channel = await open()
  assertRefused(await call(await channel.voucher(PRICE_MINOR)), 'channel_not_found')
  assertRefused(await call(await channel.deposit(3n * PRICE_MINOR - 1n, PRICE_MINOR)), 'deposit_below_min_deposit')
  assertRefused(await call(await channel.deposit(50_000n, PRICE_MINOR, 10)), 'payload_authorization_valid_before')
  assertRefused(await call(await channel.deposit(50_000n, 60_000n)), 'cumulative_amount_mismatch')
  const forged = await channel.depositPayload(50_000n, PRICE_MINOR)
  forged.deposit.authorization.erc3009Authorization.signature = forged.voucher.signature
  assertRefused(await call(channel.header(forged)), 'receive_authorization_signature')
  const permit = { ...forged, deposit: { amount: '50000', authorization: { permit2Authorization: {} } } }
  assertRefused(await call(channel.header(permit)), 'erc3009_authorization_required')
  assert.equal(await held(rpc_url, token, channel.payer.address), 1_000_000n)
  assert.deepEqual(await onChain(channel), ['0', '0'])
})

test('a contract wallet deposits (EIP-1271), and an account that it names signs its vouchers', async () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  const wallet = await placeWallet({ rpc: rpcRequest(rpc_url) }, owner.address)
  await fund(rpc_url, token, wallet, 1_000_000n)
  const channel = await channelFor(app.url, TOOL, newInput(), owner)
  channel.config.payer = wallet
  channel.rehashed()
  const first = await call(await channel.deposit(50_000n, PRICE_MINOR))
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.equal(asMembers(first.body['receipt'])['payer'], wallet.toLowerCase())
  const client = stranger()
  const second = await call(await channel.voucher(2n * PRICE_MINOR), newInput(), client)
  assert.equal(second.status, 200, JSON.stringify(second.body))
  assert.deepEqual(await onChain(channel), ['50000', '0'])
  const refund = await refundOf(await channel.refund(2n * PRICE_MINOR), client)
  assert.equal(refund.status, 200, await refund.text())
  assert.equal(await held(rpc_url, token, wallet), 1_000_000n - 2n * PRICE_MINOR)
  // A wallet that signs its vouchers itself could refuse them before they are claimed.
  const alone = await channelFor(app.url, TOOL, newInput(), owner)
  Object.assign(alone.config, { payer: wallet, payerAuthorizer: `0x${'00'.repeat(20)}` })
  assertRefused(await call(await alone.rehashed().deposit(50_000n, PRICE_MINOR)), 'voucher_signature')
})

test('a voucher is answered again for the same request, and buys nothing else', async () => {
  const channel = await used()
  const header = await channel.voucher(2n * PRICE_MINOR)
  const [input, client] = [newInput(), stranger()]
  const first = await call(header, input, client)
  assert.equal(first.status, 200)
  const again = await call(header, input, client)
  assert.deepEqual([again.status, again.body], [200, first.body])
  assert.partialDeepStrictEqual(settlementIn(again.headers), { success: true, transaction: '', extra: { chargedAmount: '5000' } })
  // Another input, another network, and an older voucher get no answer. Only the network of the last charge sees the last voucher.
  for (const [refused, signed] of [
    [await call(header, newInput(), client), '10000'],
    [await call(await channel.voucher(PRICE_MINOR), newInput(), client), '10000'],
    [await call(header, input, stranger()), undefined],
    [await call(await channel.voucher(PRICE_MINOR)), undefined],
  ] as const) {
    assertRefused(refused, 'cumulative_amount_mismatch')
    const { channelState, voucherState } = channelEntry(refused.headers.get('payment-required')).extra
    assert.partialDeepStrictEqual(channelState, { channelId: channel.id, chargedCumulativeAmount: '10000', balance: '50000' })
    assert.equal(voucherState?.signedMaxClaimable, signed)
  }
})

test('the balance of a channel is never exceeded', async () => {
  const channel = await open()
  assert.equal((await call(await channel.deposit(3n * PRICE_MINOR, PRICE_MINOR))).status, 200)
  for (const total of [2n, 3n]) assert.equal((await call(await channel.voucher(total * PRICE_MINOR))).status, 200)
  assertRefused(await call(await channel.voucher(4n * PRICE_MINOR)), 'cumulative_exceeds_balance')
  // A deposit of another party, such as the payer's own transaction, is found on the chain.
  assert.equal((await call(await channel.deposit(3n * PRICE_MINOR, 4n * PRICE_MINOR))).status, 200)
  assert.deepEqual(await onChain(channel), ['30000', '0'])
})

test('fifty vouchers at once: one order of charges, each answered once', async () => {
  const channel = await open(10_000_000n)
  assert.equal((await call(await channel.deposit(60n * PRICE_MINOR, PRICE_MINOR))).status, 200)
  const waiting = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => ({
      header: await channel.voucher(BigInt(index + 2) * PRICE_MINOR),
      input: newInput(),
      client: stranger(),
      total: (index + 2) * 5_000,
    })),
  )
  const order: number[] = []
  let open_ones = waiting
  await until('every voucher to be charged', async () => {
    const answers = await Promise.all(open_ones.map(async (one) => ({ one, answer: await call(one.header, one.input, one.client) })))
    const done = answers.filter(({ answer }) => answer.status === 200)
    for (const { one, answer } of done) {
      assert.partialDeepStrictEqual(settlementIn(answer.headers)['extra'], { channelState: { chargedCumulativeAmount: String(one.total) } })
      order.push(one.total)
    }
    for (const { answer } of answers) if (answer.status !== 200) assert.equal(answer.body['charged'], false, JSON.stringify(answer.body))
    open_ones = answers.filter(({ answer }) => answer.status !== 200).map(({ one }) => one)
    return open_ones.length === 0
  })
  assert.deepEqual(
    order.toSorted((one, other) => one - other),
    waiting.map(({ total }) => total),
  )
  assert.equal(await charged(channel), String(51 * 5_000))
})

test('fifty calls with one voucher: one is charged, and no other is answered', async () => {
  const channel = await used()
  const header = await channel.voucher(2n * PRICE_MINOR)
  const answers = await Promise.all(Array.from({ length: 50 }, () => call(header)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers) if (answer.status !== 200) assertRefused(answer, 'cumulative_amount_mismatch')
  assert.equal(await charged(channel), '10000')
})

async function write(from: PrivateKeyAccount, data: Hex): Promise<void> {
  const chain = defineChain({
    id: 84_532,
    name: 'sandbox',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpc_url] } },
  })
  const wallet = createWalletClient({ account: from, chain, transport: http() })
  const hash = await wallet.sendTransaction({ to: SETTLEMENT, data })
  await until('the transaction', async () => (await rpcRequest(rpc_url)('eth_getTransactionReceipt', [hash])) !== null)
}

test('a refund is for the payer alone, for what was charged and no older voucher', async () => {
  const client = stranger()
  const channel = await used()
  const refund = (header: string) => refundOf(header, client)
  const probe = await fetch(`${app.url}/v1/channels/refund`)
  assert.deepEqual(
    [probe.status, channelEntry(probe.headers.get('payment-required')).extra.receiverAuthorizer],
    [402, channel.config.receiverAuthorizer],
  )
  assert.equal((await call(await channel.voucher(2n * PRICE_MINOR), newInput(), client)).status, 200)
  const wordOf = async (response: Response) => ((await response.json()) as Record<string, unknown>)['invalid_reason']
  assert.equal(await wordOf(await refund(await channel.refund(PRICE_MINOR))), `${PREFIX}cumulative_amount_mismatch`)
  assert.equal(await wordOf(await refund(await channel.refund(2n * PRICE_MINOR, 0n))), `${PREFIX}refund_amount_invalid`)
  assert.equal(await wordOf(await refund(await channel.voucher(3n * PRICE_MINOR))), `${PREFIX}refund_payload`)
  const thief = privateKeyToAccount(generatePrivateKey())
  const stolen = await channelFor(app.url, TOOL, newInput(), thief)
  Object.assign(stolen.config, channel.config)
  assert.equal(await wordOf(await refund(await stolen.rehashed().refund(2n * PRICE_MINOR))), `${PREFIX}voucher_signature`)
  const header = await channel.refund(2n * PRICE_MINOR)
  const done = await refund(header)
  assert.equal(done.status, 200, await done.clone().text())
  assert.partialDeepStrictEqual(settlementIn(done.headers), { success: true, amount: '40000' })
  assert.equal(await held(rpc_url, token, channel.payer.address), 990_000n)
  // Claimed in the same transaction.
  assert.deepEqual(await onChain(channel), ['10000', '10000'])
  assert.equal(await wordOf(await refund(header)), `${PREFIX}refund_no_balance`)
})

test('an empty store takes a channel from the chain: nothing is charged twice, and the rest is the payer’s', async () => {
  const channel = await used()
  assert.equal((await call(await channel.voucher(2n * PRICE_MINOR))).status, 200)
  const claimed = await onChain(channel)
  // As after the loss of the store: the rows are gone, the chain is not.
  const database = new DatabaseSync(join(app.data_dir, 'assay.sqlite'), { timeout: 5_000 })
  const own = `(select number from payment where settler = '${channel.id}')`
  database.exec(`delete from channel where channel_id = '${channel.id}'; delete from payment_answer where payment in ${own}`)
  database.exec(`delete from payment where settler = '${channel.id}'`)
  database.close()
  const next = await call(await channel.voucher(3n * PRICE_MINOR))
  assertRefused(next, 'cumulative_amount_mismatch')
  const { channelState, voucherState } = channelEntry(next.headers.get('payment-required')).extra
  assert.deepEqual([channelState?.['chargedCumulativeAmount'], voucherState], [claimed[1], undefined])
  const total = BigInt(claimed[1] ?? 0) + PRICE_MINOR
  const client = stranger()
  assert.equal((await call(await channel.voucher(total), newInput(), client)).status, 200)
  const refund = await refundOf(await channel.refund(total), client)
  assert.equal(refund.status, 200)
  assert.equal(await held(rpc_url, token, channel.payer.address), 1_000_000n - total)
})

// Last, since it puts the clock of the chain forward.
test('a withdrawal that begins while a channel is used: what was charged is claimed at once, and what is leaving buys nothing', async () => {
  const channel = await used()
  const { payer } = channel
  await rpcRequest(rpc_url)('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
  await write(payer, encodeFunctionData({ abi: CHANNEL_ABI, functionName: 'initiateWithdraw', args: [channel.config, 45_000n] }))
  await until('the claim', async () => (await onChain(channel))[1] === '5000')
  // In the same transaction, with what other channels were charged.
  const [claimed_minor, settled_minor] = await read(`0x21ff6389${addressWord(pay_to)}${addressWord(token)}`)
  assert.deepEqual([settled_minor, await held(rpc_url, token, pay_to)], [claimed_minor, BigInt(claimed_minor ?? -1)])
  assertRefused(await call(await channel.voucher(2n * PRICE_MINOR)), 'cumulative_exceeds_balance')
  await rpcRequest(rpc_url)('evm_increaseTime', [86_400])
  await write(payer, encodeFunctionData({ abi: CHANNEL_ABI, functionName: 'finalizeWithdraw', args: [channel.config] }))
  assert.deepEqual(await onChain(channel), ['5000', '5000'])
  assert.equal(await held(rpc_url, token, payer.address), 995_000n)
})
