import type { z } from 'zod'
import { isObject } from '../../pure/is-object.ts'
import type { Tool, ItemAnswer, ItemCatalogue, Sources } from './define.ts'
import { problem, type Problem, type ProblemError, PROBLEMS } from '../problems.ts'
import { nearestName } from './search.ts'

/**
 * Description of each pattern of the input schemas, with an example: error messages show this form and never the regular expression. A test
 * fails when the registry has a pattern without a description here.
 */
const DECIMAL = 'decimal text with a point and no separators, for example 1250.50'
const ADDRESS = '0x and 40 hexadecimal digits, for example 0x1000000000000000000000000000000000000001'
const BYTES_32 = '0x and 64 hexadecimal digits'
const WHOLE = 'a whole number in decimal digits, for example 1000000'

const FORMS: Readonly<Record<string, string>> = {
  '^0x[0-9a-fA-F]{40}$': ADDRESS,
  '^0x[0-9a-fA-F]{64}$': `${BYTES_32}, for example 0x${'0'.repeat(63)}1`,
  '^0x[0-9a-fA-F]{2}$': '0x and 2 hexadecimal digits, for example 0x7f',
  '^(?:0x[0-9a-fA-F]{40}|c402:[a-z0-9._-]{1,64})$': `${ADDRESS}; or c402: and a name, for example c402:acme.shop`,
  '^(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18}|latest|earliest|pending|finalized|safe)$':
    'a block number, for example 19000000 or 0x121eac0, or one of latest, earliest, pending, finalized, safe',
  '^[1-9]\\d{0,8}$': `${WHOLE}, at most 9 digits, without a leading 0`,
  '^[1-9][0-9]{0,29}$': `${WHOLE}, without a leading 0`,
  '^(?:0|[1-9][0-9]{0,29})$': `${WHOLE}, without a leading 0`,
  '^[0-9]{1,15}$': 'seconds since 1970 in decimal digits, for example 1795300000',
  '^[0-9]{1,18}$': WHOLE,
  '^[0-9]{1,18}(\\.[0-9]{1,5})?$': `${DECIMAL}; at most 5 decimals`,
  '^[0-9]{1,12}(\\.[0-9]{1,18})?$': DECIMAL,
  '^[0-9]{1,15}(\\.[0-9]{1,18})?$': DECIMAL,
  '^(?=[0-9.]*[1-9])[0-9]{1,15}(\\.[0-9]{1,18})?$': `${DECIMAL}; more than 0`,
  '^(100(\\.0{1,12})?|[0-9]{1,2}(\\.[0-9]{1,12})?)$': 'a percentage from 0 to 100 as decimal text, for example 2.5',
  '^[A-Za-z0-9._:-]{1,128}$': '1 to 128 of the letters A-Z and a-z, digits and . _ : -, for example INV-2026-0042',
  '^inv_[0-9a-z]{12,26}$': 'inv_ and 12 to 26 small letters and digits, for example inv_01jd8z6k3q5w',
  '^[A-Za-z]{2}$': 'two letters of ISO 3166-1, for example DE',
  '^[0-9]{4}(-[0-9]{2}-[0-9]{2})?$': 'a year or a day as YYYY-MM-DD, for example 1967-01-13',
  '^0x(?:[0-9a-fA-F]{2})+$': 'a signature: 0x and bytes in hexadecimal, for example 0x1b',
  '^0x(?:[0-9a-fA-F]{2}){1,4096}$': 'a signature: 0x and 1 to 4096 bytes in hexadecimal, for example 0x1b',
  '^0x(?:[0-9a-fA-F]{2}){1,2000}$': 'a signature: 0x and 1 to 2000 bytes in hexadecimal, for example 0x1b',
  '^0x[0-9a-fA-F]{130}$': `a signature: 0x and 65 bytes in hexadecimal, for example 0x${'1b'.repeat(65)}`,
  '^[0-9a-f]{64}$': `64 hexadecimal digits in lower case, for example ${'0'.repeat(63)}a`,
  '^0x[0-9a-f]{64}$': `0x and 64 hexadecimal digits in lower case, for example 0x${'0'.repeat(63)}a`,
  '^[\\x21-\\x7e]{1,128}$': '1 to 128 printable characters without spaces, for example order-2026-0042',
  '^[\\x21-\\x7e]{32,128}$': `32 to 128 printable characters without spaces, for example ${'k7'.repeat(16)}`,
  '^mlt_[0-9]{1,15}_[0-9a-f]{64}$': `a token for the list of invoices: mlt_, seconds since 1970, _ and 64 hexadecimal digits, for example mlt_1_${'0'.repeat(64)}`,
  '^bst_[0-9a-f]{64}$': `a statement token: bst_ and 64 hexadecimal digits, for example bst_${'0'.repeat(64)}`,
  '^whs_[0-9a-f]{32}$': `the id of a webhook subscription: whs_ and 32 hexadecimal digits, for example whs_${'0'.repeat(32)}`,
  '^wht_[0-9a-f]{64}$': `a webhook token: wht_ and 64 hexadecimal digits, for example wht_${'0'.repeat(64)}`,
  '^cs_\\w+$': 'the id of a checkout, for example cs_test_a1b2c3',
  '^[pu]_[0-9a-f]{40}$': `next_cursor of an earlier page, for example p_${'0'.repeat(40)}`,
  '^pol_[0-9a-f]{32}$': `that of a certificate: pol_ and 32 digits 0-9 and a-f, for example pol_${'0'.repeat(32)}`,
  '^(?:0|[1-9][0-9]{0,14})$': `${WHOLE}, without a leading 0`,
  '^https?:\\/\\/[^\\s]+$': 'an address that begins with http:// or https://, for example https://example.com/page',
}

/** Words for a pattern as zod names it in an issue, between slashes; null for one that has none. */
export function formOf(pattern: string): string | null {
  return FORMS[pattern.replace(/^\/|\/[a-z]*$/g, '')] ?? null
}

type Decoded = { ok: true; input: Record<string, unknown> } | { ok: false; problem: Problem }

/** Validates an input against the schema of its tool. Error messages repeat no text of the input except field names. */
export function decodeInput(tool: Tool, input: unknown): Decoded {
  const read = decode(tool.input, input, { pointer: '/input', name: 'The input', hint: 'Send an object under the key "input".' })
  if (read.ok) return { ok: true, input: read.value }
  const errors = tool.register === undefined ? read.errors : read.errors.map(withoutRegister)
  const first = errors[0]?.message ?? 'It is not what the schema asks for.'
  const detail = `The input of ${tool.id} does not fit its schema. ${first}`
  return { ok: false, problem: problem('INPUT_SCHEMA_INVALID', detail, { errors }) }
}

/** The operator decides if calls may ask live registers (ASSAY_REGISTERS). */
function withoutRegister(error: ProblemError): ProblemError {
  if (error.code !== 'unknown_field' || error.pointer !== '/input/register') return error
  return { ...error, message: 'The field "register" is not offered here: this service has no live register for the tool. Leave it out.' }
}

/** The place of a value in its request. */
export interface DecodedPart {
  /** JSON pointer of the value. */
  pointer: string
  /** Name of the value at the start of a sentence. */
  name: string
  /** Advice for a value that is not an object. */
  hint: string
}

export type DecodedValue<Value> = { ok: true; value: Value } | { ok: false; errors: ProblemError[] }

/** Holds an object against a schema; the faults are in our own words, at most twenty of them. */
export function decode<Schema extends z.ZodObject>(schema: Schema, value: unknown, part: DecodedPart): DecodedValue<z.output<Schema>> {
  if (!isObject(value)) return { ok: false, errors: [{ pointer: part.pointer, code: 'wrong_type', message: part.hint }] }
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return { ok: true, value: parsed.data }
  const fields = Object.keys(schema.shape)
  return { ok: false, errors: parsed.error.issues.flatMap((issue) => explain(issue, fields, part)).slice(0, MAX_ERRORS) }
}

const MAX_ERRORS = 20

function explain(issue: z.core.$ZodIssue, fields: string[], part: DecodedPart): ProblemError[] {
  const pointer = part.pointer + issue.path.map((step) => `/${safeName(String(step))}`).join('')
  const at = issue.path.length === 0 ? part.name : `The field "${issue.path.map((step) => safeName(String(step))).join('.')}"`
  switch (issue.code) {
    case 'unrecognized_keys':
      // Before anything is said of them: a body may hold thousands.
      return issue.keys.slice(0, MAX_ERRORS).map((key) => unknownField(pointer, key, issue.path.length === 0 ? fields : []))
    case 'invalid_type':
      return [typeError(pointer, at, issue)]
    case 'too_small':
      return [
        {
          pointer,
          code: 'too_small',
          message: `${at} must ${atLeast(issue.origin)} ${String(issue.minimum)}${unit(issue.origin)}.${describeFound(issue.input)}`,
        },
      ]
    case 'too_big':
      return [
        {
          pointer,
          code: 'too_big',
          message: `${at} must ${atMost(issue.origin)} ${String(issue.maximum)}${unit(issue.origin)}.${describeFound(issue.input)}`,
        },
      ]
    case 'invalid_value':
      return [valueError(pointer, at, issue)]
    case 'invalid_format':
      return [{ pointer, code: 'wrong_format', message: `${at} ${formWords(issue)}` }]
    case 'invalid_union':
      return [unionError(pointer, at, issue)]
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
      return [{ pointer, code: 'not_allowed', message: `${at} is not what its description asks for.` }]
    case 'custom': {
      // A tool's own rule speaks in the tool's own words, which never quote the input.
      const message = issue.params === undefined ? `${at} is not what its description asks for.` : issue.message
      const code = issue.params?.['code']
      return [{ pointer, code: typeof code === 'string' ? code : 'not_allowed', message }]
    }
  }
}

function typeError(pointer: string, at: string, issue: z.core.$ZodIssueInvalidType): ProblemError {
  if (issue.input === undefined) return { pointer, code: 'missing', message: `${at} is missing; it must be ${article(issue.expected)}.` }
  return { pointer, code: 'wrong_type', message: `${at} must be ${article(issue.expected)}.${describeFound(issue.input)}` }
}

function valueError(pointer: string, at: string, { input, values }: z.core.$ZodIssueInvalidValue): ProblemError {
  const words = `must be one of: ${values.map(String).join(', ')}.`
  if (input === undefined) return { pointer, code: 'missing', message: `${at} is missing; it ${words}` }
  return { pointer, code: 'not_allowed', message: `${at} ${words}${describeFound(input)}` }
}

/** Describes a value that was found, by its kind and length. A text is not repeated, since it may be secret or meant to deceive. */
function describeFound(input: unknown): string {
  if (typeof input === 'string') return ` It is a string of ${counted(input.length, 'character')}.`
  if (Array.isArray(input)) return ` It is an array of ${counted(input.length, 'item')}.`
  if (isObject(input)) return ' It is an object.'
  return ` It is ${String(input)}.`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Says which form is expected, with an example, and the length of the value. */
function formWords({ pattern, input }: z.core.$ZodIssueInvalidStringFormat): string {
  const form = pattern === undefined ? null : formOf(pattern)
  if (form === null) return 'does not have the form that its description asks for.'
  return `must be ${form}.${describeFound(input)}`
}

/** Lists the kinds of value that a union accepts, as far as the union errors distinguish them. */
function unionError(pointer: string, at: string, { input, errors }: z.core.$ZodIssueInvalidUnion): ProblemError {
  const kinds = new Set(
    errors.flat().flatMap((issue) => (issue.code === 'invalid_type' && issue.path.length === 0 ? [article(issue.expected)] : [])),
  )
  // A text may be of a kind that is taken, and of the wrong form.
  const format = typeof input === 'string' ? errors.flat().find((issue) => issue.code === 'invalid_format') : undefined
  if (format !== undefined) return { pointer, code: 'wrong_format', message: `${at} ${formWords(format)}` }
  const words = kinds.size === 0 ? 'of a kind that its description names' : [...kinds].join(' or ')
  if (input === undefined) return { pointer, code: 'missing', message: `${at} is missing; it must be ${words}.` }
  return { pointer, code: 'wrong_type', message: `${at} must be ${words}.${describeFound(input)}` }
}

/** Names a member that is not known, and the one that is meant; `known` is empty where naming all would not help. */
function unknownField(pointer: string, key: string, known: readonly string[]): ProblemError {
  const near = nearestName(key, known)
  const hint = near === null ? `Known fields: ${known.join(', ')}.` : `Did you mean "${near}"?`
  const message = `The field "${safeName(key)}" is not known here.${known.length === 0 ? '' : ` ${hint}`}`
  return { pointer: `${pointer}/${safeName(key)}`, code: 'unknown_field', message }
}

/** A field name is text of the caller too: a message repeats it only when it is short and plain. */
function safeName(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : '…'
}

const KINDS: Readonly<Record<string, string>> = { record: 'an object', int: 'an integer', null: 'null' }

function article(kind: string): string {
  const words = KINDS[kind]
  if (words !== undefined) return words
  return /^[aeio]/.test(kind) ? `an ${kind}` : `a ${kind}`
}

function isNumber(origin: string): boolean {
  return origin === 'number' || origin === 'int' || origin === 'bigint'
}

function atLeast(origin: string): string {
  return isNumber(origin) ? 'be at least' : 'have at least'
}

function atMost(origin: string): string {
  return isNumber(origin) ? 'be at most' : 'have at most'
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters'
  return origin === 'array' ? ' items' : ''
}

/**
 * The one tool that also takes its fields without `input`, and then answers with the members of its result next to the receipt instead of
 * under `result`. It was published in this form, and its clients use it.
 */
const BARE_TOOL = 'token-contract-risk'

/** Returns true when this tool, as the caller names it, accepts its fields without `input`. */
export function acceptsUnwrappedInput(tool: string): boolean {
  return tool.replaceAll('_', '-') === BARE_TOOL
}

/** Adds the members that problems of this tool have: `valid`, which is false for an invalid input and otherwise null, and `reason`. */
export function withVerdict(tool: string | null, found: Problem): Problem {
  if (tool === null || !acceptsUnwrappedInput(tool)) return found
  const valid = PROBLEMS[found.code].status === 400 ? false : null
  return { ...found, extra: { valid, reason: found.code.toLowerCase(), ...found.extra } }
}

/** The single-value checks of a list of tools, as batch-validate runs them. Only pure, synchronous tools can be among them. */
export function itemCatalogue(tools: () => readonly Tool[]): ItemCatalogue {
  let permitted: Map<string, Tool> | null = null
  const byId = () =>
    (permitted ??= new Map(
      tools()
        .filter(({ batch_field }) => batch_field !== undefined)
        .map((tool) => [tool.id, tool]),
    ))
  return {
    get permitted() {
      return [...byId().keys()]
    },
    check(id, value) {
      const tool = byId().get(id) ?? byId().get(id.replaceAll('_', '-'))
      return tool === undefined ? notPermitted([...byId().keys()]) : checkItem(tool, value)
    },
  }
}

function checkItem(tool: Tool, value: string): ItemAnswer {
  const decoded = decodeInput(tool, { [tool.batch_field ?? '']: value })
  if (!decoded.ok) return { ok: false, code: 'input_invalid', message: decoded.problem.errors[0]?.message ?? decoded.problem.detail }
  try {
    const result = tool.execute(decoded.input, NO_SOURCES)
    return result instanceof Promise ? failed() : { ok: true, result }
  } catch {
    // One broken item must not take the others with it; the answer says which one failed.
    return failed()
  }
}

/** Item tools are pure: they are never handed a source. */
const NO_SOURCES = {} as Sources

function notPermitted(permitted: readonly string[]): ItemAnswer {
  return { ok: false, code: 'not_permitted', message: `This tool cannot be an item of a batch. Those that can: ${permitted.join(', ')}.` }
}

function failed(): ItemAnswer {
  return { ok: false, code: 'failed', message: 'The check of this item failed by our fault.' }
}
