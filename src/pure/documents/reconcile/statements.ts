import { accountKey, hash, SEED } from './ids.ts'
import type { Entry, Statement } from './records.ts'

/** Entries whatever their order: two that differ have the same one by chance only. */
interface Digest {
  entries: number
  digest: number
  digest_beside: number
}

interface Instance extends Statement, Digest {
  number: number
  /** By day, booked entries to which the bank gives no reference: nothing else can show that another statement has them too. */
  unnamed: Map<number, Digest>
}

/** Days of statements, by the number of the statement, on which another one of the account shows the same entries without references. */
export interface Overlaps {
  /** Entries of these days do not count. */
  repeating: ReadonlyMap<number, ReadonlySet<number>>
  /** Those of these days count in their place. */
  counting: ReadonlyMap<number, ReadonlySet<number>>
}

export const NO_OVERLAPS: Overlaps = { repeating: new Map(), counting: new Map() }

/** What was found of statements that share account, id, sequence and page. */
export interface StatementRemark {
  code: 'STATEMENT_REPEATED' | 'STATEMENT_ID_REUSED' | 'STATEMENT_OVERLAP' | 'STATEMENT_COPY'
  statement: number
  file: number
  id: string
}

/**
 * Keeps account of the statements that were read, to find the one that came twice: the same account, id, sequence and page, and the same
 * entries whatever their order. Statements that share those and differ in their entries are both counted, and it is said: dropping money
 * would be worse. A statement without an id is never taken for a repeat.
 */
export class StatementBook {
  private readonly instances: Instance[] = []

  /** The number that its entries carry. */
  open(statement: Statement): number {
    const number = this.instances.length
    this.instances.push({ ...statement, number, entries: 0, digest: 0, digest_beside: 0, unnamed: new Map() })
    return number
  }

  /** What a file says of itself may be known only at its end. */
  name(number: number, account: string, id: string): void {
    const instance = this.instances[number]
    if (instance === undefined) return
    instance.account = account
    instance.id = id
  }

  add(entry: Entry): void {
    const instance = this.instances[entry.statement]
    if (instance === undefined) return
    const mixed = digestOf(entry)
    count(instance, mixed)
    if (entry.booking !== null || entry.day === null || entry.status !== 'BOOK') return
    let unnamed = instance.unnamed.get(entry.day)
    if (unnamed === undefined) instance.unnamed.set(entry.day, (unnamed = { entries: 0, digest: 0, digest_beside: 0 }))
    count(unnamed, mixed)
  }

  /** The statements whose entries must not count again, and what is to be said. The original is the one that is no copy, then the first. */
  judge(): { repeated: ReadonlySet<number>; overlaps: Overlaps; remarks: StatementRemark[] } {
    const repeated = new Set<number>()
    const remarks: StatementRemark[] = []
    const named = this.instances.filter(({ id }) => id !== null)
    for (const same of Map.groupBy(named, statementKey).values()) {
      const [original, ...others] = same.toSorted((one, other) => Number(one.copy) - Number(other.copy) || one.number - other.number)
      if (original === undefined) continue
      if (original.copy) remarks.push(remark('STATEMENT_COPY', original))
      for (const other of others) {
        const repeats = alike(other, original)
        if (repeats) repeated.add(other.number)
        remarks.push(remark(repeats ? 'STATEMENT_REPEATED' : 'STATEMENT_ID_REUSED', other))
      }
    }
    const overlaps = overlapsOf(this.instances.filter(({ number }) => !repeated.has(number)))
    for (const number of overlaps.repeating.keys()) {
      const instance = this.instances[number]
      if (instance !== undefined) remarks.push(remark('STATEMENT_OVERLAP', instance))
    }
    return { repeated, overlaps, remarks: remarks.toSorted((one, other) => one.statement - other.statement) }
  }
}

function digestOf(entry: Entry): { mixed: number; text: number } {
  let text = hash(entry.end_to_end_id ?? '', SEED)
  text = hash(entry.uetr ?? entry.instruction_id ?? entry.trace ?? entry.payment_information_id ?? '', text)
  text = hash(entry.currency, text ^ (entry.direction === 'DBIT' ? 1 : 2))
  text = hash(entry.status, text)
  if (entry.booking !== null) text = hash(entry.booking, text)
  const { amount_minor: units } = entry
  const value = Number(BigInt.asUintN(53, units ^ (units >> 53n)))
  return { mixed: Math.imul(text ^ value, 0x2c1b3c6d) ^ Math.floor(value / 2 ** 32), text }
}

/** Added, so that the order of entries does not matter. */
function count(digest: Digest, { mixed, text }: { mixed: number; text: number }): void {
  digest.entries++
  digest.digest = (digest.digest + mixed) | 0
  digest.digest_beside = (digest.digest_beside + Math.imul(mixed ^ (mixed >>> 15), text | 1)) | 0
}

function alike(one: Digest, other: Digest): boolean {
  return one.entries === other.entries && one.digest === other.digest && one.digest_beside === other.digest_beside
}

/**
 * Days that two statements of one account show alike, entry for entry, though the bank gives no references. Pages of one statement, and
 * statements whose periods lie apart, are no overlap. It may err where a bank spreads a day over statements and two of them hold the same
 * payments: then one counts that should count twice, which is why nothing that rests on it is final.
 */
function overlapsOf(instances: readonly Instance[]): Overlaps {
  const repeating = new Map<number, Set<number>>()
  const counting = new Map<number, Set<number>>()
  const known = instances.filter(({ account, unnamed }) => account !== null && unnamed.size > 0)
  for (const same of Map.groupBy(known, ({ account }) => accountKey(account)?.text ?? '').values()) {
    const days = new Map<string, Instance[]>()
    for (const instance of same) {
      for (const [day, digest] of instance.unnamed) {
        const name = [day, digest.entries, digest.digest, digest.digest_beside].join(' ')
        const before = days.get(name) ?? []
        // Few statements show the same day; of a flood of copies the first ones are enough to compare with.
        const original = before.slice(0, COMPARED).find((one) => mayOverlap(one, instance))
        if (original === undefined) days.set(name, [...before.slice(0, COMPARED), instance])
        else {
          mark(repeating, instance.number, day)
          mark(counting, original.number, day)
        }
      }
    }
  }
  return { repeating, counting }
}

/** Statements of one day that are compared. */
const COMPARED = 16

function mayOverlap(one: Instance, other: Instance): boolean {
  const pages = one.file === other.file && one.id === other.id && one.page !== other.page
  return !pages && !endsBefore(one, other) && !endsBefore(other, one)
}

function endsBefore({ to_day }: Instance, { from_day }: Instance): boolean {
  return typeof to_day === 'number' && typeof from_day === 'number' && to_day < from_day
}

function mark(days: Map<number, Set<number>>, statement: number, day: number): void {
  const known = days.get(statement)
  if (known === undefined) days.set(statement, new Set([day]))
  else known.add(day)
}

function remark(code: StatementRemark['code'], { number, file, id }: Instance): StatementRemark {
  return { code, statement: number, file, id: id ?? '' }
}

function statementKey({ account, id, sequence, page }: Statement): string {
  return JSON.stringify([accountKey(account)?.text ?? null, id, sequence, page])
}
