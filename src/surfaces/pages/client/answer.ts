import type { Receipt } from '../../../pure/receipts/receipt.ts'
import { VERDICT_TEXT, verdictWord } from '../../../service/calls/proof.ts'
import { el } from './dom.ts'
import { factsTable, listTable } from './facts.ts'
import { identifier } from './identifier.ts'
import { emptyProof, proofBlock } from './proof.ts'
import { findingsOf, isMembers, listOf, partsOf, textOf, type Members } from './shapes.ts'
import { markShape, scopeLine, verdictBlock } from './verdict.ts'

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
]

const FACTS_TITLE = 'What can be read off it'

/** An answer in the order in which it is read: verdict and reason, scope, the identifier with its findings, proof, facts, the raw text. */
export function answerView(result: Members, whole: { receipt: Receipt; text: string } | null, folded: boolean): DocumentFragment {
  const mark = verdictWord(result)
  const view = document.createDocumentFragment()
  const add = (part: HTMLElement | null) => part && view.append(part)
  if (whole === null) add(el('p', { class: 'example' }, 'Example'))
  add(verdictBlock(mark, VERDICT_TEXT[mark], textOf(result['reason'])))
  add(scopeLine(result))
  add(hero(result))
  add(remarks(result))
  add(whole === null ? emptyProof() : proofBlock(whole.receipt))
  add(items(result))
  add(factsTable(factsOf(result), FACTS_TITLE, folded))
  if (whole !== null) add(rawText(whole.text))
  return view
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

function factsOf(result: Members): Members {
  const facts = isMembers(result['facts']) ? result['facts'] : {}
  const rest = Object.entries(result).filter(([name]) => !SHOWN.includes(name) && !Object.hasOwn(facts, name) && name !== 'suggestion')
  return Object.fromEntries([...Object.entries(facts).filter(([name]) => name !== 'parts'), ...rest])
}

/** The items of a batch, one line each. */
function items(result: Members): HTMLElement | null {
  const rows = listOf(result['results']).map((item) => {
    const answer = isMembers(item['result']) ? item['result'] : {}
    const error = isMembers(item['error']) ? textOf(item['error']['message']) : null
    const mark = verdictWord(answer)
    const verdict = el('span', { class: `verdict small ${mark}` }, markShape(mark), error === null ? VERDICT_TEXT[mark] : 'not checked')
    return [
      String(item['index']),
      textOf(item['tool']) ?? '',
      verdict,
      textOf(answer['normalized']) ?? '',
      error ?? textOf(answer['reason']) ?? '',
    ]
  })
  return rows.length === 0 ? null : listTable('Each item', ['', 'tool', 'verdict', 'value', 'reason'], rows)
}

function rawText(text: string): HTMLElement {
  const copy = el('button', { type: 'button', class: 'copy', 'data-copies': 'raw' }, 'Copy')
  return el(
    'details',
    { class: 'raw' },
    el('summary', {}, 'The whole answer as JSON'),
    el('figure', { class: 'sample' }, el('figcaption', {}, copy), el('pre', { id: 'raw', tabindex: '0' }, text)),
  )
}
