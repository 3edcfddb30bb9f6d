/**
 * Date that answers name for a reference table: the day on which its publisher published it. A table that a person compiled, because no
 * publisher's file was at hand, has no such day, so the answer says `compiled` before the day on which that was done.
 */
export function dataDate({ published_at, compiled_at }: { published_at: string | null; compiled_at?: string | null }): string {
  return published_at ?? `compiled ${compiled_at ?? 'on an unknown date'}`
}
