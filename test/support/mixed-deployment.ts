import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { placeChannelContracts } from '../../src/adapters/chain/sandbox-contracts.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import { startAnvil, type Anvil } from './anvil.ts'
import { instance, makeShared } from './fault-pair.ts'
import { heartbeat, ledgerOf, liveDeployment, type Live } from './faults-live.ts'
import { startFaulty, type Fault, type FaultyService } from './faults-process.ts'
import { query } from './postgres.ts'

/** Services with payment channels and no free calls over one store, one chain and one gas wallet. */
export interface MixedDeployment {
  anvil: Anvil
  live: Live
  services: FaultyService[]
  urls(): string[]
  /** Environment of one service. */
  settingsOf(which: number): Record<string, string>
  /** Payments whose end is not known yet. */
  openPayments(): Promise<number>
  /** The store that the services use. */
  openStore(): ReturnType<typeof openStore>
  /** SIGKILL; resolves when the process is gone. */
  kill(which: number): Promise<void>
  begin(which: number, fault?: Fault): Promise<void>
  stop(): Promise<void>
}

export interface MixedOptions {
  /** PostgreSQL URL of the services. Undefined: SQLite, for one service. */
  store?: string
  services: number
  settings?: Record<string, string>
  /** Base unless told otherwise. */
  chain_id?: number
  /** More for the environment of one service. */
  each?: (which: number) => Record<string, string>
}

const OPEN = ['claimed', 'prepared', 'settling', 'unknown']

export async function startMixed({
  store,
  services: count,
  settings = {},
  chain_id = 8453,
  each = () => ({}),
}: MixedOptions): Promise<MixedDeployment> {
  const anvil = await startAnvil({ chain_id })
  await placeChannelContracts(anvil.rpc_url)
  const stopHeart = heartbeat(anvil)
  const live = await liveDeployment(anvil, {
    ASSAY_BATCH_SETTLEMENT: 'on',
    ASSAY_TRUSTED_PROXIES: '127.0.0.1',
    // What a merchant signs names the service, which is the same for all.
    ASSAY_API_URL: 'http://assay.example',
    ASSAY_SITE_URL: 'http://assay.example',
    ...settings,
  })
  if (store !== undefined) {
    await makeShared(live)
    await writeFile(join(live.folder, 'log.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
  }
  const settingsOf = (which: number) => ({ ...(store === undefined ? live.settings : instance(live, which, store)), ...each(which) })
  const services: FaultyService[] = []
  const stopAll = async () => {
    for (const { process } of services) process.kill('SIGKILL')
    await Promise.all(services.map(({ ended }) => ended))
    await stopHeart()
    await Promise.all([anvil.stop(), live.remove()])
  }
  try {
    for (let which = 0; which < count; which++) services.push(await startFaulty(settingsOf(which)))
  } catch (error) {
    await stopAll()
    throw error
  }
  return {
    anvil,
    live,
    services,
    urls: () => services.map(({ url }) => url),
    settingsOf,
    async openPayments() {
      if (store === undefined) return ledgerOf(live).filter(({ state }) => OPEN.includes(state)).length
      return (await query(store, `select 1 from payment where state in ('${OPEN.join("','")}')`)).length
    },
    openStore: () => openStore(store ?? join(live.settings['ASSAY_DATA_DIR'] ?? '', 'assay.sqlite')),
    async kill(which) {
      services[which]?.process.kill('SIGKILL')
      await services[which]?.ended
    },
    async begin(which, fault) {
      services[which] = await startFaulty(settingsOf(which), fault)
    },
    stop: stopAll,
  }
}
