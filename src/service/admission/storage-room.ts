/** Stored rows that take turns by the provider of their client: what an actor with many networks stores gives way first. */
export interface SharedStorage {
  /** Bytes of all rows. */
  total_bytes(): Promise<number>
  /** Bytes of rows that may be deleted, by provider, the widest first. */
  unpaid_bytes(limit: number): Promise<{ provider: string; bytes: number }[]>
  /** Of the unpaid rows of a provider keeps the newest of at most so many bytes. */
  trim_provider(provider: string, bytes: number): Promise<void>
}

export interface StorageRoom {
  /** Makes room if there is none; false if there is none for so many bytes, because rows that stay use it. */
  hasRoom(bytes: number): Promise<boolean>
  /** Counts bytes that this process has stored. */
  added(bytes: number): void
}

/** Time for which the measured total is used, and the part of the bound after whose writing it is measured again. */
const TOTAL_MS = 60_000
const TOTAL_PARTS = 16

/** Time for which no further room is looked for when there was too little. */
const FULL_MS = 10_000

/** Part of the bound that is used when room was made, and number of providers that are trimmed for it. */
const ROOM_PART = 0.9
const TRIMMED_PROVIDERS = 256

/**
 * Bounds the bytes of stored rows. At the bound, the unpaid rows of the widest providers are trimmed, the oldest first; paid rows stay. The total
 * is measured at most once a minute, so several processes together can exceed the bound by what they store within it.
 */
export function createStorageRoom(store: SharedStorage, now_ms: () => number, all_bytes: number): StorageRoom {
  const total = { bytes: 0, written: 0, read_ms: -TOTAL_MS }
  /** Time of the last attempt that made too little room. */
  let full_ms = -FULL_MS
  let making: Promise<void> | null = null

  const isWithin = (since_ms: number, duration_ms: number) => now_ms() >= since_ms && now_ms() - since_ms < duration_ms
  const isMeasured = () => isWithin(total.read_ms, TOTAL_MS) && total.written * TOTAL_PARTS <= all_bytes
  const fits = (bytes: number) => total.bytes + bytes <= all_bytes

  async function measure(): Promise<void> {
    total.read_ms = now_ms()
    total.written = 0
    total.bytes = await store.total_bytes()
  }

  async function makeRoom(wanted_bytes: number): Promise<void> {
    if (!isMeasured()) await measure()
    if (fits(wanted_bytes) || isWithin(full_ms, FULL_MS)) return
    const providers = await store.unpaid_bytes(TRIMMED_PROVIDERS)
    const sizes = providers.map(({ bytes }) => bytes)
    const most = levelFor(sizes, total.bytes - all_bytes * ROOM_PART)
    for (const { provider, bytes } of providers) if (bytes > most) await store.trim_provider(provider, most)
    if (providers.length > 0) await measure()
    if (!fits(wanted_bytes)) full_ms = now_ms()
  }

  return {
    async hasRoom(bytes) {
      if (!isMeasured() || !fits(bytes)) {
        making ??= makeRoom(bytes).finally(() => (making = null))
        await making
      }
      return fits(bytes)
    },
    added(bytes) {
      total.bytes += bytes
      total.written += bytes
    },
  }
}

/** Returns the number of bytes that each provider keeps, so that those above it give back `excess` together; zero where all cannot. */
export function levelFor(bytes: readonly number[], excess: number): number {
  const descending = bytes.toSorted((a, b) => b - a)
  let above = 0
  for (const [index, one] of descending.entries()) {
    above += one
    const next = descending[index + 1] ?? 0
    if (above - next * (index + 1) >= excess) return Math.max(0, Math.floor((above - excess) / (index + 1)))
  }
  return 0
}
