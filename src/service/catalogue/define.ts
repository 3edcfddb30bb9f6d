import { z } from 'zod'
import type { Screening } from '../../pure/checks/ofac.ts'
import type { Headline, HeadlineRule } from '../../pure/headline.ts'
import { CHECK_HEADLINES, checkHeadline, headlineReader } from './headlines.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { AssuredRecords, Disputes } from '../../ports/assured-records.ts'
import type { ChainFacts, Transfers } from '../../ports/chain-facts.ts'
import type { Clock, SteadyClock } from '../../ports/clock.ts'
import type { Derivation, Registrar } from '../../ports/signer.ts'
import type { InsuranceStore } from '../../ports/insurance.ts'
import type { Prices } from '../../ports/prices.ts'
import type { RegisterId, RegisterNumber, RegistrationData } from '../../ports/registers.ts'
import type { NameSource } from './names.ts'
import type { InvoiceSource } from '../invoices/invoice-service.ts'
import { limits } from '../limits.ts'
import type { PriceClass } from '../payments/price-book.ts'
import type { ProblemError, RECORD_PROBLEMS } from '../problems.ts'
import type { INVOICE_PROBLEMS } from '../payment-problems.ts'

/** The families in the order in which catalogues list them; a tool's folder is its family. */
export const FAMILIES = {
  bank: 'Bank and payment identifiers',
  company: 'Company identifiers',
  tax: 'Tax identifiers',
  securities: 'Securities',
  contact: 'Contact details',
  goods: 'Books and goods',
  text: 'Texts and documents',
  messages: 'Payment messages',
  chain: 'Facts from the chain',
  market: 'Prices and exchange',
  proof: 'Receipts and proof',
  trust: 'Trust, assurance and delivery',
  invoices: 'Invoices',
  insurance: 'Insurance referrals',
  packs: 'Many checks in one call',
} as const

export type Family = keyof typeof FAMILIES

/** Statement of an answer about its scope: short phrases, never a promise. */
interface Scope {
  checked: readonly string[]
  not_checked: readonly string[]
}

/** The answer to one item of a batch, before it is counted. */
export type ItemAnswer =
  | { ok: true; result: Record<string, unknown> }
  | { ok: false; code: 'not_permitted' | 'input_invalid' | 'failed'; message: string }

/** The registry as a tool may see it: only the checks that take a single value. */
export interface ItemCatalogue {
  readonly permitted: readonly string[]
  check(tool: string, value: string): ItemAnswer
}

/** Behaviour of a screening that finds no match on an outdated list: a sandbox reports the age, a live deployment refuses to answer. */
interface ScreeningSource {
  readonly on_stale_list: 'refuse' | 'report'
  /** Lists that are active now; one call uses one of them from beginning to end. */
  active(): Screening
}

/**
 * Thrown by `run` when a source that this input needs does not answer or is too old to be relied on: the call ends with 503, uncharged, and
 * the answer contains `message`.
 */
export class SourceDown extends Error {
  readonly code = 'SOURCE_DOWN'
  /** A word for programs. */
  readonly reason: string

  constructor(message: string, reason = 'unavailable') {
    super(message)
    this.reason = reason
  }
}

/** Thrown by `run` when stored records conflict with the input: the call ends with this problem, uncharged. */
type RefusalCode =
  | keyof typeof RECORD_PROBLEMS
  | keyof typeof INVOICE_PROBLEMS
  | 'NOT_CONFIGURED'
  | 'INPUT_SCHEMA_INVALID'
  | 'MESSAGE_UNKNOWN'

/** Details of a refusal in addition to its message: faults of the input that only `run` can find, and further members of the problem. */
interface RefusalDetails {
  errors?: ProblemError[]
  extra?: Record<string, unknown>
}

export class Refusal extends Error {
  readonly problem: RefusalCode
  readonly details: RefusalDetails

  constructor(problem: RefusalCode, message: string, details: RefusalDetails = {}) {
    super(message)
    this.problem = problem
    this.details = details
  }
}

/** Published output schemas of the tools. */
export interface PublishedSchemas {
  /** The output schema of a tool, as JSON Schema 2020-12; null when there is no tool of this id. */
  output(tool: string): { version: string; schema: Readonly<Record<string, unknown>> } | null
}

/** All that a tool may reach for. It gets only what it names in `sources`. */
export interface Sources {
  clock: Clock & SteadyClock
  catalogue: ItemCatalogue
  /** The fastest arithmetic that this machine has; its results are those of the reference. */
  crypto: ReceiptCrypto
  /** When domains were registered. */
  registrations: RegistrationData
  /** State of the chain, each answer at one block. */
  chain: ChainFacts
  /** Transfers of the last blocks. */
  transfers: Transfers
  /** Market prices of crypto assets. */
  prices: Prices
  screening: ScreeningSource
  /** Names of parties, screened by the operator's engine if there is one. */
  names: NameSource
  /** Values that follow from the input and the deployment's secret. */
  derive: Derivation
  /** Receipts bound to the terms of the assured lane. */
  assured: AssuredRecords
  /** Invoices: made, and looked at on the chain. */
  invoices: InvoiceSource
  disputes: Disputes
  schemas: PublishedSchemas
  /** Signs statements other than receipts, and knows the keys of this service. */
  registrar: Registrar
  /** The directory of underwriters and their policies. */
  insurance: InsuranceStore
}

export type SourceName = keyof Sources

/** Limits for reading the body of a call of this tool. */
export interface ReadBounds {
  body_bytes: number
  depth: number
  nodes: number
  /** `keep_text` hands on a number beyond 2^53 as the text of its literal instead of refusing it. */
  unsafe_numbers: 'refuse' | 'keep_text'
}

/** Stated by each tool, shown to each client; a wrong hint is a lie to a machine. */
export interface Annotations {
  /** Changes nothing that another call could see. */
  read_only: boolean
  /** The same input twice has the effect of once. */
  idempotent: boolean
  /** May undo or overwrite something. */
  destructive: boolean
  /** Reads facts from outside the service. */
  open_world: boolean
}

/** The annotations of a pure check. */
export const PURE: Annotations = { read_only: true, idempotent: true, destructive: false, open_world: false }

type RunArguments<Input, Names extends readonly SourceName[]> = Names extends readonly []
  ? [input: Input]
  : [input: Input, sources: Pick<Sources, Names[number]>]

interface Words {
  id: string
  title: string
  description: string
  family: Family
  /** Semantic version; it moves whenever rules or data do, since receipts carry it. */
  version: string
  price: PriceClass
  annotations: Annotations
  scope: Scope
  /** The input field that a batch item's `value` fills; set exactly on the tools that batch-validate may run. */
  batch_field?: string
  bounds?: Partial<ReadBounds>
  /**
   * Its work may take long: it runs in a worker that is ended when its time is over. Such a tool is pure, and imports what does the work
   * in `run`, so that a start does not load what only the worker needs.
   */
  heavy?: true
  /**
   * Returns the refusal that replaces the receipt, uncharged; null when the result is an answer. For a result that decides nothing because
   * the input is outside the tool's knowledge. It runs on the event loop: no long computation.
   */
  refuses?(result: Readonly<Record<string, unknown>>): Refusal | null
  /** Returns whether a call with this input reads sources outside the service; every call of a tool with such a source does when it is left out. */
  reads_outside?(input: Readonly<Record<string, unknown>>, screens_names: boolean): boolean
  /** Live register of the checked number, which operators may turn on (`service/registers.ts`). */
  register?: RegisterUse
}

interface RegisterUse {
  readonly id: RegisterId
  /** Returns the number in the form of the register; null if it is not one of this register. The verdict is not `invalid`. */
  number(result: Readonly<Record<string, unknown>>): RegisterNumber | null
  /** Phrases of `scope.not_checked` that an answer of the register settles. */
  readonly settles: readonly string[]
}

export interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject, Names extends readonly SourceName[]> extends Words {
  /** Sources that `run` receives in addition to its input; `[]` makes it a pure function, and the type then gives it no others. */
  sources: Names
  /** Headlines by the decision of the result; those of a single check when left out. */
  headline?: readonly HeadlineRule[]
  input: Input
  /** Everything that `run` returns; `tool` and `scope` are added here. */
  output: Output
  example: z.input<Input>
  run(...given: RunArguments<z.output<Input>, Names>): z.output<Output> | Promise<z.output<Output>>
}

/** Tool as the rest of the service uses it: without the types of its input, with everything that it declares. */
export interface Tool extends Readonly<Words> {
  readonly bounds: ReadBounds
  readonly sources: readonly SourceName[]
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly example: Record<string, unknown>
  /** Table that `headline` reads by; data, so that a browser can read by it too. */
  readonly headlines: readonly HeadlineRule[]
  /** Returns the decision of a result in one word, with its tone and one sentence. */
  headline(result: Readonly<Record<string, unknown>>): Headline
  /** `input` must have passed `this.input`; a tool without sources needs none. */
  execute(input: Record<string, unknown>, sources: Sources | null): Record<string, unknown> | Promise<Record<string, unknown>>
}

const SCOPE_SCHEMA = z
  .strictObject({
    checked: z.array(z.string()).readonly().describe('What this answer looked at.'),
    not_checked: z.array(z.string()).readonly().describe('What this answer does not say.'),
  })
  .describe('The reach of this answer.')

const DEFAULT_BOUNDS: ReadBounds = {
  body_bytes: limits.body_bytes,
  depth: limits.json_depth,
  nodes: limits.json_nodes,
  unsafe_numbers: 'refuse',
}

/** Completes a tool. A tool that leaves out a word, a bound or a source does not compile. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject, const Names extends readonly SourceName[]>(
  spec: ToolSpec<Input, Output, Names>,
): Tool {
  const { run, sources, headline: headlines = CHECK_HEADLINES, input, output, example, bounds, ...words } = spec
  const whole = output.extend({ scope: SCOPE_SCHEMA, tool: z.literal(spec.id).describe('The tool that answered.') })
  const close = closing(Object.keys(whole.shape).toSorted(), { scope: spec.scope, tool: spec.id })
  return {
    ...words,
    bounds: { ...DEFAULT_BOUNDS, ...bounds },
    sources,
    input,
    output: whole,
    example,
    headlines,
    headline: headlines === CHECK_HEADLINES ? checkHeadline : headlineReader(headlines),
    execute(checked, available) {
      const result = run(...([checked, available] as unknown as RunArguments<z.output<Input>, Names>))
      return result instanceof Promise ? result.then(close) : close(result)
    },
  }
}

/**
 * Adds the members that each answer has, in the order of RFC 8785, so that the engine's own JSON text is the canonical one. A copy of a
 * complete answer is filled, since that is several times faster than building a new object.
 */
function closing(names: readonly string[], added: Readonly<Record<string, unknown>>): (result: object) => Record<string, unknown> {
  const whole: Readonly<Record<string, unknown>> = Object.fromEntries(names.map((name) => [name, added[name]]))
  const own = names.filter((name) => !(name in added))
  return (result) => {
    const record = result as Readonly<Record<string, unknown>>
    const closed = { ...whole }
    let missing = false
    for (const name of own) {
      const value = record[name]
      if (value === undefined && !(name in record)) missing = true
      else closed[name] = value
    }
    return missing ? Object.fromEntries(Object.entries(closed).filter(([name]) => name in record || name in added)) : closed
  }
}
