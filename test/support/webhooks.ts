import type { WebhookEvent } from '../../src/ports/webhooks.ts'

/** Event that a change brings along, for tests of the change alone. */
export const ANY_EVENT: WebhookEvent = {
  type: 'policy.bound',
  key: 'pol_1',
  owners: [`0x${'1'.repeat(40)}`],
  at_ms: 1_795_262_400_123,
  data: { policy_id: 'pol_1' },
}
