import { z } from 'zod'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { Clock } from '../../ports/clock.ts'
import { limits } from '../limits.ts'
import type { PriceClass } from '../payments/price.ts'

/** The families in the order in which catalogues list them; a tool's folder is its family. */
export const FAMILIES = {
  bank: 'Bank and payment identifiers',
  company: 'Company identifiers',
  tax: 'Tax identifiers',
  securities: 'Securities',
  contact: 'Contact details',
  goods: 'Books and goods',
  text: 'Texts and documents',
  proof: 'Receipts and proof',
  packs: 'Many checks in one call',
} as const

export type Family = keyof typeof FAMILIES

/** What an answer says about its own reach: short phrases, never a promise. */
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

/** All that a tool may reach for. It gets only what it names in `sources`. */
export interface Sources {
  clock: Clock
  catalogue: ItemCatalogue
  /** The fastest arithmetic that this machine has; its results are those of the reference. */
  crypto: ReceiptCrypto
}

export type SourceName = keyof Sources

/** How a request for this tool is read at the edge. */
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
}

export interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodObject, Names extends readonly SourceName[]> extends Words {
  /** What `run` gets beside its input; `[]` makes it a pure function, and the type then gives it nothing else. */
  sources: Names
  input: Input
  /** Everything that `run` returns; `tool` and `scope` are added here. */
  output: Output
  example: z.input<Input>
  run(...given: RunArguments<z.output<Input>, Names>): z.output<Output> | Promise<z.output<Output>>
}

/** A tool as the rest of the service sees it: the types of its own input are gone, its promises are not. */
export interface Tool extends Readonly<Words> {
  readonly bounds: ReadBounds
  readonly sources: readonly SourceName[]
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly example: Record<string, unknown>
  /** `input` must have passed `this.input`. */
  execute(input: Record<string, unknown>, sources: Sources): Record<string, unknown> | Promise<Record<string, unknown>>
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
  const { run, sources, input, output, example, bounds, ...words } = spec
  const whole = output.extend({ scope: SCOPE_SCHEMA, tool: z.literal(spec.id).describe('The tool that answered.') })
  const names = Object.keys(whole.shape).toSorted()
  const close = (result: object) => inOrder(names, { ...result, scope: spec.scope, tool: spec.id })
  return {
    ...words,
    bounds: { ...DEFAULT_BOUNDS, ...bounds },
    sources,
    input,
    output: whole,
    example,
    execute(checked, available) {
      const result = run(...([checked, available] as unknown as RunArguments<z.output<Input>, Names>))
      return result instanceof Promise ? result.then(close) : close(result)
    },
  }
}

/** The members in the order of RFC 8785: then the engine's own JSON text is the canonical one. */
function inOrder(names: readonly string[], result: Record<string, unknown>): Record<string, unknown> {
  const ordered: Record<string, unknown> = {}
  for (const name of names) if (name in result) ordered[name] = result[name]
  return ordered
}
