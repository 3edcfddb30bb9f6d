/** Options of `assay validate`. */
export const VALIDATE_OPTIONS = {
  profile: { type: 'string', value: 'profile', meaning: 'base, SEPA, CBPR or SPS; otherwise detected from the message.' },
  sarif: { type: 'boolean', meaning: 'Write one SARIF 2.1.0 log of all files.' },
} as const
