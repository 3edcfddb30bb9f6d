import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server'
import type { Origins } from '../http/reply.ts'

/** Whether a request with this Host and Origin may come in. */
export type Guard = (host: string, origin: string | null) => boolean

/**
 * Protection against DNS rebinding (MCP specification, Streamable HTTP, security warning): a web page whose own name was made to point at
 * this machine must not reach a service that is meant for this machine only. There, Host and Origin must both name the machine. A
 * deployment with a public origin is open to every page already, asks for no ambient credentials and may stand behind proxies that
 * rewrite Host, so it lets everyone in. Errs towards refusing on a local deployment.
 */
export function createGuard(origins: Origins): Guard {
  const own = Object.values(origins).map((origin) => new URL(origin).hostname)
  if (!own.every(isLoopback)) return () => true
  const known = [...localhostAllowedHostnames(), ...own]
  return (host, origin) => validateHostHeader(host, known).ok && validateOriginHeader(origin, known).ok
}

/** RFC 5735 §3 gives all of 127.0.0.0/8 to the machine itself. */
function isLoopback(hostname: string): boolean {
  return localhostAllowedHostnames().includes(hostname) || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
