import { html } from '../html.ts'
import { PROBLEMS, type ProblemCode } from '../../../service/problems.ts'
import type { ProblemKind } from '../../../service/payment-problems.ts'
import type { Markup } from '../layout.ts'
import { callUrl } from '../../../service/catalogue/text.ts'
import { code, curl, inline, items, paragraphs, sample, shownTool, table, type Chapter, type Topic } from './parts.ts'

export const ERRORS: Topic = {
  id: 'errors',
  title: 'Errors',
  words: 'Every problem has one code, one status, and says whether trying again can help.',
  chapters(deps) {
    const body = sample(
      'refused',
      'shell',
      'An input that is refused, and not counted',
      curl(callUrl(deps, shownTool(deps)), { body: { input: {} } }),
    )
    return [
      {
        id: 'form',
        title: 'What an error looks like',
        body: html`${paragraphs(
          html`Errors are RFC 9457 problems (${code('application/problem+json')}). Distinguish them by ${code('code')}, which does not
          change; words may. A wrong identifier is not an error: the answer is 200 and says ${code('valid: false')}. An unknown address
          returns 404: an HTML page if ${code('Accept')} prefers HTML, else the problem ${code('NOT_FOUND')}.`,
        )}
        ${body}
        ${table(
          'Members of a problem',
          ['member', 'what it is'],
          [
            [code('code'), 'the stable name'],
            [code('detail'), 'what happened here'],
            [code('errors'), 'faults inside the request, each with a JSON pointer, and line and column where text is at fault'],
            [code('retryable'), 'the same request may succeed later'],
            [code('charged'), html`${code('false')}, ${code('true')}, or ${code('"unknown"')} while a payment is on its way`],
            [code('phase'), 'challenge, signature, settlement, tool or network: how far it came'],
            [code('request_id'), 'names the request in the log of this service'],
          ],
        )}`,
      },
      { id: 'again', title: 'Trying again', body: retryRules() },
      ...STATUS_GROUPS.map(groupChapter),
    ]
  },
}

function retryRules(): Markup {
  return items(
    html`Where ${code('retryable')} is false the same request fails again: mend it first.`,
    html`Where ${code('Retry-After')} is sent, wait so many seconds. Without it, wait a second and double the wait each time, with some
    chance in it.`,
    html`After a lost connection, a 5xx or a 202 to a paid request, send the <b>same payment</b> again with the same request. It brings the
      same answer and never pays twice. Never sign a second payment for a call whose end is not known.`,
    html`Free calls are not counted when input is refused or when this service fails. ${code('charged')} says it of payments.`,
  )
}

const STATUS_GROUPS: readonly { id: string; title: string; has(kind: ProblemKind): boolean }[] = [
  {
    id: 'requests',
    title: 'Requests that are refused',
    has: ({ fault, status }) => fault === 'caller' && status !== 402 && status !== 409,
  },
  {
    id: 'payments',
    title: 'Payments that are asked for or refused',
    has: ({ fault, status }) => fault === 'caller' && (status === 402 || status === 409),
  },
  { id: 'service', title: 'Faults of this service and its sources', has: ({ fault }) => fault !== 'caller' },
]

const FAULTS = { caller: 'the request', service: 'this service', source: 'a source' } as const

/** Table of one status group. It has a column for the origin of the fault only if the problems of the group differ in it. */
function groupChapter({ id, title, has }: (typeof STATUS_GROUPS)[number]): Chapter {
  const found = (Object.keys(PROBLEMS) as ProblemCode[]).map((name) => ({ name, kind: PROBLEMS[name] })).filter(({ kind }) => has(kind))
  const mixed = new Set(found.map(({ kind }) => kind.fault)).size > 1
  const rows = found.map(({ name, kind: { status, retryable, description, fault } }) => [
    html`<a href="/problems/${name}"><code>${name}</code></a>`,
    String(status),
    retryable ? 'yes' : 'no',
    ...(mixed ? [FAULTS[fault]] : []),
    inline(description),
  ])
  const columns = ['code', 'status', 'retryable', ...(mixed ? ['fault of'] : []), 'meaning']
  return { id, title, body: table(`${rows.length} codes`, columns, rows) }
}
