import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { until } from './until.ts'

/** A lease that went from one process to another. */
interface Takeover {
  lease: string
  /** By the clock of the database: from the last write of the one that had it to the first of the one that has it now. */
  gap_ms: number
}

export interface LeaseWatch {
  takeovers: Takeover[]
  /** Whether the lease of which this is how the name begins is held by somebody who still renews it. */
  renewed(name: string): boolean
  /** The time of the database, once all that was written before is seen. */
  now_ms(): Promise<number>
  /** Whether the lease of which this is how the name begins was written after that time. */
  writtenAfter(name: string, time_ms: number): boolean
  stop(): Promise<void>
}

interface Seen {
  holder: string
  until_ms: number
  written_ms: number
}

const LOOK_MS = 50
const READ = 'select name, holder, until_ms, floor(extract(epoch from clock_timestamp()) * 1000) as now_ms from lease'

/** Looks at the leases of a database all the time; errs by one look in each direction. */
export async function watchLeases(store: string): Promise<LeaseWatch> {
  const client = new pg.Client({ connectionString: store })
  await client.connect()
  const seen = new Map<string, Seen>()
  const takeovers: Takeover[] = []
  const stopping = new AbortController()
  let now_ms = 0
  let looks = 0

  async function look(): Promise<void> {
    const { rows } = await client.query<Record<string, unknown>>(READ)
    now_ms = Number(rows[0]?.['now_ms'] ?? now_ms)
    for (const row of rows) {
      const [lease, now] = [String(row['name']), { holder: String(row['holder']), until_ms: Number(row['until_ms']) }]
      const before = seen.get(lease)
      if (before?.holder === now.holder && before.until_ms === now.until_ms) continue
      const written_ms = now_ms
      if (before !== undefined && before.holder !== now.holder) takeovers.push({ lease, gap_ms: written_ms - before.written_ms })
      seen.set(lease, { ...now, written_ms })
    }
  }

  const looking = (async () => {
    while (!stopping.signal.aborted) {
      await look()
      looks++
      await pause(LOOK_MS)
    }
  })()
  return {
    takeovers,
    renewed: (name) => [...seen].some(([lease, { until_ms }]) => lease.startsWith(name) && until_ms > now_ms),
    async now_ms() {
      const before = looks
      // The look that is under way may have begun too early.
      await until('a look at the leases', () => looks >= before + 2)
      return now_ms
    },
    writtenAfter: (name, time_ms) => [...seen].some(([lease, { written_ms }]) => lease.startsWith(name) && written_ms > time_ms),
    async stop() {
      stopping.abort()
      await looking
      await client.end()
    },
  }
}
