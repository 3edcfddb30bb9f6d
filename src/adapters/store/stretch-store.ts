import type { ClosedStretch, StretchStore, TokenTransfer } from '../../ports/chain-facts.ts'
import { StoreUnavailableError } from './errors.ts'
import { integer, text, wide } from './rows.ts'
import { assertCounts, assertKeys, assertTexts, assertWide } from './storable.ts'
import type { Database, Row, Statement, Work } from './work.ts'

const READ: Statement = {
  name: 'read_stretches',
  text: `select cast(from_block as text) as from_block, blocks, transfers from closed_stretch
    where chain_id = ?1 and token = ?2 and account = ?3 and from_block >= ?4 order by from_block`,
}

const KEEP: Statement = {
  name: 'keep_stretch',
  text: `insert into closed_stretch (chain_id, token, account, from_block, blocks, transfers, kept_ms)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict (chain_id, token, account, from_block) do nothing`,
}

const PURGE: Statement = {
  name: 'purge_stretches',
  text: `delete from closed_stretch where (chain_id, token, account, from_block) in
    (select chain_id, token, account, from_block from closed_stretch where kept_ms < ?1 limit ?2) returning blocks`,
}
const PURGE_ROWS = 1_000

/** Closed stretches in the SQL that both databases share. */
export class SqlStretchStore implements StretchStore {
  readonly #database: Pick<Database, 'read' | 'write' | 'atomically'>

  constructor(database: Pick<Database, 'read' | 'write' | 'atomically'>) {
    this.#database = database
  }

  async stretches(chain_id: number, token: string, account: string, from_block: bigint): Promise<ClosedStretch[]> {
    assertKeys({ token, account })
    assertCounts({ chain_id })
    assertWide({ from_block })
    const rows = await this.#database.read(READ, [chain_id, token, account, from_block])
    return rows.map((row) => ({ chain_id, token, account, ...stretchOf(row) }))
  }

  async keep_stretches(stretches: readonly ClosedStretch[], now_ms: number): Promise<void> {
    assertCounts({ now_ms })
    const rows = stretches.map(({ chain_id, token, account, from_block, blocks, transfers }) => {
      const written = JSON.stringify(transfers.map(packed))
      assertKeys({ token, account })
      assertCounts({ chain_id, blocks })
      assertWide({ from_block })
      assertTexts({ transfers: written })
      return [chain_id, token, account, from_block, blocks, written, now_ms]
    })
    await this.#database.atomically(function* (): Work<null> {
      for (const values of rows) yield { statement: KEEP, values }
      return null
    })
  }

  async purge_stretches(before_ms: number): Promise<number> {
    let gone = 0
    for (;;) {
      const rows = await this.#database.write(PURGE, [before_ms, PURGE_ROWS])
      gone += rows.length
      if (rows.length < PURGE_ROWS) return gone
    }
  }
}

type Packed = [from: string, to: string, amount: string, block: string, transaction: string, log: number]

function packed({ from, to, amount_minor, block_number, transaction_hash, log_index }: TokenTransfer): Packed {
  return [from, to, String(amount_minor), String(block_number), transaction_hash, log_index]
}

function stretchOf(row: Row): Pick<ClosedStretch, 'from_block' | 'blocks' | 'transfers'> {
  const from_block = wide(row, 'from_block')
  const blocks = integer(row, 'blocks')
  const found: unknown = JSON.parse(text(row, 'transfers'))
  if (!Array.isArray(found)) throw new StoreUnavailableError('The store holds a stretch of blocks that cannot be read.')
  return { from_block, blocks, transfers: (found as Packed[]).map(unpacked) }
}

function unpacked([from, to, amount, block, transaction_hash, log_index]: Packed): TokenTransfer {
  return { from, to, amount_minor: BigInt(amount), block_number: BigInt(block), transaction_hash, log_index }
}
