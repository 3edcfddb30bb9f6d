import { Role, type Artifact, type Message, type Task } from '@a2a-js/sdk'
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory, type Client } from '@a2a-js/sdk/client'
import { X402_EXTENSION } from '../../src/surfaces/a2a/message.ts'

/** The versions that the service speaks, and the card from which the official client reads each. */
export const A2A_CARDS = { '1.0': '/.well-known/agent-card.json', '0.3': '/.well-known/agent.json' } as const

export type A2aVersion = keyof typeof A2A_CARDS

/** The official client, made of the service's own card. */
export async function connectA2a(url: string, version: A2aVersion = '1.0'): Promise<Client> {
  const legacyCompat = { enabled: version === '0.3' }
  const cardResolver = new DefaultAgentCardResolver({ legacyCompat })
  const transports = [new JsonRpcTransportFactory({ legacyCompat })]
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { cardResolver, transports })
  return new ClientFactory(options).createFromUrl(url, A2A_CARDS[version])
}

export const ACTIVATE = { serviceParameters: { 'A2A-Extensions': X402_EXTENSION } }

type Sending = Parameters<Client['sendMessage']>[0]

/** A message with one data part, or whatever `change` makes of it. */
export function asking(data: unknown, change: Partial<Message> = {}): Sending {
  return sending([{ content: { $case: 'data', value: data }, metadata: undefined, filename: '', mediaType: '' }], change)
}

export function saying(text: string, change: Partial<Message> = {}): Sending {
  return sending([{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }], change)
}

function sending(parts: Message['parts'], change: Partial<Message>): Sending {
  const ids = { messageId: crypto.randomUUID(), contextId: '', taskId: '' }
  const message = { ...ids, role: Role.ROLE_USER, parts, metadata: undefined, extensions: [], referenceTaskIds: [], ...change }
  return { tenant: '', message, configuration: undefined, metadata: undefined }
}

/** The task that a message became. */
export async function taskFor(client: Client, sent: Sending, options?: Parameters<Client['sendMessage']>[1]): Promise<Task> {
  const result = await client.sendMessage(sent, options)
  if (!('status' in result)) throw new Error('a message came back where a task should')
  return result
}

export function metadataOf({ status }: Task): Record<string, unknown> {
  return status?.message?.metadata ?? {}
}

/** The data of the status message: a problem, mostly. */
export function dataOf({ status }: Task): Record<string, unknown> {
  return firstData(status?.message?.parts ?? [])
}

/** The answer inside the only artifact. */
export function answerOf({ artifacts }: { artifacts: Artifact[] }): Record<string, unknown> {
  const [artifact, second] = artifacts
  if (artifact === undefined || second !== undefined) throw new Error(`${artifacts.length} artifacts where one should be`)
  return firstData(artifact.parts)
}

function firstData(parts: Message['parts']): Record<string, unknown> {
  for (const { content } of parts) if (content?.$case === 'data') return content.value as Record<string, unknown>
  throw new Error('no part holds data')
}
