import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { paidTerms, TARGET_SETTINGS, victimPayments } from '../hostile.ts'
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
