import { findJsonRanges } from '../../../pure/documents/json-text.ts'
import { objectsIn, textOf, type Members } from '../../../pure/is-object.ts'
import { labelOf } from '../../../service/catalogue/answer-view.ts'
import { html } from '../html.ts'
import type { DocumentViews } from './answer.ts'
import { DocumentLines, type DocumentFinding } from './document-lines.ts'
import { elementPlaces } from './xml-places.ts'

/**
 * Findings at their place in the input, recognized by the form of the answer alone: findings that have a line (payment messages), errors that
 * have a pointer (data against a schema), fields of a receipt. `input` has the texts of the form's fields; null where no finding has a place.
 */
export function documentFindings(result: Members, input: ReadonlyMap<string, string>): DocumentViews | null {
  const sources = [linedFindings(result), pointedErrors(result), receiptFields(result, input)].filter((one) => one !== null)
  const views = sources.flatMap(({ inputs }) =>
    [...inputs].flatMap(([name, found]) => {
      const text = input.get(name) ?? ''
      return text === '' || found.length === 0
        ? []
        : [html`<${DocumentLines} title=${labelOf(name)} text=${text} findings=${located(text, found)} />`]
    }),
  )
  return views.length === 0 ? null : { views, shown: sources.flatMap(({ shown }) => shown) }
}

/** A finding before its characters are looked up. */
type UnlocatedFinding = Omit<DocumentFinding, 'range'> & { pointer: string | null; path: string | null }

interface FindingSource {
  /** By the name of the input. */
  inputs: Map<string, UnlocatedFinding[]>
  /** Members of the result that need not be shown again. */
  shown: string[]
}

/** Findings with a line or a path; `file` is an index into `files`; an answer without `files` has one input. */
function linedFindings(result: Members): FindingSource | null {
  const findings = objectsIn(result['findings']).filter((one) => 'line' in one)
  if (findings.length === 0) return null
  const files: unknown[] = Array.isArray(result['files']) ? result['files'] : ['raw_payload']
  const inputs = Map.groupBy(findings, ({ file }) => textOf(files[typeof file === 'number' ? file : 0]) ?? '')
  return { inputs: new Map([...inputs].map(([name, list]) => [name, list.map(lined)])), shown: ['finding_count', 'finding_counts'] }
}

function lined({ severity, line, path, message, expected, code }: Members): UnlocatedFinding {
  return {
    severity: severity === 'warning' || severity === 'info' ? severity : 'error',
    line: typeof line === 'number' ? line : null,
    message: textOf(message) ?? '',
    expected: textOf(expected),
    where: textOf(path),
    code: textOf(code),
    pointer: null,
    path: textOf(path),
  }
}

/** Errors with a pointer into the data. */
function pointedErrors(result: Members): FindingSource | null {
  const errors = objectsIn(result['errors']).filter(({ instance_path }) => typeof instance_path === 'string')
  if (errors.length === 0) return null
  const found = errors.map(({ instance_path, keyword, message }) => pointed(textOf(instance_path) ?? '', textOf(message), textOf(keyword)))
  return { inputs: new Map([['data', found]]), shown: ['errors', 'error_count'] }
}

/** Findings that name a field of the verified receipt. */
function receiptFields(result: Members, input: ReadonlyMap<string, string>): FindingSource | null {
  const findings = input.has('receipt') && 'signer_recovered' in result ? objectsIn(result['findings']) : []
  if (findings.length === 0) return null
  const found = findings.map(({ field, message, code }) => pointed(pointerTo(textOf(field)), textOf(message), textOf(code)))
  return { inputs: new Map([['receipt', found]]), shown: [] }
}

function pointerTo(field: string | null): string {
  return field === null ? '' : `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function pointed(pointer: string, message: string | null, code: string | null): UnlocatedFinding {
  return {
    severity: 'error',
    line: null,
    message: message ?? '',
    expected: null,
    where: pointer === '' ? 'the root' : pointer,
    code,
    pointer,
    path: null,
  }
}

/** Finds the characters that each finding is about. */
function located(text: string, found: readonly UnlocatedFinding[]): DocumentFinding[] {
  const pointers = findJsonRanges(
    text,
    found.flatMap(({ pointer }) => pointer ?? []),
  )
  const isXml = text.trimStart().startsWith('<')
  const elements = elementPlaces(
    isXml ? text : '',
    found.flatMap(({ path }) => path ?? []),
  )
  return found.map(({ pointer, path, ...finding }) => {
    const range = pointer === null ? elements.get(path ?? '') : pointers.get(pointer)
    return { ...finding, range: range === undefined ? null : { start: range.start, end: range.end } }
  })
}
