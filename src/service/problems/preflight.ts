import type { ProblemKind } from './kind.ts'

/** What can keep a document from being looked at by the preflight. What is wrong inside a document is a finding, never a problem. */
export const PREFLIGHT_PROBLEMS = {
  PREFLIGHT_REQUEST_INVALID: {
    status: 400,
    title: 'The preflight request is not valid',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description:
      'The body is one object with protocol and document, and optionally document_type, version and expected_payee. Each fault is listed.',
  },
  PREFLIGHT_BOUND_EXCEEDED: {
    status: 413,
    title: 'The document exceeds a bound',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'The members bound, limit and path say which bound, and where it was exceeded. No finding was made.',
  },
  PREFLIGHT_RATE_LIMITED: {
    status: 429,
    title: 'Too many preflights',
    phase: 'network',
    retryable: true,
    fault: 'caller',
    description: 'Preflights are free and bounded per client and minute. Wait as long as Retry-After says.',
  },
} as const satisfies Record<string, ProblemKind>
