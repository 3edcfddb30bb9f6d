import { TaskState, type ListTasksRequest, type ListTasksResponse, type Task } from '@a2a-js/sdk'
import { RequestMalformedError } from '@a2a-js/sdk/errors'
import type { TaskRecord, TaskStore } from '../../ports/tasks.ts'
import { limits } from '../../service/limits.ts'
import { firstTaskOf } from '../../pure/task-ids.ts'
import { readKept } from './kept.ts'
import type { A2aParts } from './work.ts'

/**
 * `ListTasks` of A2A 1.0. Callers are not authenticated, so a context id is a bearer capability, as a task id is: whoever knows it began the
 * context or was told of it. Only UUIDs count, since a name such as `chat-1` can be guessed. The first task of a context that this service
 * names has an id that follows from the context id. The ids of later tasks are kept in a row of their own, sealed and found by a keyed hash
 * of the context id. Nothing else leads from a context to its tasks.
 */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Attempts to write the ids of a context while other requests write them too. */
const MOST_ATTEMPTS = 8

/** No task id: those are UUIDs, so that no client can ask for this row as a task. */
function rowOf(context_id: string): string {
  return `context:${context_id.toLowerCase()}`
}

/** Adds a further task to those of its context. The newest stay; contexts whose id could be guessed are not kept. */
export async function addToContext({ tasks }: Pick<A2aParts, 'tasks'>, record: TaskRecord, context_id: string): Promise<void> {
  if (!UUID.test(context_id)) return
  const task_id = rowOf(context_id)
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const before = await tasks.find(task_id)
    const ids = [...idsIn(before), record.task_id].slice(-limits.a2a_tasks_context)
    // Counted apart from the tasks of the client, so that contexts do not push tasks out.
    const row = { client: `${record.client}:contexts`, working: false, body: JSON.stringify(ids), updated_ms: record.updated_ms }
    if (before === null) {
      const isNew = await tasks.keep({ ...row, task_id, revision: 1 }, limits.a2a_tasks_client).then(
        () => true,
        () => false,
      )
      if (isNew) return
    } else if (await tasks.change({ ...row, task_id, revision: before.revision + 1 })) return
  }
}

function idsIn(record: TaskRecord | null): string[] {
  const ids: unknown = record === null ? [] : JSON.parse(record.body)
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}

const FEWEST = 1
const USUAL = 50
const MOST = 100

/** The tasks of one context, those changed last first, a page at a time. They are shown as they were written last, and not worked on. */
export async function listTasks({ tasks, clock }: Pick<A2aParts, 'tasks' | 'clock'>, params: ListTasksRequest): Promise<ListTasksResponse> {
  const { contextId, status, pageToken, statusTimestampAfter, includeArtifacts } = params
  if (!UUID.test(contextId)) throw new RequestMalformedError(NO_CONTEXT)
  const pageSize = params.pageSize ?? USUAL
  if (!Number.isInteger(pageSize) || pageSize < FEWEST || pageSize > MOST)
    throw new RequestMalformedError(`params.pageSize is a whole number from ${FEWEST} to ${MOST}.`)
  const after_ms = timeOf(statusTimestampAfter)
  const cursor = pageToken === '' ? null : readCursor(pageToken)
  const found = await tasksOf(tasks, contextId, clock.now_ms() - limits.a2a_task_ms)
  const wanted = found
    .filter(({ task }) => status === TaskState.TASK_STATE_UNSPECIFIED || task.status?.state === status)
    .filter(({ updated_ms }) => after_ms === null || updated_ms >= after_ms)
    .toSorted(byAge)
  const rest = cursor === null ? wanted : wanted.filter((one) => byAge(cursor, one) < 0)
  const page = rest.slice(0, pageSize)
  const last = page.at(-1)
  return {
    tasks: page.map(({ task }) => (includeArtifacts === true ? task : { ...task, artifacts: [] })),
    nextPageToken: last === undefined || rest.length === page.length ? '' : cursorText(last),
    pageSize,
    totalSize: wanted.length,
  }
}

const NO_CONTEXT =
  'params.contextId is required: callers are not authenticated, so tasks are listed by the context that they belong to. Send the contextId ' +
  'of a task; it must be a UUID, such as this service gives out.'

interface Listed {
  id: string
  updated_ms: number
  task: Task
}

async function tasksOf(tasks: TaskStore, context_id: string, oldest_ms: number): Promise<Listed[]> {
  const ids = new Set([firstTaskOf(context_id), ...idsIn(await tasks.find(rowOf(context_id)))])
  const records = await Promise.all([...ids].map((id) => tasks.find(id)))
  return records
    .filter((record) => record !== null)
    .filter(({ updated_ms }) => updated_ms >= oldest_ms)
    .map((record) => ({ id: record.task_id, updated_ms: record.updated_ms, task: readKept(record).task }))
}

/** Newest first; ids decide between tasks of the same millisecond. */
function byAge(one: Pick<Listed, 'id' | 'updated_ms'>, other: Pick<Listed, 'id' | 'updated_ms'>): number {
  return other.updated_ms - one.updated_ms || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
}

function cursorText({ id, updated_ms }: Listed): string {
  return Buffer.from(`${updated_ms}:${id}`).toString('base64url')
}

function readCursor(token: string): Pick<Listed, 'id' | 'updated_ms'> {
  const [, updated_ms, id] = /^([0-9]{1,15}):([0-9a-f-]{36})$/.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? []
  if (updated_ms === undefined || id === undefined)
    throw new RequestMalformedError('params.pageToken is a nextPageToken of this service; leave it out for the first page.')
  return { id, updated_ms: Number(updated_ms) }
}

function timeOf(text: string | undefined): number | null {
  if (text === undefined || text === '') return null
  const time_ms = Date.parse(text)
  if (Number.isNaN(time_ms)) throw new RequestMalformedError('params.statusTimestampAfter is a time such as 2026-11-21T12:00:00Z.')
  return time_ms
}
