// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Validate an ISO 20022 message. */
export interface Iso20022ValidateInput {
  /** The message as text; with transactions it may be anything. */
  raw_payload: string
  /** Seen by the first character when left out. */
  format?: 'xml' | 'json'
  /** Namespace that is expected, whole or as pain.001.001.09. */
  namespace?: string
  /** Transactions to check beside the payload, or in its place. */
  transactions?: readonly {
    end_to_end_id?: string
    amount?: string | number
    currency?: string
    iban?: string
    bic?: string
    lei?: string
    debtor?: { iban?: string; bic?: string; lei?: string }
    creditor?: { iban?: string; bic?: string; lei?: string }
  }[]
  /** Market practice; else seen by header, namespace or service level. */
  profile?: 'base' | 'SEPA' | 'CBPR' | 'SPS'
}

export interface Iso20022ValidateOutput {
  /** The same as valid. */
  ok: boolean
  /** Whether no finding is an error; null when the type or version is not known. */
  valid: boolean | null
  /** The same in a word. */
  verdict: 'valid' | 'invalid' | 'undetermined'
  /** Standard of the message. */
  standard: 'ISO 20022'
  /** What was read. */
  format: 'xml' | 'json' | 'transactions'
  /** The message, or null. */
  message_type: 'pain.001' | 'pacs.008' | 'camt.053' | null
  /** Two digits, or null. */
  version: string | null
  /** That of the document. */
  namespace: string | null
  /** What the message was held against. */
  profile: 'base' | 'SEPA' | 'CBPR' | 'SPS'
  /** Where the profile was seen. */
  profile_source: 'argument' | 'business_service' | 'namespace' | 'service_level' | 'default'
  /** MsgId of the group header. */
  message_id: string | null
  /** Transactions, or entries of a statement. */
  tx_count: number | null
  /** Exact sum of their amounts across currencies. */
  ctrl_sum: string | null
  /** The sum in minor units, where there is one currency. */
  ctrl_sum_minor: string | null
  /** Currencies of the amounts. */
  currencies: readonly string[]
  /** At most 200, errors first when there are more. */
  findings: readonly {
    code: string
    severity: 'error' | 'warning' | 'info'
    path: string
    line: number | null
    found: string | null
    expected: string | null
    message: string
  }[]
  /** How many there are. */
  finding_counts: { error: number; warning: number; info: number }
  /** Whether some are not listed. */
  truncated: boolean
  /** Always null: the receipt covers this result, so its digest is outside it. */
  receipt_digest: null
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'iso20022-validate'
}
