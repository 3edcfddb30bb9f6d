import type { ProblemKind } from './kind.ts'

/** What can keep a record from being made or changed. */
export const RECORD_PROBLEMS = {
  DISPUTE_CONFLICT: {
    status: 409,
    title: 'The dispute is another one',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description:
      'A dispute of this id about this receipt says something else. Choose another id, or have the payer of the receipt sign it: an unsigned ' +
      'dispute yields to a signed one. Nothing was charged.',
  },
  INSURANCE_REQUEST_INVALID: {
    status: 400,
    title: 'The entry cannot be taken',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'A field has another form, a date has passed, or the signature is not that of the underwriter. Each fault is listed.',
  },
  POLICY_NOT_FOUND: {
    status: 404,
    title: 'No policy has this id',
    phase: 'tool',
    retryable: false,
    fault: 'caller',
    description: 'The id is that of no certificate that this service registered.',
  },
  INSURANCE_DIRECTORY_FULL: {
    status: 503,
    title: 'The directory is full',
    phase: 'tool',
    retryable: true,
    fault: 'service',
    description: 'The directory holds as many entries as it takes. Entries leave it when they expire.',
  },
  INSURANCE_RATE_LIMITED: {
    status: 429,
    title: 'Too many registrations',
    phase: 'network',
    retryable: true,
    fault: 'caller',
    description: 'Registrations are free and bounded per client and minute. Wait as long as Retry-After says.',
  },
} as const satisfies Record<string, ProblemKind>
