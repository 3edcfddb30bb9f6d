import type { Severity } from '../../../../pure/protocols/rule.ts'
import { isMembers, listOf, textOf, type Members } from '../shapes.ts'

/** A finding as the service writes it, read without trust. */
export interface Finding {
  code: string
  severity: Severity
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
    findings: [...listOf(answer['errors']), ...listOf(answer['warnings'])].map(readFinding),
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
    spec: isMembers(spec) ? { url: textOf(spec['url']) ?? '', section: textOf(spec['section']) ?? '' } : null,
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** A part of the rules, as the page was told of it. */
export interface Part {
  id: string
  title: string
  /** What the codes of its rules begin with. */
  prefix: string
  rules: number
  versions: string[]
  /** Document types that may be stated. */
  types: string[]
  not_checked: string[]
}

export function readParts(text: string): Part[] {
  const read: unknown = JSON.parse(text)
  return listOf(read).map((part) => ({
    id: textOf(part['id']) ?? '',
    title: textOf(part['title']) ?? '',
    prefix: textOf(part['prefix']) ?? '',
    rules: typeof part['rules'] === 'number' ? part['rules'] : 0,
    versions: texts(part['versions']),
    types: texts(part['types']),
    not_checked: texts(part['not_checked']),
  }))
}

/** Where the rule of a code is described. */
export function ruleAddress(parts: readonly Part[], code: string): string {
  const part = parts.find(({ prefix }) => code.startsWith(`${prefix}-`))
  return part === undefined ? '/v1/protocols/rules' : `/v1/protocols/rules?protocol=${part.id}#${encodeURIComponent(code)}`
}
