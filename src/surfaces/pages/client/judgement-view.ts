import { SIGNED_FIELDS, TAIL_FIELDS } from '../../../pure/receipts/receipt.ts'
import { markOf } from '../../../service/catalogue/headlines.ts'
import { el } from './dom.ts'
import { factsTable } from './facts.ts'
import type { Given } from './given.ts'
import { headlineOf } from './headlines.ts'
import type { Judgement } from './judge.ts'
import { amountText, row, seal, timeText } from './proof.ts'
import { isMembers, type Members } from './shapes.ts'
import { markShape, verdictBlock } from './verdict.ts'
import { checksOf, type Check } from './verify/checks.ts'

/** The verdict on a receipt: word and reason, seal, each question with its answer, what was said and signed. */
export function judgementView(judgement: Judgement, given: Given): DocumentFragment {
  const { mark, word, reason, receipt } = judgement
  const checks = checksOf(judgement, given)
  const view = document.createDocumentFragment()
  view.append(verdictBlock(mark, word, reason), ...decision(judgement, given), proofSection(judgement, checks))
  if (receipt.warnings.length > 0) view.append(remarks('To be known', receipt.warnings))
  const fields = isMembers(given.receipt)
    ? factsTable(saidBy(given.receipt), receipt.valid ? 'What the signer said' : 'What it claims')
    : null
  if (fields !== null) view.append(pointedOut(fields, checks))
  if (receipt.canonical !== null) view.append(signedText(receipt.canonical))
  return view
}

/** The decision of the result that the receipt covers; nothing for a receipt alone or beside another result. */
function decision({ receipt, result_matches }: Judgement, { result }: Given): HTMLElement[] {
  if (!receipt.valid || result_matches !== true || !isMembers(result)) return []
  const { tone, word, sentence } = headlineOf(result)
  const mark = markOf(tone)
  return [
    el(
      'p',
      { class: 'decided' },
      'The tool’s decision: ',
      el('span', { class: `verdict small ${mark}` }, markShape(mark), word),
      sentence === '' ? null : ` ${sentence}`,
    ),
  ]
}

export function unreadableView(reason: string): HTMLElement {
  return verdictBlock('invalid', 'not a receipt', reason)
}

/** Each question with a shape and words; the fields that a bad answer is about are named. */
function checkList(checks: readonly Check[]): HTMLElement {
  return el(
    'ul',
    { class: 'checks', 'aria-label': 'What was checked' },
    ...checks.map(({ name, mark, words }) =>
      el(
        'li',
        { class: mark },
        markShape(mark),
        el('b', {}, name),
        el('span', { class: 'heard' }, `${ANSWERS[mark]}. `),
        el('span', { class: 'words' }, words),
      ),
    ),
  )
}

const ANSWERS = { valid: 'holds', unverifiable: 'in part', invalid: 'does not hold', done: 'not checked' } as const

function proofSection({ mark, receipt, key }: Judgement, checks: readonly Check[]): HTMLElement {
  const rows = [
    row('digest', receipt.digest ?? 'none: no text could be formed'),
    row('declared signer', receipt.declared_signer ?? 'none'),
    row('recovered signer', receipt.signer_recovered ?? 'none'),
  ]
  if (receipt.signer_published !== 'not_checked') rows.push(row('published here', key === null ? 'no' : 'yes'))
  return el(
    'section',
    { class: 'proof large', 'aria-label': 'Seal and keys' },
    checkList(checks),
    seal(receipt.digest, { broken: mark === 'invalid' }),
    el('dl', {}, ...rows),
  )
}

function remarks(title: string, findings: Judgement['receipt']['findings']): HTMLElement {
  const lines = findings.map(({ field, message }) =>
    el('li', {}, field === null ? message : el('span', {}, el('code', {}, field), ` ${message}`)),
  )
  return el('section', {}, el('h2', {}, title), el('ul', { class: 'remarks' }, ...lines))
}

/** The fields of the receipt, time and amount in the form that people read. */
function saidBy(receipt: Members): Members {
  const { ts, amount } = receipt
  const fields = [...SIGNED_FIELDS, ...TAIL_FIELDS]
    .filter((name) => Object.hasOwn(receipt, name))
    .map((name) => [name, receipt[name]] as const)
  const shown = new Map<string, unknown>(fields)
  if (typeof ts === 'number') shown.set('ts', `${ts}: ${timeText(ts)}`)
  if (typeof amount === 'string') shown.set('amount', amount === '0' ? '0' : `${amount}: ${amountText(amount)}`)
  return Object.fromEntries(shown)
}

/** Rows of fields that a bad answer is about say so. */
function pointedOut(table: HTMLElement, checks: readonly Check[]): HTMLElement {
  const bad = checks.filter(({ mark }) => mark === 'invalid').flatMap(({ fields }) => fields)
  for (const head of table.querySelectorAll('tbody > tr > th')) {
    if (!bad.includes(head.textContent.replaceAll(' ', '_'))) continue
    head.parentElement?.classList.add('at-fault')
    head.append(el('span', { class: 'fault-word' }, 'here'))
  }
  return table
}

/** The text whose hash is signed, its bars set apart. */
function signedText(canonical: string): HTMLElement {
  const pieces = canonical.split('|').flatMap((piece, index) => (index === 0 ? [piece] : [el('b', {}, '|'), piece]))
  const copy = el('button', { type: 'button', class: 'copy', 'data-copies': 'canonical' }, 'Copy')
  return el(
    'figure',
    { class: 'sample' },
    el('figcaption', {}, 'The text that is signed', copy),
    el('pre', { id: 'canonical', class: 'wrapped', tabindex: '0' }, ...pieces),
  )
}
