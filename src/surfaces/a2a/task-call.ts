import { TaskState, Role, type Artifact, type Message as StatusMessage, type Part, type Task } from '@a2a-js/sdk'
import { isObject } from '../../pure/is-object.ts'
import { once } from '../../pure/once.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Instances } from '../../ports/store.ts'
import type { TaskRecord } from '../../ports/tasks.ts'
import type { ServeCall } from '../../service/calls/instrumented-call.ts'
import type { InputRead, Outcome, PaymentRequired } from '../../service/calls/outcome.ts'
import type { Catalogue } from '../../service/catalogue/load.ts'
import { searchTools } from '../../service/catalogue/search.ts'
import { limits } from '../../service/limits.ts'
import type { CreditCredential } from '../../service/credits/credit-service.ts'
import type { PaymentService } from '../../service/payments/payment-parts.ts'
import type { PaymentCredential } from '../../service/payments/payment-header.ts'
import type { ResendSecrets } from '../../service/payments/resends.ts'
import { problem, PROBLEMS, problemBody, type Problem } from '../../service/problems.ts'
import type { MessageExchange } from '../json-rpc.ts'
import { clientRequestId } from '../http/request-ids.ts'
import { creditIn, DETAIL_KEY, detailIn, paymentsIn, resendSecretsIn, unknownDetail } from '../rest.ts'
import type { BoundedTasks } from './task-bounds.ts'
import { A2A_ENVELOPE, readRequest, X402_EXTENSION, type MessageRequest, type StoredCall } from './message.ts'
import type { RenderAnswer } from '../../service/calls/answer-detail.ts'
import type { Detail } from '../../service/catalogue/brief.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import { withVerdict } from '../../service/catalogue/decode.ts'
import type { PaymentRenderer } from '../payment.ts'

/** Metadata keys of the extension. */
const STATUS_KEY = 'x402.payment.status'
const REQUIRED_KEY = 'x402.payment.required'
const PAYLOAD_KEY = 'x402.payment.payload'
const RECEIPTS_KEY = 'x402.payment.receipts'
const ERROR_KEY = 'x402.payment.error'
/** Terms in the format of x402 version 1, for payers that know only that version. */
const REQUIRED_V1_KEY = 'x402.payment.required.v1'

type PaymentStatus =
  | 'payment-required'
  | 'payment-rejected'
  | 'payment-submitted'
  | 'payment-verified'
  | 'payment-completed'
  | 'payment-failed'

/** Digest of the previous receipt; the same key as in `_meta` of MCP. */
const PREVIOUS_KEY = 'assay/prev-receipt-hash'

/** Dependencies of A2A tasks. */
export interface A2aParts {
  serve: ServeCall
  context: OutcomeContext
  render: RenderAnswer
  tasks: BoundedTasks
  catalogue: Catalogue
  /** Null if this deployment takes no payments. */
  desk: Pick<PaymentService, 'fetch' | 'tokenOf' | 'releaseAbandoned'> | null
  /** Processes that can work on a task. */
  instances: Instances
  clock: Clock
  /** Names under which the tasks of a client and of its networks are counted. */
  origin(address: string): Pick<TaskRecord, 'client' | 'network' | 'provider'>
  /** Reports a fault. */
  onFault(error: unknown, tool: string): void
}

/** Payments, credit and other facts in the metadata and headers of a message. */
interface MessageCredentials {
  payments: readonly PaymentCredential[]
  credit: CreditCredential | null
  secrets: ResendSecrets
  prev_receipt_hash: string | null
  /** Undefined if none was named, null for an unknown one. */
  detail: Detail | null | undefined
  declines: boolean
}

type Metadata = Readonly<Record<string, unknown>>

function readCredentials(metadata: Metadata, { header, detail }: Pick<MessageExchange, 'header' | 'detail'>): MessageCredentials {
  const inside: PaymentCredential[] = Object.hasOwn(metadata, PAYLOAD_KEY) ? [{ kind: 'value', value: metadata[PAYLOAD_KEY] }] : []
  const previous = metadata[PREVIOUS_KEY]
  return {
    payments: [...inside, ...paymentsIn(header)],
    credit: creditIn(header, metadata),
    secrets: resendSecretsIn(header, metadata),
    // A value that is not text becomes an empty text, which is refused as a receipt hash instead of being ignored.
    prev_receipt_hash: previous === undefined ? null : typeof previous === 'string' ? previous : '',
    detail:
      Object.hasOwn(metadata, DETAIL_KEY) || (header('x-detail') ?? detail) != null
        ? detailIn({ meta: metadata, header, detail }, 'standard')
        : undefined,
    declines: metadata[STATUS_KEY] === 'payment-rejected',
  }
}

/** Returns true if the message can request a call and carries a payment or a credit. */
export function hasCredential(exchange: MessageExchange): boolean {
  const { message } = exchange
  if (!A2A_ENVELOPE.isCall(message.value)) return false
  const params = objectOrEmpty(message.value)['params']
  const metadata = {
    ...objectOrEmpty(objectOrEmpty(params)['metadata']),
    ...objectOrEmpty(objectOrEmpty(objectOrEmpty(params)['message'])['metadata']),
  }
  const { payments, credit } = readCredentials(metadata, exchange)
  return payments.length > 0 || credit !== null
}

function objectOrEmpty(value: unknown): Metadata {
  return isObject(value) ? value : {}
}

/** Step of a task: the call of its message, or its stored one. The call is chosen when it is first needed. */
interface TaskStep {
  payments: readonly PaymentCredential[]
  /** Returns the call to store; null if there is none. */
  stored(): StoredCall | null
  /** Runs the call through the payment gate. An exception becomes INTERNAL_ERROR. */
  run(): Promise<TaskOutcome>
}

/** Step for a message with this metadata. `before` is the stored call of its task. */
export function messageStep(parts: A2aParts, exchange: MessageExchange, metadata: Metadata, before: StoredCall | null): TaskStep {
  return createStep(parts, exchange, () => readRequest(exchange.message), readCredentials(metadata, exchange), before)
}

/** Step that repeats the stored call of a task with the payments that its message brought. */
export function repeatedStep(
  parts: A2aParts,
  exchange: MessageExchange,
  before: StoredCall,
  { payments, secrets }: Pick<MessageCredentials, 'payments' | 'secrets'>,
): TaskStep {
  const brought = { payments, secrets, credit: null, prev_receipt_hash: null, detail: undefined, declines: false }
  return createStep(parts, exchange, () => ({ kind: 'unclear', words: '', fault: '' }), brought, before)
}

function createStep(
  parts: A2aParts,
  exchange: MessageExchange,
  requested: () => MessageRequest,
  brought: MessageCredentials,
  before: StoredCall | null,
): TaskStep {
  const order = once(() => orderFor(parts, requested(), brought, before))
  return {
    payments: brought.payments,
    stored: () => storedCall(parts, order(), exchange),
    run: () => runOrder(parts, exchange, order(), brought),
  }
}

/** A call to run, or the outcome where none was found. */
type Order =
  | { kind: 'call'; tool: string; read(bounds: ReadBounds): InputRead; prev_receipt_hash: string | null; detail: Detail }
  | { kind: 'end'; end: TaskOutcome }

/** Chooses the call that the message requests, or else the stored call of its task. */
function orderFor(parts: A2aParts, asked: MessageRequest, brought: MessageCredentials, before: StoredCall | null): Order {
  if (brought.declines) return { kind: 'end', end: declinedOutcome() }
  const prev_receipt_hash = brought.prev_receipt_hash ?? before?.prev_receipt_hash ?? null
  const detail = brought.detail ?? before?.detail ?? 'standard'
  const order = (tool: string, read: (bounds: ReadBounds) => InputRead): Order => {
    // Refused like an input that cannot be read: before anything is counted.
    const refuse = (): InputRead => ({ ok: false, problem: unknownDetail(DETAIL_POINTER) })
    return { kind: 'call', tool, read: brought.detail === null ? refuse : read, prev_receipt_hash, detail }
  }
  if (asked.kind === 'call') return order(asked.tool, asked.read)
  if (before === null) return { kind: 'end', end: missingCallOutcome(parts, asked) }
  const { tool, input_text } = before
  // The stored input was within the limits of its tool when it arrived.
  if (input_text !== null) return order(tool, () => ({ ok: true, input: JSON.parse(input_text) as unknown }))
  return {
    kind: 'end',
    end: missingCallOutcome(parts, { ...asked, fault: 'The input was too long to be stored. Send it again together with the payment.' }),
  }
}

async function runOrder(
  parts: A2aParts,
  exchange: MessageExchange,
  order: Order,
  { payments, credit, secrets }: MessageCredentials,
): Promise<TaskOutcome> {
  if (order.kind === 'end') return order.end
  const { tool, read, prev_receipt_hash, detail } = order
  const { address, request_id } = exchange
  let outcome: Outcome
  try {
    const traceparent = exchange.header('traceparent')
    const client_request_id = clientRequestId(exchange.header)
    const asked = { tool, address, payments, credit, secrets, prev_receipt_hash, traceparent, client_request_id, read }
    outcome = await parts.serve(asked, request_id)
  } catch (error) {
    parts.onFault(error, tool)
    outcome = { kind: 'refused', tool: null, problem: problem('INTERNAL_ERROR', 'Internal error; it was logged.') }
  }
  return taskOutcome(parts, outcome, { paying: payments.length > 0, request_id, address, detail })
}

const DETAIL_POINTER = `/params/message/metadata/${DETAIL_KEY.replace('/', '~1')}`

function storedCall({ catalogue }: A2aParts, order: Order, { message }: MessageExchange): StoredCall | null {
  if (order.kind === 'end') return null
  const { prev_receipt_hash, detail } = order
  const tool = catalogue.find(order.tool)
  const read =
    tool === undefined || message.kind === 'from_thread' || message.body_bytes > limits.unpaid_body_bytes ? null : order.read(tool.bounds)
  const input_text = read?.ok === true ? JSON.stringify(read.input) : null
  return { tool: tool?.id ?? order.tool.slice(0, limits.a2a_id_chars), input_text, prev_receipt_hash, detail }
}

const SUGGESTED = 5

/** Asks for the missing call; the client's text only selects the skills to suggest. */
function missingCallOutcome(
  { catalogue, context: told }: A2aParts,
  { words, fault }: Extract<MessageRequest, { kind: 'unclear' }>,
): TaskOutcome {
  const found = words === '' ? [] : searchTools(catalogue.tools, { words, families: null }).slice(0, SUGGESTED)
  const skills = found.map(({ id, title, example }) => ({ tool: id, title, example_input: example }))
  const hint = skills.length === 0 ? '' : ` Similar skills: ${found.map(({ id }) => id).join(', ')}.`
  return plainOutcome(TaskState.TASK_STATE_INPUT_REQUIRED, [
    textPart(`${fault} Send a data part {"tool": id of a skill, "input": {…}}.${hint}`),
    dataPart({ expected: { tool: 'id of a skill', input: {} }, skills, catalogue_url: `${told.api_url}/v1/tools` }),
  ])
}

/** State and content of a task after a step. */
export interface TaskOutcome {
  state: TaskState
  parts: Part[]
  /** Metadata of the status message. */
  metadata: Record<string, unknown> | undefined
  answer: { tool: string; text: string } | null
  /** Opens the answer of a pending payment. */
  token: string | null
  is_paid?: boolean
}

interface OutcomeContext {
  words: PaymentRenderer
  api_url: string
  /** CAIP-2 id. */
  network: string
  catalogue: Pick<Catalogue, 'find'>
}

interface OutcomeRequest {
  /** The message carried a payment. */
  paying: boolean
  request_id: string
  address: string
  detail: Detail
}

/** Maps the outcome of a call to the outcome of its task. */
export async function taskOutcome(
  { context: told, render }: Pick<A2aParts, 'context' | 'render'>,
  outcome: Outcome,
  { paying, request_id, address, detail }: OutcomeRequest,
): Promise<TaskOutcome> {
  switch (outcome.kind) {
    case 'answered':
    case 'paid': {
      const metadata = outcome.kind === 'paid' ? paidMetadata(told.words.response(outcome.settlement)) : undefined
      const completed = completedOutcome(told, outcome.tool, await render(outcome, detail, address), metadata)
      return { ...completed, is_paid: outcome.kind === 'paid' }
    }
    case 'pending':
      return {
        ...plainOutcome(TaskState.TASK_STATE_WORKING, problemParts(told, outcome.tool, outcome.problem, request_id)),
        metadata: { [STATUS_KEY]: 'payment-verified' satisfies PaymentStatus },
        token: outcome.pending.token,
      }
    case 'payment_required':
      return paying
        ? paymentFailedOutcome(told, outcome, request_id, outcome.x402_reason, outcome.network)
        : paymentRequiredOutcome(told, outcome, request_id)
    case 'refused':
      if (!paying) return refusedOutcome(told, outcome, request_id)
      return outcome.problem.charged === 'unknown'
        ? unknownSettlementOutcome(told, outcome, request_id)
        : paymentFailedOutcome(told, outcome, request_id, invalidReason(outcome.problem))
  }
}

/** Credits carry no x402 settlement metadata. */
function paidMetadata(response: Record<string, unknown> | null): TaskOutcome['metadata'] {
  if (response === null) return undefined
  return { [STATUS_KEY]: 'payment-completed' satisfies PaymentStatus, [RECEIPTS_KEY]: [response] }
}

function completedOutcome(told: OutcomeContext, tool: string, text: string, metadata: TaskOutcome['metadata']): TaskOutcome {
  const body: unknown = JSON.parse(text)
  const contents =
    isObject(body) && body['detail'] === 'brief'
      ? 'The artifact contains the brief answer, and the address of the full one.'
      : 'The artifact contains the full answer: result and signed receipt.'
  const parts = [textPart(`${decisionText(told, tool, body)}${contents}`)]
  return { state: TaskState.TASK_STATE_COMPLETED, parts, metadata, answer: { tool, text }, token: null }
}

/** Headline of the answer as text. In an answer with the result members at top level, the body is the result. */
function decisionText({ catalogue }: OutcomeContext, tool: string, body: unknown): string {
  if (!isObject(body)) return ''
  const result = isObject(body['result']) ? body['result'] : body
  const headline = catalogue.find(tool)?.headline(result)
  if (headline === undefined) return ''
  return `${tool}: ${headline.word}. ${headline.sentence === '' ? '' : `${headline.sentence} `}`
}

/** The task waits for a payment; it fails if this deployment takes none. */
function paymentRequiredOutcome(told: OutcomeContext, outcome: PaymentRequired, request_id: string): TaskOutcome {
  const challenge = told.words.challenge(outcome)
  const parts = problemParts(told, outcome.tool, outcome.problem, request_id)
  if (challenge === null) return plainOutcome(TaskState.TASK_STATE_FAILED, parts)
  return {
    ...plainOutcome(TaskState.TASK_STATE_INPUT_REQUIRED, parts),
    metadata: {
      [STATUS_KEY]: 'payment-required' satisfies PaymentStatus,
      [REQUIRED_KEY]: JSON.parse(challenge.required_json) as unknown,
      [REQUIRED_V1_KEY]: JSON.parse(`{${challenge.body_members_json}}`) as unknown,
    },
  }
}

type Refused = Extract<Outcome, { kind: 'refused' | 'payment_required' }>

/** A fault that the caller can correct waits for another message; other problems end the task. */
function refusedOutcome(told: OutcomeContext, { tool, problem: found }: Refused, request_id: string): TaskOutcome {
  const { fault, retryable } = PROBLEMS[found.code]
  const state = fault === 'caller' && !retryable ? TaskState.TASK_STATE_INPUT_REQUIRED : TaskState.TASK_STATE_FAILED
  return plainOutcome(state, problemParts(told, tool, found, request_id))
}

/** The settlement is unknown: the task continues, and polling retries the same payment. */
function unknownSettlementOutcome(told: OutcomeContext, { tool, problem: found }: Refused, request_id: string): TaskOutcome {
  return {
    ...plainOutcome(TaskState.TASK_STATE_WORKING, problemParts(told, tool, found, request_id)),
    metadata: { [STATUS_KEY]: 'payment-submitted' satisfies PaymentStatus },
  }
}

/** Code of x402 facilitators in a problem that carries no terms. */
function invalidReason({ extra }: Problem): string | null {
  const reason = extra?.['invalid_reason']
  return typeof reason === 'string' ? reason : null
}

/** A failed payment ends its task; a new payment needs a new task (A2A x402 extension). */
function paymentFailedOutcome(
  told: OutcomeContext,
  { tool, problem: found }: Refused,
  request_id: string,
  reason: string | null,
  network = told.network,
): TaskOutcome {
  const receipt = { success: false, errorReason: reason ?? found.code.toLowerCase(), transaction: '', network }
  return {
    ...plainOutcome(TaskState.TASK_STATE_FAILED, problemParts(told, tool, found, request_id)),
    metadata: {
      [STATUS_KEY]: 'payment-failed' satisfies PaymentStatus,
      [ERROR_KEY]: found.code,
      // If only the answer is lost, the money did move, and the receipt was already sent with that settlement.
      ...(found.charged === false ? { [RECEIPTS_KEY]: [receipt] } : {}),
    },
  }
}

/** The client declined to pay. */
function declinedOutcome(): TaskOutcome {
  return {
    ...textOutcome(TaskState.TASK_STATE_FAILED, 'The payment was declined. Nothing was charged. Send a new message to start again.'),
    metadata: { [STATUS_KEY]: 'payment-rejected' satisfies PaymentStatus },
  }
}

/** Outcome with one text and nothing else. */
export function textOutcome(state: TaskState, text: string): TaskOutcome {
  return plainOutcome(state, [textPart(text)])
}

function plainOutcome(state: TaskState, parts: Part[]): TaskOutcome {
  return { state, parts, metadata: undefined, answer: null, token: null }
}

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' }
}

function dataPart(value: Record<string, unknown>): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: 'application/json' }
}

function problemParts({ api_url }: OutcomeContext, tool: string | null, found: Problem, request_id: string): Part[] {
  const body = problemBody(withVerdict(tool, found), request_id, api_url)
  return [textPart(`${PROBLEMS[found.code].title}. ${found.detail}`), dataPart(body)]
}

/** Task in the format of the SDK. */
export function buildTask(ids: Pick<Task, 'id' | 'contextId'>, end: TaskOutcome, now_ms: number): Task {
  const extensions = end.metadata === undefined ? [] : [X402_EXTENSION]
  const message: StatusMessage = {
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
