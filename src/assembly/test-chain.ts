import { createFaucet } from '../service/sandbox/faucet.ts'
import { createPublicRpc } from '../service/sandbox/public-rpc.ts'
import type { AppDeps, SandboxInfo } from '../surfaces/deps.ts'
import type { Deployment } from './deployment.ts'

/** Faucet and public JSON-RPC over the chain of a sandbox; null where there is none. */
export function testChain(
  { store, clock, secret, log }: Deployment,
  sandbox: SandboxInfo | null,
): NonNullable<AppDeps['test_chain']> | null {
  if (sandbox === null) return null
  const { node } = sandbox
  const onFault = (error: unknown) => log.warn({ error: String(error) }, 'the sandbox chain did not answer')
  return { faucet: createFaucet({ node, store, clock, secret, onFault }), rpc: createPublicRpc({ node, clock, onFault }) }
}
