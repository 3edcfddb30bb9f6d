/**
 * Journey: a payer with any wallet sends USDC to the deposit address of an invoice, without signing anything for the service; the invoice
 * becomes paid and the merchant receives the money. The service is killed twice meanwhile. HTTP and the chain's RPC only.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createPublicClient, createWalletClient, defineChain, erc20Abi, getAddress, http, parseAbiItem, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { heartbeat, liveDeployment } from '../support/faults-live.ts'
import { BATCH_SETTLER } from '../../src/pure/contracts/deployment.ts'
import { killLeft, startFaulty } from '../support/faults-process.ts'
import { openPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const AMOUNT_MINOR = 25_000_000n
const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')
/** More than anvil's distance of the finalized block from the head. */
const FINAL_BLOCKS = 70

let anvil: Anvil
let stopHeart: () => Promise<void>
before(async () => {
  anvil = await startAnvil()
  stopHeart = heartbeat(anvil)
})
after(async () => {
  killLeft()
  await stopHeart()
  await anvil.stop()
})

interface InvoiceRecord {
  invoice_id: string
  invoice_url: string
  pay_url: string
  status: string
  exceptions: string[]
  eip681_uri: string | null
  amount_paid_minor: string
  payments: { tx_hash: string; matched_by: string }[]
  deposit: { address: Hex; forwards: { tx_hash: string; amount_minor: string }[] }
}

async function json(url: string, init?: RequestInit): Promise<InvoiceRecord> {
  const response = await fetch(url, init)
  const text = await response.text()
  assert.ok(response.ok, text)
  return JSON.parse(text) as InvoiceRecord
}

const STORES = {
  SQLite: () => Promise.resolve({ url: '', stop: () => Promise.resolve() }),
  PostgreSQL: async () => {
    const postgres = await openPostgres()
    return { url: await postgres.createDatabase('deposit'), stop: () => postgres.stop() }
  },
}

/** The first start makes the keys that instances on one PostgreSQL share. */
async function sharedSettings(settings: Record<string, string>, url: string): Promise<Record<string, string>> {
  await (await startFaulty(settings)).stop()
  const data = settings['ASSAY_DATA_DIR'] ?? ''
  const keys = { ASSAY_RECEIPT_KEY_FILE: join(data, 'receipt-keys.json'), ASSAY_SECRET_FILE: join(data, 'secret.key') }
  return { ...settings, ...keys, ASSAY_STORE: url }
}

for (const [name, openStore] of Object.entries(STORES)) {
  test(`paid by a transfer to the deposit address, with ${name} and two kills`, { timeout: 180_000 }, async (t) => {
    const [store, live] = await Promise.all([openStore(), liveDeployment(anvil)])
    t.after(async () => {
      killLeft()
      await store.stop()
      await live.remove()
    })
    const settings = store.url === '' ? live.settings : await sharedSettings(live.settings, store.url)
    const merchant = privateKeyToAccount(generatePrivateKey()).address
    const payer = privateKeyToAccount(generatePrivateKey())
    await anvil.setBalance(payer.address, 10n ** 18n)
    await anvil.mint(payer.address, 2n * AMOUNT_MINOR)

    const first = await startFaulty(settings)
    const invoice = await json(`${first.url}/api/invoice/create`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amountUsdc: '25', merchant, memo: 'Order 4711' }),
    })
    const page = await (await fetch(`${first.url}/pay/${invoice.invoice_id}`, { headers: { accept: 'text/html' } })).text()
    assert.ok(page.includes(invoice.deposit.address), 'the page shows the deposit address')

    // Text of the QR code, which a wallet reads (EIP-681).
    const [, token = '', chain_id = '', to = '', amount = ''] =
      /^ethereum:(0x\w{40})@(\d+)\/transfer\?address=(0x\w{40})&uint256=(\d+)$/.exec(invoice.eip681_uri ?? '') ?? []
    assert.deepEqual([getAddress(to), BigInt(amount)], [invoice.deposit.address, AMOUNT_MINOR])
    const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
    const chain = defineChain({ id: Number(chain_id), name: 'test', nativeCurrency, rpcUrls: { default: { http: [anvil.rpc_url] } } })
    const reader = createPublicClient({ chain, transport: http() })
    const balanceOf = (account: Hex) =>
      reader.readContract({ address: getAddress(token), abi: erc20Abi, functionName: 'balanceOf', args: [account] })
    const wallet = createWalletClient({ account: payer, chain, transport: http() })
    const transfer = {
      address: getAddress(token),
      abi: erc20Abi,
      functionName: 'transfer',
      args: [getAddress(to), BigInt(amount)],
    } as const
    const hash = await wallet.writeContract(transfer)
    await reader.waitForTransactionReceipt({ hash })
    // Else the next process would deploy the contract for batches, and die of that.
    const isDeployed = async () => (await reader.getCode({ address: getAddress(BATCH_SETTLER.address) })) !== undefined
    await until('the contract for batches is deployed', isDeployed, 60_000)
    first.process.kill('SIGKILL')
    await first.ended

    // Killed again between storing the sweep and sending it.
    const second = await startFaulty(settings, { die_at: 'before_send' })
    const path = `/api/invoice/${invoice.invoice_id}`
    await until('the deposit is seen', async () => (await json(second.url + path)).status === 'SETTLED', 60_000)
    const paid = await json(second.url + path)
    assert.deepEqual([paid.payments.map((one) => [one.tx_hash, one.matched_by]), paid.exceptions], [[[hash, 'deposit']], []])
    await anvil.mine(FINAL_BLOCKS)
    assert.equal((await second.ended).signal, 'SIGKILL')
    assert.deepEqual([await balanceOf(merchant), await balanceOf(invoice.deposit.address)], [0n, AMOUNT_MINOR])

    const third = await startFaulty(settings)
    await until('the merchant received the deposit', async () => (await balanceOf(merchant)) === AMOUNT_MINOR, 60_000)
    await anvil.mine(FINAL_BLOCKS)
    await until('the forward is shown', async () => (await json(third.url + path)).deposit.forwards.length > 0, 60_000)
    const record = await json(third.url + path)
    assert.deepEqual([record.status, record.exceptions, record.amount_paid_minor], ['SETTLED', [], String(AMOUNT_MINOR)])
    assert.deepEqual(
      record.payments.map(({ tx_hash }) => tx_hash),
      [hash],
    )
    const logs = await reader.getLogs({ address: getAddress(token), event: TRANSFER, args: { to: merchant }, fromBlock: 0n, strict: true })
    assert.deepEqual(
      logs.map(({ args, transactionHash }) => [args.from, args.value, transactionHash]),
      [[invoice.deposit.address, AMOUNT_MINOR, record.deposit.forwards[0]?.tx_hash]],
    )
    assert.equal(await balanceOf(invoice.deposit.address), 0n)
    await third.stop()
  })
}
