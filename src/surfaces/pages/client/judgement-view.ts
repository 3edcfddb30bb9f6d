import { SIGNED_FIELDS, TAIL_FIELDS } from '../../../pure/receipts/receipt.ts'
import { el } from './dom.ts'
import { factsTable } from './facts.ts'
import type { Given } from './given.ts'
import type { Judgement } from './judge.ts'
import { amountText, row, seal, timeText } from './proof.ts'
import { isMembers, type Members } from './shapes.ts'
import { verdictBlock } from './verdict.ts'

/** The verdict on a receipt: word and reason, seal and keys, what was said and signed. */
export function judgementView(judgement: Judgement, given: Given): DocumentFragment {
  const { mark, word, reason, receipt } = judgement
  const view = document.createDocumentFragment()
  view.append(verdictBlock(mark, word, reason), sealBlock(judgement))
  // A single finding is the reason above.
  if (receipt.findings.length > 1) view.append(remarks('Why it is broken', receipt.findings))
  if (receipt.warnings.length > 0) view.append(remarks('To be known', receipt.warnings))
  const fields = isMembers(given.receipt)
    ? factsTable(saidBy(given.receipt), receipt.valid ? 'What the signer said' : 'What it claims')
    : null
  if (fields !== null) view.append(fields)
  if (receipt.canonical !== null) view.append(signedText(receipt.canonical))
  return view
}

export function unreadableView(): HTMLElement {
  return verdictBlock('invalid', 'not a receipt', 'This is no receipt, no answer and no badge link that can be read in one way only.')
}

function sealBlock({ mark, receipt, key, result_matches, link }: Judgement): HTMLElement {
  const rows = [
    row('digest', receipt.digest ?? 'none: no text could be formed'),
    row('declared signer', receipt.declared_signer ?? 'none'),
    row('recovered signer', receipt.signer_recovered ?? 'none'),
  ]
  if (receipt.signer_published !== 'not_checked') rows.push(row('published here', key === null ? 'no' : keyText(key)))
  if (result_matches !== null) rows.push(row('result beside it', result_matches ? 'is the one that was stamped' : 'is another one'))
  if (link !== null) rows.push(row('link to an earlier receipt', link.reason))
  return el(
    'section',
    { class: 'proof large', 'aria-label': 'Seal and keys' },
    seal(receipt.digest, { broken: mark === 'invalid' }),
    el('dl', {}, ...rows),
  )
}

function keyText({ status, mode, chain_id, not_before, not_after }: NonNullable<Judgement['key']>): string {
  const until = not_after === null ? '' : `, until ${timeText(not_after)}`
  return `yes: ${status} ${mode} key on chain ${chain_id}, from ${timeText(not_before)}${until}`
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
