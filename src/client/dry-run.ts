import { isObject } from '../pure/is-object.ts'
import { readAllowance, type Allowance } from './answer.ts'
import { bodyOf, callHeaders, callPath, problemError } from './deliver.ts'
import { localError } from './error.ts'
import { send, type Link, type Reply } from './exchange.ts'

/** What would become of a call, had it been made. */
export interface DryRun {
  tool: string
  input_hash: string
  /**
   * free: it takes a free call of the day, or the tool costs nothing. pay: it would be paid. refuse: it would end with `reason`, and
   * nothing would be signed.
   */
  outcome: 'free' | 'pay' | 'refuse'
  /** Code and sentence of the error that the call would end with; null when it would not. */
  reason: { code: string; detail: string } | null
  /** What the terms ask, should it have to be paid; null where nothing can be paid. Minor units of USDC. */
  amount_minor: bigint | null
  amount_usdc: string | null
  /** CAIP-2. */
  network: string | null
  pay_to: string | null
  /** What is left of the free calls; null where the service does not say. */
  allowance: Allowance | null
}

/** What a probe tells. */
export interface Probe {
  reply: Reply
  allowance: Allowance | null
}

/** No payment at all: it cannot be read, let alone carried out. */
const NO_PAYMENT = 'none'

/**
 * Sends the call with a payment that is none. The service reads the input, refuses the payment and says what it would have asked for; by
 * its own rule such a request takes no free call, runs no tool and charges nothing.
 */
export async function probe(link: Link, tool: string, input_text: string, signal: AbortSignal | null): Promise<Probe> {
  const headers = { ...callHeaders(null), 'payment-signature': NO_PAYMENT }
  const sent = await send(link, { method: 'POST', path: callPath(tool), headers, body: bodyOf(input_text), signal })
  switch (sent.kind) {
    case 'lost':
      throw localError('NETWORK_ERROR', `The service gave no answer: ${sent.reason}.`, { retryable: true, cause: sent.cause })
    case 'redirected':
      throw localError('REDIRECTED', 'The service answers with a redirect, which is not followed.')
    case 'reply': {
      const known = sent.status === 200 || problemError(sent, null) !== null
      if (!known)
        throw localError('BAD_RESPONSE', `Status ${sent.status} came from something that is not this service.`, { status: sent.status })
      return { reply: sent, allowance: readAllowance(isObject(sent.body) ? sent.body['allowance'] : null) }
    }
  }
}
