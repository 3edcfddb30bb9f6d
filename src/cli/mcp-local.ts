import { call } from '../service/calls/call.ts'
import type { ServeCall } from '../service/calls/observed.ts'
import { toolSchemas } from '../service/catalogue/json-schema.ts'
import { loadCatalogue } from '../service/catalogue/load.ts'
import { modeMark, SUMMARY } from '../service/catalogue/text.ts'
import { localOrigin } from '../assembly/identity.ts'
import type { PaymentWords } from '../surfaces/payment.ts'
import { ANSWER_WORDS } from '../surfaces/mcp/instructions.ts'
import { messageOf } from '../surfaces/mcp/stdio.ts'
import { callTool, type ToolCalls } from '../surfaces/mcp/tool-call.ts'
import type { ToolServerParts } from '../surfaces/mcp/tool-server.ts'
import { createViews, type ViewAsked } from '../surfaces/mcp/view.ts'
import { VERSION } from '../assembly/version.ts'
import { depsHere } from './call.ts'
import { CliError } from './exit-codes.ts'
import { markMode, settingsHere } from './settings.ts'
import { remark } from './terminal.ts'

/** The tools run in this process, as `assay call` runs them: no server, no allowance, no payment. */
export async function localServer(asked: ViewAsked): Promise<ToolServerParts> {
  const settings = settingsHere()
  const catalogue = await loadCatalogue()
  const views = createViews(catalogue.tools, new Map(catalogue.tools.map((tool) => [tool.id, toolSchemas(tool)])))
  const read = views(asked)
  if (!read.ok) throw new CliError('usage', read.message)
  const { view } = read
  markMode(settings)
  const deps = await depsHere(catalogue, settings)
  // What the command line says of an allowance that is not counted is no news to a model.
  const serve: ServeCall = async (request) => {
    const outcome = await call(deps, request)
    return outcome.kind === 'answered' ? { ...outcome, answer: { ...outcome.answer, allowance: null } } : outcome
  }
  const api_url = settings.ASSAY_API_URL || localOrigin(settings.ASSAY_HOST, settings.ASSAY_PORT)
  const calls: ToolCalls = { serve, api_url, words: UNPAID, onFault: (error) => remark(`assay: ${String(error)}`) }
  const mark = modeMark({ mode: settings.ASSAY_MODE, chain_id: settings.ASSAY_CHAIN_ID })
  return {
    identity: { name: 'assay', title: 'assay', version: VERSION },
    instructions: [mark, SUMMARY, HERE, ...ANSWER_WORDS].filter((words) => words !== null).join(' '),
    listed: () => view.listed,
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

/** Nobody is asked to pay here. */
const UNPAID: PaymentWords = { challenge: () => null, responseHeaders: () => ({}), failureHeaders: () => ({}), response: () => null }
