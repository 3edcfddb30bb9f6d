import { TICKS, type Budget } from './budget.ts'

/** Locations of one object or array that schemas have evaluated. */
interface Locations {
  /** Null for none. */
  properties: Set<string> | null
  all_properties: boolean
  /** Null for none. */
  items: Set<number> | null
  /** All items before this index. */
  items_before: number
}

/**
 * What schemas have evaluated at one place, for `unevaluatedProperties` and `unevaluatedItems`. Where a schema cannot be decided, what it
 * would evaluate is possible and not certain: `certain` holds whatever the undecided schemas would say, and nothing outside of `certain`
 * and `possible` is evaluated in any case.
 */
export class Evaluated {
  private readonly certain = newLocations()
  /** Null while nothing is in doubt. */
  private possible: Locations | null = null
  private readonly budget: Budget

  constructor(budget: Budget) {
    this.budget = budget
  }

  addProperty(name: string): void {
    ;(this.certain.properties ??= new Set()).add(name)
  }

  addPossibleProperty(name: string): void {
    const possible = (this.possible ??= newLocations())
    ;(possible.properties ??= new Set()).add(name)
  }

  addAllProperties(): void {
    this.certain.all_properties = true
  }

  addItem(index: number): void {
    ;(this.certain.items ??= new Set()).add(index)
  }

  addPossibleItem(index: number): void {
    const possible = (this.possible ??= newLocations())
    ;(possible.items ??= new Set()).add(index)
  }

  addItemsBefore(index: number): void {
    this.certain.items_before = Math.max(this.certain.items_before, index)
  }

  /** A schema that is not known, or was not applied to its end, may evaluate everything. */
  addUnknown(): void {
    const possible = (this.possible ??= newLocations())
    possible.all_properties = true
    possible.items_before = Infinity
  }

  /** Takes over what a schema at the same place has evaluated: it passed, or with `certain` false it may have. */
  absorb(from: Evaluated, certain: boolean): void {
    if (!this.budget.spend(from.size * TICKS.name)) return this.addUnknown()
    if (certain) merge(this.certain, from.certain)
    else merge((this.possible ??= newLocations()), from.certain)
    if (from.possible !== null) merge((this.possible ??= newLocations()), from.possible)
  }

  get allProperties(): boolean {
    return this.certain.all_properties
  }

  /** True, false, or null where it depends on what is undecided. */
  hasProperty(name: string): boolean | null {
    if (holdsProperty(this.certain, name)) return true
    return this.possible !== null && holdsProperty(this.possible, name) ? null : false
  }

  hasItem(index: number): boolean | null {
    if (holdsItem(this.certain, index)) return true
    return this.possible !== null && holdsItem(this.possible, index) ? null : false
  }

  private get size(): number {
    return sizeOf(this.certain) + (this.possible === null ? 0 : sizeOf(this.possible))
  }
}

function newLocations(): Locations {
  return { properties: null, all_properties: false, items: null, items_before: 0 }
}

function sizeOf({ properties, items }: Locations): number {
  return (properties?.size ?? 0) + (items?.size ?? 0)
}

/** A set that is merged is used no more, so that the first one can be taken over. */
function merge(into: Locations, from: Locations): void {
  into.all_properties ||= from.all_properties
  into.items_before = Math.max(into.items_before, from.items_before)
  if (into.properties === null) into.properties = from.properties
  else for (const name of from.properties ?? []) into.properties.add(name)
  if (into.items === null) into.items = from.items
  else for (const index of from.items ?? []) into.items.add(index)
}

function holdsProperty({ properties, all_properties }: Locations, name: string): boolean {
  return all_properties || properties?.has(name) === true
}

function holdsItem({ items, items_before }: Locations, index: number): boolean {
  return index < items_before || items?.has(index) === true
}
