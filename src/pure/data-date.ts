/**
 * Date of a reference table in answers: the day of publication. A table that was compiled by hand has none; for it the answer contains
 * "compiled" and the date of compilation.
 */
export function dataDate({ published_at, compiled_at }: { published_at: string | null; compiled_at?: string | null }): string {
  return published_at ?? `compiled ${compiled_at ?? 'on an unknown date'}`
}

/** Date of a dataset that can be replaced while the service runs, with the first 12 digits of its SHA-256. */
export function datasetDate(published_at: string, sha256: string): string {
  return `${published_at} sha256:${sha256.slice(0, 12)}`
}

/** `aging` from two thirds of the limit, so that an operator can act before answers are refused. */
export function ageState(age_days: number, limit_days: number): 'fresh' | 'aging' | 'old' {
  if (age_days > limit_days) return 'old'
  return age_days * 3 >= limit_days * 2 ? 'aging' : 'fresh'
}
