import type { AllowanceGrant, AllowanceRequest, Store, StoreIdentity } from '../../ports/store.ts'
import { limits } from '../../service/limits.ts'
import { StoreRefusedError, StoreUnavailableError } from './errors.ts'
import { GIVE_BACK, PING, PURGE, READ_IDENTITY, READ_NOTE, READ_USED, TAKE_LEASE, WRITE_IDENTITY, WRITE_NOTE } from './sql.ts'
import type { Statement } from './sql.ts'

export type Value = string | number
export type Row = Record<string, unknown>

/** Days from 1970 that a 32-bit signed column holds. */
const DAY_MAX = 2_147_483_647
const KEY_CHARS_MAX = 200
const PURGE_ROWS = 1_000

/** What both databases do alike: everything but taking a unit, each with one statement. */
export abstract class SqlStore implements Store {
  abstract readonly kind: 'sqlite' | 'postgres'
  abstract take(request: AllowanceRequest): Promise<AllowanceGrant>
  abstract settings(): Promise<Record<string, string>>
  abstract close(): Promise<void>
  /** Runs one statement that changes nothing. */
  protected abstract read(statement: Statement, values: Value[]): Promise<Row[]>
  /** Runs one statement and resolves when its change is durable. */
  protected abstract write(statement: Statement, values: Value[]): Promise<Row[]>

  async give_back(request: AllowanceRequest): Promise<void> {
    assertStorable(request)
    await this.write(GIVE_BACK, [request.day, request.bucket, request.client])
  }

  async used(request: AllowanceRequest): Promise<number> {
    assertStorable(request)
    const [row] = await this.read(READ_USED, [request.day, request.bucket, request.client])
    return row === undefined ? 0 : integer(row, 'used')
  }

  async identity(mine: StoreIdentity): Promise<StoreIdentity> {
    await this.write(WRITE_IDENTITY, [mine.mode, mine.chain_id, mine.pay_to])
    const [row] = await this.read(READ_IDENTITY, [])
    return { mode: text(row, 'mode'), chain_id: integer(row, 'chain_id'), pay_to: text(row, 'pay_to') }
  }

  async remember(name: string, note: string): Promise<string> {
    await this.write(WRITE_NOTE, [name, note])
    const [row] = await this.read(READ_NOTE, [name])
    return text(row, 'note')
  }

  async lease(name: string, holder: string, now_ms: number, until_ms: number): Promise<boolean> {
    return (await this.write(TAKE_LEASE, [name, holder, now_ms, until_ms])).length === 1
  }

  async purge_allowance(day: number): Promise<number> {
    let gone = 0
    for (;;) {
      const rows = await this.write(PURGE, [day, PURGE_ROWS])
      gone += rows.length
      if (rows.length < PURGE_ROWS) return gone
    }
  }

  async ping(): Promise<void> {
    await this.read(PING, [])
  }
}

/** Throws for a request that one of the databases cannot hold, so that both refuse the same requests, before a batch is made. */
export function assertStorable(request: AllowanceRequest): void {
  const { day, bucket, client, limit } = request
  const countable = Number.isInteger(limit) && limit >= 0 && limit <= limits.free_daily_max
  if (!countable || !Number.isInteger(day) || day < 0 || day > DAY_MAX || !isKey(bucket) || !isKey(client)) {
    throw new StoreRefusedError('An allowance request has a day, bucket, client or limit that cannot be stored.')
  }
}

/** PostgreSQL text holds no U+0000. */
function isKey(value: string): boolean {
  return value.length > 0 && value.length <= KEY_CHARS_MAX && !value.includes('\u0000')
}

/** Reads a whole number that JavaScript holds exactly; pg hands 64-bit integers over as text. */
export function integer(row: Row | undefined, column: string): number {
  const value = row?.[column]
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw new StoreUnavailableError(`The store holds no whole number in column ${column}.`)
}

export function text(row: Row | undefined, column: string): string {
  const value = row?.[column]
  if (typeof value === 'string') return value
  throw new StoreUnavailableError(`The store holds no text in column ${column}.`)
}
