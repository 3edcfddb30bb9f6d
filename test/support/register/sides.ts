import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { PAYMENT_HEADER } from '../bulk-payments.ts'
import {
  answerOf,
  FREE_CALL,
  openLoop,
  PAID_CALL,
  paidTerms,
  TARGET_SETTINGS,
  victimPayments,
  type HostileRequest,
  type Measured,
} from '../hostile.ts'
import { newMerchant, signCreation } from '../invoicing.ts'
import { startService } from '../service.ts'

/** The attacked service, and the other process of it that nothing attacks; and the clients of both that measure what is left for them. */

export interface Side {
  url: string
  port: number
  chain: { chain_id: number; token: Hex }
  /** Payments of the demo payer, each for one call. */
  payments: string[]
  stop(): Promise<void>
}

const PAYMENTS = 700

export async function startSide(settings: Record<string, string> = {}): Promise<Side> {
  const data_dir = await mkdtemp(join(tmpdir(), 'assay-register-'))
  const service = await startService({ ASSAY_DATA_DIR: data_dir, ASSAY_TRUSTED_PROXIES: '127.0.0.1', ...TARGET_SETTINGS, ...settings })
  const port = Number(new URL(service.url).port)
  const target = { port, pid: service.process.pid ?? 0, data_dir }
  const {
    accepts: [{ network, asset }],
  } = await paidTerms(port)
  return {
    url: service.url,
    port,
    chain: { chain_id: Number(network.split(':')[1]), token: asset as Hex },
    payments: await victimPayments(target, PAYMENTS),
    async stop() {
      service.process.kill('SIGTERM')
      await service.ended
      await rm(data_dir, { recursive: true, force: true })
    },
  }
}

export const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json' }

export const VICTIMS = ['payer', 'free caller', 'merchant'] as const
export type Victims = Record<(typeof VICTIMS)[number], Measured>

/** Requests a second of each victim. */
const RATES = { payer: 4, free: 20, merchant: 4 }

/** What three clients of networks that attack nothing see; `number` gives them networks of their own. */
export async function prepareVictims(side: Side, number: number, seconds: number): Promise<() => Promise<Victims>> {
  const address = (host: number) => `127.${110 + (number % 100)}.${Math.floor(number / 100)}.${host}`
  const ask = async (request: HostileRequest, from: string) => {
    const { status } = await answerOf(side.port, request, from)
    return { status: status === 201 ? 200 : status }
  }
  const nextMerchantRequest = await merchantRequests(side, address(3), RATES.merchant * seconds)
  return async () => {
    const paid = () => ({ ...PAID_CALL, headers: { ...JSON_TYPE, [PAYMENT_HEADER]: side.payments.pop() ?? '' } })
    const [payer, free, merchant] = await Promise.all([
      openLoop(RATES.payer, seconds, () => ask(paid(), address(1))),
      openLoop(RATES.free, seconds, () => ask({ ...FREE_CALL, headers: JSON_TYPE }, address(2))),
      openLoop(RATES.merchant, seconds, () => ask(nextMerchantRequest(), address(3))),
    ])
    return { payer, 'free caller': free, merchant }
  }
}

/** A merchant that signs an invoice, reads the one before, signs the next. */
async function merchantRequests(side: Side, address: string, count: number): Promise<() => HostileRequest> {
  const merchant = newMerchant()
  const creations = await Promise.all(
    Array.from({ length: Math.ceil(count / 2) + 1 }, async () => {
      const key = randomBytes(8).toString('hex')
      const signature = await signCreation(side.chain, merchant, key)
      const body = JSON.stringify({ amountUsdc: '10', merchant: merchant.address, signature })
      return { path: '/api/invoice/create', headers: { ...JSON_TYPE, 'idempotency-key': key }, body }
    }),
  )
  const first = await answerOf(side.port, creations.pop() ?? { path: '/' }, address)
  if (first.status !== 201) throw new Error(first.text)
  const { invoice_id } = JSON.parse(first.text) as { invoice_id: string }
  let asked = 0
  return () => {
    const creation = asked++ % 2 === 0 ? creations.pop() : undefined
    return creation ?? { method: 'GET', path: `/api/invoice/${invoice_id}`, headers: { accept: 'application/json' } }
  }
}
