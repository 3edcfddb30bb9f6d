import { TaskState } from '@a2a-js/sdk'
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors'
import { isObject } from '../../pure/is-object.ts'
import { limits } from '../../service/limits.ts'
import type { RpcError } from '../mcp/rpc-error.ts'
import { SEND } from './ask.ts'
import { METHODS } from './names.ts'

const NO_REQUEST = 'Send one request of JSON-RPC 2.0: jsonrpc "2.0", a method, and an id that is a text or a whole number.'

/** What is wrong with a message as JSON-RPC has it (2.0, sections 4 and 5.1), whatever it asks for; null where nothing is. */
export function requestFault(message: unknown): RpcError | null {
  if (!isObject(message)) return { code: -32600, message: NO_REQUEST }
  const { jsonrpc, method, id = null } = message
  const named = id === null || typeof id === 'string' || Number.isInteger(id)
  return jsonrpc === '2.0' && typeof method === 'string' && named ? null : { code: -32600, message: NO_REQUEST }
}

/** Told before the parameters are looked at: what a method that is none takes, nobody knows. */
export function methodFault({ method }: Record<string, unknown>, version: string): RpcError | null {
  const known = METHODS[version]?.includes(String(method)) === true
  return known ? null : { code: -32601, message: `Version ${version} has no such method.` }
}

const STATES: ReadonlySet<unknown> = new Set(Object.keys(TaskState).filter((name) => name.startsWith('TASK_STATE_')))

/** Operations on one task, which they name. */
const ON_TASKS = new Set(['tasks/get', 'tasks/cancel', 'tasks/resubscribe', 'GetTask', 'CancelTask', 'SubscribeToTask'])

/**
 * Refuses messages of a shape that the official package reads carelessly: it turns whatever stands there into text, or stumbles over it.
 * Throws its own error for malformed requests; what it finds itself is left to it.
 */
export function messageFault({ method, params }: Record<string, unknown>): void {
  if (!isObject(params)) return
  if (ON_TASKS.has(String(method)) && (params['id'] ?? '') === '') refuse('params.id names the task.')
  idFault('params.id', params['id'])
  if (params['tenant'] !== undefined && params['tenant'] !== '') refuse('params.tenant is not known here.')
  if (method === 'ListTasks') listFieldsFault(params)
  if (!SEND.calls({ method })) return
  const sent = params['message']
  if (!isObject(sent)) return refuse('params.message must be an object.')
  roleFault(sent['role'], String(method))
  const { messageId, taskId, contextId, parts, metadata, extensions, referenceTaskIds } = sent
  if (messageId === undefined || messageId === '') refuse('params.message.messageId is required.')
  idFault('params.message.messageId', messageId)
  idFault('params.message.taskId', taskId)
  idFault('params.message.contextId', contextId)
  partsFault(parts)
  for (const list of [extensions, referenceTaskIds]) listFault(list)
  for (const one of [metadata, params['metadata'], params['configuration']]) {
    if (one !== undefined && !isObject(one)) refuse('metadata and configuration are objects.')
  }
}

function partsFault(parts: unknown): void {
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > limits.a2a_parts) {
    refuse(`params.message.parts holds 1 to ${limits.a2a_parts} parts.`)
    return
  }
  for (const part of parts) {
    if (!isObject(part)) return refuse('A part is an object.')
    const { kind: named, text, metadata } = part
    mediaFault(part)
    if (named !== undefined && named !== 'text' && named !== 'data') refuse('The kind of a part is text or data.')
    if (text !== undefined && typeof text !== 'string') refuse('The text of a part is a text.')
    if (metadata !== undefined && !isObject(metadata)) refuse('The metadata of a part is an object.')
  }
}

/** Files, and parts of a media type that no skill reads (A2A 1.0, 3.3.2: ContentTypeNotSupportedError). */
function mediaFault(part: Record<string, unknown>): void {
  if (part['kind'] === 'file' || ['raw', 'file', 'url'].some((kind) => part[kind] !== undefined))
    throw new ContentTypeNotSupportedError('Files are not read. Send data or text: application/json or text/plain.')
  for (const name of ['mediaType', 'mimeType']) {
    const type = part[name]
    if (type === undefined || type === null || type === '') continue
    if (typeof type !== 'string') refuse(`The ${name} of a part is a text.`)
    else if (!MEDIA_TYPES.test(type))
      throw new ContentTypeNotSupportedError('This media type is not read. Send application/json or text/plain.')
  }
}

const MEDIA_TYPES = /^(?:application\/(?:[a-z0-9.-]{1,64}\+)?json|text\/plain) *(?:;|$)/i

/** Version 0.3 says `user`, version 1.0 `ROLE_USER`, or its number in the protocol buffers. */
function roleFault(role: unknown, method: string): void {
  const isNew = /^[A-Z]/.test(method)
  const known: readonly unknown[] = isNew ? ['ROLE_USER', 'ROLE_AGENT', 1, 2] : ['user', 'agent']
  if (!known.includes(role)) refuse(`params.message.role is ${isNew ? 'ROLE_USER' : 'user'} for a message of a client.`)
}

/** The official package turns what is no text into text, and unknown states into a number. */
function listFieldsFault(params: Record<string, unknown>): void {
  idFault('params.contextId', params['contextId'])
  idFault('params.pageToken', params['pageToken'])
  idFault('params.statusTimestampAfter', params['statusTimestampAfter'])
  const { status, pageSize } = params
  if (status !== undefined && status !== null && !STATES.has(status)) refuse('params.status is a state such as TASK_STATE_COMPLETED.')
  if (pageSize !== undefined && pageSize !== null && !Number.isInteger(pageSize)) refuse('params.pageSize is a whole number.')
}

function idFault(place: string, id: unknown): void {
  if (id === undefined || id === null) return
  if (typeof id !== 'string' || id.length > limits.a2a_id_chars || !/^[\x20-\x7e]*$/.test(id)) {
    refuse(`${place} is a text of at most ${limits.a2a_id_chars} printable characters.`)
  }
}

function listFault(list: unknown): void {
  if (list === undefined || list === null) return
  const fits = Array.isArray(list) && list.length <= limits.a2a_parts && list.every((one) => typeof one === 'string')
  if (!fits) refuse(`extensions and referenceTaskIds are lists of at most ${limits.a2a_parts} texts.`)
}

function refuse(message: string): void {
  throw new RequestMalformedError(message)
}
