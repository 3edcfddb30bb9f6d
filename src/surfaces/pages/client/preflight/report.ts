import type { FindingSeverity } from '../../../../pure/protocols/protocol.ts'
import { isObject, objectsIn, textOf, type Members } from '../../../../pure/is-object.ts'

/** A finding as the service writes it, read without trust. */
export interface Finding {
  code: string
  severity: FindingSeverity
  path: string
  message: string
  hint: string
  expected: string | null
  spec: { url: string; section: string } | null
}

export interface Report {
  status: 'pass' | 'warn' | 'fail' | 'not_covered'
  protocol: string
  document_type: string
  version: string
  version_source: string
  /** Errors first. */
  findings: Finding[]
  checked: string[]
  not_checked: string[]
  truncated: boolean
  statement: string
}

/** The report in an answer; null when it is none. */
export function readReport(answer: Members): Report | null {
  const status = (['pass', 'warn', 'fail', 'not_covered'] as const).find((one) => one === answer['status'])
  if (status === undefined) return null
  return {
    status,
    protocol: textOf(answer['protocol']) ?? '',
    document_type: textOf(answer['document_type']) ?? '',
    version: textOf(answer['version']) ?? '',
    version_source: textOf(answer['version_source']) ?? '',
    findings: [...objectsIn(answer['errors']), ...objectsIn(answer['warnings'])].map(readFinding),
    checked: texts(answer['checked']),
    not_checked: texts(answer['not_checked']),
    truncated: answer['truncated'] === true,
    statement: textOf(answer['statement']) ?? '',
  }
}

function readFinding(finding: Members): Finding {
  const { spec } = finding
  return {
    code: textOf(finding['code']) ?? '',
    severity: finding['severity'] === 'warning' ? 'warning' : 'error',
    path: textOf(finding['path']) ?? '',
    message: textOf(finding['message']) ?? '',
    hint: textOf(finding['hint']) ?? '',
    expected: textOf(finding['expected']),
    spec: isObject(spec) ? { url: textOf(spec['url']) ?? '', section: textOf(spec['section']) ?? '' } : null,
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** Rules of one protocol, or those for every protocol. */
export interface RulePart {
  id: string
  title: string
  /** Prefix of its rule codes. */
  prefix: string
  rules: number
  versions: readonly string[]
  /** Document types that may be stated. */
  types: readonly string[]
  not_checked: readonly string[]
}

/** Returns the address of the documentation of a rule. */
export function ruleAddress(parts: readonly RulePart[], code: string): string {
  const part = parts.find(({ prefix }) => code.startsWith(`${prefix}-`))
  return part === undefined ? '/v1/protocols/rules' : `/v1/protocols/rules?protocol=${part.id}#${encodeURIComponent(code)}`
}
