// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

export type Base =
  | 'USD'
  | 'usd'
  | 'Usd'
  | 'AUD'
  | 'aud'
  | 'Aud'
  | 'BRL'
  | 'brl'
  | 'Brl'
  | 'CAD'
  | 'cad'
  | 'Cad'
  | 'CHF'
  | 'chf'
  | 'Chf'
  | 'EUR'
  | 'eur'
  | 'Eur'
  | 'GBP'
  | 'gbp'
  | 'Gbp'
  | 'IDR'
  | 'idr'
  | 'Idr'
  | 'MXN'
  | 'mxn'
  | 'Mxn'
  | 'NGN'
  | 'ngn'
  | 'Ngn'
  | 'NZD'
  | 'nzd'
  | 'Nzd'
  | 'PHP'
  | 'php'
  | 'Php'
  | 'SGD'
  | 'sgd'
  | 'Sgd'
  | 'TRY'
  | 'try'
  | 'Try'
  | 'ZAR'
  | 'zar'
  | 'Zar'
  | 'BTC'
  | 'btc'
  | 'Btc'
  | 'ETH'
  | 'eth'
  | 'Eth'
  | 'EURC'
  | 'eurc'
  | 'Eurc'
  | 'USDC'
  | 'usdc'
  | 'Usdc'
  | 'WETH'
  | 'weth'
  | 'Weth'

export type Block = { number: string; hash: string; timestamp: string; age_s: number }

export type Claim = 'NOT_DELIVERED' | 'TIMEOUT_UNDELIVERED' | 'OUTPUT_MISMATCH' | 'SCHEMA'

type Code =
  | 'not_an_object'
  | 'missing_field'
  | 'wrong_type'
  | 'field_too_long'
  | 'ill_formed_text'
  | 'holds_bar'
  | 'bad_version'
  | 'bad_signer'
  | 'bad_signature_format'
  | 'bad_signature_length'
  | 'bad_recovery_id'
  | 'zero_signature'
  | 'signature_out_of_range'
  | 'not_recoverable'
  | 'high_s'
  | 'signer_mismatch'
  | 'off_grammar'
  | 'signer_case'
  | 'unsigned_fields'
  | 'signer_not_published'
  | 'signer_not_yet_valid'
  | 'signer_retired'
  | 'signer_revoked'
  | 'revoked_later'

export type CoverageType = 'smart_contract_execution' | 'commercial_trade_credit' | 'wire_fraud_bec_defense' | 'subagent_sla_delivery'

export type CrossCheck = { code: string; fields: readonly string[]; severity: 'fatal' | 'warning' | 'info'; message: string }

export type Finding = {
  code: string
  field: string
  position: readonly [number, number] | null
  expected: string | null
  found: string | null
  message: string
}

export type Finding2 = { code: Code; field: string | null; message: string }

export type Gate = 'score_bp' | 'settled_calls_90d' | 'success_lower_bp' | 'dispute_upper_bp' | 'first_seen_days'

export type ReasonCode =
  | 'ok'
  | 'empty'
  | 'too_long_input'
  | 'non_ascii_digits'
  | 'bad_charset'
  | 'bad_separator'
  | 'too_short'
  | 'too_long'
  | 'bad_length'
  | 'bad_country'
  | 'unsupported_country'
  | 'bad_prefix'
  | 'reserved_range'
  | 'bad_structure'
  | 'bad_component'
  | 'bad_date'
  | 'all_zero'
  | 'bad_checksum'
  | 'checksum_out_of_range'
  | 'bad_national_checksum'
  | 'unassigned_range'
  | 'withdrawn'
  | 'test_only'
  | 'not_listed'

export type Scope = { checked: readonly string[]; not_checked: readonly string[] }
