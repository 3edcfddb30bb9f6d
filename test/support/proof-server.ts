import { httpsProofs } from '../../src/adapters/public-https/choose.ts'
import { systemResolve } from '../../src/adapters/public-https/guarded-request.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { UnderwriterProofs } from '../../src/ports/insurance.ts'
import { startRdapServer, says, type RdapServer } from './rdap-server.ts'

export interface ProofServer {
  /** The adapter of a live deployment; only the address of the file is that of this server. */
  proofs: UnderwriterProofs
  /** Puts a file there for a host. */
  serve(host: string, file: unknown): void
  server: RdapServer
}

/** A web server on this machine that stands for the hosts of terms. */
export async function startProofServer(): Promise<ProofServer> {
  const server = await startRdapServer()
  const address = (host: string) => `${server.url}${host}`
  return {
    proofs: httpsProofs({ clock: systemClock, address, resolve: systemResolve, exempt: new Set([server.place]) }),
    serve: (host, file) => void server.manner.set(host, says(file)),
    server,
  }
}
