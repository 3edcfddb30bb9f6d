import { z } from 'zod'
import { playSentinel, SCENARIOS, SENTINEL } from '../../pure/rulebooks/spend-sentinel.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'

/** Shows how a guard of an agent's spending decides, on three invented cases. */
export default defineTool({
  id: 'simulate-spend-sentinel',
  title: 'Simulate a guard of agent spending',
  description:
    'Plays one of three invented cases against the bounds of an invented AP2 spending envelope: a prompt injection is halted, a malformed ' +
    'delivery is rejected, a bounded and provable spend is eligible. Synthetic: no escrow, refund, facilitator or chain is touched.',
  family: 'trust',
  version: '1.0.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['the staged spend against the staged envelope'],
    not_checked: ['anything real: no mandate, wallet, delivery or payment exists', 'whether a guard of yours would decide so'],
  },
  headline: [
    { when: { verdict: 'HALTED' }, tone: 'bad', word: 'HALTED', sentence: '{action_taken}' },
    { when: { verdict: 'REJECTED' }, tone: 'bad', word: 'REJECTED', sentence: '{action_taken}' },
    { when: { verdict: 'ELIGIBLE' }, tone: 'good', word: 'ELIGIBLE', sentence: '{action_taken}' },
  ],
  sources: [],
  input: z.strictObject({
    scenario: z.enum(SCENARIOS).optional().describe('Which case to play; injection when absent.'),
  }),
  output: z.strictObject({
    valid: z.boolean().describe('Whether the staged spend may go ahead.'),
    verdict: z.enum(['HALTED', 'REJECTED', 'ELIGIBLE']).describe('How the case ends.'),
    status: z.enum(['HALTED', 'REJECTED', 'ELIGIBLE']).describe('The same as verdict.'),
    code: z.enum(['PROMPT_INJECTION_HALT', 'MALFORMED_DELIVERY', 'BOUNDED_SPEND_ELIGIBLE']).describe('Why.'),
    scenario: z.enum(SCENARIOS).describe('The case that was played.'),
    action_taken: z.string().describe('What the guard did, in a sentence.'),
    steps: z.array(z.strictObject({ step: z.string(), outcome: z.enum(['pass', 'fail', 'not_reached']) })).describe('The rules in order.'),
    envelope: z.record(z.string(), z.string()).describe('The bounds that were applied.'),
    requested_amount_usdc: z.string().describe('What the staged spend asked for.'),
    actual_wallet_loss_usdc: z.literal('0').describe('Nothing is ever paid.'),
    settlement_recipient: z.string().nullable().describe('Whom an eligible spend would go to; an invented address.'),
    telemetry: z
      .strictObject({
        steps_passed: z.int().min(0).max(100).describe('Rules that held.'),
        steps_failed: z.int().min(0).max(100).describe('Rules that did not.'),
        steps_not_reached: z.int().min(0).max(100).describe('Rules after the end.'),
      })
      .describe('Counts of the steps.'),
    simulated: z.literal(true).describe('This is a simulation.'),
    is_synthetic: z.literal(true).describe('All of it is invented.'),
    standard: z.string().describe('The rule book.'),
    policy_hash: z.string().describe('keccak-256 of the canonical text of {standard, table}.'),
  }),
  example: { scenario: 'provable' },
  run({ scenario = 'injection' }) {
    const end = playSentinel(scenario)
    const count = (outcome: string) => end.steps.filter((one) => one.outcome === outcome).length
    return {
      ...end,
      valid: end.verdict === 'ELIGIBLE',
      status: end.verdict,
      scenario,
      envelope: { ...SENTINEL.table.envelope },
      actual_wallet_loss_usdc: '0' as const,
      telemetry: { steps_passed: count('pass'), steps_failed: count('fail'), steps_not_reached: count('not_reached') },
      simulated: true as const,
      is_synthetic: true as const,
      standard: SENTINEL.standard,
      policy_hash: SENTINEL.policy_hash,
    }
  },
})
