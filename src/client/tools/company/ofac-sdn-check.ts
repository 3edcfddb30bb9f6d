// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Screen an address or jurisdiction (OFAC). */
export interface OfacSdnCheckInput {
  /** EVM address (also CAIP-10, eip155:1:0x…), or a country code, a country, or a region such as UA-43. */
  subject: string
}

export interface OfacSdnCheckOutput {
  /** What the lists say; only `match` is a prohibition. */
  status: 'match' | 'needs_review' | 'elevated' | 'no_match' | 'no_match_on_stale_list' | 'not_screened'
  /** Whether the subject is on a list as prohibited. */
  match: boolean
  /** As what the subject was read. */
  subject_kind: 'evm_address' | 'jurisdiction' | 'unknown'
  /** The form that was looked up, or null when nothing was. */
  normalized: string | null
  /** The chain of a CAIP-10 account, or null; the lookup is the same for all. */
  chain_id: string | null
  /** One sentence for people. */
  reason: string
  /** The rows that were found. */
  matches: readonly {
    list: string
    name: string
    key: string
    level: 'comprehensive' | 'needs_review' | 'elevated'
    programmes: readonly string[]
  }[]
  /** What is wrong or remarkable about the subject itself. */
  findings: readonly { code: string; message: string; expected: string | null }[]
  /** The list that decided, or null when none was asked. */
  list: { name: string; published_at: string; count: number; age_days: number; limit_days: number; stale: boolean } | null
  /** Time of the answer, from which the age of the list is counted. */
  evaluated_at: string
  /** Publication date or release of each reference table used; "compiled <date>" where a person compiled it. */
  data_as_of: Readonly<Record<string, string>>
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'ofac-sdn-check'
}
