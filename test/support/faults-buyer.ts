import assert from 'node:assert/strict'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import type { Anvil } from './anvil.ts'
import { restCall } from './app.ts'
import { witnessOf, type Live } from './faults-live.ts'
import { held, signTerms, termsOf, type Signed } from './paying.ts'
import { until } from './until.ts'

export const TOOL = 'iban-check'
export const INPUT = { iban: 'GB82WEST12345698765432' }
const BALANCE_MINOR = 1_000_000n

/** Somebody with tokens and one signed payment, who asks until there is an answer and never signs twice. */
export interface Buyer {
  account: PrivateKeyAccount
  signed: Signed
  price_minor: bigint
  /** Every status that came, in order; null: the connection broke. */
  met: (number | null)[]
}

export type Reply = Awaited<ReturnType<typeof restCall>>

let minting: Promise<unknown> = Promise.resolve()

/** A new account with tokens. One after the other: the node picks the account nonce of the token's owner, and two at once may get the same. */
export async function holder(anvil: Anvil, balance_minor = BALANCE_MINOR): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  const minted = minting.then(() => anvil.mint(account.address, balance_minor))
  minting = minted.catch(() => undefined)
  await minted
  return account
}

/** Signs the terms that the service gives for the call now. */
export async function newBuyer(anvil: Anvil, url: string, account?: PrivateKeyAccount): Promise<Buyer> {
  const payer = account ?? (await holder(anvil))
  // For a quarter of an hour, since processes die and clocks are put forward meanwhile.
  const validBefore = BigInt(Math.floor(Date.now() / 1_000) + 900)
  const signed = await signTerms(payer, await termsOf(url, TOOL, INPUT), { validBefore })
  return { account: payer, signed, price_minor: signed.message.value, met: [] }
}

/** One try. Null: the connection broke before an answer. */
export async function send(url: string, buyer: Buyer): Promise<Reply | null> {
  const reply = await restCall(url, TOOL, INPUT, { 'payment-signature': buyer.signed.v2 }).catch(() => null)
  buyer.met.push(reply?.status ?? null)
  return reply
}

/** The same payment again and again until it is answered; fails at the first new demand for payment. */
export async function insist(url: string, buyer: Buyer, bound_ms = 60_000): Promise<Reply> {
  const replies: Reply[] = []
  await until(
    'the answer to a payment that is sent again',
    async () => {
      const reply = await send(url, buyer)
      if (reply === null) return false
      assert.ok(
        [200, 202, 503].includes(reply.status),
        `met ${reply.status} ${JSON.stringify(reply.body)} after ${String(buyer.met.slice(-6))}`,
      )
      if (reply.status === 200) replies.push(reply)
      return reply.status === 200
    },
    bound_ms,
  )
  const [answer] = replies
  assert.ok(answer !== undefined)
  return answer
}

/** The first answer that takes a side: a refusal that charges nothing and asks to come again may stand before it, but only before `sent`. */
export async function firstAnswer(url: string, buyer: Buyer, sent: () => boolean): Promise<Reply> {
  const found: Reply[] = []
  await until('an answer other than 503', async () => {
    const reply = await send(url, buyer)
    assert.ok(reply !== null)
    if (reply.status === 503) assert.deepEqual([reply.body['charged'], reply.body['retryable'], sent()], [false, true, false])
    else found.push(reply)
    return reply.status !== 503
  })
  const [answer] = found
  assert.ok(answer !== undefined)
  return answer
}

export async function statusOf(url: string, { signed }: Buyer): Promise<Record<string, unknown>> {
  const { from, nonce } = signed.message
  return (await (await fetch(`${url}/v1/payments/${from}/${nonce}`)).json()) as Record<string, unknown>
}

/** How often the chain shows the payment: its authorization used, and in the same transaction a transfer of the price. The two must agree. */
export async function settlements(
  anvil: Anvil,
  { pay_to }: Pick<Live, 'pay_to'>,
  { account, signed, price_minor }: Buyer,
): Promise<number> {
  const witness = witnessOf(anvil)
  const used = (await witness.used(account.address)).filter(({ value }) => value === signed.message.nonce)
  const moved = (await witness.transfers(account.address, pay_to)).filter(({ value }) => value === price_minor)
  const both = moved.filter(({ transaction }) => used.some((one) => one.transaction === transaction))
  assert.equal(used.length, both.length, 'used authorizations and transfers')
  return used.length
}

/** The answer is whole, the receipt is for this payment, and the chain moved the price once. */
export async function assertPaidOnce(anvil: Anvil, live: Pick<Live, 'pay_to'>, url: string, buyer: Buyer, reply: Reply): Promise<void> {
  const { from, nonce } = buyer.signed.message
  assert.equal(reply.status, 200)
  assert.equal((reply.body['result'] as { valid: boolean }).valid, true)
  const receipt = reply.body['receipt'] as Record<string, string>
  assert.equal(verifyReceipt(receipt).valid, true)
  assert.deepEqual([receipt['nonce'], receipt['payer']], [nonce, from.toLowerCase()])
  const { transaction } = reply.body['settlement'] as { transaction: Hex }
  const status = await statusOf(url, buyer)
  assert.deepEqual([status['state'], status['charged'], status['transaction']], ['settled', true, transaction])
  assert.equal(await settlements(anvil, live, buyer), 1)
  assert.equal(await held(anvil.rpc_url, anvil.token, buyer.account.address), BALANCE_MINOR - buyer.price_minor)
  const settled = (await anvil.rpc('eth_getTransactionReceipt', [transaction])) as { status: string } | null
  assert.equal(settled?.status, '0x1')
}

/** Nothing of the payer's moved. */
export async function assertUntouched(anvil: Anvil, live: Pick<Live, 'pay_to'>, buyer: Buyer): Promise<void> {
  assert.equal(await settlements(anvil, live, buyer), 0)
  assert.equal(await held(anvil.rpc_url, anvil.token, buyer.account.address), BALANCE_MINOR)
}
