import { indentJson } from '../../../pure/documents/json-indent.ts'
import { jsonPlaces } from '../../../pure/documents/json-places.ts'
import { readStrictJson } from '../../../pure/documents/strict-json.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../../pure/protocols/rule.ts'
import { byId, el } from './dom.ts'
import { Editor, type Mark } from './preflight/editor.ts'
import { checkedView, countWords, placeButton, reportView, type Stands } from './preflight/report-view.ts'
import { readParts, readReport, type Finding, type Report } from './preflight/report.ts'
import { sampleText } from './preflight/samples.ts'
import { Sender, type Sent } from './preflight/sender.ts'
import { problemView, unreachableView } from './problem.ts'
import { isMembers, listOf, textOf, type Members } from './shapes.ts'
import { verdictBlock } from './verdict.ts'

/** The page of the preflight: what is typed is read here first, then checked by the service, and each finding marked at its place. */

const form = byId('preflight', HTMLFormElement)
const pane = byId('answer', HTMLElement)
const asking = byId('asking', HTMLElement)
const payee = byId('payee', HTMLInputElement)
const document_type = byId('document-type', HTMLSelectElement)
const version = byId('version', HTMLSelectElement)
const file = byId('file', HTMLInputElement)
const editor = new Editor(byId('editor', HTMLElement))
const parts = readParts(form.dataset['parts'] ?? '[]')
const body_bytes = Number(form.dataset['bodyBytes'])
const empty = [...pane.childNodes]
/** How deep and large a document may be, as the service told. */
const BOUNDS = { depth: Number(form.dataset['depth']), nodes: Number(form.dataset['nodes']) }
const FIRST = '{"protocol":'
const ENCODER = new TextEncoder()

const sender = new Sender(showSent)
let text_checked = ''

form.addEventListener('submit', (event) => {
  event.preventDefault()
  consider(true)
})
form.addEventListener('input', (event) => {
  if (event.target === file) return
  if (event.target instanceof HTMLInputElement && event.target.type === 'radio') offerChoices()
  consider(event.target instanceof HTMLInputElement && event.target.type === 'radio')
})
for (const kind of ['correct', 'faulty'] as const) byId(`sample-${kind}`, HTMLButtonElement).addEventListener('click', () => fill(kind))
byId('indent', HTMLButtonElement).addEventListener('click', () => indent())
byId('open', HTMLButtonElement).addEventListener('click', () => file.click())
file.addEventListener('change', () => void openFile(file.files?.[0]))
takeDrops(byId('editor', HTMLElement))
offerChoices()
showScope(null)
if (editor.field.value !== '') consider(false)

function chosen(): ProtocolId {
  const { value } = form.elements.namedItem('protocol') as RadioNodeList
  return PROTOCOL_IDS.find((id) => id === value) ?? 'ucp'
}

/** Fills the two lists with what the chosen protocol has; nothing is stated until one of them is taken. */
function offerChoices(): void {
  const part = parts.find(({ id }) => id === chosen())
  const option = (value: string, words: string) => el('option', { value }, words)
  document_type.replaceChildren(
    option('', 'as its shape says'),
    ...(part?.types ?? []).map((type) => option(type, type.replaceAll('_', ' '))),
  )
  version.replaceChildren(option('', 'as it declares'), ...(part?.versions ?? []).map((one) => option(one, one)))
}

/** The body of a request. The document goes in as it was typed, so that the service reads the very same literals. */
function bodyOf(text: string): string {
  const stated = [
    ['document_type', document_type.value],
    ['version', version.value],
    ['expected_payee', payee.value],
  ].map(([name, value]) => (value === '' ? '' : `,"${name}":${JSON.stringify(value)}`))
  return `${FIRST}${JSON.stringify(chosen())}${stated.join('')},"document":${text}}`
}

/** Looks at what stands in the field: says at once what keeps it from being checked, and offers it to be sent otherwise. */
function consider(now: boolean): void {
  const text = editor.field.value
  showScope(null)
  const bytes = ENCODER.encode(bodyOf(text)).length
  byId('size', HTMLElement).textContent = `${(text === '' ? 0 : ENCODER.encode(text).length).toLocaleString('en')} bytes`
  busy(false)
  if (text.trim() === '') return refuse('', ...empty)
  if (bytes > body_bytes)
    return refuse(
      'Too large to be checked.',
      verdictBlock('invalid', 'too large', `With what goes around it this is ${bytes} bytes; ${body_bytes} are taken.`),
    )
  const read = readStrictJson(text, BOUNDS, { unsafe_numbers: 'keep_text' })
  if (!read.ok) return refuseJson(read)
  if (!isMembers(read.value))
    return refuse('Not an object.', verdictBlock('invalid', 'not an object', 'The document of every protocol here is a JSON object.'))
  busy(true)
  sender.offer(bodyOf(text), now)
}

/** While a new answer is awaited, the old one is dimmed and its places, which may have moved, are out of reach. */
function busy(waiting: boolean): void {
  if (waiting) pane.setAttribute('aria-busy', 'true')
  else pane.removeAttribute('aria-busy')
  pane.inert = waiting
}

/** Nothing is sent, and the pane says why. */
function refuse(words: string, ...shown: Node[]): void {
  sender.offer(null)
  asking.textContent = words
  pane.replaceChildren(...shown)
}

function refuseJson({ position, line, column, message }: { position: number; line: number; column: number; message: string }): void {
  const mark: Mark = { start: position, end: Math.min(position + 1, editor.field.value.length), severity: 'error' }
  editor.mark([mark])
  const button = placeButton({ line, column, exact: true, show: () => editor.show(mark) })
  refuse(
    `Not readable at line ${line}, column ${column}.`,
    verdictBlock('invalid', 'not readable', message),
    el('p', { class: 'rule' }, button),
    el('p', { class: 'hint' }, 'Nothing was sent. It is checked as soon as it reads as strict JSON.'),
  )
}

function showSent(sent: Sent): void {
  switch (sent.kind) {
    case 'checking':
      text_checked = editor.field.value
      asking.textContent = 'Checking …'
      return
    case 'waiting':
      asking.textContent = `The documents of this minute are used up; the next is sent in ${sent.wait_s} s.`
      return
    case 'unreachable':
      busy(false)
      asking.textContent = 'The service could not be reached.'
      pane.replaceChildren(unreachableView('It may be stopped, or this device may be offline.'))
      return
    case 'answered':
      busy(false)
      showAnswer(parsed(sent.text), sent.ok)
  }
}

function showAnswer(answer: Members | null, ok: boolean): void {
  const report = answer === null || !ok ? null : readReport(answer)
  if (report !== null) return showReport(report)
  const problem = answer ?? {}
  asking.textContent = textOf(problem['title']) ?? 'The document was refused.'
  const paths = listOf(problem['errors']).flatMap(({ pointer }) => /^\/document(.*)$/s.exec(textOf(pointer) ?? '')?.[1] ?? [])
  const places = jsonPlaces(text_checked, paths)
  editor.mark([...places.values()].map(({ start, end }) => ({ start, end, severity: 'error' })))
  pane.replaceChildren(problemView(problem))
}

/** Errors before warnings, each in the order of the document. */
function inOrder(report: Report, places: ReadonlyMap<string, { start: number }>): Report {
  const at = ({ path }: Finding) => places.get(path)?.start ?? 0
  const rank = ({ severity }: Finding) => (severity === 'error' ? 0 : 1)
  return { ...report, findings: report.findings.toSorted((one, other) => rank(one) - rank(other) || at(one) - at(other)) }
}

function showReport(report: Report): void {
  const places = jsonPlaces(
    text_checked,
    report.findings.map(({ path }) => path),
  )
  const marks = new Map<Finding, Mark>()
  for (const finding of report.findings) {
    const place = places.get(finding.path)
    if (place !== undefined) marks.set(finding, { start: place.start, end: place.end, severity: finding.severity })
  }
  const standsOf = (finding: Finding): Stands | null => {
    const [mark, place] = [marks.get(finding), places.get(finding.path)]
    return mark === undefined || place === undefined
      ? null
      : { ...editor.lines.place(mark.start), exact: place.exact, show: () => editor.show(mark) }
  }
  editor.mark([...marks.values()])
  asking.textContent = `${report.status.replaceAll('_', ' ')}: ${countWords(report)}`
  pane.replaceChildren(reportView(inOrder(report, places), parts, standsOf))
  showScope(report)
}

/** What was checked and what was not; before an answer, what will be. */
function showScope(report: Report | null): void {
  const [common, part] = [parts.find(({ id }) => id === 'common'), parts.find(({ id }) => id === chosen())]
  byId('protocol-title', HTMLElement).textContent = part === undefined ? '' : `${part.title}, rules up to version ${part.versions[0] ?? ''}`
  const ahead = `Nothing yet. ${part?.rules ?? 0} rules of this protocol and ${common?.rules ?? 0} for every protocol are at hand; those for its type and version will be applied.`
  byId('checked', HTMLElement).replaceChildren(report === null ? el('p', {}, ahead) : checkedView(report.checked, parts))
  const not_checked = report?.not_checked ?? part?.not_checked ?? []
  byId('not-checked', HTMLElement).replaceChildren(...not_checked.map((words) => el('li', {}, words)))
  if (report !== null) byId('statement', HTMLElement).textContent = report.statement
}

function fill(kind: 'correct' | 'faulty'): void {
  const now_s = Math.floor((performance.timeOrigin + performance.now()) / 1_000)
  const sample = sampleText(chosen(), kind, now_s)
  payee.value = sample.expected_payee
  offerChoices()
  editor.set(sample.text)
  consider(true)
}

function indent(): void {
  if (!readStrictJson(editor.field.value, BOUNDS, { unsafe_numbers: 'keep_text' }).ok) return consider(true)
  editor.set(indentJson(editor.field.value))
  editor.field.focus()
}

async function openFile(given: File | undefined): Promise<void> {
  file.value = ''
  if (given === undefined) return
  if (given.size > body_bytes) {
    const words = `The file has ${given.size} bytes; ${body_bytes} are taken.`
    return refuse('Too large to be checked.', verdictBlock('invalid', 'too large', words))
  }
  editor.set(await given.text())
  editor.field.focus()
}

function takeDrops(target: HTMLElement): void {
  target.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files') !== true) return
    event.preventDefault()
    target.classList.add('over')
  })
  for (const end of ['dragleave', 'drop']) target.addEventListener(end, () => target.classList.remove('over'))
  target.addEventListener('drop', (event) => {
    const given = event.dataTransfer?.files[0]
    if (given === undefined) return
    event.preventDefault()
    void openFile(given)
  })
}

function parsed(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text)
    return isMembers(value) ? value : null
  } catch {
    return null
  }
}
