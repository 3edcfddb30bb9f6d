import type { TaskBounds, TaskRecord, TaskStore } from '../../ports/tasks.ts'
import { limits } from '../../service/limits.ts'

const BOUNDS: TaskBounds = {
  client: { tasks: limits.a2a_tasks_client, bytes: limits.a2a_client_bytes },
  network: { tasks: limits.a2a_tasks_network, bytes: limits.a2a_network_bytes },
  provider: { tasks: limits.a2a_tasks_provider, bytes: limits.a2a_provider_bytes },
}

/** Time for which the measured total is used, and number of bytes after whose writing it is measured again. */
const TOTAL_MS = 60_000
const TOTAL_PARTS = 16

/** Part of the bound that is left when room was made, and number of providers that are trimmed for it. */
const ROOM_PART = 0.9
const TRIMMED_PROVIDERS = 256

/** Tasks within the bounds of their client, network and provider, and of all. */
export interface BoundedTasks extends Pick<TaskStore, 'find' | 'change'> {
  keep(record: TaskRecord): Promise<void>
}

/**
 * Stores tasks within their bounds. Near the bound of all tasks, the unpaid tasks of the widest providers are trimmed, the oldest first; paid tasks
 * stay. A new task is not stored while paid tasks alone reach the bound, unless it is paid itself. Several processes together can exceed the bound by
 * what they store until they measure it again.
 */
export function boundedTasks(
  store: TaskStore,
  now_ms: () => number,
  { bounds = BOUNDS, all_bytes = limits.a2a_bytes }: { bounds?: TaskBounds; all_bytes?: number } = {},
): BoundedTasks {
  const total = { bytes: 0, written: 0, read_ms: -TOTAL_MS }
  let making: Promise<void> | null = null

  async function measure(): Promise<void> {
    total.read_ms = now_ms()
    total.written = 0
    total.bytes = await store.total_bytes()
  }

  async function makeRoom(wanted_bytes: number): Promise<void> {
    await measure()
    if (total.bytes + wanted_bytes <= all_bytes) return
    const providers = await store.unpaid_bytes(TRIMMED_PROVIDERS)
    const most = levelFor(
      providers.map(({ bytes }) => bytes),
      total.bytes - all_bytes * ROOM_PART,
    )
    for (const { provider, bytes } of providers) if (bytes > most) await store.trim_provider(provider, most)
    await measure()
  }

  async function hasRoom(bytes: number): Promise<boolean> {
    const is_old = now_ms() - total.read_ms >= TOTAL_MS || now_ms() < total.read_ms || total.written * TOTAL_PARTS > all_bytes
    if (is_old || total.bytes + bytes > all_bytes) {
      making ??= makeRoom(bytes).finally(() => (making = null))
      await making
    }
    return total.bytes + bytes <= all_bytes
  }

  function added(bytes: number): void {
    total.bytes += bytes
    total.written += bytes
  }

  return {
    find: (task_id) => store.find(task_id),
    async keep(record) {
      const bytes = record.body.length
      if (!(await hasRoom(bytes)) && !record.paid) return
      await store.keep(record, bounds)
      added(bytes)
    },
    async change(record) {
      const changed = await store.change(record)
      if (changed) added(record.body.length)
      return changed
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
