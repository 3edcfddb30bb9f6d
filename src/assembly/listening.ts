import cluster from 'node:cluster'
import { createServer, type Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { openStore } from '../adapters/store/open.ts'
import type { ChainBase } from './chain.ts'
import { bindSecret, places, StartError } from './identity.ts'
import type { Log } from '../ports/log.ts'
import type { Store, StoreIdentity } from '../ports/store.ts'
import type { Tracing } from '../ports/tracing.ts'
import { loadCatalogue, type Catalogue } from '../service/catalogue/load.ts'
import { isPostgres, strayOverride, type Settings } from '../service/config.ts'
import { limits } from '../service/limits.ts'
import type { Origins } from '../surfaces/http/reply.ts'

export function around<Target extends object>(tracing: Tracing | null, name: string, target: Target): Target {
  return tracing === null ? target : tracing.around(name, target)
}

export async function tracedChain(tracing: Tracing | null, base: Promise<ChainBase | null>): Promise<ChainBase | null> {
  const opened = await base
  return opened === null ? null : { ...opened, chain: around(tracing, 'chain', opened.chain) }
}

/** What takes a moment, at once. Where one fails the others are closed again, so that the process can end. */
export async function openTogether(
  settings: Settings,
  identity: StoreIdentity,
  secret: Uint8Array,
  log: Log,
  tracing: Tracing | null,
  chain: Promise<ChainBase | null>,
): Promise<{ catalogue: Catalogue; store: Store; base: ChainBase | null }> {
  const opening = [loadKnown(settings), openChecked(settings, identity, secret, log, tracing), chain] as const
  try {
    const [catalogue, store, base] = await Promise.all(opening)
    return { catalogue, store, base }
  } catch (error) {
    const [, store, base] = await Promise.allSettled(opening)
    if (base.status === 'fulfilled') await base.value?.stop()
    if (store.status === 'fulfilled') await store.value.close()
    throw error
  }
}

/** The tools, among which are all that the settings name. Throws a StartError for a name that is none. */
export async function loadKnown(settings: Settings): Promise<Catalogue> {
  const catalogue = await loadCatalogue()
  const stray = strayOverride(settings, catalogue.tools)
  if (stray !== null) throw new StartError(stray)
  return catalogue
}

/** The store, once it is known to belong to this deployment. */
async function openChecked(
  settings: Settings,
  identity: StoreIdentity,
  secret: Uint8Array,
  log: Log,
  tracing: Tracing | null,
): Promise<Store> {
  const target = places.store(settings)
  const store = await openStore(target).catch((error: unknown) => {
    log.error({ error: String(error) }, 'the store did not open')
    throw new StartError(`ASSAY_STORE cannot be opened: ${error instanceof Error ? error.message : 'unknown reason'}`)
  })
  const written = await store.identity(identity)
  const mine = written.mode === identity.mode && written.chain_id === identity.chain_id && written.pay_to === identity.pay_to
  if (mine) {
    await bindSecret(store, settings, secret).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    return around(tracing, 'store', store)
  }
  await store.close()
  const describe = (one: StoreIdentity) => `${one.mode}, chain ${one.chain_id}, pay-to ${one.pay_to}`
  throw new StartError(
    `The store belongs to ${describe(written)}, the settings to ${describe(identity)}; use another ASSAY_STORE or${isPostgres(target) ? ' database or' : ''} restore the settings.`,
  )
}

/** The public origins; what is not set is the address that the server listens on, known once it does. */
export function originsOf(settings: Settings, listening: { url: string }): Origins {
  const origin = (value: string) => ({ enumerable: true, get: () => value || listening.url })
  return Object.defineProperties({} as Origins, {
    base_url: origin(settings.ASSAY_BASE_URL),
    api_url: origin(settings.ASSAY_API_URL),
    site_url: origin(settings.ASSAY_SITE_URL),
    mcp_url: origin(settings.ASSAY_MCP_URL),
  })
}

/** Opens the public port, then that of the operator. Where one cannot be opened neither stays open, and the error names the setting. */
export async function listen(server: Server, operator: Server | null, settings: Settings): Promise<void> {
  await listenAt(server, settings.ASSAY_PORT, settings.ASSAY_HOST, 'ASSAY_PORT')
  if (operator === null) return
  await listenAt(operator, Number(settings.ASSAY_ADMIN_PORT), settings.ASSAY_ADMIN_HOST, 'ASSAY_ADMIN_PORT').catch((error: unknown) => {
    server.close()
    throw error
  })
}

/** Throws a StartError for a port that another program has, before anything is made. */
export async function assertPortsFree({ ASSAY_PORT, ASSAY_HOST, ASSAY_ADMIN_PORT, ASSAY_ADMIN_HOST }: Settings): Promise<void> {
  // Workers share the port of their parent.
  if (cluster.isWorker) return
  const admin = ASSAY_ADMIN_PORT === 'off' ? 0 : Number(ASSAY_ADMIN_PORT)
  for (const [port, host, setting] of [
    [ASSAY_PORT, ASSAY_HOST, 'ASSAY_PORT'],
    [admin, ASSAY_ADMIN_HOST, 'ASSAY_ADMIN_PORT'],
  ] as const) {
    if (port === 0) continue
    const probe = createServer()
    await listenAt(probe, port, host, setting)
    await new Promise((resolve) => probe.close(resolve))
  }
}

function listenAt(server: Server, port: number, host: string, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const fix =
        error.code === 'EADDRINUSE'
          ? 'is taken; stop the other program or'
          : `cannot be opened (${error.code ?? 'unknown'}); check its address or`
      reject(new StartError(`Port ${port} on ${host} ${fix} set ${setting}.`))
    })
    server.listen(port, host, limits.connections_backlog, resolve)
  })
}

/**
 * No new connections. Idle ones go after a moment, in which what is on its way arrives; busy ones shortly after their answer is out. Who asks
 * until then is answered with `Connection: close`. All of them go after the longest wait.
 */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const idle = setTimeout(() => server.closeIdleConnections(), limits.stop_idle_ms)
    const last = setTimeout(() => server.closeAllConnections(), limits.stop_ms)
    // node:http adds a second of its own, in which the next request may come.
    server.keepAliveTimeout = 1
    server.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false
    })
    // That of node:http would end idle connections at once, under requests that were already sent.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(idle)
      clearTimeout(last)
      resolve()
    })
  })
}
