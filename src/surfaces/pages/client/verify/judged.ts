import type { PublishedKey } from '../../../../pure/receipts/keys.ts'
import { readReceiptHash } from '../../../../pure/receipts/chain.ts'
import type { BadgeVerdict } from '../../../../pure/headline.ts'
import type { Entry } from '../given.ts'
import { judge, type Judgement } from '../judge.ts'
import { judgementView, unreadableView } from '../judgement-view.ts'
import { timeText } from '../proof.ts'
import { isMembers, textOf } from '../shapes.ts'
import type { Linked } from './graph.ts'
import { judgePolicy, policyName, policyView } from './policy.ts'

/** One entry after it was judged, in the few words that a row has room for. */
export interface Judged extends Linked {
  entry: Entry
  mark: BadgeVerdict
  word: string
  reason: string
  /** What it is of: a tool, a certificate, or where it stood. */
  title: string
  /** Its own date, or nothing. */
  time: string
  signer: string | null
  /** The whole verdict. */
  view(): Node
}

/** Judges one entry. Never throws, whatever stands in it. */
export function judgeEntry(entry: Entry, keys: readonly PublishedKey[] | null): Judged {
  switch (entry.kind) {
    case 'receipt':
      return receiptJudged(entry, judge(entry.given, keys))
    case 'policy': {
      const judgement = judgePolicy(entry.policy, keys)
      const { mark, word, reason, policy } = judgement
      const view = () => policyView(judgement, entry.policy)
      return {
        entry,
        mark,
        word,
        reason,
        title: policyName(entry.policy),
        time: '',
        signer: policy.registrar,
        digest: policy.digest,
        follows: null,
        link_valid: null,
        view,
      }
    }
    case 'unreadable': {
      const { place, reason } = entry
      const where = place === '' ? reason : `${place}: ${reason}`
      const view = () => unreadableView(where)
      return {
        entry,
        mark: 'invalid',
        word: 'not a receipt',
        reason: where,
        title: place,
        time: '',
        signer: null,
        digest: null,
        follows: null,
        link_valid: null,
        view,
      }
    }
  }
}

function receiptJudged(entry: Extract<Entry, { kind: 'receipt' }>, judgement: Judgement): Judged {
  const { given } = entry
  const { mark, word, reason, receipt, link } = judgement
  const fields = isMembers(given.receipt) ? given.receipt : {}
  const { ts } = fields
  return {
    entry,
    mark,
    word,
    reason,
    title: (textOf(fields['tool']) ?? 'no tool').slice(0, 64),
    time: typeof ts === 'number' ? timeText(ts) : '',
    signer: receipt.signer_recovered,
    digest: receipt.digest,
    follows: isMembers(given.chain) ? readReceiptHash(textOf(given.chain['prev_receipt_hash']) ?? '') : null,
    link_valid: link === null ? null : link.valid,
    view: () => judgementView(judgement, given),
  }
}

/** All together: as good as the weakest of them. */
export function overall(judged: readonly Judged[]): { mark: BadgeVerdict; word: string; reason: string } {
  const count = (mark: BadgeVerdict) => judged.filter((one) => one.mark === mark).length
  const [good, open, bad] = [count('valid'), count('unverifiable'), count('invalid')]
  const parts = [
    `${good} verified`,
    ...(open > 0 ? [`${open} signed, but not by a key of this service`] : []),
    ...(bad > 0 ? [`${bad} broken`] : []),
  ]
  const reason = `${judged.length} documents: ${parts.join(', ')}.`
  if (bad > 0) return { mark: 'invalid', word: `${bad} of ${judged.length} broken`, reason }
  if (open > 0) return { mark: 'unverifiable', word: 'not all verified', reason }
  return { mark: 'valid', word: 'all verified', reason }
}
