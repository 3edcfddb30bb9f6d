import type { Message as SentMessage, Task } from '@a2a-js/sdk'
import { TaskState } from '@a2a-js/sdk'
import { RequestMalformedError, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import type { TaskRecord } from '../../ports/tasks.ts'
import { limits } from '../../service/limits.ts'
import type { PaymentEnd } from '../../service/payments/desk.ts'
import { readPayment } from '../../service/payments/payment-header.ts'
import { NO_SECRETS, type ResendSecrets } from '../../service/payments/resends.ts'
import { firstTaskOf } from '../../pure/task-ids.ts'
import { readAsk } from './ask.ts'
import { ending, endingOf, taskOf, textPart, type Ending } from './ending.ts'
import { keptText, readKept, type Kept, type KeptAsk } from './kept.ts'
import { addToContext } from './list.ts'
import { broughtBy, orderOf, remembered, work, type A2aExchange, type A2aParts, type Brought, type Metadata } from './work.ts'

const FINAL: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
])

/** A message begins a task, or goes on with one. Resolves when the task has ended, waits for its client, or for its payment. */
export function send(parts: A2aParts, exchange: A2aExchange, sent: SentMessage, metadata: Metadata): Promise<Task> {
  const brought = broughtBy({ ...metadata, ...sent.metadata }, exchange.header)
  return sent.taskId === '' ? begin(parts, exchange, sent, brought) : goOn(parts, exchange, sent, brought)
}

async function begin(parts: A2aParts, exchange: A2aExchange, sent: SentMessage, brought: Brought): Promise<Task> {
  const order = orderOf(parts, readAsk(exchange.message), brought, null)
  const end = await work(parts, exchange, order, brought)
  const ids = idsFor(sent)
  const open = !FINAL.has(end.state)
  const now_ms = parts.clock.now_ms()
  const kept = keptOf(ids, end, open ? remembered(parts, order, exchange) : null, brought, now_ms)
  const record = { task_id: ids.id, client: parts.client(exchange.address), revision: 1, ...written(kept, now_ms) }
  // An answer that is there is given, even when it cannot be asked for again.
  await keepNew(parts, record, sent.contextId).catch((error: unknown) => parts.onFault(error, 'a2a'))
  return kept.task
}

/** A message without a context begins one, which leads to its first task. */
function idsFor({ contextId }: SentMessage): Pick<Task, 'id' | 'contextId'> {
  if (contextId !== '') return { id: crypto.randomUUID(), contextId }
  const context_id = crypto.randomUUID()
  return { id: firstTaskOf(context_id), contextId: context_id }
}

async function keepNew(parts: A2aParts, record: TaskRecord, context_id: string): Promise<void> {
  await parts.tasks.keep(record, limits.a2a_tasks_client)
  if (context_id !== '') await addToContext(parts, record, context_id)
}

async function goOn(parts: A2aParts, exchange: A2aExchange, sent: SentMessage, brought: Brought): Promise<Task> {
  const record = await found(parts, sent.taskId)
  const kept = readKept(record)
  if (sent.contextId !== '' && sent.contextId !== kept.task.contextId) {
    throw new RequestMalformedError('The task belongs to another context.')
  }
  if (record.working) return (await polled(parts, exchange, record)).task
  const again = brought.payments.length > 0 && JSON.stringify(brought.payments) === JSON.stringify(kept.payments)
  if (again && isFinal(kept.task)) return kept.task
  if (isFinal(kept.task)) throw new UnsupportedOperationError('The task has ended; a message without a task id begins a new one.')
  const order = orderOf(parts, readAsk(exchange.message), brought, kept.ask)
  const ask = remembered(parts, order, exchange) ?? kept.ask
  return takeOn(parts, record, { ...kept, ask, payments: brought.payments }, () => work(parts, exchange, order, brought))
}

/**
 * Runs a piece of work for a task that nobody else works on: the store lets one in. Who comes second is shown the task as it stands, so
 * that two payments sent at once are not both used.
 */
async function takeOn(parts: A2aParts, record: TaskRecord, kept: Kept, run: () => Promise<Ending>): Promise<Task> {
  const { id, contextId } = kept.task
  const begun_ms = parts.clock.now_ms()
  const busy = taskOf({ id, contextId }, ending(TaskState.TASK_STATE_WORKING, [textPart('The call is running.')]), begun_ms)
  const worker = await unlessStoreFails(parts, parts.instances.join(), null)
  const taken: TaskRecord = { ...record, revision: record.revision + 1, ...written({ ...kept, task: busy, token: null, worker }, begun_ms) }
  if (!(await parts.tasks.change(taken))) return readKept(await found(parts, id)).task
  const end = await run()
  return close(parts, taken, kept, end)
}

async function close(parts: A2aParts, record: TaskRecord, { task, ask, payments }: Kept, end: Ending): Promise<Task> {
  const now_ms = parts.clock.now_ms()
  const kept = keptOf(task, end, ask, { payments }, now_ms)
  const next = { ...record, revision: record.revision + 1, ...written(kept, now_ms) }
  const wrote = await parts.tasks.change(next).catch((error: unknown) => {
    parts.onFault(error, 'a2a')
    return true
  })
  return wrote ? kept.task : readKept(await found(parts, task.id)).task
}

export async function look(parts: A2aParts, exchange: A2aExchange, task_id: string): Promise<Task> {
  return (await polled(parts, exchange, await found(parts, task_id))).task
}

export async function cancel(parts: A2aParts, exchange: A2aExchange, task_id: string): Promise<Task> {
  await look(parts, exchange, task_id)
  const record = await found(parts, task_id)
  const kept = readKept(record)
  if (record.working || isFinal(kept.task)) throw new TaskNotCancelableError('The task has ended, or its payment is on its way.')
  return close(parts, record, kept, ending(TaskState.TASK_STATE_CANCELED, [textPart('Cancelled. Nothing was charged.')]))
}

export function isFinal({ status }: Task): boolean {
  return status !== undefined && FINAL.has(status.state)
}

async function found({ tasks, clock }: A2aParts, task_id: string): Promise<TaskRecord> {
  const record = UUID.test(task_id) ? await tasks.find(task_id) : null
  if (record === null || record.updated_ms < clock.now_ms() - limits.a2a_task_ms) {
    throw new TaskNotFoundError('No task has this id; tasks are kept for a day.')
  }
  return record
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A task that waits for its payment is looked at anew; one whose worker went away is worked on again, by the very same payment. */
async function polled(parts: A2aParts, exchange: A2aExchange, record: TaskRecord): Promise<Kept> {
  const kept = readKept(record)
  const { ask, token } = kept
  if (!record.working || ask === null) return kept
  if (token !== null) {
    const end = (await parts.desk?.fetch(token)) ?? null
    if (end === null || end.kind === 'pending') return kept
    return { ...kept, task: await close(parts, record, kept, endOf(parts, exchange, end, ask)) }
  }
  const ended = await hasEnded(parts, kept)
  if (!ended && record.updated_ms > parts.clock.now_ms() - limits.claim_ms) return kept
  if (ended) await releaseEnded(parts, kept)
  const order = orderOf(parts, { kind: 'unclear', words: '', fault: '' }, NOTHING, ask)
  const again = { ...NOTHING, payments: kept.payments, secrets: secretsOf(parts, kept) }
  return { ...kept, task: await takeOn(parts, record, kept, () => work(parts, exchange, order, again)) }
}

/** Whether the process that worked on the task has ended, so that nothing more comes of its work. */
async function hasEnded(parts: A2aParts, { worker = null }: Kept): Promise<boolean> {
  return worker !== null && !(await unlessStoreFails(parts, parts.instances.isRunning(worker), true))
}

/** Frees the payment that the ended process had claimed and not sent, which else stays claimed until its time is over. */
async function releaseEnded({ desk }: A2aParts, { payments: [given] }: Kept): Promise<void> {
  const read = given === undefined ? null : readPayment(given)
  if (read?.ok === true) await desk?.releaseEnded(read.payment)
}

function unlessStoreFails<Value>({ onFault }: A2aParts, asked: Promise<Value>, otherwise: Value): Promise<Value> {
  return asked.catch((error: unknown) => {
    onFault(error, 'a2a')
    return otherwise
  })
}

/** The task id is a secret of the payer's client, which may poll from another network than the one that paid. */
function secretsOf({ desk }: A2aParts, { payments: [given] }: Kept): ResendSecrets {
  const read = given === undefined ? null : readPayment(given)
  return read?.ok !== true || desk === null ? NO_SECRETS : { ...NO_SECRETS, answer_token: desk.tokenOf(read.payment) }
}

const NOTHING: Brought = { payments: [], credit: null, secrets: NO_SECRETS, prev_receipt_hash: null, declines: false }

function endOf(parts: A2aParts, { request_id }: A2aExchange, end: Exclude<PaymentEnd, { kind: 'pending' }>, { tool }: KeptAsk): Ending {
  const outcome = end.kind === 'paid' ? { ...end, tool } : { kind: 'refused' as const, tool, problem: end.problem }
  return endingOf(parts.told, outcome, true, request_id)
}

function keptOf(
  ids: Pick<Task, 'id' | 'contextId'>,
  end: Ending,
  ask: KeptAsk | null,
  { payments }: Pick<Brought, 'payments'>,
  now_ms: number,
): Kept {
  const task = taskOf({ id: ids.id, contextId: ids.contextId }, end, now_ms)
  return { task, ask, payments, token: end.token }
}

function written(kept: Kept, now_ms: number): Pick<TaskRecord, 'working' | 'body' | 'updated_ms'> {
  return { working: kept.task.status?.state === TaskState.TASK_STATE_WORKING, body: keptText(kept), updated_ms: now_ms }
}
