import { isObject, jsonObject, type Members } from '../../../pure/is-object.ts'
import { requestJson } from '../client/json-request.ts'

export type CallReply =
  | { kind: 'answer'; body: Members; text: string }
  /** `terms` is the object of x402 version 2 in the header PAYMENT-REQUIRED. */
  | { kind: 'payment'; problem: Members; terms: Members; wait_s: number | null }
  | { kind: 'problem'; problem: Members }
  /** No response arrived, or one that this service did not write. */
  | { kind: 'nothing'; message: string }

/** Calls a tool. `input` is JSON text, `headers` carry a payment or a credit code. */
async function sendCall(tool: string, input: string, headers: Readonly<Record<string, string>> = {}): Promise<CallReply> {
  const reply = await requestJson(`/v1/tools/${tool}/call`, `{"input":${input}}`, headers)
  if (reply === null) return { kind: 'nothing', message: 'The service could not be reached. It may be stopped, or this device is offline.' }
  const { ok, status, headers: received, retry_after_s, text, body } = reply
  if (body === null) return { kind: 'nothing', message: `The service answered with status ${status} and no JSON.` }
  if (status === 402) {
    const terms = jsonObject(fromBase64(received.get('payment-required') ?? '')) ?? {}
    return { kind: 'payment', problem: body, terms, wait_s: retry_after_s }
  }
  if (ok && isObject(body['result']) && isObject(body['receipt'])) return { kind: 'answer', body, text }
  return { kind: 'problem', problem: body }
}

/** Seconds between two attempts while a payment settles, and how many. */
const SETTLE_PAUSE_S = 1.5
const SETTLE_ATTEMPTS = 20

/** Sends a call; while its payment settles, sends the same payment again until the answer comes. */
export async function sendUntilSettled(tool: string, input: string, headers: Readonly<Record<string, string>>): Promise<CallReply> {
  let reply = await sendCall(tool, input, headers)
  for (let attempt = 0; attempt < SETTLE_ATTEMPTS && isPending(reply); attempt++) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_PAUSE_S * 1000))
    reply = await sendCall(tool, input, headers)
  }
  return reply
}

function isPending(reply: CallReply): boolean {
  return reply.kind === 'problem' && reply.problem['code'] === 'PAYMENT_PENDING'
}

function fromBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)))
}
