import { need, needText } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'

/**
 * Claims as selective disclosure leaves them (RFC 9901, 4.2): members may stand behind digests in `_sd`, items of arrays behind
 * `{ "...": digest }`, and a decoded document may carry the disclosures beside them as `{ digest, decoded }`. Each disclosure is used for one
 * placeholder, so that what hangs behind it is walked once.
 */
export class Disclosed {
  /** Values of `_sd_alg` anywhere. */
  readonly algorithms: readonly Place[]
  private readonly sealed: readonly Place[]
  private readonly waiting = new Map<string, Place[]>()
  private readonly revealed = new Map<object, Place | null>()
  private readonly opened = new Map<object, Opened>()

  constructor(document: Place) {
    const algorithms: Place[] = []
    const sealed: Place[] = []
    const open = [document]
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (place.kind === 'object') {
        if (place.has('_sd_alg')) algorithms.push(place.get('_sd_alg'))
        if (place.has('_sd') || place.has('...')) sealed.push(place)
        for (const disclosure of place.get('disclosures').items()) this.keep(disclosure)
      }
      open.push(...(place.kind === 'array' ? place.items() : place.members()).toReversed())
    }
    this.algorithms = algorithms
    this.sealed = sealed
  }

  private keep(disclosure: Place): void {
    const digest = disclosure.get('digest').text()
    if (digest === null || disclosure.get('decoded').kind !== 'array') return
    this.waiting.set(digest, [...(this.waiting.get(digest) ?? []).slice(0, MOST_REPEATED), disclosure.get('decoded')])
  }

  /** What stands behind a placeholder for an item; all else, and a placeholder without its disclosure, is handed back. */
  reveal(place: Place): Place {
    const digest = place.get('...').text()
    if (digest === null || typeof place.value !== 'object' || place.value === null) return place
    const before = this.revealed.get(place.value)
    if (before !== undefined) return before ?? place
    const [decoded, ...others] = this.waiting.get(digest) ?? []
    if (decoded !== undefined) this.waiting.set(digest, others)
    const found = decoded?.items()[1] ?? null
    this.revealed.set(place.value, found)
    return found ?? place
  }

  /** The items of an array, with those that are disclosed. */
  items(list: Place): Place[] {
    return list.items().map((item) => this.reveal(item))
  }

  /** The member of this name, also a disclosed one. */
  get(holder: Place, name: string): Place {
    const own = holder.get(name)
    return own.present ? own : (this.open(holder).members.get(name) ?? own)
  }

  /** Whether the object has members, or the array items, that are not disclosed. */
  hides(place: Place): boolean {
    if (place.kind === 'array') return this.items(place).some((item) => this.isSealed(item))
    return this.open(place).hides
  }

  /** Whether a placeholder stands here whose value is not disclosed. */
  isSealed(place: Place): boolean {
    return place.has('...') && this.reveal(place) === place
  }

  /** Objects with undisclosed members, and placeholders of undisclosed items, in the order of the document. */
  undisclosed(): Place[] {
    return this.sealed.filter((place) => this.isSealed(place) || this.open(place).hides)
  }

  /** `need`, but silent where the member may be among the undisclosed ones. */
  need(say: Say, holder: Place, name: string, kind: Parameters<typeof need>[2]): boolean {
    const place = this.get(holder, name)
    return (place.present || !this.hides(holder)) && need(say, place, kind)
  }

  /** `needText`, but silent where the member may be among the undisclosed ones. */
  needText(say: Say, holder: Place, name: string): string | null {
    const place = this.get(holder, name)
    return place.present || !this.hides(holder) ? needText(say, place) : null
  }

  private open(holder: Place): Opened {
    const digests = holder.get('_sd')
    if (digests.kind !== 'array' || typeof holder.value !== 'object' || holder.value === null) return NOTHING
    const before = this.opened.get(holder.value)
    if (before !== undefined) return before
    const members = new Map<string, Place>()
    let hides = false
    for (const digest of digests.items()) {
      const [decoded, ...others] = this.waiting.get(digest.text() ?? '') ?? []
      const [, name, value] = decoded?.items() ?? []
      const text = name?.text() ?? null
      if (text === null || value === undefined) hides = true
      else members.set(text, value)
      if (decoded !== undefined) this.waiting.set(digest.text() ?? '', others)
    }
    const found = { members, hides }
    this.opened.set(holder.value, found)
    return found
  }
}

interface Opened {
  members: ReadonlyMap<string, Place>
  hides: boolean
}

const NOTHING: Opened = { members: new Map(), hides: false }

/** A digest comes more than once where one token is part of two chains. */
const MOST_REPEATED = 7
