import type { AgentCard, StreamResponse, Task } from '@a2a-js/sdk'
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import { listTasks } from './list.ts'
import { cancel, isFinal, look, send } from './tasks.ts'
import type { A2aExchange, A2aParts } from './work.ts'

/**
 * The operations of A2A for one request. The official package reads and writes both versions around it; its own handler is not used, since
 * that one keeps an event bus in memory for each task that waits, and settles nothing between processes.
 */
export function createRequestHandler(parts: A2aParts, exchange: A2aExchange, card: AgentCard): A2ARequestHandler {
  const guarded = <Result>(run: () => Promise<Result>) => run().catch((error: unknown) => Promise.reject(told(parts, error)))
  const pushless = () => Promise.reject(new PushNotificationNotSupportedError('Push notifications are not supported; ask for the task.'))
  const answer = (params: SendParams) =>
    guarded(() => {
      if (params.message === undefined) throw new RequestMalformedError('params.message is required.')
      return send(parts, exchange, params.message, params.metadata ?? {})
    })
  return {
    getAgentCard: () => Promise.resolve(card),
    getAuthenticatedExtendedAgentCard: () => Promise.reject(new UnsupportedOperationError('There is no extended card.')),
    sendMessage: answer,
    async *sendMessageStream(params) {
      yield* eventsOf(await answer(params))
    },
    getTask: ({ id }) => guarded(() => look(parts, exchange, id)),
    listTasks: (params) => guarded(() => listTasks(parts, params)),
    cancelTask: ({ id }) => guarded(() => cancel(parts, exchange, id)),
    async *resubscribe({ id }) {
      const task = await guarded(() => look(parts, exchange, id))
      if (isFinal(task)) throw new UnsupportedOperationError('The task has ended; ask for it as it stands.')
      yield { payload: { $case: 'task', value: task } }
    },
    createTaskPushNotificationConfig: pushless,
    getTaskPushNotificationConfig: pushless,
    listTaskPushNotificationConfigs: pushless,
    deleteTaskPushNotificationConfig: pushless,
  }
}

type SendParams = Parameters<A2ARequestHandler['sendMessage']>[0]

/** A stream of what happened: the task, its artifact, its state. */
function* eventsOf(task: Task): Generator<StreamResponse> {
  const { id, contextId, artifacts, status, metadata } = task
  const ids = { taskId: id, contextId, metadata }
  yield { payload: { $case: 'task', value: { ...task, status: { ...BEGUN, timestamp: status?.timestamp }, artifacts: [] } } }
  for (const artifact of artifacts) {
    yield { payload: { $case: 'artifactUpdate', value: { ...ids, artifact, append: false, lastChunk: true } } }
  }
  yield { payload: { $case: 'statusUpdate', value: { ...ids, status } } }
}

/** TASK_STATE_WORKING. */
const BEGUN = { state: 2, message: undefined } as const

const KNOWN = [RequestMalformedError, TaskNotFoundError, TaskNotCancelableError, UnsupportedOperationError]

/** What the protocol has no error for is an accident of ours or of the store; what happened is for the log. */
function told(parts: A2aParts, error: unknown): unknown {
  if (KNOWN.some((kind) => error instanceof kind)) return error
  parts.onFault(error, 'a2a')
  const store = error instanceof Error && 'code' in error && String(error.code).startsWith('STORE_')
  return new Error(store ? 'The store does not answer now. Try again shortly.' : 'The fault is ours and has been noted.')
}
