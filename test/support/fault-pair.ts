import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chooseSigning } from '../../src/adapters/signer/choose.ts'
import { identityOf, ringOf, secretOf } from '../../src/assembly/identity.ts'
import { readSettings } from '../../src/service/read-settings.ts'
import { startAnvil, type Anvil } from './anvil.ts'
import { heartbeat, liveDeployment, type Live } from './faults-live.ts'
import { killLeft, startFaulty, type FaultyService } from './faults-process.ts'
import { startLink, type Link } from './fault-link.ts'
import { startMortalPostgres, type MortalPostgres } from './fault-postgres.ts'

/** The tool that is paid for: nobody has a free call of it. The other one has three a day and client. */
export const PAID_TOOL = 'iban-check'
export const FREE_TOOL = 'lei-check'
export const FREE_DAILY = 3

/** Two services, the first of which has all leases at the start, each with a link of its own to one PostgreSQL, over one chain and one gas wallet. */
export interface Pair {
  anvil: Anvil
  postgres: MortalPostgres
  live: Live
  /** The database itself, past all links. */
  store: string
  links: readonly [Link, Link]
  services: [FaultyService, FaultyService]
  urls(): string[]
  /** SIGKILL for one of them; resolves when it is gone. */
  kill(which: 0 | 1): Promise<void>
  /** Starts the killed one again, as its supervisor would. */
  begin(which: 0 | 1): Promise<void>
  stop(): Promise<void>
}

export interface PairOptions {
  /** More for the environment of one instance. */
  settings?: readonly [Record<string, string>, Record<string, string>]
}

export async function startPair({ settings = [{}, {}] }: PairOptions = {}): Promise<Pair> {
  const [anvil, postgres] = await Promise.all([startAnvil(), startMortalPostgres()])
  const stopHeart = heartbeat(anvil)
  const live = await liveDeployment(anvil, {
    ASSAY_FREE_DAILY: String(FREE_DAILY),
    ASSAY_FREE_DAILY_OVERRIDES: `${PAID_TOOL}=0`,
    ASSAY_TRUSTED_PROXIES: '127.0.0.1',
    ASSAY_API_URL: 'http://assay.example',
  })
  await makeShared(live)
  await writeFile(join(live.folder, 'log.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
  const store = await postgres.createDatabase('pair')
  const links = [await startLink(store), await startLink(store)] as const
  const begun = (which: 0 | 1) => startFaulty({ ...instance(live, which, links[which].through(store)), ...settings[which] })
  const services: [FaultyService, FaultyService] = [await begun(0), await begun(1)]
  return {
    anvil,
    postgres,
    live,
    store,
    links,
    services,
    urls: () => services.map(({ url }) => url),
    async kill(which) {
      services[which].process.kill('SIGKILL')
      await services[which].ended
    },
    async begin(which) {
      services[which] = await begun(which)
    },
    async stop() {
      postgres.resume()
      for (const link of links) link.become('open')
      killLeft()
      await Promise.all(services.map(({ ended }) => ended))
      await stopHeart()
      await Promise.all(links.map((link) => link.stop()))
      await Promise.all([postgres.stop(), anvil.stop(), live.remove()])
    },
  }
}

/** The keys and the secret, as a start without names for them makes them. */
export async function makeShared({ settings }: Live): Promise<void> {
  const read = readSettings(settings)
  if (!read.ok) throw new Error(read.message)
  secretOf(read.settings)
  ringOf(read.settings, identityOf(read.settings, await chooseSigning()))
}

/** A data folder of its own, everything else shared. */
export function instance(live: Live, which: number, store: string): Record<string, string> {
  const shared = live.settings['ASSAY_DATA_DIR'] ?? ''
  return {
    ...live.settings,
    ASSAY_DATA_DIR: join(live.folder, `instance-${which}`),
    ASSAY_STORE: store,
    ASSAY_RECEIPT_KEY_FILE: join(shared, 'receipt-keys.json'),
    ASSAY_SECRET_FILE: join(shared, 'secret.key'),
    ASSAY_LOG_KEY_FILE: join(live.folder, 'log.key'),
  }
}
