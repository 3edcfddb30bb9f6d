import { isObject } from '../../../pure/is-object.ts'

type Members = Readonly<Record<string, unknown>>

export type CallReply =
  | { kind: 'answer'; body: Members; text: string }
  /** `terms` is the object of x402 version 2 in the header PAYMENT-REQUIRED. */
  | { kind: 'payment'; problem: Members; terms: Members; wait_s: number | null }
  | { kind: 'problem'; problem: Members }
  /** No response arrived, or one that this service did not write. */
  | { kind: 'nothing'; message: string }

/** Calls a tool. `input` is JSON text, `headers` carry a payment or a credit code. */
async function sendCall(tool: string, input: string, headers: Readonly<Record<string, string>> = {}): Promise<CallReply> {
  const reply = await post(`/v1/tools/${tool}/call`, `{"input":${input}}`, headers)
  if (reply === null) return { kind: 'nothing', message: 'The service could not be reached. It may be stopped, or this device is offline.' }
  const { response, text } = reply
  const read = parsed(text)
  if (read === null) return { kind: 'nothing', message: `The service answered with status ${response.status} and no JSON.` }
  if (response.status === 402) {
    const wait = response.headers.get('retry-after')
    const terms = parsed(fromBase64(response.headers.get('payment-required') ?? '')) ?? {}
    return { kind: 'payment', problem: read, terms, wait_s: wait === null ? null : Number(wait) }
  }
  if (response.ok && isObject(read['result']) && isObject(read['receipt'])) return { kind: 'answer', body: read, text }
  return { kind: 'problem', problem: read }
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

/** The response and its text; null when none arrived completely. */
async function post(
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ response: Response; text: string } | null> {
  try {
    const response = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
    return { response, text: await response.text() }
  } catch {
    return null
  }
}

function fromBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)))
}

function parsed(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
