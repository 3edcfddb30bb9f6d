import { accountKey } from './ids.ts'
import type { Entry, Statement } from './records.ts'
import { hash, SEED } from './text-hash.ts'

interface Instance extends Statement {
  number: number
  entries: number
  digest: number
  digest_beside: number
}

/** What was found of statements that share account, id, sequence and page. */
export interface StatementRemark {
  code: 'STATEMENT_REPEATED' | 'STATEMENT_ID_REUSED' | 'STATEMENT_COPY'
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
    this.instances.push({ ...statement, number, entries: 0, digest: 0, digest_beside: 0 })
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
    instance.entries++
    let text = hash(entry.end_to_end_id ?? '', SEED)
    text = hash(entry.uetr ?? entry.instruction_id ?? entry.trace ?? entry.payment_information_id ?? '', text)
    text = hash(entry.currency, text ^ (entry.direction === 'DBIT' ? 1 : 2))
    text = hash(entry.status, text)
    if (entry.booking !== null) text = hash(entry.booking, text)
    const { amount_minor: units } = entry
    const value = Number(BigInt.asUintN(53, units ^ (units >> 53n)))
    const mixed = Math.imul(text ^ value, 0x2c1b3c6d) ^ Math.floor(value / 2 ** 32)
    // Added, so that the order of entries does not matter.
    instance.digest = (instance.digest + mixed) | 0
    instance.digest_beside = (instance.digest_beside + Math.imul(mixed ^ (mixed >>> 15), text | 1)) | 0
  }

  /** The statements whose entries must not count again, and what is to be said. The original is the one that is no copy, then the first. */
  judge(): { repeated: ReadonlySet<number>; remarks: StatementRemark[] } {
    const repeated = new Set<number>()
    const remarks: StatementRemark[] = []
    const named = this.instances.filter(({ id }) => id !== null)
    for (const same of Map.groupBy(named, statementKey).values()) {
      const [original, ...others] = same.toSorted((one, other) => Number(one.copy) - Number(other.copy) || one.number - other.number)
      if (original === undefined) continue
      if (original.copy) remarks.push(remark('STATEMENT_COPY', original))
      for (const other of others) {
        const repeats =
          other.entries === original.entries && other.digest === original.digest && other.digest_beside === original.digest_beside
        if (repeats) repeated.add(other.number)
        remarks.push(remark(repeats ? 'STATEMENT_REPEATED' : 'STATEMENT_ID_REUSED', other))
      }
    }
    return { repeated, remarks: remarks.toSorted((one, other) => one.statement - other.statement) }
  }
}

function remark(code: StatementRemark['code'], { number, file, id }: Instance): StatementRemark {
  return { code, statement: number, file, id: id ?? '' }
}

function statementKey({ account, id, sequence, page }: Statement): string {
  return JSON.stringify([accountKey(account)?.text ?? null, id, sequence, page])
}
