import type { z } from 'zod'
import type { Tool } from './define.ts'
import { problem, type Problem, type ProblemError } from '../problems.ts'
import { nearest } from '../nearest.ts'

/**
 * What the patterns of the input schemas ask for, in words and with an example, by pattern: people are told the form, never the regular
 * expression. A test goes through the registry and fails on a pattern that has no words here.
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
  '^https?:\\/\\/[^\\s]+$': 'an address that begins with http:// or https://, for example https://example.com/page',
}

/** Words for a pattern as zod names it in an issue, between slashes; null for one that has none. */
export function formOf(pattern: string): string | null {
  return FORMS[pattern.replace(/^\/|\/[a-z]*$/g, '')] ?? null
}

export type Decoded = { ok: true; input: Record<string, unknown> } | { ok: false; problem: Problem }

/** Holds an input against the schema of its tool. Our own words only: nothing that a stranger wrote comes back, but field names. */
export function decodeInput(tool: Tool, input: unknown): Decoded {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return refuse(tool, [wrongKind()])
  const parsed = tool.input.safeParse(input, { reportInput: true })
  if (parsed.success) return { ok: true, input: parsed.data }
  return refuse(tool, parsed.error.issues.flatMap((issue) => explain(issue, Object.keys(tool.input.shape))).slice(0, MAX_ERRORS))
}

const MAX_ERRORS = 20

function refuse(tool: Tool, errors: ProblemError[]): Decoded {
  const first = errors[0]?.message ?? 'It is not what the schema asks for.'
  const detail = `The input of ${tool.id} does not fit its schema. ${first}`
  return { ok: false, problem: problem('INPUT_SCHEMA_INVALID', detail, { errors }) }
}

function wrongKind(): ProblemError {
  return { pointer: '/input', code: 'wrong_type', message: 'Send an object under the key "input".' }
}

function explain(issue: z.core.$ZodIssue, fields: string[]): ProblemError[] {
  const pointer = `/input${issue.path.map((step) => `/${pointerStep(String(step))}`).join('')}`
  const at = issue.path.length === 0 ? 'The input' : `The field "${issue.path.map((step) => safeName(String(step))).join('.')}"`
  switch (issue.code) {
    case 'unrecognized_keys':
      // Before anything is said of them: a body may hold thousands.
      return issue.keys.slice(0, MAX_ERRORS).map((key) => unknownField(pointer, key, issue.path.length === 0 ? fields : []))
    case 'invalid_type':
      return [typeError(pointer, at, issue)]
    case 'too_small':
      return [{ pointer, code: 'too_small', message: `${at} must ${atLeast(issue.origin)} ${String(issue.minimum)}${unit(issue.origin)}.` }]
    case 'too_big':
      return [{ pointer, code: 'too_big', message: `${at} must ${atMost(issue.origin)} ${String(issue.maximum)}${unit(issue.origin)}.` }]
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
      return [{ pointer, code: issue.params?.['code'] === 'missing' ? 'missing' : 'not_allowed', message }]
    }
  }
}

function typeError(pointer: string, at: string, issue: z.core.$ZodIssueInvalidType): ProblemError {
  if (issue.input === undefined) return { pointer, code: 'missing', message: `${at} is missing; it must be ${article(issue.expected)}.` }
  return { pointer, code: 'wrong_type', message: `${at} must be ${article(issue.expected)}.` }
}

function valueError(pointer: string, at: string, { input, values }: z.core.$ZodIssueInvalidValue): ProblemError {
  const words = `must be one of: ${values.map(String).join(', ')}.`
  if (input === undefined) return { pointer, code: 'missing', message: `${at} is missing; it ${words}` }
  return { pointer, code: 'not_allowed', message: `${at} ${words}` }
}

/** Says which form is expected, with an example, and how long the value is, which is what most often is wrong. */
function formWords({ pattern, input }: z.core.$ZodIssueInvalidStringFormat): string {
  const form = pattern === undefined ? null : formOf(pattern)
  if (form === null) return 'does not have the form that its description asks for.'
  const length = typeof input === 'string' ? ` It has ${input.length} characters.` : ''
  return `must be ${form}.${length}`
}

/** Names the kinds that a union takes, as far as the reader told them apart. */
function unionError(pointer: string, at: string, { input, errors }: z.core.$ZodIssueInvalidUnion): ProblemError {
  const kinds = new Set(
    errors.flat().flatMap((issue) => (issue.code === 'invalid_type' && issue.path.length === 0 ? [article(issue.expected)] : [])),
  )
  // A text may be of a kind that is taken, and of the wrong form.
  const format = typeof input === 'string' ? errors.flat().find((issue) => issue.code === 'invalid_format') : undefined
  if (format !== undefined) return { pointer, code: 'wrong_format', message: `${at} ${formWords(format)}` }
  const words = kinds.size === 0 ? 'of a kind that its description names' : [...kinds].join(' or ')
  if (input === undefined) return { pointer, code: 'missing', message: `${at} is missing; it must be ${words}.` }
  return { pointer, code: 'wrong_type', message: `${at} must be ${words}.` }
}

/** Names a member that is not known, and the one that is meant; `known` is empty where naming all would not help. */
export function unknownField(pointer: string, key: string, known: readonly string[]): ProblemError {
  const near = nearest(key, known)
  const hint = near === null ? `Known fields: ${known.join(', ')}.` : `Did you mean "${near}"?`
  const message = `The field "${safeName(key)}" is not known here.${known.length === 0 ? '' : ` ${hint}`}`
  return { pointer: `${pointer}/${pointerStep(key)}`, code: 'unknown_field', message }
}

/** A field name is a stranger's text too: it comes back only when it is short and plain. */
function safeName(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : '…'
}

function pointerStep(name: string): string {
  return safeName(name).replaceAll('~', '~0').replaceAll('/', '~1')
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
