import {
  type Message as SentMessage,
  Task,
  TaskState,
  type AgentCard,
  type StreamResponse,
  type ListTasksRequest,
  type ListTasksResponse,
} from '@a2a-js/sdk'
import {
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  PushNotificationNotSupportedError,
} from '@a2a-js/sdk/errors'
import type { TaskRecord } from '../../ports/tasks.ts'
import { limits } from '../../service/limits.ts'
import type { PaymentResult } from '../../service/payments/payment-parts.ts'
import { readPayment, type PaymentCredential } from '../../service/payments/payment-header.ts'
import { NO_SECRETS, type ResendSecrets } from '../../service/payments/resends.ts'
import { firstTaskOf } from '../../pure/task-ids.ts'
import type { BoundedTasks } from './task-bounds.ts'
import type { MessageExchange } from '../json-rpc.ts'
import type { StoredCall } from './message.ts'
import { buildTask, messageStep, repeatedStep, taskOutcome, textOutcome, type A2aParts, type TaskOutcome } from './task-call.ts'
import { isObject } from '../../pure/is-object.ts'
import type { Sealer } from '../../ports/signer.ts'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'

const FINAL: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
])

/** Starts or continues a task. Resolves when the task has ended, or waits for its client or for the settlement. */
export function sendMessage(
  parts: A2aParts,
  exchange: MessageExchange,
  sent: SentMessage,
  metadata: Readonly<Record<string, unknown>>,
): Promise<Task> {
  const all = { ...metadata, ...sent.metadata }
  return sent.taskId === '' ? beginTask(parts, exchange, sent, all) : continueTask(parts, exchange, sent, all)
}

async function beginTask(parts: A2aParts, exchange: MessageExchange, sent: SentMessage, metadata: Record<string, unknown>): Promise<Task> {
  const step = messageStep(parts, exchange, metadata, null)
  const end = await step.run()
  const ids = newTaskIds(sent)
  const open = !FINAL.has(end.state)
  const now_ms = parts.clock.now_ms()
  const kept = toStoredTask(ids, end, open ? step.stored() : null, step.payments, now_ms)
  const paid = end.is_paid === true
  const record = { task_id: ids.id, ...parts.origin(exchange.address), revision: 1, paid, ...recordFields(kept, now_ms) }
  // The answer is returned even if the task could not be stored.
  await storeNewTask(parts, record, sent.contextId).catch((error: unknown) => parts.onFault(error, 'a2a'))
  return kept.task
}

/** A message without a context id starts a context, from whose id the id of its first task follows. */
function newTaskIds({ contextId }: SentMessage): Pick<Task, 'id' | 'contextId'> {
  if (contextId !== '') return { id: crypto.randomUUID(), contextId }
  const context_id = crypto.randomUUID()
  return { id: firstTaskOf(context_id), contextId: context_id }
}

async function storeNewTask(parts: A2aParts, record: TaskRecord, context_id: string): Promise<void> {
  await parts.tasks.keep(record)
  if (context_id !== '') await addToContext(parts, record, context_id)
}

async function continueTask(
  parts: A2aParts,
  exchange: MessageExchange,
  sent: SentMessage,
  metadata: Record<string, unknown>,
): Promise<Task> {
  const record = await findTask(parts, sent.taskId)
  const kept = readStoredTask(record)
  if (sent.contextId !== '' && sent.contextId !== kept.task.contextId) {
    throw new RequestMalformedError('params.message.contextId is not the context of this task.')
  }
  if (record.working) return (await refreshTask(parts, exchange, record)).task
  const step = messageStep(parts, exchange, metadata, kept.ask)
  const again = step.payments.length > 0 && JSON.stringify(step.payments) === JSON.stringify(kept.payments)
  if (again && isFinal(kept.task)) return kept.task
  if (isFinal(kept.task)) throw new UnsupportedOperationError('The task has ended. Send a message without a task id to start a new task.')
  return runExclusively(parts, record, { ...kept, ask: step.stored() ?? kept.ask, payments: step.payments }, step.run)
}

/**
 * Runs a step of a task exclusively: the store admits one worker. A second request gets the task as it is, so that two payments sent
 * simultaneously are not both used.
 */
async function runExclusively(parts: A2aParts, record: TaskRecord, kept: StoredTask, run: () => Promise<TaskOutcome>): Promise<Task> {
  const { id, contextId } = kept.task
  const begun_ms = parts.clock.now_ms()
  const busy = buildTask({ id, contextId }, textOutcome(TaskState.TASK_STATE_WORKING, 'The call is running.'), begun_ms)
  const worker = await orOnFault(parts, parts.instances.join(), null)
  const taken: TaskRecord = {
    ...record,
    revision: record.revision + 1,
    ...recordFields({ ...kept, task: busy, token: null, worker }, begun_ms),
  }
  if (!(await parts.tasks.change(taken))) return readStoredTask(await findTask(parts, id)).task
  const end = await run()
  return storeOutcome(parts, taken, kept, end)
}

async function storeOutcome(parts: A2aParts, record: TaskRecord, { task, ask, payments }: StoredTask, end: TaskOutcome): Promise<Task> {
  const now_ms = parts.clock.now_ms()
  const kept = toStoredTask(task, end, ask, payments, now_ms)
  const paid = record.paid || end.is_paid === true
  const next = { ...record, revision: record.revision + 1, paid, ...recordFields(kept, now_ms) }
  const wrote = await parts.tasks.change(next).catch((error: unknown) => {
    parts.onFault(error, 'a2a')
    return true
  })
  return wrote ? kept.task : readStoredTask(await findTask(parts, task.id)).task
}

export async function getTask(parts: A2aParts, exchange: MessageExchange, task_id: string): Promise<Task> {
  return (await refreshTask(parts, exchange, await findTask(parts, task_id))).task
}

export async function cancelTask(parts: A2aParts, exchange: MessageExchange, task_id: string): Promise<Task> {
  await getTask(parts, exchange, task_id)
  const record = await findTask(parts, task_id)
  const kept = readStoredTask(record)
  if (record.working || isFinal(kept.task))
    throw new TaskNotCancelableError('The task has ended or its payment is being settled, so it cannot be cancelled.')
  return storeOutcome(parts, record, kept, textOutcome(TaskState.TASK_STATE_CANCELED, 'The task was cancelled. Nothing was charged.'))
}

function isFinal({ status }: Task): boolean {
  return status !== undefined && FINAL.has(status.state)
}

async function findTask({ tasks, clock }: A2aParts, task_id: string): Promise<TaskRecord> {
  const record = UUID.test(task_id) ? await tasks.find(task_id) : null
  if (record === null || record.updated_ms < clock.now_ms() - limits.a2a_task_ms) {
    throw new TaskNotFoundError('No task has this id. Tasks are stored for at most one day, unpaid ones for less while storage is scarce.')
  }
  return record
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Checks a task with a pending payment again; repeats the step of a task whose worker has ended, with the same payment. */
async function refreshTask(parts: A2aParts, exchange: MessageExchange, record: TaskRecord): Promise<StoredTask> {
  const kept = readStoredTask(record)
  const { ask, token } = kept
  if (!record.working || ask === null) return kept
  if (token !== null) {
    const end = (await parts.desk?.fetch(token)) ?? null
    if (end === null || end.kind === 'pending') return kept
    return { ...kept, task: await storeOutcome(parts, record, kept, await paymentOutcome(parts, exchange, end, ask)) }
  }
  const ended = await workerHasEnded(parts, kept)
  if (!ended && record.updated_ms > parts.clock.now_ms() - limits.claim_ms) return kept
  if (ended) await releaseClaim(parts, kept)
  const step = repeatedStep(parts, exchange, ask, { payments: kept.payments, secrets: resendSecrets(parts, kept) })
  return { ...kept, task: await runExclusively(parts, record, kept, step.run) }
}

/** Returns true if the process that worked on the task has ended. */
async function workerHasEnded(parts: A2aParts, { worker = null }: StoredTask): Promise<boolean> {
  return worker !== null && !(await orOnFault(parts, parts.instances.isRunning(worker), true))
}

/** Releases the payment that the ended process claimed and did not send; otherwise the claim lasts until its timeout. */
async function releaseClaim({ desk }: A2aParts, { payments: [given] }: StoredTask): Promise<void> {
  const read = given === undefined ? null : readPayment(given)
  if (read?.ok === true) await desk?.releaseAbandoned(read.payment)
}

function orOnFault<Value>({ onFault }: A2aParts, asked: Promise<Value>, otherwise: Value): Promise<Value> {
  return asked.catch((error: unknown) => {
    onFault(error, 'a2a')
    return otherwise
  })
}

/** The task id is a secret of the payer's client, which may poll from another network than it paid from. */
function resendSecrets({ desk }: A2aParts, { payments: [given] }: StoredTask): ResendSecrets {
  const read = given === undefined ? null : readPayment(given)
  return read?.ok !== true || desk === null ? NO_SECRETS : { ...NO_SECRETS, answer_token: desk.tokenOf(read.payment) }
}

function paymentOutcome(
  parts: A2aParts,
  { request_id, address }: MessageExchange,
  end: Exclude<PaymentResult, { kind: 'pending' }>,
  { tool, detail = 'standard' }: StoredCall,
): Promise<TaskOutcome> {
  const outcome = end.kind === 'paid' ? { ...end, tool } : { kind: 'refused' as const, tool, problem: end.problem }
  return taskOutcome(parts, outcome, { paying: true, request_id, address, detail })
}

function toStoredTask(
  ids: Pick<Task, 'id' | 'contextId'>,
  end: TaskOutcome,
  ask: StoredCall | null,
  payments: readonly PaymentCredential[],
  now_ms: number,
): StoredTask {
  const task = buildTask({ id: ids.id, contextId: ids.contextId }, end, now_ms)
  return { task, ask, payments, token: end.token }
}

function recordFields(kept: StoredTask, now_ms: number): Pick<TaskRecord, 'working' | 'body' | 'updated_ms'> {
  return { working: kept.task.status?.state === TaskState.TASK_STATE_WORKING, body: serializeTask(kept), updated_ms: now_ms }
}

/** Task as it is stored. The member names are part of the stored format. */
interface StoredTask {
  task: Task
  /** Requested call; null if there is none. */
  ask: StoredCall | null
  /** Payments of the last message: detects a resent message and completes an interrupted step. */
  payments: readonly PaymentCredential[]
  /** Opens the answer of a pending payment. */
  token: string | null
  /** Process that works on the task; null if none does. Tasks of earlier versions lack this member. */
  worker?: string | null
}

function serializeTask({ task, ask, payments, token, worker = null }: StoredTask): string {
  // JSON escapes U+0000, which the databases cannot store.
  return JSON.stringify({ task: Task.toJSON(task), ask, payments, token, worker })
}

/** Reads the text that `serializeTask` wrote. */
function readStoredTask({ body }: TaskRecord): StoredTask {
  const kept: unknown = JSON.parse(body)
  if (!isObject(kept)) throw new Error('the store holds no task where one should be')
  return { ...(kept as unknown as StoredTask), task: Task.fromJSON(kept['task']) }
}

/** Wraps a task store: encrypts each body and replaces each task id by a keyed hash. A task encrypted with another secret is not found. */
export function sealedTasks(tasks: BoundedTasks, sealer: Sealer): BoundedTasks {
  const contextOf = (task_id: string) => `a2a-task:${task_id}`
  const seal = (record: TaskRecord): TaskRecord => {
    const context = contextOf(record.task_id)
    return { ...record, task_id: sealer.token(context), body: sealer.seal(record.body, context) }
  }
  return {
    keep: (record) => tasks.keep(seal(record)),
    change: (record) => tasks.change(seal(record)),
    async find(task_id) {
      const context = contextOf(task_id)
      const record = await tasks.find(sealer.token(context))
      const body = record === null ? null : sealer.open(record.body, context)
      return record === null || body === null ? null : { ...record, task_id, body }
    },
  }
}

/**
 * A2A operations of one request. The SDK reads and writes both protocol versions around it. The SDK's own handler is not used: it keeps
 * an event bus in memory per waiting task and does not work across processes.
 */
export function createRequestHandler(parts: A2aParts, exchange: MessageExchange, card: AgentCard): A2ARequestHandler {
  const guarded = <Result>(run: () => Promise<Result>) => run().catch((error: unknown) => Promise.reject(publicError(parts, error)))
  const pushless = () =>
    Promise.reject(new PushNotificationNotSupportedError('Push notifications are not supported. Poll the task instead.'))
  const answer = (params: SendParams) =>
    guarded(() => {
      if (params.message === undefined) throw new RequestMalformedError('params.message is required.')
      return sendMessage(parts, exchange, params.message, params.metadata ?? {})
    })
  return {
    getAgentCard: () => Promise.resolve(card),
    getAuthenticatedExtendedAgentCard: () => Promise.reject(new UnsupportedOperationError('This agent has no extended card.')),
    sendMessage: answer,
    async *sendMessageStream(params) {
      yield* taskEvents(await answer(params))
    },
    getTask: ({ id }) => guarded(() => getTask(parts, exchange, id)),
    listTasks: (params) => guarded(() => listTasks(parts, params)),
    cancelTask: ({ id }) => guarded(() => cancelTask(parts, exchange, id)),
    async *resubscribe({ id }) {
      const task = await guarded(() => getTask(parts, exchange, id))
      if (isFinal(task)) throw new UnsupportedOperationError('The task has ended. Get it with GetTask instead.')
      yield { payload: { $case: 'task', value: task } }
    },
    createTaskPushNotificationConfig: pushless,
    getTaskPushNotificationConfig: pushless,
    listTaskPushNotificationConfigs: pushless,
    deleteTaskPushNotificationConfig: pushless,
  }
}

type SendParams = Parameters<A2ARequestHandler['sendMessage']>[0]

/** Events of a stream: the task, its artifact, its final state. */
function* taskEvents(task: Task): Generator<StreamResponse> {
  const { id, contextId, artifacts, status, metadata } = task
  const ids = { taskId: id, contextId, metadata }
  yield { payload: { $case: 'task', value: { ...task, status: { ...WORKING_STATUS, timestamp: status?.timestamp }, artifacts: [] } } }
  for (const artifact of artifacts) {
    yield { payload: { $case: 'artifactUpdate', value: { ...ids, artifact, append: false, lastChunk: true } } }
  }
  yield { payload: { $case: 'statusUpdate', value: { ...ids, status } } }
}

/** TASK_STATE_WORKING. */
const WORKING_STATUS = { state: 2, message: undefined } as const

const PROTOCOL_ERRORS = [RequestMalformedError, TaskNotFoundError, TaskNotCancelableError, UnsupportedOperationError]

/** Hides errors that are not part of the protocol; the details go to the log. */
function publicError(parts: A2aParts, error: unknown): unknown {
  if (PROTOCOL_ERRORS.some((kind) => error instanceof kind)) return error
  parts.onFault(error, 'a2a')
  const store = error instanceof Error && 'code' in error && String(error.code).startsWith('STORE_')
  return new Error(store ? 'The store does not answer. Try again in a few seconds.' : 'Internal error; it was logged.')
}

/**
 * `ListTasks` of A2A 1.0. Callers are not authenticated, so a context id is a bearer capability like a task id. Only UUIDs are accepted,
 * because a name such as `chat-1` can be guessed. The id of the first task follows from a context id that this service issued. The ids of
 * later tasks are in a separate encrypted row, found by a keyed hash of the context id. There is no other way from a context to its
 * tasks.
 */

const CONTEXT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Attempts to write the task ids of a context while other requests write them too. */
const WRITE_ATTEMPTS = 8

/** Not a UUID, so no client can request this row as a task. */
function contextRowId(context_id: string): string {
  return `context:${context_id.toLowerCase()}`
}

/** Adds a task to its context. The newest ids are kept; contexts with guessable ids are not stored. */
async function addToContext({ tasks }: Pick<A2aParts, 'tasks'>, record: TaskRecord, context_id: string): Promise<void> {
  if (!CONTEXT_ID.test(context_id)) return
  const task_id = contextRowId(context_id)
  for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
    const before = await tasks.find(task_id)
    const ids = [...readTaskIds(before), record.task_id].slice(-limits.a2a_tasks_context)
    // Counted separately from the client's tasks, so that contexts do not displace tasks.
    const { network, provider } = record
    const row = {
      client: `${record.client}:contexts`,
      network,
      provider,
      working: false,
      paid: false,
      body: JSON.stringify(ids),
      updated_ms: record.updated_ms,
    }
    if (before === null) {
      const isNew = await tasks.keep({ ...row, task_id, revision: 1 }).then(
        () => true,
        () => false,
      )
      if (isNew) return
    } else if (await tasks.change({ ...row, task_id, revision: before.revision + 1 })) return
  }
}

function readTaskIds(record: TaskRecord | null): string[] {
  const ids: unknown = record === null ? [] : JSON.parse(record.body)
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}

const PAGE_SIZE_MIN = 1
const PAGE_SIZE_DEFAULT = 50
const PAGE_SIZE_MAX = 100

/** Lists the tasks of a context, last changed first, in pages. The tasks are returned as stored, without working on them. */
export async function listTasks({ tasks, clock }: Pick<A2aParts, 'tasks' | 'clock'>, params: ListTasksRequest): Promise<ListTasksResponse> {
  const { contextId, status, pageToken, statusTimestampAfter, includeArtifacts } = params
  if (!CONTEXT_ID.test(contextId)) throw new RequestMalformedError(CONTEXT_REQUIRED)
  const pageSize = params.pageSize ?? PAGE_SIZE_DEFAULT
  if (!Number.isInteger(pageSize) || pageSize < PAGE_SIZE_MIN || pageSize > PAGE_SIZE_MAX)
    throw new RequestMalformedError(`params.pageSize must be a whole number from ${PAGE_SIZE_MIN} to ${PAGE_SIZE_MAX}.`)
  const after_ms = readTimestamp(statusTimestampAfter)
  const cursor = pageToken === '' ? null : readCursor(pageToken)
  const found = await tasksOfContext(tasks, contextId, clock.now_ms() - limits.a2a_task_ms)
  const wanted = found
    .filter(({ task }) => status === TaskState.TASK_STATE_UNSPECIFIED || task.status?.state === status)
    .filter(({ updated_ms }) => after_ms === null || updated_ms >= after_ms)
    .toSorted(compareByAge)
  const rest = cursor === null ? wanted : wanted.filter((one) => compareByAge(cursor, one) < 0)
  const page = rest.slice(0, pageSize)
  const last = page.at(-1)
  return {
    tasks: page.map(({ task }) => (includeArtifacts === true ? task : { ...task, artifacts: [] })),
    nextPageToken: last === undefined || rest.length === page.length ? '' : cursorText(last),
    pageSize,
    totalSize: wanted.length,
  }
}

const CONTEXT_REQUIRED =
  'params.contextId is required, because callers are not authenticated and tasks are listed by context. Send the contextId ' +
  'of a task; it must be a UUID, as this service issues.'

interface ListedTask {
  id: string
  updated_ms: number
  task: Task
}

async function tasksOfContext(tasks: BoundedTasks, context_id: string, oldest_ms: number): Promise<ListedTask[]> {
  const ids = new Set([firstTaskOf(context_id), ...readTaskIds(await tasks.find(contextRowId(context_id)))])
  const records = await Promise.all([...ids].map((id) => tasks.find(id)))
  return records
    .filter((record) => record !== null)
    .filter(({ updated_ms }) => updated_ms >= oldest_ms)
    .map((record) => ({ id: record.task_id, updated_ms: record.updated_ms, task: readStoredTask(record).task }))
}

/** Newest first; ids order tasks of the same millisecond. */
function compareByAge(one: Pick<ListedTask, 'id' | 'updated_ms'>, other: Pick<ListedTask, 'id' | 'updated_ms'>): number {
  return other.updated_ms - one.updated_ms || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
}

function cursorText({ id, updated_ms }: ListedTask): string {
  return Buffer.from(`${updated_ms}:${id}`).toString('base64url')
}

function readCursor(token: string): Pick<ListedTask, 'id' | 'updated_ms'> {
  const [, updated_ms, id] = /^([0-9]{1,15}):([0-9a-f-]{36})$/.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? []
  if (updated_ms === undefined || id === undefined)
    throw new RequestMalformedError(
      'params.pageToken is not valid. Send the nextPageToken of the previous page; leave it out for the first page.',
    )
  return { id, updated_ms: Number(updated_ms) }
}

function readTimestamp(text: string | undefined): number | null {
  if (text === undefined || text === '') return null
  const time_ms = Date.parse(text)
  if (Number.isNaN(time_ms)) throw new RequestMalformedError('params.statusTimestampAfter must be a time such as 2026-11-21T12:00:00Z.')
  return time_ms
}
