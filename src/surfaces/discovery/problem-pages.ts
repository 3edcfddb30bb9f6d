import { modeMark } from '../../service/catalogue/text.ts'
import { PROBLEMS, type ProblemCode } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { escapeHtml, htmlPage, linkList } from './html.ts'

/** `/problems` for people. */
export function problemsPage(deps: AppDeps, codes: readonly ProblemCode[]): string {
  const rows = codes.map((code) => ({ href: `/problems/${code}`, name: code, words: `${PROBLEMS[code].status}: ${PROBLEMS[code].title}` }))
  return htmlPage('Problems', modeMark(deps), `<h1>Problems</h1>\n${linkList(rows)}`)
}

const FAULTS = { caller: 'the request', service: 'this service', source: 'a source that the tool reads' } as const

/** `/problems/{code}` for people. */
export function problemPage(deps: AppDeps, code: ProblemCode): string {
  const { status, title, description, retryable, phase, fault } = PROBLEMS[code]
  const main = [
    `<h1>${escapeHtml(title)}</h1>`,
    `<p><code>${code}</code>, status ${status}</p>`,
    `<p>${escapeHtml(description)}</p>`,
    '<dl>',
    `<dt>Where the fault lies</dt>\n<dd>${FAULTS[fault]}, in the phase ${phase}</dd>`,
    `<dt>Try again?</dt>\n<dd>${retryable ? 'The same request may succeed later.' : 'The same request will fail again.'}</dd>`,
    '</dl>',
    '<p><a href="/problems">All problems</a></p>',
  ]
  return htmlPage(`${code}: ${title}`, modeMark(deps), main.join('\n'))
}
