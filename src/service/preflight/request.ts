import { isObject } from '../../pure/is-object.ts'
import { checkDocument, type PreflightReport } from '../../pure/protocols/check.ts'
import { documentTypes } from '../../pure/protocols/coverage.ts'
import type { Finding } from '../../pure/protocols/findings.ts'
import type { NumberLiterals } from '../../pure/protocols/place.ts'
import { PROTOCOLS } from '../../pure/protocols/registry.ts'
import { PROTOCOL_IDS, type Exceeded, type ProtocolId } from '../../pure/protocols/rule.ts'
import { limits } from '../limits.ts'
import { unknownField } from '../catalogue/decode.ts'
import { problem, type Problem, type ProblemError } from '../problems.ts'

/** A body that was read, with the numbers in it as they were written. */
export interface ReadValue {
  value: unknown
  literals: NumberLiterals
}

export type Preflight = { ok: true; report: PreflightReport } | { ok: false; problem: Problem }

/** Bounds of the whole body: the document lies one level deep in it, beside texts; the third and fourth count against its values. */
export const BODY_BOUNDS = { depth: limits.preflight_depth + 1, nodes: limits.preflight_nodes + 3 }

export const DOCUMENT_BOUNDS = { string_chars: limits.preflight_string_chars, array_items: limits.preflight_array_items }

const MEMBERS = ['protocol', 'document', 'document_type', 'version', 'expected_payee']

interface Request {
  protocol: ProtocolId
  document: object
  document_type: string | null
  version: string | null
  expected_payee: string | null
}

/** One preflight: the request held against its form, the document against the rules. Own paths get the origin in front. */
export function preflight({ value, literals }: ReadValue, now_s: number, base_url: string): Preflight {
  const read = readRequest(value)
  if (!read.ok) return read
  const { protocol, document, ...given } = read.request
  const result = checkDocument(protocol, document, { ...given, now_s, literals, bounds: DOCUMENT_BOUNDS })
  if (result.kind === 'exceeded') return { ok: false, problem: boundProblem(result.exceeded) }
  const { errors, warnings, ...rest } = result.report
  const absolute = (finding: Finding) => ({ ...finding, spec: { ...finding.spec, url: absoluteUrl(finding.spec.url, base_url) } })
  return { ok: true, report: { ...rest, errors: errors.map(absolute), warnings: warnings.map(absolute) } }
}

/** Rules of this service name a path; those of others a URL. */
export function absoluteUrl(url: string, base_url: string): string {
  return url.startsWith('/') ? `${base_url}${url}` : url
}

const BOUND_WORDS: Readonly<Record<string, string>> = {
  string_chars: 'A text or key of the document has more characters than the bound of',
  array_items: 'An array of the document has more items than the bound of',
  subschemas: 'A schema in the document has more objects than the bound of',
}

export function boundProblem({ bound, limit, path }: Exceeded): Problem {
  const words = `${BOUND_WORDS[bound] ?? 'The document exceeds a bound:'} ${limit}.`
  return problem('PREFLIGHT_BOUND_EXCEEDED', words, {
    errors: [{ pointer: `/document${path}`, code: bound, message: words }],
    extra: { bound, limit, path },
  })
}

function readRequest(value: unknown): { ok: true; request: Request } | { ok: false; problem: Problem } {
  if (!isObject(value)) return invalid([{ pointer: '', code: 'wrong_type', message: 'The body is no object.' }])
  const { protocol, document, document_type, version, expected_payee } = value
  const errors: ProblemError[] = []
  const strays = Object.keys(value).filter((name) => !MEMBERS.includes(name))
  errors.push(...strays.slice(0, MOST_STRAYS).map((name) => unknownField('', name, MEMBERS)))
  const known = PROTOCOL_IDS.find((id) => id === protocol)
  if (known === undefined)
    errors.push({
      pointer: '/protocol',
      code: protocol === undefined ? 'missing' : 'not_allowed',
      message: `protocol is one of ${PROTOCOL_IDS.join(', ')}.`,
    })
  if (!isObject(document)) errors.push(documentError(document))
  if (expected_payee !== undefined && !isPayee(expected_payee)) errors.push(PAYEE_ERROR)
  if (document_type !== undefined && known !== undefined && !isTypeOf(known, document_type)) errors.push(typeError(known))
  if (version !== undefined && !isVersion(version)) errors.push(VERSION_ERROR)
  if (errors.length > 0 || known === undefined || !isObject(document)) return invalid(errors)
  return {
    ok: true,
    request: {
      protocol: known,
      document,
      document_type: isTypeOf(known, document_type) ? document_type : null,
      version: isVersion(version) ? version : null,
      expected_payee: isPayee(expected_payee) ? expected_payee : null,
    },
  }
}

/** Unknown members that are named; a body may hold thousands. */
const MOST_STRAYS = 20

function documentError(document: unknown): ProblemError {
  const missing = document === undefined
  const hint = typeof document === 'string' ? ' Decode it first, if it is Base64, a token, or JSON in a text.' : ''
  return { pointer: '/document', code: missing ? 'missing' : 'wrong_type', message: `document is the JSON object to be checked.${hint}` }
}

const PAYEE_ERROR: ProblemError = {
  pointer: '/expected_payee',
  code: 'wrong_type',
  message: `expected_payee is a text of 1 to ${limits.preflight_payee_chars} characters.`,
}

export const VERSION_EXPECTED = `a text of 1 to ${limits.preflight_version_chars} characters, such as 2026-04-08 or 1.0`

const VERSION_ERROR: ProblemError = { pointer: '/version', code: 'wrong_type', message: `version is ${VERSION_EXPECTED}.` }

export function isVersion(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= limits.preflight_version_chars
}

function isTypeOf(protocol: ProtocolId, value: unknown): value is string {
  return typeof value === 'string' && documentTypes(PROTOCOLS[protocol]).includes(value)
}

function typeError(protocol: ProtocolId): ProblemError {
  const types = documentTypes(PROTOCOLS[protocol]).join(', ')
  return { pointer: '/document_type', code: 'not_allowed', message: `document_type of ${protocol} is one of ${types}.` }
}

function isPayee(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= limits.preflight_payee_chars
}

function invalid(errors: ProblemError[]): { ok: false; problem: Problem } {
  const detail = errors.map(({ message }) => message).join(' ')
  return { ok: false, problem: problem('PREFLIGHT_REQUEST_INVALID', detail, { errors }) }
}
