import { modeMark } from '../../service/catalogue/text.ts'
import { PROBLEMS, type ProblemCode, LOG_PROBLEMS } from '../../service/problems.ts'
import {
  CREDIT_PROBLEMS,
  INVOICE_PROBLEMS,
  PAYMENT_PROBLEMS,
  SETTLEMENT_PROBLEMS,
  CHANNEL_PROBLEMS,
  WEBHOOK_PROBLEMS,
} from '../../service/payment-problems.ts'
import type { AppDeps } from '../deps.ts'
import { html } from '../pages/html.ts'
import { layout } from '../pages/layout.ts'

export { HTML_TYPE, PAGE_HEADERS } from '../pages/layout.ts'

/** `/problems`: every error code, by HTTP status. */
export function problemsPage(deps: AppDeps, codes: readonly ProblemCode[]): string {
  const statuses = Map.groupBy(codes, (code) => PROBLEMS[code].status)
  const main = html`<div class="lead">
      <h1>Problems</h1>
      <p>
        Every error is an RFC 9457 document with one of these stable codes. See
        <a href="/docs/errors">how to handle errors</a>.
      </p>
    </div>
    ${[...statuses]
      .toSorted(([a], [b]) => a - b)
      .map(
        ([status, list]) => html`<section aria-labelledby="status-${status}">
          <h2 id="status-${status}">HTTP ${status}</h2>
          <dl class="links">
            ${list.map(
              (code) => html`<div>
                <dt><a href="/problems/${code}"><code>${code}</code></a></dt>
                <dd>${PROBLEMS[code].title}</dd>
              </div>`,
            )}
          </dl>
        </section>`,
      )}`
  return layout({ title: 'Problems · assay', mark: modeMark(deps), main })
}

const CAUSES = { caller: 'The request', service: 'This service', source: 'A data source that the tool reads' } as const

/** Guides that say what to do, with the problems that they are about. */
const GUIDES = [
  {
    about: { ...PAYMENT_PROBLEMS, ...SETTLEMENT_PROBLEMS, ...CHANNEL_PROBLEMS, ...CREDIT_PROBLEMS },
    path: '/docs/payment',
    title: 'How to pay for a call',
  },
  { about: INVOICE_PROBLEMS, path: '/docs/invoices', title: 'How invoices work' },
  { about: WEBHOOK_PROBLEMS, path: '/docs/webhooks', title: 'How webhooks work' },
  { about: LOG_PROBLEMS, path: '/docs/receipts', title: 'How receipts work' },
  { about: {}, path: '/docs/errors', title: 'How to handle errors' },
] as const

/** `/problems/{code}`: what it means, whose fault it is, what to do. */
export function problemPage(deps: AppDeps, code: ProblemCode): string {
  const { status, title, description, retryable, phase, fault } = PROBLEMS[code]
  const guide = GUIDES.find(({ about }) => Object.hasOwn(about, code)) ?? GUIDES[4]
  const main = html`<div class="lead">
      <p class="crumb"><a href="/problems">Problems</a> · HTTP ${status}</p>
      <h1>${title}</h1>
      <p>${description}</p>
      <p><a href=${guide.path}>${guide.title}</a></p>
    </div>
    <dl class="terms">
      <div><dt>Code</dt><dd><code>${code}</code></dd></div>
      <div><dt>Cause</dt><dd>${CAUSES[fault]}</dd></div>
      <div><dt>Phase</dt><dd>${phase}</dd></div>
      <div><dt>Retry</dt><dd>${retryable ? 'The same request may succeed later' : 'No: the same request will fail again'}</dd></div>
    </dl>`
  return layout({ title: `${code}: ${title}`, mark: modeMark(deps), main })
}
