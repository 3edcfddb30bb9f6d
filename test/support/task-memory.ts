import type { TaskRecord, TaskStore } from '../../src/ports/tasks.ts'

/** Tasks in memory, for tests of what stands on them. */
export function tasksInMemory(): TaskStore & { records: Map<string, TaskRecord> } {
  const records = new Map<string, TaskRecord>()
  const newest = (all: TaskRecord[]) => all.toSorted((a, b) => b.updated_ms - a.updated_ms || a.task_id.localeCompare(b.task_id))
  return {
    records,
    keep: async (record, most) => {
      records.set(record.task_id, record)
      const own = newest([...records.values()].filter(({ client }) => client === record.client))
      for (const old of own.slice(most)) if (!old.working) records.delete(old.task_id)
    },
    find: async (task_id) => records.get(task_id) ?? null,
    change: async (record) => {
      if (records.get(record.task_id)?.revision !== record.revision - 1) return false
      records.set(record.task_id, { ...record, client: records.get(record.task_id)?.client ?? record.client })
      return true
    },
    purge: async (before_ms, most) => {
      const gone = [...records.values()].filter(({ updated_ms }) => updated_ms < before_ms)
      for (const { task_id } of gone) records.delete(task_id)
      const many = newest([...records.values()]).slice(most)
      for (const { task_id } of many) records.delete(task_id)
      return gone.length + many.length
    },
  }
}
