/**
 * Journey 5: a payer with any wallet sends test USDC to the deposit address of an invoice, without signing anything for the service; the invoice becomes
 * paid and the merchant receives the money. The service is killed twice meanwhile.
 */
import assert from 'node:assert/strict'
import { erc20Abi, getAddress, parseAbiItem, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { until } from '../../support/until.ts'
import { clientsAt, journey, type Json } from './stranger.ts'

const AMOUNT_MINOR = 25_000_000n
const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

journey('a payer sends USDC to the deposit address, and the merchant receives it', {}, async (given) => {
  const payer = privateKeyToAccount(await given.payer())
  const merchant = privateKeyToAccount(generatePrivateKey()).address
  const made = await given.post('/api/invoice/create', { amountUsdc: '25', merchant, memo: 'Order 4711' })
  assert.equal(made.status, 201, made.text)
  const path = `/api/invoice/${String(made.body['invoice_id'])}`
  const deposit = (made.body['deposit'] as { address: Hex }).address
  const page = await (await fetch(`${given.url()}/pay/${String(made.body['invoice_id'])}`, { headers: { accept: 'text/html' } })).text()
  assert.ok(page.includes(deposit), 'the page shows the deposit address')

  // Text of the QR code, which a wallet reads (EIP-681).
  const uri = String(made.body['eip681_uri'])
  const [, token = '', chain_id = '', to = '', amount = ''] =
    /^ethereum:(0x\w{40})@(\d+)\/transfer\?address=(0x\w{40})&uint256=(\d+)$/.exec(uri) ?? []
  assert.deepEqual([getAddress(to), BigInt(amount)], [deposit, AMOUNT_MINOR])
  const { reader, writer } = clientsAt(given.url(), Number(chain_id), payer)
  const address = getAddress(token)
  const hash = await writer.writeContract({ address, abi: erc20Abi, functionName: 'transfer', args: [getAddress(to), BigInt(amount)] })
  assert.equal((await reader.waitForTransactionReceipt({ hash })).status, 'success')
  await given.crash()
  await until('the deposit is seen', async () => (await given.get(path)).body['status'] === 'SETTLED', 90_000)
  await given.crash()

  const held = (account: Hex) => reader.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [account] })
  await until('the merchant received the deposit', async () => (await held(merchant)) === AMOUNT_MINOR, 90_000)
  const forwardsOf = (record: Json) => (record['deposit'] as { forwards: { tx_hash: string }[] }).forwards
  await until('the forward is shown', async () => forwardsOf((await given.get(path)).body).length > 0, 90_000)
  const record = (await given.get(path)).body
  assert.deepEqual([record['status'], record['exceptions'], record['amount_paid_minor']], ['SETTLED', [], String(AMOUNT_MINOR)])
  const payments = (record['payments'] as Json[]).map(({ tx_hash, matched_by }) => [tx_hash, matched_by])
  assert.deepEqual(payments, [[hash, 'deposit']])
  const logs = await reader.getLogs({ address, event: TRANSFER, args: { to: merchant }, fromBlock: 0n, strict: true })
  assert.deepEqual(
    logs.map(({ args, transactionHash }) => [args.from, args.value, transactionHash]),
    [[deposit, AMOUNT_MINOR, forwardsOf(record)[0]?.tx_hash]],
  )
  assert.equal(await held(deposit), 0n)
})
