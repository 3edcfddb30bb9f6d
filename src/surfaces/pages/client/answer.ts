import { markOf } from '../../../service/catalogue/headlines.ts'
import { el } from './dom.ts'
import { copiedList, factsTable, recordTables } from './facts.ts'
import { headlineOf } from './headlines.ts'
import { identifier } from './identifier.ts'
import { emptyProof } from './seal.ts'
import { findingsOf, isMembers, listOf, partsOf, textOf, type Members } from './shapes.ts'
import { startTabs } from './tabs.ts'
import { markShape, scopeLine, verdictBlock } from './verdict.ts'

/** The texts of the fields of a form, by name. */
export type Asked = ReadonlyMap<string, string>

/** Inputs as lines with their findings, and the members of the result that they show; null where nothing has a place. */
export type Documents = (result: Members, asked: Asked) => { views: HTMLElement[]; shown: readonly string[] } | null

export interface Answer {
  result: Members
  asked: Asked
  documents: Documents | null
  /** Null for the example, which nobody signed. */
  proof: HTMLElement | null
  /** The whole answer; null for the example. */
  text: string | null
}

/** What the parts above the facts table show already. */
const SHOWN = [
  'tool',
  'scope',
  'valid',
  'verdict',
  'reason',
  'reason_code',
  'normalized',
  'findings',
  'warnings',
  'facts',
  'results',
  'parts',
  'suggestion',
]

const FACTS_TITLE = 'What can be read off it'

/**
 * An answer in the order in which it is read: decision and sentence, scope, the identifier or document with its findings, proof, facts, lists.
 * A short one folds its facts and its text; a whole one has the text on a second tab.
 */
export function answerView(answer: Answer, short: boolean): Node {
  const { result, proof, text } = answer
  const { tone, word, sentence } = headlineOf(result)
  const documents = answer.documents?.(result, answer.asked) ?? null
  const facts = factsOf(result, documents?.shown ?? [], sentence)
  const parts = [
    text === null ? el('p', { class: 'example' }, 'Example') : null,
    verdictBlock(markOf(tone), word, sentence === '' ? null : sentence),
    scopeLine(result),
    hero(result),
    ...(documents?.views ?? []),
    documents === null ? remarks(result) : null,
    proof ?? emptyProof(),
    items(result),
    factsTable(facts, FACTS_TITLE, short),
    ...recordTables(facts),
  ].filter((part) => part !== null)
  const raw = text ?? JSON.stringify({ result }, null, 2)
  if (short) return fragment([...parts, text === null ? null : folded(raw)])
  return tabbed(parts, raw)
}

function fragment(parts: readonly (HTMLElement | null)[]): DocumentFragment {
  const view = document.createDocumentFragment()
  view.append(...parts.filter((part) => part !== null))
  return view
}

/** The answer for people beside the answer as it came. */
function tabbed(parts: readonly HTMLElement[], raw: string): DocumentFragment {
  const tab = (id: string, words: string, on: boolean) =>
    el(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${id}`,
        'aria-controls': `panel-${id}`,
        'aria-selected': String(on),
        tabindex: on ? '0' : '-1',
      },
      words,
    )
  const panel = (id: string, on: boolean, ...children: Node[]) =>
    el('div', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}`, hidden: !on }, ...children)
  const list = el('div', { role: 'tablist', 'aria-label': 'Form of the answer' }, tab('read', 'To read', true), tab('json', 'JSON', false))
  const panels = [panel('read', true, ...parts), panel('json', false, rawText(raw))]
  startTabs(list, (chosen) => {
    for (const one of panels) one.hidden = one.getAttribute('aria-labelledby') !== chosen.id
  })
  return fragment([list, ...panels])
}

function hero(result: Members): HTMLElement | null {
  const value = textOf(result['normalized'])
  if (value === null || value === '') return null
  return identifier(value, partsOf(result['facts']), findingsOf(result['findings']))
}

/** Findings where there is no identifier to hang them from, warnings, and the one repair that would pass. */
function remarks(result: Members): HTMLElement | null {
  const bare = textOf(result['normalized']) ? [] : findingsOf(result['findings'])
  const lines = [...bare, ...findingsOf(result['warnings'])].map(({ field, message }) =>
    el('li', {}, field === null ? message : `${field}: ${message}`),
  )
  const suggestion = textOf(result['suggestion'])
  if (suggestion !== null)
    lines.push(el('li', {}, 'One edit would pass: ', el('code', {}, suggestion), '. Never apply it to a payment unasked.'))
  return lines.length === 0 ? null : el('ul', { class: 'remarks' }, ...lines)
}

/** The sentence of the headline stands above, so its member is not shown again. */
function factsOf(result: Members, elsewhere: readonly string[], sentence: string): Members {
  const facts = isMembers(result['facts']) ? result['facts'] : {}
  const rest = Object.entries(result).filter(
    ([name]) =>
      !SHOWN.includes(name) && !elsewhere.includes(name) && !Object.hasOwn(facts, name) && (sentence === '' || result[name] !== sentence),
  )
  return Object.fromEntries([...Object.entries(facts).filter(([name]) => name !== 'parts'), ...rest])
}

/** The items of a batch, one line each. */
function items(result: Members): HTMLElement | null {
  const rows = listOf(result['results']).map((item) => {
    const answer = isMembers(item['result']) ? item['result'] : {}
    const error = isMembers(item['error']) ? textOf(item['error']['message']) : null
    const { tone, word, sentence } = headlineOf(answer)
    const mark = error === null ? markOf(tone) : 'done'
    const verdict = el('span', { class: `verdict small ${mark}` }, markShape(mark), error === null ? word : 'not checked')
    const before = [String(item['index']), textOf(item['tool']) ?? '']
    const behind = [textOf(answer['normalized']) ?? '', error ?? sentence]
    return { cells: [...before, verdict, ...behind], texts: [...before, verdict.textContent, ...behind] }
  })
  return rows.length === 0 ? null : copiedList('Each item', ['item', 'tool', 'verdict', 'value', 'reason'], rows)
}

function rawText(text: string): HTMLElement {
  const copy = el('button', { type: 'button', class: 'copy', 'data-copies': 'raw' }, 'Copy')
  return el(
    'figure',
    { class: 'sample' },
    el('figcaption', {}, 'The answer as it came', copy),
    el('pre', { id: 'raw', tabindex: '0' }, text),
  )
}

function folded(text: string): HTMLElement {
  return el('details', { class: 'raw' }, el('summary', {}, 'The whole answer as JSON'), rawText(text))
}
