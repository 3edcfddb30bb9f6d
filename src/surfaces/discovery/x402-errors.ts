import { PROBLEMS, type ProblemCode } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[]

/** One problem as documents show it. */
export function problemEntry(code: ProblemCode, api_url: string) {
  const { status, title, description, retryable, phase, fault } = PROBLEMS[code]
  return { code, http_status: status, title, description, retryable, phase, fault, type: `${api_url}/problems/${code}` }
}

/** `/.well-known/x402-errors.json`: every problem that the service can answer with. */
export function x402Errors(deps: AppDeps) {
  const { api_url } = deps.origins
  return {
    description: 'Bodies are RFC 9457 problems (application/problem+json); tell them apart by code. `fault` says who can mend it.',
    errors: PROBLEM_CODES.map((code) => problemEntry(code, api_url)),
  }
}
