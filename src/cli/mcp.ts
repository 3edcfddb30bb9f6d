import { call } from '../service/calls/call.ts'
import type { ServeCall } from '../service/calls/instrumented-call.ts'
import { toolSchemas } from '../service/catalogue/wire-schemas.ts'
import { loadCatalogue } from '../service/catalogue/load.ts'
import { withRegisters } from '../service/registers.ts'
import { modeMark, SUMMARY } from '../service/catalogue/text.ts'
import { localOrigin } from '../assembly/identity.ts'
import type { PaymentRenderer } from '../surfaces/payment.ts'
import { ANSWER_INSTRUCTIONS, callTool, createToolServer, type ToolCalls, type ToolServerParts } from '../surfaces/mcp/tool-call.ts'
import { messageOf, serveOverStdio } from '../surfaces/mcp/stdio.ts'
import { createViews, type ToolViewRequest } from '../surfaces/mcp/tool-list.ts'
import { VERSION } from '../assembly/deployment.ts'
import { localCallDeps } from './call.ts'
import type { Invocation } from './commands.ts'
import { markMode, readEnvironment } from './deployment.ts'
import { CliError, type Exit } from './errors.ts'
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
  return localServer(asked)
}

/** Runs the tools in this process: no server, allowance or payment. */
async function localServer(asked: ToolViewRequest): Promise<ToolServerParts> {
  const settings = readEnvironment()
  const catalogue = withRegisters(await loadCatalogue(), settings.ASSAY_REGISTERS)
  const schemas = new Map(catalogue.tools.map((tool) => [tool.id, toolSchemas(tool)]))
  const views = createViews(catalogue.tools, schemas)
  const read = views(asked)
  if (!read.ok) throw new CliError('usage', read.message)
  const { view } = read
  markMode(settings)
  const deps = await localCallDeps(catalogue, settings)
  // The allowance without a limit is not shown to the model.
  const serve: ServeCall = async (request) => {
    const outcome = await call(deps, request)
    return outcome.kind === 'answered' ? { ...outcome, answer: { ...outcome.answer, allowance: null } } : outcome
  }
  const api_url = settings.ASSAY_API_URL || localOrigin(settings.ASSAY_HOST, settings.ASSAY_PORT)
  const calls: ToolCalls = { serve, catalogue, schemas, api_url, words: UNPAID, onFault: (error) => remark(`assay: ${String(error)}`) }
  const mark = modeMark({ mode: settings.ASSAY_MODE, chain_id: settings.ASSAY_CHAIN_ID })
  return {
    identity: { name: 'assay', title: 'assay', version: VERSION },
    instructions: [mark, SUMMARY, HERE, ...ANSWER_INSTRUCTIONS].filter((words) => words !== null).join(' '),
    view: () => view,
    call: (params) =>
      callTool(calls, params, {
        message: messageOf(params),
        request_id: crypto.randomUUID(),
        address: '127.0.0.1',
        header: () => null,
        view,
      }),
  }
}

const HERE = 'The tools run on this machine: nothing is counted or paid. Those that keep records need a running service.'

/** Calls are not paid here. */
const UNPAID: PaymentRenderer = { challenge: () => null, responseHeaders: () => ({}), failureHeaders: () => ({}), response: () => null }
