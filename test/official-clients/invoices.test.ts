/** The official HTTP clients, unmodified, pay an invoice from its pay_url alone, by whichever method they ask it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { wrapAxiosWithPayment, x402Client as AxiosClient } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios from 'axios'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch'
import { openShop, seenOnChain, type Shop } from './shop.ts'

/** As much as the newer clients pay without being asked, and as little as is carried to the chain. */
const ONE_USDC = 1_000_000n

let shop: Shop
before(async () => {
  shop = await openShop()
})
after(() => shop.stop())

type Pay = (url: string, payer: PrivateKeyAccount, init: RequestInit) => Promise<{ status: number; body: unknown }>

const second = (payer: PrivateKeyAccount) => new x402Client().register('eip155:*', new ExactEvmScheme(payer))
const got = async (response: Response) => ({ status: response.status, body: (await response.json()) as unknown })

const CLIENTS: Record<string, Pay> = {
  'x402-fetch': async (url, payer, init) => got(await wrapFetchV1(fetch, payer, ONE_USDC)(url, init)),
  '@x402/fetch': async (url, payer, init) => got(await wrapFetchWithPayment(fetch, second(payer))(url, init)),
  '@x402/axios': async (url, payer, { method = 'GET', body }) => {
    const client = new AxiosClient().register('eip155:*', new ExactEvmScheme(payer))
    const paying = wrapAxiosWithPayment(axios.create(), client)
    const { status, data } = await paying.request<unknown>({ url, method, ...(body === undefined ? {} : { data: body }) })
    return { status, body: data }
  },
}

const REQUESTS: Record<string, RequestInit> = {
  GET: { method: 'GET' },
  POST: { method: 'POST' },
  'POST of an empty object': { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
}

for (const [name, pay] of Object.entries(CLIENTS)) {
  for (const [how, init] of Object.entries(REQUESTS)) {
    test(`${name} pays an invoice by ${how}`, async () => {
      const payer = await shop.payer(ONE_USDC)
      const merchant = privateKeyToAccount(generatePrivateKey()).address.toLowerCase()
      const made = await fetch(`${shop.url}/api/invoice/create`, {
        method: 'POST',
        body: JSON.stringify({ amountUsdc: '1', merchant }),
      })
      const invoice = (await made.json()) as { invoice_id: string; pay_url: string }
      const paid = await pay(invoice.pay_url, payer, init)
      assert.equal(paid.status, 200, JSON.stringify(paid.body))
      const { transfers } = await seenOnChain(shop, payer.address)
      const { settlement, ...rest } = paid.body as { settlement: { transaction: string } }
      assert.deepEqual(rest, { invoice_id: invoice.invoice_id, paid_minor: '1000000' })
      assert.deepEqual(transfers, [{ to: merchant, value: ONE_USDC, transaction: settlement.transaction }])
    })
  }
}
