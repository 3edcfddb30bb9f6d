/** What a rule is, and how much it weighs where. The rules themselves stand in `rule-table.ts`. */

export type Severity = 'error' | 'warning' | 'info'

/** The market practice that a message is held against. */
export type Profile = 'base' | 'SEPA' | 'CBPR' | 'SPS'

export const PROFILES = ['base', 'SEPA', 'CBPR', 'SPS'] as const satisfies readonly Profile[]

/** Moves whenever a rule, its weight or a structure table does. */
export const RULES_VERSION = '2026-11-23'

export type MessageKind = 'pain.001' | 'pacs.008' | 'camt.053'

export const MESSAGE_KINDS = ['pain.001', 'pacs.008', 'camt.053'] as const satisfies readonly MessageKind[]

/** Null where a rule does not apply. */
export type Weights = Readonly<Record<Profile, Severity | null>>

export interface Rule {
  readonly weights: Weights
  readonly kinds: readonly MessageKind[]
  /** One line: what it is good for. */
  readonly why: string
  /** The code that findings carry, where two rows of the table share one. */
  readonly shown?: string
}

function everywhere(severity: Severity): Weights {
  return { base: severity, SEPA: severity, CBPR: severity, SPS: severity }
}

export const ERROR = everywhere('error')
export const WARNING = everywhere('warning')
export const INFO = everywhere('info')

/** Only in these profiles; elsewhere as `others` says. */
export function only(profiles: readonly Profile[], severity: Severity, others: Severity | null = null): Weights {
  const weight = (profile: Profile) => (profiles.includes(profile) ? severity : others)
  return { base: weight('base'), SEPA: weight('SEPA'), CBPR: weight('CBPR'), SPS: weight('SPS') }
}

export function rule(weights: Weights, kinds: readonly MessageKind[], why: string, shown?: string): Rule {
  return shown === undefined ? { weights, kinds, why } : { weights, kinds, why, shown }
}
