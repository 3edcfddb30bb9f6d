import cluster from 'node:cluster'
import { createServer, type Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { Settings } from '../service/config.ts'
import { limits } from '../service/limits.ts'
import { StartError } from './identity.ts'

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
    // node:http adds one second to this value, in which the next request may arrive.
    server.keepAliveTimeout = 1
    server.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false
    })
    // `close()` of node:http would end idle connections immediately, under requests that were already sent.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(idle)
      clearTimeout(last)
      resolve()
    })
  })
}
