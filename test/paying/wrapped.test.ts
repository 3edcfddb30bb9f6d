/** Wallets that sign in a wrapper of ERC-6492, resent as they were: what buys an answer once gets it again, and never terms to sign anew. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { serializeErc6492Signature, type Hex } from 'viem'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { invoiceUrl, issue, send } from '../support/invoicing.ts'
import { call, INPUT, TOOL, v2, type Answered } from '../support/paying-calls.ts'
import { authorizationsUsed } from '../support/paying-chain.ts'
import { startLiveWorld, startWorld, type World } from '../support/paying-world.ts'
import { fund, headersOf, readRequired, signTerms, termsOf, type Required } from '../support/paying.ts'

/** Code that returns the word for yes of ERC-1271, whatever it is asked. */
const SAYS_YES = '0x631626ba7e60e01b60005260206000f3'
/** In no wrapper, in one with a factory, in one without. */
const FACTORIES: (Hex | null)[] = [null, `0x${'12'.repeat(20)}`, `0x${'00'.repeat(20)}`]

let world: World
let anvil: Anvil
let live: World

before(async () => {
  world = await startWorld()
  anvil = await startAnvil()
  live = await startLiveWorld({ anvil })
})
after(async () => {
  await world.stop()
  await live.stop()
  await anvil.stop()
})

/** A payment of a new contract wallet for these terms. */
async function walletPayment({ chain }: World, required: Required, factory: Hex | null): Promise<{ from: Hex; v2: string }> {
  const owner = privateKeyToAccount(generatePrivateKey())
  const { address: from } = privateKeyToAccount(generatePrivateKey())
  await chain.rpc('anvil_setCode', [from, SAYS_YES])
  await fund(chain.rpc_url, chain.token, from, 10_000_000n)
  const { message, signature } = await signTerms(owner, required, { from })
  const given = factory === null ? signature : serializeErc6492Signature({ address: factory, data: '0x1234', signature })
  return { from, v2: headersOf(required, message, given).v2 }
}

interface Sendable {
  from: Hex
  send(): Promise<Answered>
}

async function forCall(own: World, factory: Hex | null): Promise<Sendable> {
  const payment = await walletPayment(own, await termsOf(own.url, TOOL, INPUT), factory)
  return { from: payment.from, send: () => call(own.url, v2(payment)) }
}

async function forInvoice(own: World, factory: Hex | null): Promise<Sendable> {
  const url = `${invoiceUrl(own, await issue(own, '2'))}/pay`
  const payment = await walletPayment(own, readRequired((await send(url)).headers.get('payment-required') ?? ''), factory)
  return { from: payment.from, send: () => send(url, {}, v2(payment)) }
}

for (const [what, make] of [
  ['call', forCall],
  ['invoice', forInvoice],
] as const) {
  for (const factory of FACTORIES) {
    const name = `${what}, factory ${factory ?? 'of no wrapper'}`
    test(`settled: the resend gets the same bytes (${name})`, async () => {
      const payment = await make(world, factory)
      const [first, again] = [await payment.send(), await payment.send()]
      assert.equal(first.status, 200, first.text)
      assert.deepEqual([again.status, again.text], [200, first.text])
      assert.equal((await authorizationsUsed(world.chain, payment.from)).length, 1)
    })
  }
}

test('on its way: the resend is told to wait, and is offered no terms', async () => {
  const payments: Sendable[] = []
  for (const factory of FACTORIES) payments.push(await forCall(live, factory), await forInvoice(live, factory))
  await anvil.automine(false)
  try {
    for (const round of ['first', 'again']) {
      for (const { status, body, headers } of await Promise.all(payments.map((payment) => payment.send()))) {
        assert.deepEqual([round, status, body['code'], headers.get('payment-required')], [round, 202, 'PAYMENT_PENDING', null])
      }
    }
  } finally {
    await anvil.automine(true)
    await anvil.mine()
  }
})
