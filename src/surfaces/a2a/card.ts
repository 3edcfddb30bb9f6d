import { AgentCard } from '@a2a-js/sdk'
import type { Tool } from '../../service/catalogue/define.ts'
import { allowanceWords, markedName, modeMark, RECEIPT_LIMIT, SUMMARY } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { A2A_PATH, CURRENT_VERSION, LEGACY_VERSION, X402_EXTENSION } from './names.ts'

const JSON_MODE = 'application/json'

/** The agent card as the official package holds it: one skill a tool. */
export function agentCard(deps: AppDeps): AgentCard {
  const { api_url, site_url } = deps.origins
  const { tools } = deps.call.catalogue
  const url = `${api_url}${A2A_PATH}`
  const place = { url, protocolBinding: 'JSONRPC', tenant: '' }
  return {
    name: markedName(deps),
    description: [modeMark(deps), SUMMARY, HOW, allowanceWords(deps.free, tools), RECEIPT_LIMIT]
      .filter((words) => words !== null)
      .join(' '),
    supportedInterfaces: [
      { ...place, protocolVersion: CURRENT_VERSION },
      { ...place, protocolVersion: LEGACY_VERSION },
    ],
    provider: { organization: 'assay', url: site_url },
    version: deps.version,
    documentationUrl: `${api_url}/llms.txt`,
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: deps.takes_payments ? [X402] : [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [JSON_MODE, 'text/plain'],
    defaultOutputModes: [JSON_MODE],
    skills: tools.map(skill),
    signatures: [],
  }
}

const HOW = 'Ask with one data part {"tool": id of a skill, "input": {…}}; the artifact holds result and receipt.'

const X402 = {
  uri: X402_EXTENSION,
  description: 'Calls beyond the free ones are paid in USDC by x402, scheme exact: the task then waits for x402.payment.payload.',
  required: false,
  params: undefined,
}

function skill({ id, title, description, family, example }: Tool): AgentCard['skills'][number] {
  return {
    id,
    name: title,
    description,
    tags: [family, ...id.split('-').filter((word) => word !== family && word.length > 2)].slice(0, 6),
    examples: [JSON.stringify({ tool: id, input: example })].filter((text) => text.length <= EXAMPLE_CHARS),
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  }
}

/** Longer examples make a card unreadable; all of them stand in the catalogue. */
const EXAMPLE_CHARS = 300

/** The card in the form of version 1.0. */
export function currentCard(card: AgentCard): Record<string, unknown> {
  return AgentCard.toJSON(card) as Record<string, unknown>
}

/** The card in the form of version 0.3, which older versions read too. */
export function legacyCard({ name, description, supportedInterfaces, version, ...card }: AgentCard): Record<string, unknown> {
  const url = supportedInterfaces[0]?.url ?? ''
  const extensions = card.capabilities?.extensions ?? []
  return {
    protocolVersion: '0.3.0',
    name,
    description,
    url,
    preferredTransport: 'JSONRPC',
    provider: card.provider,
    version,
    documentationUrl: card.documentationUrl,
    capabilities: { streaming: true, pushNotifications: false, ...(extensions.length === 0 ? {} : { extensions }) },
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(({ id, name: title, description: words, tags, examples }) => ({
      id,
      name: title,
      description: words,
      tags,
      ...(examples.length === 0 ? {} : { examples }),
    })),
  }
}

/** Both forms in one, for clients that do not say which one they read: each finds what it looks for. */
export function sharedCard(card: AgentCard): Record<string, unknown> {
  return { ...legacyCard(card), ...currentCard(card) }
}
