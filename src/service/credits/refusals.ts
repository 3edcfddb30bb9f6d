import type { CreditClaimed } from '../../ports/credits.ts'
import { limits } from '../limits.ts'
import type { PaymentRefusal } from '../payments/payment-refusals.ts'
import { usdcText } from '../payments/price.ts'
import { problem, type Problem } from '../problems.ts'
import { CREDIT_RULES } from './rules.ts'

/** Why a credit did not buy an answer, each in our own words. x402 has none for any of them. */
type Refused = { kind: 'refused' } & PaymentRefusal

function refused(found: Problem): Refused {
  return { kind: 'refused', problem: found, x402_reason: null }
}

export function keyInvalid(): Refused {
  const detail = 'Name each call by a new Idempotency-Key of 1 to 128 printable characters without spaces; a retry sends the same one.'
  return refused(problem('CREDIT_KEY_INVALID', detail))
}

export function unknownCode(): Problem {
  return problem('CREDIT_UNKNOWN', 'No credit has this code. A code is ac_ and 33 characters; hyphens, spaces and case do not matter.')
}

export function tooManyWrongCodes(): Problem {
  const detail = `${CREDIT_RULES.wrong_codes_per_minute} wrong codes came from this client within a minute.`
  return problem('CREDIT_RATE_LIMITED', detail, { retry_after_s: 60 })
}

export function refusedCode(found: Problem): Refused {
  return refused(found)
}

export function keyBound(): Refused {
  return refused(problem('CREDIT_KEY_BOUND', 'This Idempotency-Key was first sent with another tool or input. Nothing more was charged.'))
}

export function stillRunning(): Refused {
  const detail = 'The first request with this key has not ended yet. Send the same request again in a moment.'
  return refused(problem('CREDIT_IN_USE', detail, { charged: 'unknown', retry_after_s: limits.settlement_retry_s }))
}

export function insufficient(
  { unit, available }: Pick<Extract<CreditClaimed, { kind: 'insufficient' }>, 'unit' | 'available'>,
  price_minor: bigint,
): Refused {
  const left = unit === 'calls' ? `${available} calls` : `${usdcText(available)} USDC`
  const detail = `The credit has ${left} left; the call costs ${unit === 'calls' ? 'one' : `${usdcText(price_minor)} USDC`}.`
  return refused(problem('CREDIT_INSUFFICIENT', detail, { extra: { credit: { unit, available: available.toString() } } }))
}

export function answerGone(): Refused {
  const detail = 'This use was debited and answered; the answer was kept for a day. Send another key for another answer.'
  return refused(problem('ANSWER_EXPIRED', detail, { charged: true }))
}

/** `unknown` where only the store could tell whether the same use was debited before. */
export function storeDown(charged: false | 'unknown'): Refused {
  const detail = 'Send the same request with the same key again shortly; it is debited once.'
  return refused(problem('STORE_UNAVAILABLE', detail, { charged, retry_after_s: limits.store_retry_s }))
}
