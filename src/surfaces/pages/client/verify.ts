import { decodeUtf8 } from '../../../pure/documents/strict-json.ts'
import { readKeyList, type PublishedKey } from '../../../pure/receipts/keys.ts'
import { bringIntoView, byId, copyOnClick, el } from './dom.ts'
import { readEntries, type Entry } from './given.ts'
import { unreadableView } from './judgement-view.ts'
import { verdictBlock } from './verdict.ts'
import { chainTable, chainView } from './verify/chain-view.ts'
import { graphOf } from './verify/graph.ts'
import { judgeEntry, overall, type Judged } from './verify/judged.ts'

/** The page that judges receipts. What it judges never leaves the browser; once it is loaded it needs no network. */

/** What one page judges at once; the command line takes files of any length. */
const BYTES_MAX = 8 * 1_048_576
const ENTRIES_MAX = 500
/** Documents between two moments in which the page may draw. */
const AT_ONCE = 20

const form = byId('verify', HTMLFormElement)
const field = byId('given', HTMLTextAreaElement)
const files = byId('files', HTMLInputElement)
const drop = byId('drop', HTMLElement)
const pane = byId('answer', HTMLElement)
const chain = byId('chain', HTMLElement)
const paper = byId('chain-place', HTMLElement)
const table = byId('chain-table', HTMLElement)
const one_pane = byId('one', HTMLElement)
const asking = byId('asking', HTMLElement)
const key_words = byId('key-list', HTMLElement)
const keys = publishedKeys()
let round = 0

copyOnClick()
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void verify(readEntries(field.value, ''))
})
files.addEventListener('change', () => void verifyFiles([...(files.files ?? [])]))
for (const name of ['dragenter', 'dragover'] as const)
  drop.addEventListener(name, (event) => {
    event.preventDefault()
    drop.classList.add('over')
  })
for (const name of ['dragleave', 'drop'] as const) drop.addEventListener(name, () => drop.classList.remove('over'))
drop.addEventListener('drop', (event) => {
  const dropped = [...(event.dataTransfer?.files ?? [])]
  if (dropped.length === 0) return
  event.preventDefault()
  void verifyFiles(dropped)
})
window.addEventListener('hashchange', verifyLinked)
verifyLinked()

function verifyLinked(): void {
  if (!location.hash.startsWith('#r=')) return
  const entries = readEntries(location.hash, '')
  const [first] = entries
  if (first?.kind === 'receipt') field.value = JSON.stringify(first.given.receipt, null, 2)
  void verify(entries)
}

/** Files in the order in which they were given; all of them together within the bound. */
async function verifyFiles(given: readonly File[]): Promise<void> {
  const bytes = given.reduce((sum, { size }) => sum + size, 0)
  if (bytes > BYTES_MAX) {
    const words = `Together the files are larger than ${BYTES_MAX / 1_048_576} MB. In a shell, assay verify takes files of any length.`
    return say(words, unreadableView(words))
  }
  const read = await Promise.all(
    given.map(async (file) => ({ name: file.name, text: decodeUtf8(new Uint8Array(await file.arrayBuffer())) })),
  )
  field.value = ''
  files.value = ''
  await verify(
    read.flatMap(({ name, text }): Entry[] =>
      text === null ? [{ kind: 'unreadable', place: name, reason: 'The file is not UTF-8.' }] : readEntries(text, name),
    ),
  )
}

async function verify(entries: readonly Entry[]): Promise<void> {
  const mine = ++round
  if (entries.length > ENTRIES_MAX) {
    const words = `These are ${entries.length} documents; this page judges ${ENTRIES_MAX} at once. In a shell, assay verify takes any number.`
    return say(words, unreadableView(words))
  }
  if (entries.length === 0) return say('No document.', unreadableView('This is an empty list.'))
  const known = await keys
  const judged: Judged[] = []
  for (const entry of entries) {
    judged.push(judgeEntry(entry, known))
    if (judged.length % AT_ONCE === 0 && judged.length < entries.length) {
      asking.textContent = `${judged.length} of ${entries.length} judged`
      await nextFrame()
      if (mine !== round) return
    }
  }
  const [first] = judged
  if (mine === round && first !== undefined) show(judged, first)
}

function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}

function show(judged: readonly Judged[], first: Judged): void {
  chain.hidden = judged.length === 1
  if (judged.length === 1) {
    for (const place of [paper, one_pane, table]) place.replaceChildren()
    return say(`${first.word}. ${first.reason}`, first.view())
  }
  const graph = graphOf(judged)
  const choose = (entry: number) => {
    select(judged, entry)
    const { word = '', reason = '' } = judged[entry] ?? {}
    asking.textContent = `${word}. ${reason}`
    bringIntoView(one_pane)
  }
  paper.replaceChildren(chainView(graph, judged, choose))
  const list = chainTable(graph, judged)
  list.tabIndex = 0
  list.setAttribute('role', 'group')
  list.setAttribute('aria-label', 'Every document')
  table.replaceChildren(list)
  const all = overall(judged)
  const missing = graph.rows.filter(({ entry }) => entry === null).length
  const absent = missing === 0 ? '' : ` ${missing === 1 ? 'One earlier receipt is' : `${missing} earlier receipts are`} named and not here.`
  const reason = `${all.reason}${linksText(graph.edges)}${absent}`
  say(`${all.word}. ${reason}`, verdictBlock(all.mark, all.word, reason), el('p', {}, 'Each of them stands below, with its own verdict.'))
  select(judged, Math.max(0, worst(judged)))
}

function linksText(edges: readonly { state: 'good' | 'broken' }[]): string {
  if (edges.length === 0) return ' None of them names an earlier one.'
  const broken = edges.filter(({ state }) => state === 'broken').length
  return broken === 0
    ? ` ${edges.length === 1 ? 'The link holds' : `All ${edges.length} links hold`}.`
    : ` ${broken} of ${edges.length} links do not hold.`
}

/** Shows one of several; the row that it belongs to is marked. */
function select(judged: readonly Judged[], entry: number): void {
  const one = judged[entry]
  if (one === undefined) return
  for (const button of paper.querySelectorAll('button.row')) button.setAttribute('aria-pressed', String(button.id === `row-${entry}`))
  const number = `number ${entry + 1}`
  const place = ['', number].includes(one.entry.place) ? '' : `: ${one.entry.place}`
  one_pane.replaceChildren(el('p', { class: 'example' }, `${number}${place}`), one.view())
}

/** The first that is broken, else the first that is not verified; -1 when all are. */
function worst(judged: readonly Judged[]): number {
  const broken = judged.findIndex(({ mark }) => mark === 'invalid')
  return broken === -1 ? judged.findIndex(({ mark }) => mark !== 'valid') : broken
}

/** `words` are read out to those who do not see. */
function say(words: string, ...views: Node[]): void {
  asking.textContent = words
  pane.replaceChildren(...views)
  bringIntoView(pane)
}

/** The key list of this service, read once when the page opens; null when it cannot be read. */
async function publishedKeys(): Promise<PublishedKey[] | null> {
  try {
    const response = await fetch('/.well-known/xdr-1.json')
    const list = readKeyList(await response.json())
    key_words.textContent =
      list === null
        ? 'The key list of this service is not readable; signers stay unknown.'
        : `${list.length === 1 ? 'One published key' : `${list.length} published keys`} of this service read. From here on the page works without a network.`
    return list
  } catch {
    key_words.textContent = 'The key list of this service could not be read; signatures are checked all the same, but signers stay unknown.'
    return null
  }
}
