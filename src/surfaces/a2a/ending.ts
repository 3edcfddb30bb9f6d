import { Role, TaskState, type Artifact, type Message, type Part, type Task } from '@a2a-js/sdk'
import { isObject } from '../../pure/is-object.ts'
import { answerText } from '../../service/calls/answer-text.ts'
import type { Catalogue } from '../../service/catalogue/load.ts'
import type { Outcome, PaymentRequired } from '../../service/calls/outcome.ts'
import { withVerdict } from '../../service/catalogue/bare.ts'
import { PROBLEMS, problemBody, type Problem } from '../../service/problems.ts'
import type { PaymentWords } from '../payment.ts'
import * as names from './names.ts'

/** What a task comes to, before it is written down. */
export interface Ending {
  state: TaskState
  parts: Part[]
  /** Of the status message. */
  metadata: Record<string, unknown> | undefined
  answer: { tool: string; text: string } | null
  /** Opens the answer of a payment that is on its way. */
  token: string | null
}

export interface EndingWords {
  words: PaymentWords
  api_url: string
  /** CAIP-2. */
  network: string
  catalogue: Pick<Catalogue, 'find'>
}

/** The state of a task by the outcome of its call; `paying` says whether a payment came with it. */
export function endingOf(told: EndingWords, outcome: Outcome, paying: boolean, request_id: string): Ending {
  switch (outcome.kind) {
    case 'answered':
      return done(told, outcome.tool, answerText(outcome.answer), undefined)
    case 'paid':
      return done(told, outcome.tool, outcome.text, paidMetadata(told.words.response(outcome.settlement)))
    case 'pending':
      return {
        ...ending(TaskState.TASK_STATE_WORKING, problemParts(told, outcome.tool, outcome.problem, request_id)),
        metadata: { [names.STATUS_KEY]: 'payment-verified' satisfies names.PaymentStatus },
        token: outcome.pending.token,
      }
    case 'payment_required':
      return paying ? paymentFailed(told, outcome, request_id, outcome.x402_reason) : asking(told, outcome, request_id)
    case 'refused':
      if (!paying) return refused(told, outcome, request_id)
      return outcome.problem.charged === 'unknown' ? unsure(told, outcome, request_id) : paymentFailed(told, outcome, request_id, null)
  }
}

/** A prepaid credit is none of x402's affairs. */
function paidMetadata(response: Record<string, unknown> | null): Ending['metadata'] {
  if (response === null) return undefined
  return { [names.STATUS_KEY]: 'payment-completed' satisfies names.PaymentStatus, [names.RECEIPTS_KEY]: [response] }
}

function done(told: EndingWords, tool: string, text: string, metadata: Ending['metadata']): Ending {
  const parts = [textPart(`${decision(told, tool, text)}The artifact has the whole answer: result and signed receipt.`)]
  return { state: TaskState.TASK_STATE_COMPLETED, parts, metadata, answer: { tool, text }, token: null }
}

/** The decision of an answer in plain words. A bare answer has the members of its result at top level. */
function decision({ catalogue }: EndingWords, tool: string, text: string): string {
  const body: unknown = JSON.parse(text)
  if (!isObject(body)) return ''
  const result = isObject(body['result']) ? body['result'] : body
  const headline = catalogue.find(tool)?.headline(result)
  if (headline === undefined) return ''
  return `${tool}: ${headline.word}. ${headline.sentence === '' ? '' : `${headline.sentence} `}`
}

/** Nobody paid yet: the task waits for it. Where nothing can be paid it cannot go on today. */
function asking(told: EndingWords, outcome: PaymentRequired, request_id: string): Ending {
  const challenge = told.words.challenge(outcome)
  const parts = problemParts(told, outcome.tool, outcome.problem, request_id)
  if (challenge === null) return ending(TaskState.TASK_STATE_FAILED, parts)
  return {
    ...ending(TaskState.TASK_STATE_INPUT_REQUIRED, parts),
    metadata: {
      [names.STATUS_KEY]: 'payment-required' satisfies names.PaymentStatus,
      [names.REQUIRED_KEY]: JSON.parse(challenge.required_json) as unknown,
      [names.REQUIRED_V1_KEY]: JSON.parse(`{${challenge.body_members_json}}`) as unknown,
    },
  }
}

type Refused = Extract<Outcome, { kind: 'refused' | 'payment_required' }>

/** What a caller can mend by another message waits for it; the rest has failed. */
function refused(told: EndingWords, { tool, problem }: Refused, request_id: string): Ending {
  const { fault, retryable } = PROBLEMS[problem.code]
  const state = fault === 'caller' && !retryable ? TaskState.TASK_STATE_INPUT_REQUIRED : TaskState.TASK_STATE_FAILED
  return ending(state, problemParts(told, tool, problem, request_id))
}

/** Nobody can tell now whether the payment was settled: its task goes on, and the very same payment is tried again when it is looked at. */
function unsure(told: EndingWords, { tool, problem }: Refused, request_id: string): Ending {
  return {
    ...ending(TaskState.TASK_STATE_WORKING, problemParts(told, tool, problem, request_id)),
    metadata: { [names.STATUS_KEY]: 'payment-submitted' satisfies names.PaymentStatus },
  }
}

/** By the extension a payment that fails ends its task; another one begins a new task. */
function paymentFailed(told: EndingWords, { tool, problem }: Refused, request_id: string, reason: string | null): Ending {
  const receipt = { success: false, errorReason: reason ?? problem.code.toLowerCase(), transaction: '', network: told.network }
  return {
    ...ending(TaskState.TASK_STATE_FAILED, problemParts(told, tool, problem, request_id)),
    metadata: {
      [names.STATUS_KEY]: 'payment-failed' satisfies names.PaymentStatus,
      [names.ERROR_KEY]: problem.code,
      // A payment whose answer is gone did move money; its receipt was told when it did.
      ...(problem.charged === false ? { [names.RECEIPTS_KEY]: [receipt] } : {}),
    },
  }
}

/** The client will not pay. */
export function declined(): Ending {
  return {
    ...ending(TaskState.TASK_STATE_FAILED, [textPart('The payment was declined. Nothing was charged; a new message begins anew.')]),
    metadata: { [names.STATUS_KEY]: 'payment-rejected' satisfies names.PaymentStatus },
  }
}

export function ending(state: TaskState, parts: Part[]): Ending {
  return { state, parts, metadata: undefined, answer: null, token: null }
}

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' }
}

export function dataPart(value: Record<string, unknown>): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: 'application/json' }
}

function problemParts({ api_url }: EndingWords, tool: string | null, found: Problem, request_id: string): Part[] {
  const body = problemBody(withVerdict(tool, found), request_id, api_url)
  return [textPart(`${PROBLEMS[found.code].title}. ${found.detail}`), dataPart(body)]
}

/** The task as its client reads it. */
export function taskOf(ids: Pick<Task, 'id' | 'contextId'>, end: Ending, now_ms: number): Task {
  const extensions = end.metadata === undefined ? [] : [names.X402_EXTENSION]
  const message: Message = {
    messageId: crypto.randomUUID(),
    contextId: ids.contextId,
    taskId: ids.id,
    role: Role.ROLE_AGENT,
    parts: end.parts,
    metadata: end.metadata,
    extensions,
    referenceTaskIds: [],
  }
  const status = { state: end.state, message, timestamp: new Date(now_ms).toISOString() }
  return { ...ids, status, artifacts: end.answer === null ? [] : [artifact(end.answer)], history: [], metadata: undefined }
}

function artifact({ tool, text }: { tool: string; text: string }): Artifact {
  return {
    artifactId: 'answer',
    name: tool,
    description: `The answer of ${tool}: result and signed receipt.`,
    parts: [dataPart(JSON.parse(text) as Record<string, unknown>)],
    metadata: undefined,
    extensions: [],
  }
}
