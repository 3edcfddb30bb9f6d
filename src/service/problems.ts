import { CREDIT_PROBLEMS } from './problems/credits.ts'
import { INVOICE_PROBLEMS } from './problems/invoices.ts'
import type { ProblemKind } from './problems/kind.ts'
import { LOG_PROBLEMS } from './problems/log.ts'
import { PAYMENT_PROBLEMS } from './problems/payment.ts'
import { PREFLIGHT_PROBLEMS } from './problems/preflight.ts'
import { RECORD_PROBLEMS } from './problems/records.ts'
import { REQUEST_PROBLEMS } from './problems/request.ts'
import { SERVICE_PROBLEMS } from './problems/service.ts'
import { SETTLEMENT_PROBLEMS } from './problems/settlement.ts'

/**
 * Every problem that the service can answer with, once. Responses, `/.well-known/x402-errors.json` and the pages about
 * errors are derived from this table; a test fails when a code is never raised.
 */

export const PROBLEMS = {
  ...REQUEST_PROBLEMS,
  ...PAYMENT_PROBLEMS,
  ...SETTLEMENT_PROBLEMS,
  ...SERVICE_PROBLEMS,
  ...PREFLIGHT_PROBLEMS,
  ...INVOICE_PROBLEMS,
  ...RECORD_PROBLEMS,
  ...CREDIT_PROBLEMS,
  ...LOG_PROBLEMS,
} as const satisfies Record<string, ProblemKind>

export type ProblemCode = keyof typeof PROBLEMS

/** One fault inside a request. */
export interface ProblemError {
  /** JSON pointer into the body; empty for the whole. */
  pointer: string
  code: string
  message: string
  /** Offset in characters, where the text itself is at fault. */
  position?: number
  line?: number
  column?: number
}

/** A problem before it meets a request: what happened, in our own words. */
export interface Problem {
  code: ProblemCode
  detail: string
  errors: ProblemError[]
  charged: false | true | 'unknown'
  /** Seconds after which the same request is worth another try. */
  retry_after_s?: number
  /** Further members of the body, such as the allowance. */
  extra?: Record<string, unknown>
}

export function problem(code: ProblemCode, detail: string, more: Partial<Omit<Problem, 'code' | 'detail'>> = {}): Problem {
  return { code, detail, errors: [], charged: false, ...more }
}

/** The RFC 9457 body of a problem. */
export function problemBody(found: Problem, request_id: string, base_url: string): Record<string, unknown> {
  const kind: ProblemKind = PROBLEMS[found.code]
  return {
    type: `${base_url}/problems/${found.code}`,
    title: kind.title,
    status: kind.status,
    detail: found.detail,
    instance: `urn:assay:request:${request_id}`,
    code: found.code,
    phase: kind.phase,
    retryable: kind.retryable,
    charged: found.charged,
    request_id,
    errors: found.errors,
    ...absolute(found.extra, base_url),
  }
}

/** Addresses of this service with its origin before them: an answer is read where its surface is not known. */
function absolute(extra: Record<string, unknown> = {}, base_url: string): Record<string, unknown> {
  const names = ADDRESSES.filter((name) => typeof extra[name] === 'string' && extra[name].startsWith('/'))
  return names.length === 0 ? extra : { ...extra, ...Object.fromEntries(names.map((name) => [name, `${base_url}${String(extra[name])}`])) }
}

const ADDRESSES = ['status_url', 'answer_url'] as const
