/** Audit of a mixed load by the chain, the ledger and the recorded answers. The chain is read by viem. */
import assert from 'node:assert/strict'
import { createPublicClient, http, parseAbiItem, type Hex } from 'viem'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { proveLedger } from '../../src/service/payments/prove-ledger.ts'
import { CHANNEL_ABI, channelEntry, PayingChannel, SETTLEMENT } from './channels.ts'
import type { InvoiceShown } from './invoicing.ts'
import type { ChannelBook } from './mixed-actors.ts'
import type { MixedDeployment } from './mixed-deployment.ts'
import type { MixedLoad } from './mixed-load.ts'
import { keyOf, shownSentence } from './sentences.ts'
import { until } from './until.ts'

const CLOSED_MS = 120_000
const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/** No sentence of the whole load was untrue, and none told a payer to pay again while it knew nothing. */
export async function assertTrueSentences({ asking: { transcript } }: MixedLoad): Promise<void> {
  assert.deepEqual(
    (await transcript.untrue()).map(shownSentence),
    [],
    'answers that say "not charged" about a payment that is on the chain',
  )
  assert.deepEqual(transcript.careless().map(shownSentence), [], 'answers that say "sign a new one" while the state is unknown')
}

/** For what a payer wanted once, at most one of the authorizations that it signed is used on the chain. Returns the number of orders paid. */
export async function assertChargedOnce({ asking: { transcript }, books }: MixedLoad): Promise<number> {
  const used = await transcript.usedBlocks()
  const paid = books.exact.map(({ payer, nonces }) => nonces.filter((nonce) => used.has(keyOf({ payer, nonce }))).length)
  assert.deepEqual(
    paid.filter((count) => count > 1),
    [],
    'orders that were paid more than once',
  )
  return paid.filter((count) => count === 1).length
}

/** Nothing was lost: every order is paid and answered once, the proof of the ledger finds no difference, records of invoices equal the chain. */
export async function assertNothingLost(deployment: MixedDeployment, load: MixedLoad): Promise<string> {
  await until('no payment is open', async () => (await deployment.openPayments()) === 0, CLOSED_MS)
  const { books } = load
  assert.equal(await assertChargedOnce(load), books.exact.length)
  assert.ok(books.exact.every(({ answer }) => answer !== null))
  await assertTrueSentences(load)
  for (const book of books.channels) await assertChannel(deployment, load, book)
  await assertInvoices(deployment, load)
  return assertProved(deployment, load)
}

/** The service has charged what it has answered, and the chain has claimed no more. */
async function assertChannel(
  { anvil }: MixedDeployment,
  { asking }: MixedLoad,
  { channel, client, charged_minor, last }: ChannelBook,
): Promise<void> {
  if (last === null) return
  const path = '/v1/tools/iban-check/call'
  const terms = await asking.until({ path, body: { input: { iban: 'none' } }, client }, [402])
  const now = new PayingChannel(channel.payer, channelEntry(terms.headers.get('payment-required')))
  const header = await now.voucher(BigInt(now.entry.amount))
  // A voucher that was used before, with another input: refused with the state of the channel.
  const request = { path, body: { input: { iban: 'none' } }, headers: { 'payment-signature': header }, client }
  const refused = await asking.until(request, [402])
  const { channelState } = channelEntry(refused.headers.get('payment-required')).extra
  assert.equal(channelState?.['chargedCumulativeAmount'], String(charged_minor), 'charged by the channel')
  assert.ok((await claimed(anvil, channel.id)) <= charged_minor, 'claimed on the chain')
  const again = await asking.pay(last.request, { payer: channel.payer.address, nonce: last.nonce }, 'voucher')
  assert.deepEqual(again.body, last.answer.body)
}

export async function claimed({ rpc_url }: Pick<MixedDeployment['anvil'], 'rpc_url'>, id: Hex): Promise<bigint> {
  const client = createPublicClient({ transport: http(rpc_url) })
  const [, total_minor] = await client.readContract({ address: SETTLEMENT, abi: CHANNEL_ABI, functionName: 'channels', args: [id] })
  return total_minor
}

/** Each record lists exactly the transfers that the chain shows for its invoice, or the statement that its merchant signed. */
async function assertInvoices({ anvil }: MixedDeployment, { asking, books }: MixedLoad): Promise<void> {
  const client = createPublicClient({ transport: http(anvil.rpc_url) })
  const logs = await client.getLogs({ address: anvil.token, event: TRANSFER, fromBlock: 0n, strict: true })
  const between = (from: Hex, to: Hex) =>
    logs.filter(({ args }) => args.from.toLowerCase() === from.toLowerCase() && args.to.toLowerCase() === to.toLowerCase())
  const relayed = new Map<string, string>()
  for (const { rail, payer, invoice, client: asker } of books.invoices) {
    const path = `/api/invoice/${invoice.invoice_id}`
    await until(
      `${path} is settled`,
      async () => (await asking.until({ path, client: asker }, [200])).body['status'] === 'SETTLED',
      CLOSED_MS,
    )
    const record = (await asking.until({ path, client: asker }, [200])).body as InvoiceShown
    assert.deepEqual(record.exceptions, [], `${rail} ${path}`)
    if (rail === 'bank') assert.deepEqual([record['paid_by'], record.payments], ['bank', []])
    else if (rail === 'transfer') {
      const { address } = invoice['deposit'] as { address: Hex }
      const seen = between(payer ?? '0x', address).map(({ transactionHash }) => transactionHash)
      assert.equal(seen.length, 1)
      assert.deepEqual(
        record.payments.map(({ tx_hash }) => tx_hash),
        seen,
      )
    } else {
      assert.equal(record.payments.length, 1)
      relayed.set(record.payments[0]?.tx_hash ?? '', invoice.invoice_id)
    }
  }
  // One transaction may carry several payers, and none carries two payments of one: so each payment has one of its own.
  for (const payer of new Set(books.invoices.flatMap((order) => (order.rail === 'relay' && order.payer !== null ? [order.payer] : [])))) {
    const mine = books.invoices.filter((order) => order.rail === 'relay' && order.payer === payer)
    const sent = mine.length === 0 ? [] : between(payer, mine[0]?.invoice.merchant ?? '0x')
    assert.equal(sent.length, mine.length, 'transfers to the merchant of relayed payments')
    assert.ok(sent.every(({ transactionHash }) => relayed.has(transactionHash)))
  }
}

async function assertProved({ anvil, live, openStore }: MixedDeployment, { books }: MixedLoad): Promise<string> {
  const store = await openStore()
  const chain = createChain({ urls: [anvil.rpc_url], chain_id: anvil.chain_id, clock: systemClock })
  try {
    const proof = await proveLedger({
      payments: store.payments,
      channels: { store: store.channels, chain },
      chain,
      token: anvil.token.toLowerCase(),
      pay_to: live.pay_to.toLowerCase(),
      onProgress: () => undefined,
    })
    const found = { rows: proof.rows.count, foreign: proof.foreign.count, differences: proof.differences.first }
    assert.deepEqual(found, { rows: books.exact.length, foreign: 0, differences: [] })
    const charged_minor = books.channels.reduce((sum, book) => sum + book.charged_minor, 0n)
    assert.partialDeepStrictEqual(proof.channels, { charged_minor, foreign_minor: 0n, differences: [] })
    assert.equal(proof.proved, true)
    return `ledger proved: ${proof.rows.count} rows, channels charged ${charged_minor} and claimed ${proof.channels?.claimed_minor ?? 0n} minor units, 0 differences`
  } finally {
    await store.close()
  }
}
