import type { InvoiceWatchStore, MerchantLook, PurgedInvoice, WatchedMerchant } from '../../ports/invoices.ts'
import { WATCH_MARGIN_S } from '../../ports/invoices.ts'
import { execute, readAll, readFirst, type Work } from './database.ts'
import { FORGET_NONCES } from './invoice-statements.ts'
import * as sql from './invoice-watch-statements.ts'
import { SealedStore } from './sealed-text.ts'

/** Invoices that one transaction deletes; each has several rows, and others wait for the transaction. */
const PURGED_TOGETHER = 100

/** Merchants that are watched and invoices that are deleted unpaid, in the SQL that both databases share. */
export class SqlInvoiceWatchStore extends SealedStore implements InvoiceWatchStore {
  due_merchants(proven: boolean, now_ms: number, limit: number): Promise<WatchedMerchant[]> {
    return this.database.readAll(sql.READ_DUE, { proven, now_ms, limit, margin_s: WATCH_MARGIN_S })
  }

  next_merchants(now_ms: number, limit: number): Promise<WatchedMerchant[]> {
    return this.database.readAll(sql.READ_NEXT_DUE, { now_ms, limit, margin_s: WATCH_MARGIN_S })
  }

  unsettled_merchants(limit: number): Promise<WatchedMerchant[]> {
    return this.database.readAll(sql.READ_UNSETTLED, { limit })
  }

  watch_of(merchant: string): Promise<WatchedMerchant | null> {
    return this.database.readFirst(sql.READ_WATCH_OF, { merchant })
  }

  async watched_since(merchant: string, at_s: number): Promise<number | null> {
    return (await this.database.readOne(sql.READ_WATCHED_SINCE, { merchant, now_s: at_s })).since_ms
  }

  record_looks(looks: readonly MerchantLook[]): Promise<void> {
    // In one order, so that two instances never wait for each other.
    const ordered = looks.toSorted((one, other) => (one.merchant < other.merchant ? -1 : 1))
    return this.database.atomically(function* (): Work<void> {
      for (const look of ordered) yield* execute(sql.WRITE_LOOK, look)
    })
  }

  async wake(merchant: string, now_ms: number): Promise<void> {
    await this.database.execute(sql.WAKE_MERCHANT, { merchant, now_ms })
  }

  async paid_invoices(merchant: string, limit: number): Promise<number> {
    return (await this.database.readOne(sql.COUNT_PAID, { merchant, limit })).paid
  }

  deposits_of(merchant: string, which: 'open' | 'late', at_s: number, after: number, limit: number) {
    const page = which === 'open' ? sql.READ_OPEN_DEPOSITS : sql.READ_LATE_DEPOSITS
    return this.database.readAll(page, { merchant, now_s: at_s, after, limit })
  }

  async deposits_among(merchants: readonly string[], which: 'open' | 'late', at_s: number, limit: number) {
    const statement = which === 'open' ? sql.READ_OPEN_DEPOSITS_AMONG : sql.READ_LATE_DEPOSITS_AMONG
    const found: { merchant: string; deposit_address: string | null }[] = []
    for (let at = 0; at < merchants.length; at += sql.DEPOSIT_MERCHANTS) {
      const some = merchants.slice(at, at + sql.DEPOSIT_MERCHANTS)
      // The statement has a fixed number of places; a merchant that is named twice is found once.
      const rows = Array.from({ length: sql.DEPOSIT_MERCHANTS }, (_, place) => ({ merchant: some[place] ?? some[0] ?? '' }))
      found.push(...(await this.database.readAll(statement, { merchants: rows, now_s: at_s, limit })))
    }
    return found
  }

  async purge_unpaid(now_ms: number, forget_before_ms: number, limit: number): Promise<number> {
    const now_s = Math.floor(now_ms / 1_000)
    let all = 0
    while (all < limit) {
      const purged = await this.database.atomically(() => purgeSome(now_s, now_ms, Math.min(PURGED_TOGETHER, limit - all)))
      if (purged === 0) break
      all += purged
    }
    await this.database.purge(sql.FORGET_PURGED, { before_ms: forget_before_ms })
    await this.database.purge(sql.FORGET_MERCHANTS, { now_s })
    return all
  }

  purged(invoice_id: string): Promise<PurgedInvoice | null> {
    return this.database.readFirst(sql.READ_PURGED, { invoice_id })
  }
}

/** Deletes some invoices; what is left of each is written in the same transaction. */
function* purgeSome(now_s: number, now_ms: number, limit: number): Work<number> {
  let purged = 0
  for (const { number } of yield* readAll(sql.READ_PURGEABLE, { now_s, limit, margin_s: WATCH_MARGIN_S })) {
    // The check comes after the lock: a statement that waited for the lock would still use what it saw before.
    const gone = yield* readFirst(sql.PURGE, { number, margin_s: WATCH_MARGIN_S })
    if (gone === undefined) continue
    yield* execute(FORGET_NONCES, gone)
    yield* forgetMerchant(gone.merchant)
    yield* execute(sql.INSERT_PURGED, { ...gone, now_ms })
    purged += 1
  }
  return purged
}

/** Forgets a merchant that has no invoice left. The check comes after the lock, so that it sees an invoice that was stored meanwhile. */
export function* forgetMerchant(merchant: string): Work<void> {
  if (yield* execute(sql.LOCK_MERCHANT, { merchant })) yield* execute(sql.FORGET_MERCHANT, { merchant })
}
