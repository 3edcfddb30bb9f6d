import type { StoredInvoice, WatchedMerchant } from '../../ports/invoices.ts'
import { isChainFault } from '../chain-fault.ts'
import { INVOICE_RULES } from '../limits.ts'
import { createRecentMap } from '../recent.ts'
import { attributeTransfer, type SeenTransfer, transferIn, updateClosed } from './attribution.ts'
import { noteSubmitted } from './other-assets.ts'
import {
  depthOf,
  lookAtGroup,
  type LookRound,
  type PlacedMerchant,
  placeMerchant,
  putOff,
  startRound,
  type WatchParts,
} from './watch-group.ts'

/** Reads the transfers to merchants. Its memory is only a cache of chain reads. */
export interface InvoiceWatch {
  /**
   * Looks at merchants that are due: first at those with payments in blocks that are not final and those that were paid before, then at the others,
   * whose pause doubles while nothing is found. Rejects when the store fails.
   */
  round(now_ms: number): Promise<void>
  /** Looks at one merchant; false when its transfers were not read up to the head of the chain. Rejects when chain or store fails. */
  look(merchant: string): Promise<boolean>
  /** Reads the transfers of one transaction, and those in other assets for the invoice that the client named. Null while it is in no block. */
  lookInto(transaction: string, named_for?: StoredInvoice): Promise<TransactionLook | null>
}

interface TransactionLook {
  /** Ids of the invoices to which this look attributed a transfer. */
  attributed: string[]
  /** Transfers of the token in the transaction. */
  transfers: SeenTransfer[]
}

const CACHED_TRANSFERS = 10_000

export function createInvoiceWatch(parts: WatchParts): InvoiceWatch {
  const seen = createRecentMap<SeenTransfer | 'none'>(CACHED_TRANSFERS)
  return {
    async round(now_ms) {
      try {
        await lookAtDue(parts, (unsettled) => startRound(parts, seen, unsettled), now_ms)
      } catch (error) {
        if (!isChainFault(error)) throw error
        parts.log.warn({ error: String(error) }, 'invoices could not be compared with the chain')
      }
    },
    async look(merchant) {
      const watched = await parts.store.watch_of(merchant)
      if (watched === null) return true
      const round = await startRound(parts, seen, [merchant])
      const current = await lookAtGroup(parts, round, [await placeMerchant(parts, round, watched)])
      return current !== 'crowded' && current.has(merchant)
    },
    lookInto: (transaction, named_for) => lookInto(parts, transaction, named_for),
  }
}

async function lookAtDue(parts: WatchParts, begin: (unsettled: readonly string[]) => Promise<LookRound>, now_ms: number): Promise<void> {
  const { store } = parts
  const { round_unsettled, round_searches, round_searches_new, round_spare, deposits_page } = INVOICE_RULES
  const searches = { proven: round_searches - round_searches_new, first: round_searches_new }
  // Each has an address, and most have a deposit address.
  const most = { proven: (searches.proven * deposits_page) / 2, first: (searches.first * deposits_page) / 2 }
  const unsettled = await store.unsettled_merchants(round_unsettled)
  const proven = withoutDouble([...unsettled, ...(await store.due_merchants(true, now_ms, most.proven))])
  const first = withoutDouble([...proven, ...(await store.due_merchants(false, now_ms, most.first))]).slice(proven.length)
  const spare = proven.length + first.length < round_spare ? await store.next_merchants(now_ms, round_spare) : []
  if (proven.length + first.length + spare.length === 0) return
  const round = await begin(unsettled.map(({ merchant }) => merchant))
  const faults = { left: INVOICE_RULES.round_faults }
  await lookAtAll(parts, round, { merchants: proven, most: searches.proven, faults })
  await lookAtAll(parts, round, { merchants: withoutDouble([...first, ...spare]), most: round.searches + searches.first, faults })
}

/** The first of each merchant. */
function withoutDouble(merchants: readonly WatchedMerchant[]): WatchedMerchant[] {
  const byAddress = new Map<string, WatchedMerchant>()
  for (const one of merchants) if (!byAddress.has(one.merchant)) byAddress.set(one.merchant, one)
  return [...byAddress.values()]
}

interface Lane {
  merchants: readonly WatchedMerchant[]
  /** Log searches of the round after which no further group begins. */
  most: number
  faults: { left: number }
}

/** Looks at merchants in their order, in groups; those for whom no search is left stay due. */
async function lookAtAll(parts: WatchParts, round: LookRound, { merchants, most, faults }: Lane): Promise<void> {
  const { group_merchants } = INVOICE_RULES
  for (let at = 0; at < merchants.length && round.searches < most; at += group_merchants) {
    const placed: PlacedMerchant[] = []
    for (const watched of merchants.slice(at, at + group_merchants)) placed.push(await placeMerchant(parts, round, watched))
    for (const group of alike(placed)) await lookInParts(parts, round, group, faults)
  }
}

/**
 * Groups whose first blocks and last looks are near each other, so that one range serves all of a group, and few blocks and deposit addresses are read
 * twice.
 */
function alike(placed: readonly PlacedMerchant[]): PlacedMerchant[][] {
  const groups: PlacedMerchant[][] = []
  const ordered = placed.toSorted((one, other) => lookedDay(one) - lookedDay(other) || Number(one.from - other.from))
  for (const one of ordered) {
    const group = groups.at(-1)
    const first = group?.[0]
    const is_near = first !== undefined && lookedDay(one) === lookedDay(first) && one.from - first.from <= INVOICE_RULES.look_blocks / 4n
    if (group !== undefined && is_near) group.push(one)
    else groups.push([one])
  }
  return groups
}

/** Day of the last look; zero before the first. */
function lookedDay({ watched }: PlacedMerchant): number {
  return Math.floor(watched.looked_ms / 86_400_000)
}

/**
 * Looks at a group. When its transfers are too many, or the chain refuses its search, the halves are looked at apart, so that one merchant with a
 * flood of transfers delays only itself. Rejects when the chain fails too often for that.
 */
async function lookInParts(parts: WatchParts, round: LookRound, group: readonly PlacedMerchant[], faults: Lane['faults']): Promise<void> {
  const [only] = group
  if (only === undefined) return
  try {
    if ((await lookAtGroup(parts, round, group)) !== 'crowded') return
  } catch (error) {
    if (!isChainFault(error) || (faults.left -= 1) <= 0) throw error
    if (group.length === 1) {
      parts.log.warn({ error: String(error) }, 'the transfers of a merchant could not be read; it is looked at later')
      return putOff(parts, only)
    }
  }
  const half = Math.ceil(group.length / 2)
  await lookInParts(parts, round, group.slice(0, half), faults)
  await lookInParts(parts, round, group.slice(half), faults)
}

async function lookInto(parts: WatchParts, transaction: string, named_for?: StoredInvoice): Promise<TransactionLook | null> {
  const { source, store, clock } = parts
  const receipt = await source.chain.receipt(transaction)
  const header = receipt === null ? null : await source.chain.header(receipt.block_number)
  if (receipt === null || header === null || header.hash !== receipt.block_hash) return null
  const depth = await depthOf(source)
  const logs = receipt.logs.filter(({ address }) => address === source.token).slice(0, INVOICE_RULES.look_receipts)
  const transfers = logs.flatMap((log) => transferIn(log, receipt, header.timestamp_s) ?? [])
  const attributed: string[] = []
  for (const transfer of transfers) {
    const invoice_id = await attributeTransfer(parts, transfer, depth, clock.now_ms())
    if (invoice_id !== null) attributed.push(invoice_id)
  }
  if (named_for !== undefined) await noteSubmitted(parts, named_for, receipt, header, clock.now_ms())
  await updateClosed(store, attributed, Math.floor(clock.now_ms() / 1_000))
  return { attributed, transfers }
}
