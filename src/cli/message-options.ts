/** Options of `assay validate`. */
export const VALIDATE_OPTIONS = {
  profile: { type: 'string', value: 'profile', meaning: 'base, SEPA, CBPR or SPS; otherwise detected from the message.' },
  sarif: { type: 'boolean', meaning: 'Write one SARIF 2.1.0 log of all files.' },
} as const

/** Options of `assay reconcile`. */
export const RECONCILE_OPTIONS = {
  instructions: { type: 'string', value: 'file', meaning: 'A pain.001 or pacs.008; may be given several times.' },
  statement: { type: 'string', value: 'file', meaning: 'A camt.053; may be given several times.' },
  ach: { type: 'string', value: 'file', meaning: 'An ACH file; may be given several times.' },
  out: { type: 'string', value: 'folder', meaning: 'Write report.jsonl, report.csv, report.html and summary.json there.' },
  jsonl: { type: 'boolean', meaning: 'Write every row to standard output, one JSON object per line.' },
  csv: { type: 'boolean', meaning: 'Write every row to standard output as CSV.' },
  html: { type: 'boolean', meaning: 'Write a printable HTML page to standard output.' },
  'require-settlement-evidence': { type: 'boolean', meaning: 'Originated ACH entries do not count as settled.' },
  'days-before': {
    type: 'string',
    value: 'days',
    meaning: 'Count entries booked up to this many days before the due date; default 10.',
  },
  'days-after': { type: 'string', value: 'days', meaning: 'Count entries booked up to this many days after the due date; default 90.' },
} as const
