import { el } from '../dom.ts'
import { verdictBlock } from '../verdict.ts'
import type { Remark, Summary } from './messages.ts'
import { remarksView } from './remarks-view.ts'
import { totalsView } from './totals-view.ts'
import { counted, NEED_WORDS, VERDICT_ORDER } from './words.ts'

/** The result in the order in which it is read: how many are settled, what needs a person, the sums, remarks on the files. */
export function summaryView(summary: Summary, files: readonly string[]): Node[] {
  const { counts, conserved, ambiguous, repeated_ids, remarks, remark_count, kinds } = summary
  const whole = counts.all > 0 && counts.SETTLED === counts.all
  const notes = [
    conserved
      ? 'Every entry is counted once: matched, of no payment and not counting add up to all, in each currency.'
      : 'The sums do not add up: this result is faulty.',
    ambiguous === 0
      ? null
      : `Groups of payments and entries that cannot be told apart: ${counted(ambiguous)}. Those payments are unpaid here.`,
    repeated_ids === 0 ? null : `Ids that more than one payment uses: ${counted(repeated_ids)}.`,
  ].filter((words) => words !== null)
  return [
    verdictBlock(whole ? 'valid' : 'unverifiable', headline(summary), sentence(summary)),
    el(
      'p',
      { class: 'scope-line' },
      `Read as ${kinds[0]} and ${kinds[1] === 'nacha' ? 'ACH file' : kinds[1]}. Not signed: worked out by this browser.`,
    ),
    totalsView(summary.totals),
    ...notes.map((words) => el('p', { class: 'hint' }, words)),
    ...remarksView(remarks, remark_count, files),
  ]
}

export function headline({ counts }: Summary): string {
  if (counts.all === 0) return 'no payments'
  return counts.SETTLED === counts.all ? 'all settled' : `${counted(counts.SETTLED)} of ${counted(counts.all)} settled`
}

function sentence({ counts }: Summary): string {
  const parts = VERDICT_ORDER.flatMap((verdict) =>
    verdict === 'SETTLED' || counts[verdict] === 0 ? [] : [`${counted(counts[verdict])} ${NEED_WORDS[verdict]}`],
  )
  const loose =
    counts.unmatched === 0
      ? 'Every entry that counts stands for a payment.'
      : `${counted(counts.unmatched)} ${counts.unmatched === 1 ? 'entry stands' : 'entries stand'} for no payment.`
  return `${parts.length === 0 ? '' : `${parts.join(', ')}. `}${loose}`
}

/** Nothing was judged: what is wrong, in which file, on which line. */
export function unreadableView(remarks: readonly Remark[], remark_count: number, files: readonly string[]): Node[] {
  return [
    verdictBlock('invalid', 'nothing was judged', 'A file cannot be read whole, and a part of the truth would look like all of it.'),
    ...remarksView(remarks, remark_count, files),
  ]
}
