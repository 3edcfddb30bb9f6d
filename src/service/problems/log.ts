import type { ProblemKind } from './kind.ts'

/** What can be wrong with a question to the receipts log. */
export const LOG_PROBLEMS = {
  LOG_ENTRY_UNKNOWN: {
    status: 404,
    title: 'The log does not have this entry',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description:
      'No receipt with this entry was made here, or the process that made it died before it was written down. Whoever holds the receipt can ' +
      'hand it in at /log/entries.',
  },
  LOG_ENTRY_WAITING: {
    status: 404,
    title: 'The entry waits to be appended',
    phase: 'tool',
    retryable: true,
    fault: 'caller',
    description: 'The receipt was made a moment ago. It is in the log within a minute; ask again then.',
  },
  LOG_RECEIPT_REFUSED: {
    status: 422,
    title: 'The log does not take this receipt',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description:
      'Only receipts that verify, and that a published key of this service has signed, are taken; none of a tool that is free without limit.',
  },
  LOG_RATE_LIMITED: {
    status: 429,
    title: 'Too many requests to the log',
    phase: 'network',
    retryable: true,
    fault: 'caller',
    description: 'What is handed to the log is free and bounded per client and minute. Wait as long as Retry-After says.',
  },
} as const satisfies Record<string, ProblemKind>
