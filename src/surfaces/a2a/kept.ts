import { Task } from '@a2a-js/sdk'
import { isObject } from '../../pure/is-object.ts'
import type { Sealer } from '../../ports/sealer.ts'
import type { TaskRecord, TaskStore } from '../../ports/tasks.ts'
import type { PaymentGiven } from '../../service/payments/payment-header.ts'

/** A task with what it takes to go on with it. */
export interface Kept {
  task: Task
  /** The call that was asked for; null while none is. */
  ask: KeptAsk | null
  /** Sent with the last message, so that the same message again is known, and a broken-off one can be finished. */
  payments: readonly PaymentGiven[]
  /** Opens the answer of a payment that is on its way. */
  token: string | null
  /** Process that works on the task; null when none does. Tasks of earlier versions have no such member. */
  worker?: string | null
}

export interface KeptAsk {
  tool: string
  /** The input as JSON text; null when it was too long to be kept, or could not be read. */
  input_text: string | null
  prev_receipt_hash: string | null
}

export function keptText({ task, ask, payments, token, worker = null }: Kept): string {
  // The databases hold no U+0000, which JSON text never has: it is escaped there.
  return JSON.stringify({ task: Task.toJSON(task), ask, payments, token, worker })
}

/** What `keptText` wrote; only this program writes there. */
export function readKept({ body }: TaskRecord): Kept {
  const kept: unknown = JSON.parse(body)
  if (!isObject(kept)) throw new Error('the store holds no task where one should be')
  return { ...(kept as unknown as Kept), task: Task.fromJSON(kept['task']) }
}

/**
 * A store of tasks that writes nothing readable: the body is sealed, and the row is found by a keyed hash of the task id. A task that was
 * sealed under another secret is not found.
 */
export function sealedTasks(tasks: TaskStore, sealer: Sealer): TaskStore {
  const contextOf = (task_id: string) => `a2a-task:${task_id}`
  const seal = (record: TaskRecord): TaskRecord => {
    const context = contextOf(record.task_id)
    return { ...record, task_id: sealer.token(context), body: sealer.seal(record.body, context) }
  }
  return {
    keep: (record, most) => tasks.keep(seal(record), most),
    change: (record) => tasks.change(seal(record)),
    async find(task_id) {
      const context = contextOf(task_id)
      const record = await tasks.find(sealer.token(context))
      const body = record === null ? null : sealer.open(record.body, context)
      return record === null || body === null ? null : { ...record, task_id, body }
    },
    purge: (before_ms, most) => tasks.purge(before_ms, most),
  }
}
