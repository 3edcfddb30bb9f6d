import { StatementCoverage, type BookedSum, type ReadStatement } from './coverage.ts'
import type { BankEntry, BankStatement, EntryStatus } from './records.ts'
import { accountKey, HASH_SEED, textHash, usableId } from './values.ts'

/** Order-independent digest of entries: different sets collide only by chance. */
interface EntryDigest {
  entries: number
  digest: number
  digest_check: number
}

interface StatementInstance extends ReadStatement, EntryDigest {
  booked: Map<string, BookedSum>
  /** Booked entries without a bank reference, by day: only their digest can show that another statement repeats them. */
  unnamed: Map<number, EntryDigest>
}

/** Days, by statement number, on which another statement of the account shows the same entries without references. */
export interface StatementOverlaps {
  /** Days whose entries do not count. */
  repeating: ReadonlyMap<number, ReadonlySet<number>>
  /** Days whose entries count instead. */
  counting: ReadonlyMap<number, ReadonlySet<number>>
}

/** Finding on statements that share account, id, sequence and page, or overlap. */
interface StatementRemark {
  code: 'STATEMENT_REPEATED' | 'STATEMENT_ID_REUSED' | 'STATEMENT_OVERLAP' | 'STATEMENT_COPY'
  statement: number
  file: number
  id: string
}

/**
 * Finds statements that were supplied twice: same account, id, sequence and page, and the same entries in any order. If only their entries
 * differ, both count and a finding says so, because dropping money would be worse. A statement without an id is never taken for a repeat.
 */
export class StatementBook {
  private readonly instances: StatementInstance[] = []
  /** Reasons by end-to-end id, UETR or other id of rejected payments. */
  private readonly rejections = new Map<string, string | null>()
  /** Reasons by id of rejected messages and payment blocks. */
  private readonly rejected_groups = new Map<string, string | null>()

  /** Returns the number for its entries. */
  open(statement: BankStatement): number {
    const number = this.instances.length
    const nothing = { entries: 0, digest: 0, digest_check: 0, all_entries: 0, first_entry_day: 0, last_entry_day: 0 }
    this.instances.push({ ...statement, ...nothing, number, unnamed: new Map(), booked: new Map() })
    return number
  }

  /** Adds what a statement states after its entries. */
  update(number: number, changes: Partial<BankStatement>): void {
    const instance = this.instances[number]
    if (instance !== undefined) Object.assign(instance, changes)
  }

  /** Notes that a bank or operator rejected the payment of this id. */
  reject(id: string | null, reason: string | null): void {
    const usable = usableId(id)
    if (usable !== null && !this.rejections.has(usable)) this.rejections.set(usable, reason)
  }

  /** Notes that a whole message or payment block of this id was rejected. */
  rejectGroup(id: string | null, reason: string | null): void {
    const usable = usableId(id)
    if (usable !== null && !this.rejected_groups.has(usable)) this.rejected_groups.set(usable, reason)
  }

  /** Rejections as options of reconciliation. */
  rejected(): Record<'rejections' | 'rejected_groups', ReadonlyMap<string, string | null>> {
    return { rejections: this.rejections, rejected_groups: this.rejected_groups }
  }

  /** Counts an entry as a whole, independent of its transactions. `amount_minor` is negative for a debit. */
  count(
    number: number,
    entry: { status: EntryStatus; currency: string; amount_minor: bigint; reversal: boolean; day: number | null },
  ): void {
    const instance = this.instances[number]
    if (instance === undefined) return
    instance.all_entries++
    const { status, currency, amount_minor, reversal, day } = entry
    if (status !== 'BOOK') return
    if (day !== null) {
      if (instance.first_entry_day === 0 || day < instance.first_entry_day) instance.first_entry_day = day
      if (day > instance.last_entry_day) instance.last_entry_day = day
    }
    let sum = instance.booked.get(currency)
    if (sum === undefined) instance.booked.set(currency, (sum = { total_minor: 0n, reversed_minor: 0n }))
    sum.total_minor += amount_minor
    if (reversal) sum.reversed_minor += amount_minor
  }

  /** Accounts and days that the statements cover, without those in `repeated`. */
  coverage(repeated: ReadonlySet<number>): StatementCoverage {
    return new StatementCoverage(this.instances.filter(({ number }) => !repeated.has(number)))
  }

  /** Some files state their identity only at the end. */
  setName(number: number, account: string, id: string): void {
    const instance = this.instances[number]
    if (instance === undefined) return
    instance.account = account
    instance.id = id
  }

  add(entry: BankEntry): void {
    const instance = this.instances[entry.statement]
    if (instance === undefined) return
    const mixed = entryDigest(entry)
    addToDigest(instance, mixed)
    if (entry.booking !== null || entry.day === null || entry.status !== 'BOOK') return
    let unnamed = instance.unnamed.get(entry.day)
    if (unnamed === undefined) instance.unnamed.set(entry.day, (unnamed = { entries: 0, digest: 0, digest_check: 0 }))
    addToDigest(unnamed, mixed)
  }

  /**
   * Returns the statements whose entries must not count again, overlapping days and findings. The original is the one not marked as a copy,
   * otherwise the first.
   */
  findRepeats(): { repeated: ReadonlySet<number>; overlaps: StatementOverlaps; remarks: StatementRemark[] } {
    const repeated = new Set<number>()
    const remarks: StatementRemark[] = []
    const named = this.instances.filter(({ id }) => id !== null)
    for (const same of Map.groupBy(named, statementKey).values()) {
      const [original, ...others] = same.toSorted((one, other) => Number(one.copy) - Number(other.copy) || one.number - other.number)
      if (original === undefined) continue
      if (original.copy) remarks.push(statementRemark('STATEMENT_COPY', original))
      for (const other of others) {
        const repeats =
          other.entries === original.entries && other.digest === original.digest && other.digest_check === original.digest_check
        if (repeats) repeated.add(other.number)
        remarks.push(statementRemark(repeats ? 'STATEMENT_REPEATED' : 'STATEMENT_ID_REUSED', other))
      }
    }
    const overlaps = findOverlaps(this.instances.filter(({ number }) => !repeated.has(number)))
    for (const number of overlaps.repeating.keys()) {
      const instance = this.instances[number]
      if (instance !== undefined) remarks.push(statementRemark('STATEMENT_OVERLAP', instance))
    }
    return { repeated, overlaps, remarks: remarks.toSorted((one, other) => one.statement - other.statement) }
  }
}

function entryDigest(entry: BankEntry): { mixed: number; text: number } {
  let text = textHash(entry.end_to_end_id ?? '', HASH_SEED)
  text = textHash(entry.uetr ?? entry.instruction_id ?? entry.trace ?? entry.payment_information_id ?? '', text)
  text = textHash(entry.currency, text ^ (entry.direction === 'DBIT' ? 1 : 2))
  text = textHash(entry.status, text)
  if (entry.booking !== null) text = textHash(entry.booking, text)
  const { amount_minor: units } = entry
  const value = Number(BigInt.asUintN(53, units ^ (units >> 53n)))
  return { mixed: Math.imul(text ^ value, 0x2c1b3c6d) ^ Math.floor(value / 2 ** 32), text }
}

/** Addition makes the digest independent of order. */
function addToDigest(digest: EntryDigest, { mixed, text }: { mixed: number; text: number }): void {
  digest.entries++
  digest.digest = (digest.digest + mixed) | 0
  digest.digest_check = (digest.digest_check + Math.imul(mixed ^ (mixed >>> 15), text | 1)) | 0
}

/**
 * Days on which two statements of one account show the same entries without bank references. Pages of one statement, and statements with
 * separate periods, do not overlap. If a bank splits a day over statements and two of them contain the same payments, one counts too few;
 * therefore nothing that rests on an overlap is final.
 */
function findOverlaps(instances: readonly StatementInstance[]): StatementOverlaps {
  const repeating = new Map<number, Set<number>>()
  const counting = new Map<number, Set<number>>()
  const known = instances.filter(({ account, unnamed }) => account !== null && unnamed.size > 0)
  for (const same of Map.groupBy(known, ({ account }) => accountKey(account)?.text ?? '').values()) {
    const days = new Map<string, StatementInstance[]>()
    for (const instance of same) {
      for (const [day, digest] of instance.unnamed) {
        const name = [day, digest.entries, digest.digest, digest.digest_check].join(' ')
        const before = days.get(name) ?? []
        // Usually few statements show the same day; with many copies, comparing the first ones is enough.
        const original = before.slice(0, COMPARED_STATEMENTS).find((one) => mayOverlap(one, instance))
        if (original === undefined) days.set(name, [...before.slice(0, COMPARED_STATEMENTS), instance])
        else {
          addDay(repeating, instance.number, day)
          addDay(counting, original.number, day)
        }
      }
    }
  }
  return { repeating, counting }
}

/** Maximum number of statements compared per day. */
const COMPARED_STATEMENTS = 16

function mayOverlap(one: StatementInstance, other: StatementInstance): boolean {
  const pages = one.file === other.file && one.id === other.id && one.page !== other.page
  return !pages && !endsBefore(one, other) && !endsBefore(other, one)
}

function endsBefore({ to_day }: StatementInstance, { from_day }: StatementInstance): boolean {
  return typeof to_day === 'number' && typeof from_day === 'number' && to_day < from_day
}

function addDay(days: Map<number, Set<number>>, statement: number, day: number): void {
  const known = days.get(statement)
  if (known === undefined) days.set(statement, new Set([day]))
  else known.add(day)
}

function statementRemark(code: StatementRemark['code'], { number, file, id }: StatementInstance): StatementRemark {
  return { code, statement: number, file, id: id ?? '' }
}

function statementKey({ account, id, sequence, page }: BankStatement): string {
  return JSON.stringify([accountKey(account)?.text ?? null, id, sequence, page])
}
