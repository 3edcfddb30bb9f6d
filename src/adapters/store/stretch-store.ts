import type { FinalizedRange, FinalizedRangeStore, TokenTransfer } from '../../ports/chain-facts.ts'
import { amount, columns, count, count32, key_type, parameter, text_type } from './columns.ts'
import { inserted, matched, selected, sql, statement } from './statements.ts'
import { execute, type Work, DatabaseStore } from './database.ts'
import { StoreUnavailableError } from './errors.ts'

/** Transfers of an account in ranges of final blocks, in the SQL that both databases share. */

const account_columns = columns({ chain_id: count, token: key_type, account: key_type })
const from_block = columns({ from_block: amount })
const stretch = { ...account_columns, ...from_block, ...columns({ blocks: count32, transfers: text_type }) }

const READ = statement(
  'read_stretches',
  sql`select ${selected(stretch)} from closed_stretch
    where ${matched(account_columns)} and from_block >= ${from_block.from_block} order by from_block`,
)

const KEEP = statement(
  'keep_stretch',
  sql`insert into closed_stretch ${inserted({ ...stretch, ...columns({ kept_ms: count }) })}
    on conflict (chain_id, token, account, from_block) do nothing`,
)

const PURGE = statement(
  'purge_stretches',
  sql`delete from closed_stretch where (chain_id, token, account, from_block) in
    (select chain_id, token, account, from_block from closed_stretch where kept_ms < ${parameter('before_ms', count)}
      limit ${parameter('limit', count)})
    returning blocks`,
)

export class SqlStretchStore extends DatabaseStore implements FinalizedRangeStore {
  async stretches(chain_id: number, token: string, account: string, from: bigint): Promise<FinalizedRange[]> {
    const found = await this.database.readAll(READ, { chain_id, token, account, from_block: from })
    return found.map((stored) => ({ ...stored, transfers: unpack(stored.transfers) }))
  }

  keep_stretches(stretches: readonly FinalizedRange[], kept_ms: number): Promise<void> {
    return this.database.atomically(function* (): Work<void> {
      for (const kept of stretches) yield* execute(KEEP, { ...kept, transfers: pack(kept.transfers), kept_ms })
    })
  }

  purge_stretches(before_ms: number): Promise<number> {
    return this.database.purge(PURGE, { before_ms })
  }
}

type PackedTransfer = [from: string, to: string, amount: string, block: string, transaction: string, log: number]

function pack(transfers: readonly TokenTransfer[]): string {
  const packed = transfers.map(({ from, to, amount_minor, block_number, transaction_hash, log_index }): PackedTransfer => [
    from,
    to,
    String(amount_minor),
    String(block_number),
    transaction_hash,
    log_index,
  ])
  return JSON.stringify(packed)
}

function unpack(stored: string): TokenTransfer[] {
  const packed: unknown = JSON.parse(stored)
  if (!Array.isArray(packed)) throw new StoreUnavailableError('The store has a range of blocks whose transfers cannot be read.')
  return (packed as PackedTransfer[]).map(([from, to, minor, block, transaction_hash, log_index]) => ({
    from,
    to,
    amount_minor: BigInt(minor),
    block_number: BigInt(block),
    transaction_hash,
    log_index,
  }))
}
