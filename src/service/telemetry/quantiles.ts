import type { LatencyBucket } from '../../ports/telemetry.ts'

/** Bounds in milliseconds under which so many of the calls stayed; null when there were none, or when it lies beyond the largest bound. */
export interface Quantiles {
  p50: number | null
  p95: number | null
  p99: number | null
}

/** Read off cumulative buckets. Errs upwards: a bucket's bound stands for every call in it. */
export function quantiles(buckets: readonly LatencyBucket[]): Quantiles {
  const total = buckets.at(-1)?.count ?? 0
  const under = (share: number) => (total === 0 ? null : (buckets.find(({ count }) => count >= total * share)?.le_ms ?? null))
  return { p50: under(0.5), p95: under(0.95), p99: under(0.99) }
}

/** What was counted between two readings of the same buckets. */
export function bucketsBetween(now: readonly LatencyBucket[], before: readonly LatencyBucket[]): LatencyBucket[] {
  return now.map(({ le_ms, count }, index) => ({ le_ms, count: count - (before[index]?.count ?? 0) }))
}

/** Two spans taken together; either may be empty. */
export function bucketsTogether(one: readonly LatencyBucket[], other: readonly LatencyBucket[]): LatencyBucket[] {
  if (one.length === 0 || other.length === 0) return [...one, ...other]
  return one.map(({ le_ms, count }, index) => ({ le_ms, count: count + (other[index]?.count ?? 0) }))
}
