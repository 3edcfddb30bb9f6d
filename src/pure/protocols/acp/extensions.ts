import type { Place } from '../place.ts'

/** What the extensions of a session add to it (rfc.extensions, 3.4 and 5.3): members of its own, and codes of messages. */
export interface Added {
  /** Members that an extension says it adds. */
  names: ReadonlySet<string>
  /** Whether an extension does not say what it adds, so that any member may be its own. */
  is_open: boolean
  /** Whether there is an extension but that of discounts, whose members and codes are known. */
  is_foreign: boolean
}

export function addedBy(body: Place): Added {
  const list = body.down('capabilities', 'extensions')
  const foreign = list.items().filter((item) => !/^discount(?:@|$)/.test((item.kind === 'object' ? item.get('name') : item).text() ?? ''))
  const fields = list.items().flatMap((item) => item.get('extends').items())
  const names = fields
    .map((field) => /^\$\.(?:\w{1,64}\.){1,8}(\w{1,64})$/.exec(field.text() ?? '')?.[1])
    .filter((name) => name !== undefined)
  const is_open = list.redacted || foreign.some((item) => item.get('extends').items().length === 0)
  return { names: new Set(names), is_open, is_foreign: list.redacted || foreign.length > 0 }
}
