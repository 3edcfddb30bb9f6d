/** Bounds of stored A2A tasks. Bytes are those of the encrypted rows; paid and unpaid tasks are counted apart. */
export const TASK_LIMITS = {
  /** Shortest lifetime of an unpaid task in ms, when stored tasks near their bound. */
  least_ms: 10 * 60_000,
  bytes: 512 * 1_048_576,
  client_bytes: 16 * 1_048_576,
  /** Of one network (/24, /48), and of one provider (/16, /32). */
  network_bytes: 32 * 1_048_576,
  network_tasks: 1_024,
  provider_bytes: 64 * 1_048_576,
  provider_tasks: 4_096,
} as const
