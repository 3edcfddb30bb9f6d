/** RFC 3339 in UTC, to the second. */
export function instant(time_s: number): string {
  return new Date(time_s * 1_000).toISOString().replace('.000Z', 'Z')
}
