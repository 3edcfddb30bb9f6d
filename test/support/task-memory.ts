import type { TaskRecord, TaskShare, TaskStore } from '../../src/ports/tasks.ts'

/** Tasks in memory, for tests of what stands on them. */
export function tasksInMemory(): TaskStore & { records: Map<string, TaskRecord> } {
  const records = new Map<string, TaskRecord>()
  const newest = (all: TaskRecord[]) => all.toSorted((a, b) => b.updated_ms - a.updated_ms || a.task_id.localeCompare(b.task_id))
  const bytesOf = (all: readonly TaskRecord[]) => all.reduce((sum, { body }) => sum + body.length, 0)
  const idle = (group: readonly TaskRecord[]) => group.filter(({ working }) => !working)
  const forget = (group: readonly TaskRecord[]) => {
    for (const { task_id } of group) records.delete(task_id)
    return group.length
  }
  const trim = (belongs: (one: TaskRecord) => boolean, { tasks, bytes }: TaskShare) => {
    for (const paid of [true, false]) {
      const group = newest([...records.values()].filter((one) => belongs(one) && one.paid === paid))
      forget(idle(group.filter((_, place) => place >= tasks || bytesOf(group.slice(0, place + 1)) > bytes)))
    }
  }
  const trimBeyond = (belongs: (one: TaskRecord) => boolean, paid: boolean, share: TaskShare) => {
    const group = [...records.values()].filter((one) => belongs(one) && one.paid === paid)
    if (group.length <= share.tasks && bytesOf(group) <= share.bytes) return
    trim(belongs, { tasks: Math.floor(share.tasks * 0.9), bytes: Math.floor(share.bytes * 0.9) })
  }
  return {
    records,
    keep: async (record, bounds) => {
      records.set(record.task_id, record)
      trim(({ client }) => client === record.client, bounds.client)
      trimBeyond(({ network }) => network === record.network, record.paid, bounds.network)
      trimBeyond(({ provider }) => provider === record.provider, record.paid, bounds.provider)
    },
    find: async (task_id) => records.get(task_id) ?? null,
    change: async (record) => {
      const before = records.get(record.task_id)
      if (before === undefined || before.revision !== record.revision - 1) return false
      records.set(record.task_id, { ...record, client: before.client, network: before.network, provider: before.provider })
      return true
    },
    total_bytes: async () => bytesOf([...records.values()]),
    unpaid_bytes: async (limit) =>
      Array.from(
        Map.groupBy(
          [...records.values()].filter(({ paid }) => !paid),
          ({ provider }) => provider,
        ),
        ([provider, group]) => ({ provider, bytes: bytesOf(group) }),
      )
        .toSorted((a, b) => b.bytes - a.bytes)
        .slice(0, limit),
    trim_provider: async (name, bytes) => {
      const group = newest([...records.values()].filter(({ provider, paid }) => provider === name && !paid))
      forget(idle(group.filter((_, place) => bytesOf(group.slice(0, place + 1)) > bytes)))
    },
    purge: async (before_ms, unpaid_before_ms, most) => {
      const gone = forget(
        [...records.values()].filter(
          ({ updated_ms, paid, working }) => updated_ms < before_ms || (updated_ms < unpaid_before_ms && !paid && !working),
        ),
      )
      return gone + forget(newest([...records.values()]).slice(most))
    },
  }
}
