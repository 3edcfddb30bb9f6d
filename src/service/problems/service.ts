import type { ProblemKind } from './kind.ts'

/** What can be wrong on our side. */
export const SERVICE_PROBLEMS = {
  NOT_CONFIGURED: {
    status: 503,
    title: 'This deployment does not offer that',
    phase: 'tool',
    retryable: false,
    fault: 'service',
    description: 'The request asked for something that the operator has not set up. Nothing was charged.',
  },
  UPSTREAM_RPC_UNAVAILABLE: {
    status: 503,
    title: 'A data source is unavailable',
    phase: 'network',
    retryable: true,
    fault: 'source',
    description: 'The tool reads a source that does not answer now. Nothing was counted or charged.',
  },
  STORE_UNAVAILABLE: {
    status: 503,
    title: 'The store does not answer',
    phase: 'network',
    retryable: true,
    fault: 'service',
    description:
      'What had to be counted or kept could not be. Nothing new was charged; `charged` says what is known of a payment sent before.',
  },
  OVERLOADED: {
    status: 503,
    title: 'Too many calls at once',
    phase: 'network',
    retryable: true,
    fault: 'service',
    description: 'More calls are in flight than this process takes. Nothing was counted or charged.',
  },
  CLIENT_BUSY: {
    status: 429,
    title: 'Too many calls of one client at once',
    phase: 'network',
    retryable: true,
    fault: 'caller',
    description:
      'One client may have so many calls in flight, and of large documents so many that wait or had to be stopped. Nothing was counted or ' +
      'charged; calls that are paid for have a larger bound.',
  },
  INTERNAL_ERROR: {
    status: 500,
    title: 'The service failed',
    phase: 'tool',
    retryable: true,
    fault: 'service',
    description: 'The fault is ours. The call was not charged, and a free call was given back.',
  },
} as const satisfies Record<string, ProblemKind>
