import { serveOverStdio } from '../surfaces/mcp/stdio.ts'
import { type ToolServerParts, createToolServer } from '../surfaces/mcp/tool-call.ts'
import type { Invocation } from './commands.ts'
import type { Exit } from './errors.ts'
import { refuseWallet } from './remote.ts'
import { remark } from './terminal.ts'

/** `assay mcp`: MCP on standard input and output; the tools run in this process or, with --url, at a service. */
export async function run(invocation: Invocation): Promise<Exit> {
  const parts = await partsFor(invocation)
  await serveOverStdio(
    () => createToolServer(parts),
    (error) => remark(`assay: ${error.message}`),
  )
  return 'ok'
}

async function partsFor(invocation: Invocation): Promise<ToolServerParts> {
  const url = invocation.text('url')
  const asked = { family: invocation.text('family'), form: invocation.flag('small') ? ('small' as const) : null, page: null }
  if (url !== null) {
    const { remoteServer } = await import('./mcp-remote.ts')
    return remoteServer(url, asked, invocation)
  }
  refuseWallet(invocation)
  const { localServer } = await import('./mcp-local.ts')
  return localServer(asked)
}
