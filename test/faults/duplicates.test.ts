/** Every paid request arrives twice, 0 to 10 ms apart, as a network that retries delivers it: one charge, and the same answer to both. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as later } from 'node:timers/promises'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { channelEntry, PayingChannel } from '../support/channels.ts'
import { runs } from '../support/counts.ts'
import { balance, boughtCode, event, refund, signedHeaders, WEBHOOK_SECRET } from '../support/credits.ts'
import { holder, INPUT, TOOL } from '../support/faults-buyer.ts'
import { witnessOf } from '../support/faults-live.ts'
import { killLeft } from '../support/faults-process.ts'
import { newMerchant, signFor, type InvoiceShown } from '../support/invoicing.ts'
import { Asking, type Reply, type Request } from '../support/mixed-asking.ts'
import { startMixed, type MixedDeployment } from '../support/mixed-deployment.ts'
import { stranger } from '../support/paying-calls.ts'
import { held, readRequired, signTerms } from '../support/paying.ts'
import { openPostgres } from '../support/postgres.ts'

const ROUNDS = runs(5, 20)
const APART_MS = 10
const CALL = `/v1/tools/${TOOL}/call`
const BALANCE_MINOR = 1_000_000_000n

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(kind === 'sqlite' ? 'one service over SQLite' : 'two services over PostgreSQL', { timeout: 400_000 }, () => {
    let postgres: Awaited<ReturnType<typeof openPostgres>> | undefined
    let deployment: MixedDeployment
    let asking: Asking
    let files: Awaited<ReturnType<typeof stripeFiles>>
    let payer: PrivateKeyAccount
    before(async () => {
      postgres = kind === 'postgres' ? await openPostgres() : undefined
      const store = postgres === undefined ? {} : { store: await postgres.createDatabase('duplicates') }
      files = await stripeFiles()
      deployment = await startMixed({ ...store, services: kind === 'postgres' ? 2 : 1, settings: files.settings, chain_id: 84_532 })
      asking = new Asking(deployment)
      payer = await holder(deployment.anvil, BALANCE_MINOR)
    })
    after(async () => {
      killLeft()
      await deployment.stop()
      await postgres?.stop()
      await rm(files.folder, { recursive: true, force: true })
    })

    /** Both copies, the second one to the other service where there are two; each is sent again while it has no answer. */
    async function twice(request: Request, round: number, statuses: readonly number[] = [200]): Promise<Reply> {
      const [one, other] = await Promise.all([
        asking.until(request, statuses),
        later(round % (APART_MS + 1)).then(() => asking.until(request, statuses)),
      ])
      assert.deepEqual([other.status, other.body], [one.status, one.body])
      return one
    }

    async function required(path: string, client: string, body: unknown) {
      const terms = await asking.until({ path, client, body }, [402])
      return readRequired(terms.headers.get('payment-required') ?? '')
    }

    const usedBy = async (account: PrivateKeyAccount, nonce: Hex) =>
      (await witnessOf(deployment.anvil).used(account.address)).filter(({ value }) => value === nonce).length

    test('scheme exact', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const client = stranger()
        const signed = await signTerms(payer, await required(CALL, client, { input: INPUT }))
        await twice({ path: CALL, body: { input: INPUT }, headers: { 'payment-signature': signed.v2 }, client }, round)
        assert.equal(await usedBy(payer, signed.message.nonce), 1)
      }
      const sent = await witnessOf(deployment.anvil).transfers(payer.address, deployment.live.pay_to)
      assert.equal(sent.length, ROUNDS)
    })

    test('a prepaid credit with an idempotency key', async () => {
      const { code } = await boughtCode(deployment.urls()[0] ?? '', 500)
      const left = async () => (await balance(deployment.urls()[0] ?? '', code)).body['available']
      const begun = BigInt(String(await left()))
      let prices = 0n
      for (let round = 0; round < ROUNDS; round++) {
        const headers = { 'x-credit': code, 'idempotency-key': `round-${round}` }
        const { body } = await twice({ path: CALL, body: { input: INPUT }, headers, client: stranger() }, round)
        prices += BigInt((body['receipt'] as { amount: string }).amount)
      }
      assert.equal(begun - BigInt(String(await left())), prices)
    })

    test('the notice of a refund', async () => {
      const { code, n } = await boughtCode(deployment.urls()[0] ?? '', 500)
      for (let round = 0; round < ROUNDS; round++) {
        const payload = event('charge.refunded', refund(n, (round + 1) * 10))
        const request = { path: '/api/credits/webhook', body: payload, headers: signedHeaders(JSON.stringify(payload)), client: stranger() }
        await twice(request, round)
      }
      const { body } = await balance(deployment.urls()[0] ?? '', code)
      assert.equal(body['available'], String(5_000_000 - ROUNDS * 100_000))
    })

    for (const way of ['x402', 'relay'] as const) {
      test(`the payment of an invoice by ${way}`, async () => {
        const merchant = newMerchant().address
        for (let round = 0; round < ROUNDS; round++) {
          const client = stranger()
          const { body: made } = await asking.until({ path: '/api/invoice/create', body: { amountUsdc: '2', merchant }, client }, [201])
          const invoice = made as InvoiceShown
          const path = `/api/invoice/${invoice.invoice_id}/pay`
          const { chain_id, token } = deployment.anvil
          if (way === 'relay') {
            const { body } = await signFor({ chain_id, token }, payer, invoice)
            await twice({ path, body, client }, round)
          } else {
            const signed = await signTerms(payer, await required(path, client, undefined))
            await twice({ path, headers: { 'payment-signature': signed.v2 }, body: {}, client }, round)
          }
        }
        const sent = await witnessOf(deployment.anvil).transfers(payer.address, merchant)
        assert.deepEqual(
          [sent.length, await held(deployment.anvil.rpc_url, deployment.anvil.token, merchant)],
          [ROUNDS, BigInt(ROUNDS) * 2_000_000n],
        )
      })
    }

    test('the refund of a channel', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const client = stranger()
        const account = await holder(deployment.anvil, 100_000n)
        const terms = await asking.until({ path: CALL, body: { input: INPUT }, client }, [402])
        const channel = new PayingChannel(account, channelEntry(terms.headers.get('payment-required')))
        const price_minor = BigInt(channel.entry.amount)
        const deposit = { 'payment-signature': await channel.deposit(10n * price_minor, price_minor) }
        await asking.until({ path: CALL, body: { input: INPUT }, headers: deposit, client }, [200])
        const headers = { 'payment-signature': await channel.refund(price_minor) }
        await twice({ path: '/v1/channels/refund', headers, client }, round)
        assert.equal(await held(deployment.anvil.rpc_url, deployment.anvil.token, account.address), 100_000n - price_minor)
      }
    })
  })
}

/** Files with the secrets of the card rail. */
async function stripeFiles(): Promise<{ folder: string; settings: Record<string, string> }> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-duplicates-'))
  const [key, secret] = [join(folder, 'stripe.key'), join(folder, 'stripe-webhook.key')]
  await writeFile(key, 'sk_test_of_the_tests\n', { mode: 0o600 })
  await writeFile(secret, `${WEBHOOK_SECRET}\n`, { mode: 0o600 })
  return { folder, settings: { ASSAY_STRIPE_SECRET_KEY_FILE: key, ASSAY_STRIPE_WEBHOOK_SECRET_FILE: secret } }
}
