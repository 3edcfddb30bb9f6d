import type { AllowanceGrant, AllowanceRequest } from '../../ports/store.ts'

/** Many requests for few keys, told as one line a key, and the answer handed out again in order of arrival. */

/** A request that waits for its grant. */
export interface Take {
  request: AllowanceRequest
  resolve(grant: AllowanceGrant): void
  reject(reason: unknown): void
}

/** All requests of one key, in order of arrival. */
export interface Group {
  key: string
  request: AllowanceRequest
  takes: Take[]
}

/** U+0000 is in no bucket and no client, so different keys never make the same text. */
export function keyOf(day: number, bucket: string, client: string): string {
  return `${day}\u0000${bucket}\u0000${client}`
}

/**
 * Groups `takes` from index `start` on, up to the first one whose key already stands there with another limit: that one is counted after
 * these, as if each had been counted alone. `end` is the index behind the last one grouped.
 */
export function tally(takes: readonly Take[], start: number): { groups: Group[]; end: number } {
  const groups = new Map<string, Group>()
  let end = start
  for (const take of takes.slice(start)) {
    const { request } = take
    const key = keyOf(request.day, request.bucket, request.client)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { key, request, takes: [take] })
    else if (group.request.limit === request.limit) group.takes.push(take)
    else break
    end += 1
  }
  return { groups: [...groups.values()], end }
}

/** The first `granted` of the group get their unit; `used` is the count after the last of them. */
export function handOut(group: Group, used: number, granted: number): void {
  group.takes.forEach((take, rank) => {
    take.resolve(rank < granted ? { granted: true, used: used - granted + rank + 1 } : { granted: false, used })
  })
}
