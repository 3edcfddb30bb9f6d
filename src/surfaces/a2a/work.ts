import { TaskState } from '@a2a-js/sdk'
import { isObject } from '../../pure/is-object.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Instances } from '../../ports/instances.ts'
import type { TaskStore } from '../../ports/tasks.ts'
import type { ServeCall } from '../../service/calls/observed.ts'
import type { Outcome } from '../../service/calls/outcome.ts'
import type { Catalogue } from '../../service/catalogue/load.ts'
import { searchTools } from '../../service/catalogue/search.ts'
import { limits } from '../../service/limits.ts'
import type { CreditGiven } from '../../service/credits/given.ts'
import type { PaymentDesk } from '../../service/payments/desk.ts'
import type { PaymentGiven } from '../../service/payments/payment-header.ts'
import type { ResendSecrets } from '../../service/payments/resends.ts'
import { problem } from '../../service/problems.ts'
import type { Message } from '../json-rpc.ts'
import { creditOf, resendSecretsOf } from '../mcp/tool-call.ts'
import { paymentsIn } from '../rest.ts'
import { keptAsk, SEND, type Ask, type Asked } from './ask.ts'
import { dataPart, declined, ending, endingOf, textPart, type Ending, type EndingWords } from './ending.ts'
import type { KeptAsk } from './kept.ts'
import { PAYLOAD_KEY, PREVIOUS_KEY, STATUS_KEY } from './names.ts'

/** All that tasks need of the service. */
export interface A2aParts {
  serve: ServeCall
  told: EndingWords
  tasks: TaskStore
  catalogue: Catalogue
  /** Null where nothing settles payments. */
  desk: Pick<PaymentDesk, 'fetch' | 'tokenOf' | 'releaseEnded'> | null
  /** Processes that may work on a task. */
  instances: Instances
  clock: Clock
  /** The name under which the tasks of a caller are counted. */
  client(address: string): string
  /** Told of accidents, so that they are seen. */
  onFault(error: unknown, tool: string): void
}

/** One request, as far as A2A cares. */
export interface A2aExchange {
  readonly message: Message
  readonly request_id: string
  /** Address of the caller, proxies already seen through. */
  readonly address: string
  /** Value of a header by its lower-case name. */
  header(name: string): string | null
}

/** What a message brings beside its parts. */
export interface Brought {
  payments: readonly PaymentGiven[]
  credit: CreditGiven | null
  secrets: ResendSecrets
  prev_receipt_hash: string | null
  declines: boolean
}

/** What a call may be paid with. */
export type Means = Pick<Brought, 'payments' | 'credit' | 'secrets'>

export type Metadata = Readonly<Record<string, unknown>>

export function broughtBy(metadata: Metadata, header: A2aExchange['header']): Brought {
  const inside: PaymentGiven[] = Object.hasOwn(metadata, PAYLOAD_KEY) ? [{ kind: 'value', value: metadata[PAYLOAD_KEY] }] : []
  const previous = metadata[PREVIOUS_KEY]
  return {
    payments: [...inside, ...paymentsIn(header)],
    credit: creditOf(metadata, header),
    secrets: resendSecretsOf(metadata, header),
    // What is no text is handed on as a text that no receipt hash equals, so that it is refused and not overlooked.
    prev_receipt_hash: previous === undefined ? null : typeof previous === 'string' ? previous : '',
    declines: metadata[STATUS_KEY] === 'payment-rejected',
  }
}

/** Whether a message may ask for a call, and brings what may pay for it. */
export function bringsPayment({ message, header }: A2aExchange): boolean {
  if (!SEND.calls(message.value)) return false
  const params = membersOf(message.value)['params']
  const metadata = { ...membersOf(membersOf(params)['metadata']), ...membersOf(membersOf(membersOf(params)['message'])['metadata']) }
  const { payments, credit } = broughtBy(metadata, header)
  return payments.length > 0 || credit !== null
}

function membersOf(value: unknown): Metadata {
  return isObject(value) ? value : {}
}

/** What is to be done for a message: a call, or words to a client that asks for none. */
export type Order = { kind: 'call'; ask: Ask; prev_receipt_hash: string | null } | { kind: 'end'; end: Ending }

/** The call that a message asks for, or else the one that its task was about. */
export function orderOf(parts: A2aParts, asked: Asked, brought: Brought, before: KeptAsk | null): Order {
  if (brought.declines) return { kind: 'end', end: declined() }
  const prev_receipt_hash = brought.prev_receipt_hash ?? before?.prev_receipt_hash ?? null
  if (asked.kind === 'call') return { kind: 'call', ask: asked.ask, prev_receipt_hash }
  if (before === null) return { kind: 'end', end: unclear(parts, asked) }
  const { tool, input_text } = before
  if (input_text !== null) return { kind: 'call', ask: keptAsk({ tool, input_text }), prev_receipt_hash }
  return { kind: 'end', end: unclear(parts, { ...asked, fault: 'The input was too long to be kept: send it again beside the payment.' }) }
}

/** Runs the call of an order through the one gate; whatever breaks on the way is ours. */
export async function work(parts: A2aParts, exchange: A2aExchange, order: Order, { payments, credit, secrets }: Means): Promise<Ending> {
  if (order.kind === 'end') return order.end
  const { ask, prev_receipt_hash } = order
  const { address, request_id } = exchange
  let outcome: Outcome
  try {
    const traceparent = exchange.header('traceparent')
    const request = { tool: ask.tool, address, payments, credit, secrets, prev_receipt_hash, traceparent, read: ask.read }
    outcome = await parts.serve(request, request_id)
  } catch (error) {
    parts.onFault(error, ask.tool)
    outcome = { kind: 'refused', tool: null, problem: problem('INTERNAL_ERROR', 'The fault is ours and has been noted.') }
  }
  return endingOf(parts.told, outcome, payments.length > 0, request_id)
}

/** What has to be kept of an order so that a later message need not repeat it. */
export function remembered({ catalogue }: A2aParts, order: Order, { message }: A2aExchange): KeptAsk | null {
  if (order.kind === 'end') return null
  const { ask, prev_receipt_hash } = order
  const tool = catalogue.find(ask.tool)
  const read =
    tool === undefined || message.kind === 'from_thread' || message.body_bytes > limits.unpaid_body_bytes ? null : ask.read(tool.bounds)
  const input_text = read?.ok === true ? JSON.stringify(read.input) : null
  return { tool: tool?.id ?? ask.tool.slice(0, limits.a2a_id_chars), input_text, prev_receipt_hash }
}

const SUGGESTED = 5

/** Asks for what is missing; what the client wrote only chooses which skills are named. */
function unclear({ catalogue, told }: A2aParts, asked: Asked): Ending {
  const { words, fault } = asked.kind === 'unclear' ? asked : { words: '', fault: '' }
  const found = words === '' ? [] : searchTools(catalogue.tools, { words, families: null }).slice(0, SUGGESTED)
  const skills = found.map(({ id, title, example }) => ({ tool: id, title, example_input: example }))
  const hint = skills.length === 0 ? '' : ` These skills come near: ${found.map(({ id }) => id).join(', ')}.`
  return ending(TaskState.TASK_STATE_INPUT_REQUIRED, [
    textPart(`${fault} Send a data part {"tool": id of a skill, "input": {…}}.${hint}`),
    dataPart({ expected: { tool: 'id of a skill', input: {} }, skills, catalogue_url: `${told.api_url}/v1/tools` }),
  ])
}
