import { ruleBook, type RuleBook } from './rule-book.ts'

export const DIP_CLAIMS = ['NOT_DELIVERED', 'TIMEOUT_UNDELIVERED', 'OUTPUT_MISMATCH', 'SCHEMA'] as const
export type DipClaim = (typeof DIP_CLAIMS)[number]

export type DipVerdict = 'UPHELD' | 'REJECTED' | 'INCONCLUSIVE'

/** What each rule decides, in the order in which they are asked. The first that applies decides. */
export const DIP_RULES = {
  'DIP-G1': { verdict: 'REJECTED', code: 'receipt_malformed', words: 'The receipt has not the form of an XDR-1 receipt.' },
  'DIP-G2': { verdict: 'REJECTED', code: 'signature_invalid', words: 'The declared signer did not sign this receipt.' },
  'DIP-G3': { verdict: 'REJECTED', code: 'window_closed', words: 'The dispute is not within seven days after the date of the receipt.' },
  'DIP-G4': { verdict: 'REJECTED', code: 'input_differs', words: 'The claimed input is not the one that the receipt covers.' },
  'DIP-N1': { verdict: 'UPHELD', code: 'output_empty', words: 'The receipt itself covers an empty output.' },
  'DIP-N2': {
    verdict: 'REJECTED',
    code: 'output_not_empty',
    words: 'The signer attests an output that is not empty; if something else arrived, claim OUTPUT_MISMATCH with it.',
  },
  'DIP-T1': { verdict: 'UPHELD', code: 'output_empty', words: 'The receipt covers an empty output, and the time for the call is over.' },
  'DIP-T2': { verdict: 'REJECTED', code: 'output_not_empty', words: 'The signer attests an output that is not empty.' },
  'DIP-T3': { verdict: 'REJECTED', code: 'call_not_over', words: 'The time for the call is not over yet.' },
  'DIP-O1': { verdict: 'REJECTED', code: 'output_matches', words: 'The delivered output is the one that the receipt covers.' },
  'DIP-O2': {
    verdict: 'UPHELD',
    code: 'other_output_signed',
    words: 'The signer of the receipt also signed that it delivered this other output.',
  },
  'DIP-O3': {
    verdict: 'INCONCLUSIVE',
    code: 'output_unproven',
    words: 'The delivered output is another one, but only the claimant says that it was delivered.',
  },
  'DIP-O4': { verdict: 'INCONCLUSIVE', code: 'output_missing', words: 'Without delivered_output there is nothing to compare.' },
  'DIP-S1': {
    verdict: 'UPHELD',
    code: 'schema_violated',
    words: 'The output that the receipt covers violates the published output schema of the tool.',
  },
  'DIP-S2': {
    verdict: 'REJECTED',
    code: 'schema_fits',
    words: 'The output that the receipt covers fits the published output schema of the tool.',
  },
  'DIP-S3': {
    verdict: 'INCONCLUSIVE',
    code: 'schema_unknown',
    words: 'The output schema is unknown: this service did not sign the receipt, or does not publish the tool in this version.',
  },
  'DIP-S4': { verdict: 'INCONCLUSIVE', code: 'schema_not_applicable', words: 'The output schema could not be applied to this output.' },
} as const satisfies Record<string, { verdict: DipVerdict; code: string; words: string }>

export type DipRule = keyof typeof DIP_RULES
export type DipCode = (typeof DIP_RULES)[DipRule]['code']

/** What should be known beside the rule that decided. */
export const DIP_NOTES = {
  'DIP-R1': 'The receipt lacks signer, tool_version or tier, and no key of this service signed it: its signature could not be checked.',
  'DIP-R2': 'The receipt was signed by another issuer, whose output schemas this service does not know.',
  'DIP-R3': 'The output differs from the one that the receipt covers, so the claim is judged as OUTPUT_MISMATCH.',
  'DIP-R4': 'transport_signature was not made by the signer of the receipt over this output, and counts for nothing.',
  'DIP-R5': 'claimant_signature was not made by the payer of the receipt over this dispute, and counts for nothing.',
  'DIP-R6': 'The receipt is of a call that nobody paid for on chain: there is nothing to refund.',
  'DIP-R7': 'The amount does not exceed refund_threshold_minor, so no refund order is queued.',
  'DIP-R8': 'Refund orders are queued only for receipts that this service signed.',
} as const

export type DipNote = keyof typeof DIP_NOTES

/** How good the evidence is behind the verdict, best first. */
export const DIP_GRADES = ['receipt_and_output', 'transport_signed', 'receipt', 'claimant_asserted', 'unverified', 'none'] as const
export type DipGrade = (typeof DIP_GRADES)[number]

/** How disputes are decided. The numbers are judgements; the table is there to be seen and replaced. */
export const DIP_TABLE = {
  rules: Object.fromEntries(Object.entries(DIP_RULES).map(([rule, { verdict }]) => [rule, verdict])) as Record<DipRule, DipVerdict>,
  window_days: 7,
  /** How long a call may take, counted from the date of its receipt. */
  call_window_s: 120,
  /** How far the issuer's clock may run ahead of ours. */
  clock_skew_s: 300,
  /** A refund order is queued for more than this, in millionths of a US dollar, unless the claimant names another threshold. */
  refund_threshold_minor: '1000000',
  /** Issuers whose receipts a SCHEMA claim can be judged for: the schemas of others may differ under the same name. */
  schema_issuers: ['own'],
  /** Besides 32 zero bytes, the hashes of these texts mean that nothing was delivered. */
  empty_outputs: ['', 'null', '""', '{}', '[]'],
  refund_reasons: {
    NOT_DELIVERED: 'not_delivered',
    TIMEOUT_UNDELIVERED: 'timeout',
    OUTPUT_MISMATCH: 'output_mismatch',
    SCHEMA: 'invalid_output',
  },
} as const

export const DIP: RuleBook<typeof DIP_TABLE> = ruleBook('DIP-1', DIP_TABLE)
