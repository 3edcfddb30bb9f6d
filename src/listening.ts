import type { Server } from 'node:http'
import { StartError } from './identity.ts'
import type { Settings } from './service/config.ts'
import { limits } from './service/limits.ts'
import type { Origins } from './surfaces/http/reply.ts'

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

export function listen(server: Server, settings: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const fix =
        error.code === 'EADDRINUSE' ? 'is taken; stop the other program or set ASSAY_PORT' : `cannot be opened (${error.code ?? 'unknown'})`
      reject(new StartError(`Port ${settings.ASSAY_PORT} on ${settings.ASSAY_HOST} ${fix}.`))
    })
    server.listen(settings.ASSAY_PORT, settings.ASSAY_HOST, resolve)
  })
}

/** No new connections; idle ones go at once, busy ones when their answer is out, all of them after the longest wait. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const last = setTimeout(() => server.closeAllConnections(), limits.stop_ms)
    server.close(() => {
      clearTimeout(last)
      resolve()
    })
    server.closeIdleConnections()
  })
}
