import { RequestMalformedError } from '@a2a-js/sdk/errors'
import { limits } from '../../service/limits.ts'
import { isObject } from '../mcp/message.ts'
import { SEND } from './ask.ts'

/**
 * Refuses messages of a shape that the official package reads carelessly: it turns whatever stands there into text, or stumbles over it.
 * Throws its own error for malformed requests; what it finds itself is left to it.
 */
export function messageFault({ method, params }: Record<string, unknown>): void {
  if (typeof method === 'string' && !/^[\w/]{1,64}$/.test(method)) refuse('No method has such a name.')
  if (typeof method !== 'string' || !isObject(params)) return
  idFault('params.id', params['id'])
  if (params['tenant'] !== undefined && params['tenant'] !== '') refuse('params.tenant is not known here.')
  if (!SEND.calls({ method })) return
  const sent = params['message']
  if (!isObject(sent)) return refuse('params.message must be an object.')
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
    if (named !== undefined && named !== 'text' && named !== 'data') refuse('A part is text or data; files are not read.')
    if (text !== undefined && typeof text !== 'string') refuse('The text of a part is a text.')
    if (metadata !== undefined && !isObject(metadata)) refuse('The metadata of a part is an object.')
    if (['raw', 'file', 'url'].some((kind) => part[kind] !== undefined)) refuse('Files are not read; send data or text.')
  }
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
