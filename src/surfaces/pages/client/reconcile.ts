import { byId, copyOnClick, el } from './dom.ts'
import { entryColumns, paymentColumns, widthsOf } from './reconcile/columns.ts'
import { Grid } from './reconcile/grid.ts'
import { Host } from './reconcile/host.ts'
import type { Query, Side, SortKey, Summary, Told, View } from './reconcile/messages.ts'
import { sampleFiles } from './reconcile/samples.ts'
import { sideOf } from './reconcile/side.ts'
import { sign } from './reconcile/sign.ts'
import { headline, summaryView, unreadableView } from './reconcile/summary-view.ts'
import { colourOf, verdictShape } from './reconcile/verdict-mark.ts'
import { counted, sizeText, VERDICT_ORDER, VIEW_WORDS } from './reconcile/words.ts'
import { verdictBlock } from './verdict.ts'

/** The page that reconciles two files. They are read by a worker of this browser, and sent only when somebody asks for a signature. */

const form = byId('reconcile', HTMLFormElement)
const pane = byId('answer', HTMLElement)
const asking = byId('asking', HTMLElement)
const evidence = byId('evidence', HTMLInputElement)
const search = byId('row-search', HTMLInputElement)
const file_bytes = Number(form.dataset['fileBytes'])
const body_bytes = Number(form.dataset['bodyBytes'])
const SIDES = ['instructions', 'statement'] as const
const SIDE_WORDS: Readonly<Record<Side, string>> = { instructions: 'the payments', statement: 'what the bank says' }
const SEARCH_MS = 150

const files: Partial<Record<Side, File>> = {}
const host = new Host(form.dataset['worker'] ?? '', hear)
const grid = new Grid(byId('grid', HTMLElement), { rows: (from, to) => host.rows(from, to), sort: orderBy })
const query: Query = { view: 'all', text: '', sort: 'id', descending: false }
let summary: Summary | null = null
let searching: ReturnType<typeof setTimeout> | undefined

copyOnClick()
for (const side of SIDES) {
  const input = byId(`file-${side}`, HTMLInputElement)
  input.addEventListener('change', () => {
    const [file] = input.files ?? []
    input.value = ''
    if (file !== undefined) give(side, file)
  })
}
form.addEventListener('submit', (event) => {
  event.preventDefault()
  run()
})
evidence.addEventListener('change', () => summary !== null && run())
for (const kind of ['correct', 'faulty'] as const)
  byId(`sample-${kind}`, HTMLButtonElement).addEventListener('click', () => giveSample(kind))
byId('cancel', HTMLButtonElement).addEventListener('click', () => stop('Stopped. Nothing was judged.'))
for (const format of ['csv', 'json'] as const)
  byId(`export-${format}`, HTMLButtonElement).addEventListener('click', () => host.export(format))
search.addEventListener('input', () => {
  clearTimeout(searching)
  searching = setTimeout(() => ask({ text: search.value }), SEARCH_MS)
})
byId('views', HTMLElement).addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement) choose(target.value as View)
})
byId('sign-now', HTMLButtonElement).addEventListener('click', () => {
  const { instructions, statement } = files
  if (instructions === undefined || statement === undefined || summary === null) return
  void sign({ files: { instructions, statement }, summary, require_settlement_evidence: evidence.checked }, body_bytes)
})
document.addEventListener('dragover', (event) => {
  if (event.dataTransfer?.types.includes('Files') !== true) return
  event.preventDefault()
  form.classList.add('over')
})
for (const end of ['dragleave', 'drop']) document.addEventListener(end, () => form.classList.remove('over'))
document.addEventListener('drop', (event) => {
  const given = [...(event.dataTransfer?.files ?? [])]
  if (given.length === 0) return
  event.preventDefault()
  const onto = event.target instanceof Element ? event.target.closest('.slot')?.id.replace('slot-', '') : undefined
  void take(given, SIDES.find((side) => side === onto) ?? null)
})

/** One file goes where it was dropped; otherwise its first bytes say where it belongs. */
async function take(given: readonly File[], onto: Side | null): Promise<void> {
  const [only, other] = given
  if (only !== undefined && other === undefined && onto !== null) return give(onto, only)
  const sides = await Promise.all(given.slice(0, 2).map(sideOf))
  const lacking = given.find((_, index) => (sides[index] ?? null) === null)
  if (lacking !== undefined || (other !== undefined && sides[0] === sides[1])) {
    asking.classList.remove('heard')
    asking.textContent = 'It cannot be told which file is which; drop each one on its own place.'
    return
  }
  for (const [index, side] of sides.entries()) {
    const file = given[index]
    if (side !== null && file !== undefined) show(side, file)
  }
  run()
}

function give(side: Side, file: File): void {
  show(side, file)
  if (SIDES.every((one) => files[one] !== undefined)) run()
}

function show(side: Side, file: File): void {
  files[side] = file
  byId(`given-${side}`, HTMLElement).replaceChildren(el('b', {}, file.name), ` ${sizeText(file.size)}`)
}

function giveSample(kind: 'correct' | 'faulty'): void {
  const sample = sampleFiles(kind)
  for (const side of SIDES) show(side, new File([sample[side].text], sample[side].name, { type: 'application/xml' }))
  run()
}

function run(): void {
  clear()
  const { instructions, statement } = files
  const lacking = SIDES.filter((side) => files[side] === undefined)
  if (instructions === undefined || statement === undefined)
    return tell(`Still missing: ${lacking.map((side) => SIDE_WORDS[side]).join(' and ')}.`, true)
  const large = [instructions, statement].find(({ size }) => size > file_bytes)
  if (large !== undefined) {
    pane.replaceChildren(
      verdictBlock('invalid', 'too large', `${large.name} has ${sizeText(large.size)}; this page takes ${sizeText(file_bytes)} a file.`),
      el(
        'p',
        {},
        'The command line reads files of any size: ',
        el('code', {}, 'assay reconcile --instructions … --statement … --out report'),
      ),
    )
    return tell('A file is too large for this page.', false)
  }
  progress(true)
  pane.setAttribute('aria-busy', 'true')
  tell('Reading …', false)
  host.run({ instructions, statement }, evidence.checked)
}

/** Its room is kept, so that nothing moves when it comes and goes. */
function progress(running: boolean): void {
  byId('progress', HTMLElement).toggleAttribute('data-idle', !running)
  byId('passed', HTMLProgressElement).value = 0
  byId('speed', HTMLElement).textContent = running ? 'starting …' : ''
}

/** Seen where something is missing, otherwise only heard. */
function tell(words: string, seen: boolean): void {
  asking.classList.toggle('heard', !seen)
  asking.textContent = words
}

function clear(): void {
  host.stop()
  summary = null
  pane.removeAttribute('aria-busy')
  progress(false)
  for (const id of ['rows', 'sign']) byId(id, HTMLElement).hidden = true
  byId('signed', HTMLElement).replaceChildren()
  byId('signing', HTMLElement).textContent = ''
}

function stop(words: string): void {
  clear()
  tell(words, true)
}

function names(): string[] {
  return SIDES.map((side) => files[side]?.name ?? '')
}

function hear(told: Told): void {
  switch (told.kind) {
    case 'progress':
      byId('passed', HTMLProgressElement).value = told.total_bytes === 0 ? 1 : told.bytes / told.total_bytes
      byId('speed', HTMLElement).textContent = `${sizeText(told.bytes)} of ${sizeText(told.total_bytes)}, ${counted(told.records)} records`
      return
    case 'judging':
      byId('passed', HTMLProgressElement).removeAttribute('value')
      byId('speed', HTMLElement).textContent = 'matching …'
      return
    case 'done':
      return showResult(told.summary)
    case 'unreadable':
      clear()
      pane.replaceChildren(...unreadableView(told.remarks, told.remark_count, names()))
      return tell('Nothing was judged: a file cannot be read whole.', false)
    case 'failed':
      clear()
      pane.replaceChildren(
        verdictBlock(
          'invalid',
          'not finished',
          'A file went away while it was read, the engine could not be loaded, or this browser ran out of memory.',
        ),
      )
      return tell('Not finished.', false)
    case 'found':
      byId('found', HTMLElement).textContent = `${counted(told.total)} ${told.total === 1 ? 'row' : 'rows'}`
      return grid.reset(told.total)
    case 'rows':
      return grid.take(told.from, told.rows)
    case 'exported':
      return save(told.blob, `reconciliation.${told.format}`)
  }
}

function showResult(found: Summary): void {
  summary = found
  progress(false)
  pane.removeAttribute('aria-busy')
  pane.replaceChildren(...summaryView(found, names()))
  tell(headline(found), false)
  for (const id of ['rows', 'sign']) byId(id, HTMLElement).hidden = false
  showViews(found)
  grid.room(Math.max(found.counts.all, found.counts.unmatched, found.counts.ignored))
  search.value = ''
  Object.assign(query, { text: '', sort: 'id', descending: false })
  choose('all')
}

function showViews({ counts }: Summary): void {
  const views: readonly View[] = ['all', ...VERDICT_ORDER, 'unmatched', 'ignored']
  const choices = views.map((view) => {
    const verdict = VERDICT_ORDER.find((one) => one === view)
    const input = el('input', {
      type: 'radio',
      name: 'view',
      value: view,
      checked: view === 'all',
      disabled: counts[view] === 0 && view !== 'all',
    })
    const shape = verdict === undefined ? null : el('span', { class: colourOf(verdict) }, verdictShape(verdict))
    return el('label', {}, input, el('span', {}, shape, VIEW_WORDS[view], el('b', {}, counted(counts[view]))))
  })
  const frame = byId('views', HTMLElement)
  frame.replaceChildren(...[frame.querySelector('legend')].filter((legend) => legend !== null), ...choices)
}

function choose(view: View): void {
  const entries = view === 'unmatched' || view === 'ignored'
  const was = query.view === 'unmatched' || query.view === 'ignored'
  byId('rows-title', HTMLElement).textContent = VIEW_WORDS[view]
  ask({ view, ...(entries === was ? {} : { sort: entries ? 'place' : 'id', descending: false }) })
}

function orderBy(sort: SortKey): void {
  ask({ sort, descending: query.sort === sort && !query.descending })
}

function ask(changed: Partial<Query>): void {
  Object.assign(query, changed)
  const widths = widthsOf(summary?.totals ?? [])
  const entries = query.view === 'unmatched' || query.view === 'ignored'
  grid.head(entries ? entryColumns(widths) : paymentColumns(widths), query.sort, query.descending)
  host.query(query)
}

function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob)
  const link = el('a', { href: address, download: name, hidden: true })
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
  tell(`${name} is saved by your browser.`, false)
}
