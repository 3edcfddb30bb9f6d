import type { HeadlineTone } from '../../pure/headline.ts'
import { durationText } from '../../pure/duration-text.ts'
import { usdcDecimal } from '../../pure/payments/usdc.ts'
import { html, Island } from './html.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import { MARKETS, type Market } from '../../service/payments/price-book.ts'
import { MARKET_NAMES, type Standing, BACKLOG_MAX } from '../../service/telemetry/history.ts'
import type { AppDeps } from '../deps.ts'
import type { StatusBody } from '../status.ts'
import { StatusCharts } from './components/status-charts.ts'
import { SmallVerdict, Verdict } from './components/verdict.ts'
import { layout, type Markup } from './layout.ts'

/** `/status` as a page: the current state, then charts that a script draws from `/status/history.json`. */
export function statusPage(deps: AppDeps, body: StatusBody, standing: Standing): string {
  const main = html`<div class="lead">
      <h1>Status</h1>
      ${verdict(standing)}
      <p>
        Version ${body.version}, up for ${durationText(body.uptime_s)}. The numbers are those of this one process, in its memory: a restart
        forgets them, and where several instances serve, each shows its own. They hold no caller, no address and no input.
      </p>
    </div>
    <section class="now" aria-labelledby="now-title">
      <h2 id="now-title">Now</h2>
      <div class="now-halves">${sources(deps, standing)} ${numbers(body, standing)}</div>
    </section>
    <${Island} id="charts" component=${StatusCharts} props=${{ bounds: priceBounds(), takes_payments: deps.takes_payments }} />
    <section class="machines" aria-labelledby="machines-title">
      <h2 id="machines-title">For monitors</h2>
      <dl class="links">
        ${MACHINES.map(
          ([path, words]) =>
            html`<div>
              <dt>
                <a href="${path}"><code>${path}</code></a>
              </dt>
              <dd>${words}</dd>
            </div> `,
        )}
      </dl>
    </section>`
  return layout({ title: 'Status · assay', mark: modeMark(deps), main, script: 'status', styles: ['styles/status.css'] })
}

const MACHINES = [
  ['/health', 'whether it can serve, and the prices now; 503 when the store does not answer'],
  ['/status', 'counts since the start, as JSON, for all who do not ask for HTML'],
  ['/status/history.json', 'what the charts show: ?span=hour or day, ?after= seconds since 1970'],
  ['/metrics', 'counters and a histogram of times for Prometheus'],
] as const

/** One line that says whether anything is wrong, and what. */
function verdict({ sources: { store, chain, prices }, overdue }: Standing): Markup {
  const faults = [
    ...(store === false ? ['the store does not answer'] : []),
    ...(chain === false ? ['the chain cannot be read'] : []),
    ...(prices === false ? ['market prices cannot be read'] : []),
    ...((overdue ?? 0) > 0 ? ['payments are open for too long'] : []),
  ]
  const [tone, word, sentence] = standingWords(store, faults)
  return html`<${Verdict} headline=${{ tone, word, sentence, code: '' }} />`
}

function standingWords(store: boolean | null, faults: readonly string[]): [tone: HeadlineTone, word: string, sentence: string] {
  if (faults.length === 0) return ['good', 'Operational', 'Every monitored dependency responds.']
  const words = `${capitalized(faults.join(', and '))}.`
  return store === false ? ['bad', 'Outage', words] : ['caution', 'Degraded', `${words} Tools that do not use it are unaffected.`]
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Dependencies of the tools, each with a shape and words. */
function sources(deps: AppDeps, { sources: { store, chain, prices }, head_age_s }: Standing): Markup {
  const { call } = deps
  const head = head_age_s === null ? '' : `; newest block ${durationText(head_age_s)} old`
  const rows: [string, boolean | null, string][] = [
    ['store', store, deps.store.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'],
    ['chain', chain, `eip155:${deps.chain_id}${deps.sandbox === null ? '' : ', on this machine'}${head}`],
    ['market prices', prices, call.sources.prices.source === 'fixed_sample' ? 'fixed samples' : 'public interfaces'],
    [
      'registrations',
      null,
      call.sources.registrations.source === 'fixed_sample' ? 'fixed samples' : 'each registry is asked when a tool needs it',
    ],
  ]
  return html`<ul class="bare source-list">
    ${rows.map(([name, up, words]) => {
      const [mark, word] =
        up === null ? (['done', 'not watched'] as const) : up ? (['valid', 'answers'] as const) : (['invalid', 'does not answer'] as const)
      return html`<li>
        <b>${name}</b>
        <${SmallVerdict} mark=${mark} word=${word} />
        <span class="hint">${words}</span>
      </li> `
    })}
  </ul>`
}

function numbers({ calls: { total, by_outcome }, latency_ms, in_flight }: StatusBody, { waiting, overdue, prices }: Standing): Markup {
  const rows: [string, string][] = [
    [
      'calls since the start',
      `${total}: ${by_outcome.answered} answered, ${by_outcome.payment_required} asked to pay, ${by_outcome.refused} refused, ${by_outcome.failed} failed`,
    ],
    ['running now', String(in_flight)],
    ['times since the start', latencyText(latency_ms, total)],
    [
      'settlements under way',
      waiting === null ? 'no payments are taken here' : `${atLeast(waiting)}, ${atLeast(overdue ?? 0)} of them overdue`,
    ],
    [
      'prices',
      prices === null
        ? 'not known while the store does not answer'
        : MARKET_NAMES.map((name) => `${name} ${usdcDecimal(prices[name])}`).join(', ') + ' USDC',
    ],
  ]
  return html`<dl class="numbers">
    ${rows.map(
      ([name, words]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${words}</dd>
        </div> `,
    )}
  </dl>`
}

function atLeast(count: number): string {
  return count >= BACKLOG_MAX ? `${BACKLOG_MAX} or more` : String(count)
}

function latencyText({ p50, p95, p99 }: StatusBody['latency_ms'], total: number): string {
  if (total === 0) return 'no call yet'
  const bound = (value: number | null) => (value === null ? 'more than 60 s' : `${value} ms`)
  return `half within ${bound(p50)}, 95 % within ${bound(p95)}, 99 % within ${bound(p99)}`
}

/** Floor and cap of each class, so that the script knows the scale. */
function priceBounds(): Record<Market, [floor: string, cap: string]> {
  const bounds = MARKET_NAMES.map((name) => [name, [MARKETS[name].floor_minor.toString(), MARKETS[name].cap_minor.toString()]])
  return Object.fromEntries(bounds) as Record<Market, [string, string]>
}
