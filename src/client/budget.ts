import { localError } from './error.ts'
import { minorOf, usdcOf } from './money.ts'
import type { SpendCap } from './options.ts'

/** What this client has signed, and may sign. Amounts are decimal text in USDC. */
export interface Spending {
  per_call_usdc: string
  session_usdc: string
  /** Everything signed so far. A signed transfer counts whatever became of it: until it runs out, it could be carried out. */
  signed_usdc: string
  left_usdc: string
}

/**
 * Both caps. An amount is taken before the signer is asked and goes back only when the signer did not sign, so that no number of
 * concurrent calls can sign for more than the session may spend.
 */
export interface Budget {
  /** Throws ABOVE_CALL_CAP or ABOVE_SESSION_CAP, and then has taken nothing. */
  take(amount_minor: bigint, own_cap_minor: bigint | null): void
  giveBack(amount_minor: bigint): void
  /** Why `take` would throw; null when it would not. */
  objection(amount_minor: bigint, own_cap_minor: bigint | null): ReturnType<typeof localError> | null
  spending(): Spending
}

/** Throws BAD_OPTIONS for caps that are no amounts. */
export function createBudget({ per_call_usdc, session_usdc }: SpendCap): Budget {
  const call_minor = capOf(per_call_usdc, 'spend_cap.per_call_usdc')
  const session_minor = capOf(session_usdc, 'spend_cap.session_usdc')
  let signed_minor = 0n
  const objection: Budget['objection'] = (amount, own) => {
    const cap = own !== null && own < call_minor ? own : call_minor
    if (amount > cap) {
      return localError(
        'ABOVE_CALL_CAP',
        `The call costs ${usdcOf(amount)} USDC, and one call may cost ${usdcOf(cap)}. Nothing was signed.`,
      )
    }
    if (signed_minor + amount <= session_minor) return null
    const left = usdcOf(session_minor - signed_minor)
    return localError(
      'ABOVE_SESSION_CAP',
      `The call costs ${usdcOf(amount)} USDC, and ${left} are left to this session. Nothing was signed.`,
    )
  }
  return {
    objection,
    take(amount, own) {
      const found = objection(amount, own)
      if (found !== null) throw found
      signed_minor += amount
    },
    giveBack(amount) {
      signed_minor -= amount
    },
    spending: () => ({
      per_call_usdc: usdcOf(call_minor),
      session_usdc: usdcOf(session_minor),
      signed_usdc: usdcOf(signed_minor),
      left_usdc: usdcOf(session_minor - signed_minor),
    }),
  }
}

/** A cap as minor units. */
export function capOf(usdc: string, name: string): bigint {
  const minor = typeof usdc === 'string' ? minorOf(usdc) : null
  if (minor === null) throw localError('BAD_OPTIONS', `${name} must be USDC as decimal text, such as "0.05".`)
  return minor
}
