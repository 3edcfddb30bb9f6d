import { ADMISSION_RULES } from './rules.ts'

/** Keeps a refusal back for a moment, or not at all when too many are kept back already. */
export function createHold(pause: (pause_ms: number) => Promise<void>): () => Promise<void> {
  let held = 0
  return async () => {
    if (held >= ADMISSION_RULES.refusals_held) return
    held++
    try {
      await pause(ADMISSION_RULES.refusal_hold_ms)
    } finally {
      held--
    }
  }
}
