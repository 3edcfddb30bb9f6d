// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Simulate a guard of agent spending. */
export interface SimulateSpendSentinelInput {
  /** Which case to play; injection when absent. */
  scenario?: 'injection' | 'garbage' | 'provable'
}

export interface SimulateSpendSentinelOutput {
  /** Whether the staged spend may go ahead. */
  valid: boolean
  /** How the case ends. */
  verdict: 'HALTED' | 'REJECTED' | 'ELIGIBLE'
  /** The same as verdict. */
  status: 'HALTED' | 'REJECTED' | 'ELIGIBLE'
  /** Why. */
  code: 'PROMPT_INJECTION_HALT' | 'MALFORMED_DELIVERY' | 'BOUNDED_SPEND_ELIGIBLE'
  /** The case that was played. */
  scenario: 'injection' | 'garbage' | 'provable'
  /** What the guard did, in a sentence. */
  action_taken: string
  /** The rules in order. */
  steps: readonly { step: string; outcome: 'pass' | 'fail' | 'not_reached' }[]
  /** The bounds that were applied. */
  envelope: Readonly<Record<string, string>>
  /** What the staged spend asked for. */
  requested_amount_usdc: string
  /** Nothing is ever paid. */
  actual_wallet_loss_usdc: '0'
  /** Whom an eligible spend would go to; an invented address. */
  settlement_recipient: string | null
  /** Counts of the steps. */
  telemetry: { steps_passed: number; steps_failed: number; steps_not_reached: number }
  /** This is a simulation. */
  simulated: true
  /** All of it is invented. */
  is_synthetic: true
  /** The rule book. */
  standard: string
  /** keccak-256 of the canonical text of {standard, table}. */
  policy_hash: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'simulate-spend-sentinel'
}
