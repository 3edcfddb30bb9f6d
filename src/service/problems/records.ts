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
    description:
      'The directory holds as many entries as it takes, or as many unproven ones. Entries leave it when they expire. A proven entry displaces an ' +
      'unproven one: put the address of the underwriter into /.well-known/assay-underwriter.json of the host of its terms.',
  },
  INSURANCE_RATE_LIMITED: {
    status: 429,
    title: 'Too many registrations',
    phase: 'network',
    retryable: true,
    fault: 'caller',
    description:
      'Registrations are free and bounded: per client and minute, per network for unproven entries, per domain for proven ones, and by the daily ' +
      'reads of outside sources without a payment. Signatures that fail count as failed payments do. Wait as long as Retry-After says.',
  },
} as const satisfies Record<string, ProblemKind>
