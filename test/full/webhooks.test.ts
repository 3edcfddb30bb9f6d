/**
 * 1,000 events through receivers that fail, while the service is killed three times: each event arrives, and its webhook-id names it alone. The
 * service is a process of its own, and everything goes over HTTP.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { keccak256, toBytes, type Hex } from 'viem'
import { newMerchant, send, signAsMerchant, type InvoiceShown } from '../support/invoicing.ts'
import { startReceiver, type Behaviour, type Receiver } from '../support/receiver.ts'
import { startService, type Service } from '../support/service.ts'
import { STORE_DRIVERS, type StoreDriver } from '../support/store-drivers.ts'
import { until } from '../support/until.ts'

const CHAIN = { chain_id: 84_532, token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' } as const
const MERCHANTS = 10
const INVOICES = 50
/** Each invoice is created signed and voided: 1,000 events. */
const EVENTS = MERCHANTS * INVOICES * 2
const KILLS = 3
/** Share of the events whose first attempts fail, by a hash of the id: a number below 51 of 256 is 20 %. */
const FAILING_BELOW = 51

/** 20 % of the events fail at first: by a status, a reset connection or two failures in a row. */
const failing: Behaviour = ({ id }, attempt) => {
  const [share = 0, way = 0] = toBytes(keccak256(toBytes(id)))
  if (share >= FAILING_BELOW || attempt > 1 + (way % 2)) return 204
  return way % 3 === 0 ? 'reset' : 503
}

type Merchant = ReturnType<typeof newMerchant>

for (const open of STORE_DRIVERS) {
  describe(`webhooks over restarts: ${open.name}`, () => {
    let service: Service | null = null
    let driver: StoreDriver | null = null
    let data_dir = ''
    const receivers: Receiver[] = []
    after(async () => {
      service?.process.kill('SIGTERM')
      await service?.ended
      for (const receiver of receivers) await receiver.stop()
      await driver?.stop()
      await rm(data_dir, { recursive: true, force: true })
    })

    test('none of 1,000 events is lost, and no id is used for two', { timeout: 500_000 }, async () => {
      data_dir = await mkdtemp(join(tmpdir(), 'assay-webhooks-'))
      driver = await open()
      const { target } = await driver.fresh()
      await writeFile(join(data_dir, 'secret'), randomBytes(32).toString('hex'), { mode: 0o600 })
      await writeFile(join(data_dir, 'receipt.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
      const settings: Record<string, string> = {
        ASSAY_DATA_DIR: data_dir,
        ASSAY_STORE: target,
        ASSAY_RECEIPT_KEY_FILE: join(data_dir, 'receipt.key'),
        ASSAY_SECRET_FILE: join(data_dir, 'secret'),
        ASSAY_TRUSTED_PROXIES: '127.0.0.1',
        ASSAY_ADMIN_PORT: 'off',
      }
      let running = (service = await startService(settings))
      const merchants = Array.from({ length: MERCHANTS }, newMerchant)
      for (const merchant of merchants) receivers.push(await subscribed(running.url, merchant))

      let restarted = Promise.resolve()
      const restart = async () => {
        running.process.kill('SIGKILL')
        await running.ended
        running = service = await startService(settings)
      }
      /** Repeats a request that a kill interrupted: each of them is idempotent. */
      const persistently = async <Value>(act: () => Promise<Value>): Promise<Value> => {
        for (;;) {
          await restarted
          try {
            return await act()
          } catch (error) {
            // A connection that the kill cut: by then the restart has begun.
            if (!(error instanceof TypeError)) throw error
          }
        }
      }
      let done = 0
      const expected = new Set<string>()
      const work = merchants.map(async (merchant, place) => {
        for (let number = 0; number < INVOICES; number++) {
          const key = `order-${place}-${number}`
          const invoice = await persistently(() =>
            createdSigned(running.url, merchant, { 'idempotency-key': key, 'x-forwarded-for': `10.${place}.${number}.1` }),
          )
          await persistently(() => voided(running.url, merchant, invoice))
          for (const type of ['invoice.created', 'invoice.voided']) expected.add(`${type} ${invoice.invoice_id}`)
          done += 1
        }
      })
      for (let kill = 1; kill <= KILLS; kill++) {
        await until(`part ${kill} of the work`, () => done >= (kill * MERCHANTS * INVOICES) / (KILLS + 1), 120_000)
        restarted = restart()
        await restarted
      }
      await Promise.all(work)
      const arrived = () =>
        new Map(receivers.flatMap(({ accepted }) => accepted).map(({ id, type, data }) => [id, `${type} ${String(data['invoice_id'])}`]))
      await until('all events', () => arrived().size >= EVENTS, 240_000)
      const ids = arrived()
      assert.equal(expected.size, EVENTS)
      assert.deepEqual(new Set(ids.values()), expected)
      assert.equal(ids.size, EVENTS)
      // An id that named two events would have lost one of them above; and no event has two ids.
      const names = receivers.flatMap(({ accepted }) => accepted).map(({ id, type, data }) => `${id} ${type} ${String(data['invoice_id'])}`)
      assert.equal(new Set(names).size, EVENTS)
      const requests = receivers.reduce((sum, receiver) => sum + receiver.requests(), 0)
      assert.ok(requests > EVENTS * 1.1, `${requests} requests: too few attempts failed`)
    })
  })
}

async function subscribed(origin: string, merchant: Merchant): Promise<Receiver> {
  const receiver = await startReceiver(failing)
  const request = { url: receiver.url, account: merchant.address }
  const asked = await send(`${origin}/v1/webhooks`, request)
  const { typed_data, submit } = asked.body['sign'] as { typed_data: Parameters<Merchant['signTypedData']>[0]; submit: { body: object } }
  const signature = await merchant.signTypedData(typed_data)
  const made = await send(`${origin}/v1/webhooks`, { ...request, ...submit.body, signature })
  assert.equal(made.status, 201, made.text)
  receiver.secret = made.body['secret'] as string
  return receiver
}

/** The key counts for one client, so each retry comes from the same address. */
async function createdSigned(origin: string, merchant: Merchant, headers: Record<string, string>): Promise<InvoiceShown> {
  const made = await send(`${origin}/api/invoice/create`, { amountUsdc: '1.00', merchant: merchant.address }, headers)
  assert.ok(made.status === 201 || made.status === 200, made.text)
  const invoice = made.body as InvoiceShown
  const signature: Hex = await signAsMerchant(CHAIN, merchant, invoice, 'Issue')
  const signed = await send(`${origin}/api/invoice/${invoice.invoice_id}/sign`, { signature })
  assert.equal(signed.status, 200, signed.text)
  return invoice
}

async function voided(origin: string, merchant: Merchant, invoice: InvoiceShown): Promise<void> {
  const signature = await signAsMerchant(CHAIN, merchant, invoice, 'Void')
  const answer = await send(`${origin}/api/invoice/${invoice.invoice_id}/void`, { signature })
  // A void whose answer was lost in a kill is refused the second time.
  assert.ok(answer.status === 200 || answer.body['code'] === 'INVOICE_NOT_VOIDABLE', answer.text)
}
