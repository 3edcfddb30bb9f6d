import { serveOverStdio } from '../surfaces/mcp/stdio.ts'
import type { ToolServerParts } from '../surfaces/mcp/tool-server.ts'
import { createToolServer } from '../surfaces/mcp/tool-server.ts'
import type { Invocation } from './arguments.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { remark } from './terminal.ts'

const PAYING = ['payer-key-file', 'max-usdc', 'session-usdc'] as const

/** `assay mcp`: the tools over MCP on standard input and output, run here or, with --url, by a service. */
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
  const asked = { family: invocation.text('family'), small: invocation.flag('small') }
  if (url !== null) {
    const { remoteServer } = await import('./mcp-remote.ts')
    return remoteServer(url, asked, invocation)
  }
  const stray = PAYING.find((name) => invocation.text(name) !== null)
  if (stray !== undefined) throw new CliError('usage', `--${stray} goes with --url: what runs here costs nothing.`)
  const { localServer } = await import('./mcp-local.ts')
  return localServer(asked)
}
