// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Compare the cost of paying abroad. */
export interface CalculateFxSavingsInput {
  /** The sum in USDC, as number or decimal text. Give this or one of its two aliases. */
  amount_usdc?: number | string
  /** The same by another name. Where several are given, they must be equal. */
  amount_usd?: number | string
  /** The same by another name. */
  amount?: number | string
  /** What arrives; all 14 when absent. */
  currency?:
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
  /** Your assumption of what a bank takes in all, percent of the sum. */
  bank_fee_pct?: number | string
  /** Your assumption of what a custodial service takes in all, percent of the sum. */
  custodial_fee_pct?: number | string
}

export interface CalculateFxSavingsOutput {
  /** The sum as it was read; one USDC counts as one dollar. */
  amount_usd: string
  /** Sent as USDC: no protocol fee is deducted. */
  direct: { fee_pct: string; fee_usd: string; net_usd: string }
  /** At bank_fee_pct, or null when not given. */
  bank: { fee_pct: string; fee_usd: string; net_usd: string } | null
  /** At custodial_fee_pct, or null when not given. */
  custodial: { fee_pct: string; fee_usd: string; net_usd: string } | null
  /** What the direct path saves; null without bank_fee_pct. */
  savings_vs_bank_usd: string | null
  /** What the direct path saves; null without custodial_fee_pct. */
  savings_vs_custodial_usd: string | null
  /** Deducted on this rail. */
  protocol_fee_usd: '0'
  /** Where the percentages come from. */
  assumptions: string
  /** By currency: rate, what arrives on each path, savings, feed and age. */
  comparisons: readonly Readonly<Record<string, unknown>>[]
  /** Currencies without a good rate now, with the reason. */
  unavailable: readonly Readonly<Record<string, unknown>>[]
  /** fixed_sample in a sandbox: it says nothing about the world. */
  source: 'chainlink' | 'fixed_sample'
  /** number, hash and timestamp; null where nothing was read. */
  block: Readonly<Record<string, unknown>> | null
  /** The chain of this deployment. */
  chain_id: number
  /** Whether this is a sandbox. */
  sandbox: boolean
  /** Time of the answer. */
  evaluated_at: string
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'calculate-fx-savings'
}
