/** Deployments that tests of payment channels send requests to: one service over SQLite, or two over one PostgreSQL. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Hex } from 'viem'
import { createChain } from '../../src/adapters/chain/rpc.ts'
import { placeChannelContracts } from '../../src/adapters/chain/sandbox-contracts.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { StartOptions } from '../../src/assembly/start.ts'
import { proveLedger } from '../../src/service/payments/prove-ledger.ts'
import { startAnvil } from './anvil.ts'
import { startTestApp } from './app.ts'
import { asMembers, readJson } from './documents.ts'
import { heartbeat, liveDeployment, startLive } from './faults-live.ts'
import { fund } from './paying.ts'
import { startPostgres } from './postgres.ts'

export interface ChannelPlace {
  urls: [string, string]
  rpc_url: string
  token: Hex
  fund(account: Hex, amount_minor: bigint): Promise<void>
  /** Total charged over all channels. */
  charged(): Promise<bigint>
  /** The proof of the command line, over the store as it is. */
  prove(): ReturnType<typeof proveLedger>
}

interface Opened {
  urls: [string, string]
  rpc_url: string
  chain_id: number
  token: Hex
  pay_to: Hex
  /** Store of the services. */
  target: string
}

function placeOf({ urls, rpc_url, chain_id, token, pay_to, target }: Opened): ChannelPlace {
  return {
    urls,
    rpc_url,
    token,
    fund: (account, amount_minor) => fund(rpc_url, token, account, amount_minor),
    async charged() {
      const store = await openStore(target)
      try {
        return (await store.channels.sums()).charged_minor
      } finally {
        await store.close()
      }
    },
    async prove() {
      const store = await openStore(target)
      const chain = createChain({ urls: [rpc_url], chain_id, clock: systemClock })
      const parties = { token: token.toLowerCase(), pay_to: pay_to.toLowerCase() }
      const channels = { store: store.channels, chain }
      try {
        return await proveLedger({ payments: store.payments, channels, chain, ...parties, onProgress: () => undefined })
      } finally {
        await store.close()
      }
    },
  }
}

async function oneService(t: TestContext, start: StartOptions = {}): Promise<ChannelPlace> {
  const app = await startTestApp({ free_daily: 0, settings: { ASSAY_BATCH_SETTLEMENT: 'on' }, start })
  t.after(() => app.stop())
  const health = await readJson(`${app.url}/health`)
  const { rpc_url, usdc, pay_to } = asMembers(health['sandbox'])
  return placeOf({
    urls: [app.url, app.url],
    rpc_url: String(rpc_url),
    chain_id: 84_532,
    token: usdc as Hex,
    pay_to: pay_to as Hex,
    target: join(app.data_dir, 'assay.sqlite'),
  })
}

async function twoServices(t: TestContext, start: StartOptions = {}): Promise<ChannelPlace> {
  const anvil = await startAnvil()
  t.after(() => anvil.stop())
  await placeChannelContracts(anvil.rpc_url)
  t.after(heartbeat(anvil))
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  const target = await postgres.createDatabase('channels')
  const live = await liveDeployment(anvil, { ASSAY_BATCH_SETTLEMENT: 'on' })
  t.after(live.remove)
  // A first start makes the keys and the secret that instances share.
  await (await startLive(live)).stop()
  const folder = live.settings['ASSAY_DATA_DIR'] ?? ''
  const shared = { ASSAY_RECEIPT_KEY_FILE: join(folder, 'receipt-keys.json'), ASSAY_SECRET_FILE: join(folder, 'secret.key') }
  const service = async (name: string) => {
    const data_dir = join(live.folder, name)
    await mkdir(data_dir)
    const running = await startLive({ settings: { ...live.settings, ...shared, ASSAY_STORE: target, ASSAY_DATA_DIR: data_dir } }, start)
    t.after(() => running.stop())
    return running.url
  }
  const { rpc_url, chain_id, token } = anvil
  return placeOf({ urls: [await service('one'), await service('two')], rpc_url, chain_id, token, pay_to: live.pay_to, target })
}

export const CHANNEL_PLACES = [
  ['one service over SQLite', oneService],
  ['two services over one PostgreSQL', twoServices],
] as const
