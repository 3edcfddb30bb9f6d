import type { Tool } from '../catalogue/define.ts'
import type { AllowanceState } from '../payments/allowance.ts'
import type { Problem } from '../problems.ts'
import type { Outcome } from './outcome.ts'
import { quote, type PaidDeps } from './paid.ts'
import { exhausted, storeDown } from './refusals.ts'

/**
 * The end of a call whose body is too large to be read for nothing, of a caller without free calls: it is asked to be paid for, since clients of
 * x402 pay on a 402 alone. `found`, the refusal of the body, stands where the price depends on what was not read, or nothing can be paid.
 */
export async function askForUnread(
  deps: PaidDeps,
  tool: Tool,
  found: Problem,
  allowance: AllowanceState,
  preflight: () => Promise<Problem | null>,
): Promise<Outcome> {
  const refused = (why: Problem): Outcome => ({ kind: 'refused', tool: tool.id, problem: why })
  if (found.code !== 'PAYLOAD_TOO_LARGE') return refused(found)
  try {
    const down = await preflight()
    const price = down === null ? await quote(deps, tool, null) : null
    if (price === null || price.formula !== null) return refused(down ?? found)
    const problem = exhausted({ state: allowance, spent: 'own' }, price.amount_minor)
    return { kind: 'payment_required', tool: tool.id, problem, allowance, amount_minor: price.amount_minor, x402_reason: null }
  } catch (error) {
    deps.onFault(error, tool.id)
    return refused(storeDown())
  }
}
