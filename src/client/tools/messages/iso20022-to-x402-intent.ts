// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Turn an instruction into a payment template. */
export interface Iso20022ToX402IntentInput {
  /** The instruction. */
  instruction: {
    end_to_end_id: string
    instructed_amount: { currency: string; amount_str?: string; amount_minor?: number | string }
    debtor: { iban: string }
    creditor: { iban: string }
  }
  /** Wallets by IBAN. */
  counterparty_wallet_directory?: Readonly<Record<string, string>>
  /** Recipient when the directory does not name the creditor. */
  seller_pay_to_address?: string
  /** 8453 (Base, the default) or 84532 (Base Sepolia). */
  chain_id?: number
  /** Seconds since 1970, exclusive; 0 when left out. */
  valid_after?: number | string
  /** Seconds since 1970, exclusive; without it the template says that it is needed. */
  valid_before?: number | string
}

export interface Iso20022ToX402IntentOutput {
  /** The same as valid. */
  ok: boolean
  /** ready: can be signed as it is. incomplete: `needs` must be filled in first. refused: no template, see findings. */
  status: 'ready' | 'incomplete' | 'refused'
  /** Form of the template. */
  standard: 'EIP-3009 transfer authorization, EIP-712 typed data'
  /** The same as typed_data. */
  intent_template: Readonly<Record<string, unknown>> | null
  /** What the template does not do. */
  notice: string
  /** There is a template. */
  valid: boolean
  /** ok, or the code of the first finding. */
  reason_code:
    | 'ok'
    | 'currency_unknown'
    | 'no_token'
    | 'amount_missing'
    | 'amount_fraction'
    | 'amounts_differ'
    | 'amount_not_positive'
    | 'unsupported_chain'
    | 'iban_invalid'
    | 'directory_ambiguous'
    | 'wallet_invalid'
    | 'wallet_checksum'
    | 'wallet_zero'
    | 'recipient_missing'
    | 'payer_is_recipient'
    | 'window_empty'
  /** One sentence. */
  reason: string
  /** code, field and message of what stands in the way. */
  findings: readonly Readonly<Record<string, unknown>>[]
  /** recipients_differ, domain_unconfirmed, id_not_provided: the nonce then binds amount and parties only. */
  warnings: readonly string[]
  /** As given. */
  end_to_end_id: string
  /** EIP-712: domain, types, primaryType, message; null beside findings. */
  typed_data: Readonly<Record<string, unknown>> | null
  /** What must be filled in before signing. */
  needs: readonly ('from' | 'valid_before')[]
  /** currency, amount_minor, token_units, token. */
  amount: Readonly<Record<string, unknown>> | null
  /** The directory goes first. */
  recipient_source: 'directory' | 'seller_pay_to_address' | null
  /** scheme, network, asset, amount and payTo for a payment by x402. */
  x402: Readonly<Record<string, unknown>> | null
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'iso20022-to-x402-intent'
}
