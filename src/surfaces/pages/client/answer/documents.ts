import { jsonPlaces } from '../../../../pure/documents/json-places.ts'
import type { Documents } from '../answer.ts'
import { listOf, textOf, type Members } from '../shapes.ts'
import { elementPlaces } from './xml-places.ts'
import { linesView, type Remark } from './lines.ts'

/**
 * Findings at their place in the input, seen by the form of the answer alone: findings that have a line (payment messages), errors that
 * have a pointer (data against a schema), fields of a receipt.
 */
export const documentViews: Documents = (result, asked) => {
  const sorts = [linedFindings(result), pointedErrors(result), receiptFields(result, asked)].filter((sort) => sort !== null)
  const views = sorts.flatMap(({ inputs }) =>
    [...inputs].flatMap(([name, found]) => {
      const text = asked.get(name) ?? ''
      return text === '' || found.length === 0 ? [] : [linesView(name, text, placed(text, found))]
    }),
  )
  return views.length === 0 ? null : { views, shown: sorts.flatMap(({ shown }) => shown) }
}

/** A remark before its place is looked for. */
type Found = Omit<Remark, 'range'> & { pointer: string | null; path: string | null }

interface Sort {
  /** By the name of the input. */
  inputs: Map<string, Found[]>
  /** Members of the result that need not be shown again. */
  shown: string[]
}

/** Findings with a line or a path; `file` is a place in `files`, and there is one input where there are none. */
function linedFindings(result: Members): Sort | null {
  const findings = listOf(result['findings']).filter((one) => 'line' in one)
  if (findings.length === 0) return null
  const files: unknown[] = Array.isArray(result['files']) ? result['files'] : ['raw_payload']
  const inputs = Map.groupBy(findings, ({ file }) => textOf(files[typeof file === 'number' ? file : 0]) ?? '')
  return { inputs: new Map([...inputs].map(([name, list]) => [name, list.map(lined)])), shown: ['finding_count', 'finding_counts'] }
}

function lined({ severity, line, path, message, expected, code }: Members): Found {
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
function pointedErrors(result: Members): Sort | null {
  const errors = listOf(result['errors']).filter(({ instance_path }) => typeof instance_path === 'string')
  if (errors.length === 0) return null
  const found = errors.map(({ instance_path, keyword, message }) => pointed(textOf(instance_path) ?? '', textOf(message), textOf(keyword)))
  return { inputs: new Map([['data', found]]), shown: ['errors', 'error_count'] }
}

/** Findings that name a field of the receipt that was judged. */
function receiptFields(result: Members, asked: ReadonlyMap<string, string>): Sort | null {
  const findings = asked.has('receipt') && 'signer_recovered' in result ? listOf(result['findings']) : []
  if (findings.length === 0) return null
  const found = findings.map(({ field, message, code }) => pointed(pointerTo(textOf(field)), textOf(message), textOf(code)))
  return { inputs: new Map([['receipt', found]]), shown: [] }
}

function pointerTo(field: string | null): string {
  return field === null ? '' : `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function pointed(pointer: string, message: string | null, code: string | null): Found {
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

/** Finds the characters that each remark is about, where the document shows them. */
function placed(text: string, found: readonly Found[]): Remark[] {
  const pointers = jsonPlaces(
    text,
    found.flatMap(({ pointer }) => pointer ?? []),
  )
  const isXml = text.trimStart().startsWith('<')
  const elements = elementPlaces(
    isXml ? text : '',
    found.flatMap(({ path }) => path ?? []),
  )
  return found.map(({ pointer, path, ...remark }) => {
    const range = pointer === null ? elements.get(path ?? '') : pointers.get(pointer)
    return { ...remark, range: range === undefined ? null : { start: range.start, end: range.end } }
  })
}
