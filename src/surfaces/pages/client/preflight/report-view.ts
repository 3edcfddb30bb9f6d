import { el } from '../dom.ts'
import { markShape, verdictBlock } from '../verdict.ts'
import type { Finding, Part, Report } from './report.ts'
import { ruleAddress } from './report.ts'

/** Where a finding stands in the text that was checked. */
export interface Stands {
  line: number
  column: number
  /** False when nothing is there, and the place around it is meant. */
  exact: boolean
  show(): void
}

const MARKS = { pass: 'valid', warn: 'unverifiable', fail: 'invalid', not_covered: 'unverifiable' } as const
const SOURCES: Readonly<Record<string, string>> = {
  stated: 'as you stated',
  declared: 'as the document says',
  inferred: 'as its shape says',
  assumed: 'assumed: the document names none',
}

/** Status, what the document was taken for, and each finding with its place, rule and remedy. */
export function reportView(report: Report, parts: readonly Part[], standsOf: (finding: Finding) => Stands | null): DocumentFragment {
  const view = document.createDocumentFragment()
  view.append(verdictBlock(MARKS[report.status], report.status.replaceAll('_', ' '), countWords(report)))
  view.append(el('p', { class: 'scope-line' }, takenFor(report)))
  const items = report.findings.map((finding) => findingItem(finding, parts, standsOf(finding)))
  if (items.length > 0) view.append(el('ol', { class: 'found' }, ...items))
  if (report.truncated) view.append(el('p', { class: 'hint' }, 'There are more findings than are shown; mend these first.'))
  return view
}

export function countWords({ status, findings }: Report): string {
  if (status === 'not_covered') return 'No rules cover this type of document in this version; it neither passes nor fails.'
  if (status === 'pass') return 'No rule that was applied found anything.'
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  return `${[counted(errors, 'error'), counted(warnings, 'warning')].filter((words) => words !== '').join(', ')}.`
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`
}

function takenFor({ protocol, document_type, version, version_source }: Report): string {
  const source = SOURCES[version_source] ?? version_source
  return `Read as ${protocol} ${document_type.replaceAll('_', ' ')}, version ${version} (${source}).`
}

function findingItem(finding: Finding, parts: readonly Part[], stands: Stands | null): HTMLElement {
  const { code, severity, message, hint, expected, spec } = finding
  const head = el(
    'p',
    { class: 'rule' },
    markShape(severity === 'error' ? 'invalid' : 'unverifiable'),
    el('span', { class: 'word' }, severity),
    el('a', { href: ruleAddress(parts, code) }, el('code', {}, code)),
    stands === null ? null : placeButton(stands),
  )
  return el(
    'li',
    { class: severity },
    head,
    el('p', { class: 'message' }, message),
    expected === null ? null : el('p', { class: 'hint' }, `Expected: ${expected}.`),
    hint === '' ? null : el('p', { class: 'hint' }, hint),
    el('p', { class: 'hint where' }, el('code', {}, finding.path === '' ? 'the whole document' : finding.path), specLink(spec)),
  )
}

export function placeButton({ line, column, exact, show }: Stands): HTMLButtonElement {
  const words = exact ? `line ${line}, column ${column}` : `absent, near line ${line}`
  const button = el('button', { type: 'button', class: 'place' }, words)
  button.addEventListener('click', show)
  return button
}

function specLink(spec: Finding['spec']): HTMLElement | null {
  if (spec === null || !/^https?:\/\//.test(spec.url)) return null
  return el('a', { href: spec.url, rel: 'noreferrer' }, `source: ${spec.section}`)
}

/** How many rules were applied, and which. */
export function checkedView(checked: readonly string[], parts: readonly Part[]): HTMLElement {
  const links = checked.map((code) => el('a', { href: ruleAddress(parts, code) }, code))
  return el(
    'details',
    {},
    el('summary', {}, `${checked.length} rules were applied`),
    el('p', { class: 'codes' }, ...links.flatMap((link) => [link, ' '])),
  )
}
