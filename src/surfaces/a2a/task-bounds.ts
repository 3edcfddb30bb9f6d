import type { TaskBounds, TaskRecord, TaskStore } from '../../ports/tasks.ts'
import { createStorageRoom } from '../../service/admission/storage-room.ts'
import { limits, TASK_LIMITS } from '../../service/limits.ts'

const BOUNDS: TaskBounds = {
  client: { tasks: limits.a2a_tasks_client, bytes: TASK_LIMITS.client_bytes },
  network: { tasks: TASK_LIMITS.network_tasks, bytes: TASK_LIMITS.network_bytes },
  provider: { tasks: TASK_LIMITS.provider_tasks, bytes: TASK_LIMITS.provider_bytes },
}

/** Tasks within the bounds of their client, network and provider, and of all. */
export interface BoundedTasks extends Pick<TaskStore, 'find' | 'change'> {
  keep(record: TaskRecord): Promise<void>
}

/** Stores tasks within their bounds. While paid tasks alone reach the bound of all, an unpaid one is not stored. */
export function boundedTasks(
  store: TaskStore,
  now_ms: () => number,
  { bounds = BOUNDS, all_bytes = TASK_LIMITS.bytes }: { bounds?: TaskBounds; all_bytes?: number } = {},
): BoundedTasks {
  const room = createStorageRoom(store, now_ms, all_bytes)
  return {
    find: (task_id) => store.find(task_id),
    async keep(record) {
      const bytes = record.body.length
      if (!(await room.hasRoom(bytes)) && !record.paid) return
      await store.keep(record, bounds)
      room.added(bytes)
    },
    async change(record) {
      const changed = await store.change(record)
      if (changed) room.added(record.body.length)
      return changed
    },
  }
}
