import { html } from 'hono/html'
import { modeMark } from '../../service/catalogue/text.ts'
import { MARKETS, usdcText, type Market } from '../../service/payments/price.ts'
import { MARKET_NAMES, type Standing } from '../../service/telemetry/ring.ts'
import { BACKLOG_MAX } from '../../service/telemetry/standing.ts'
import type { AppDeps } from '../deps.ts'
import type { StatusBody } from '../status.ts'
import { layout, type Markup } from './layout.ts'

/** `/status` for people: how things stand now, then charts that a script draws from `/status/history.json`. */
export function statusPage(deps: AppDeps, body: StatusBody, standing: Standing): string {
  const main = html`<div class="lead">
      <h1>Status</h1>
      ${verdict(standing)}
      <p>
        Version ${body.version}, up for ${spanText(body.uptime_s)}. The numbers are those of this one process, in its memory: a restart
        forgets them, and where several instances serve, each shows its own. They hold no caller, no address and no input.
      </p>
    </div>
    <section class="now" aria-labelledby="now-title">
      <h2 id="now-title">Now</h2>
      <div class="now-halves">${sources(deps, standing)} ${numbers(body, standing)}</div>
    </section>
    ${charts(deps)}
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
  return layout({ title: 'Status · assay', mark: modeMark(deps), main, script: 'status', style: 'status' })
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
  if (faults.length === 0) return verdictMarkup('valid', 'in order', 'Everything that is watched answers.')
  const words = `${sentence(faults.join(', and '))}.`
  return store === false
    ? verdictMarkup('invalid', 'out of order', words)
    : verdictMarkup('unverifiable', 'partly out of order', `${words} Tools that do not need it serve as ever.`)
}

function verdictMarkup(mark: 'valid' | 'unverifiable' | 'invalid', word: string, reason: string): Markup {
  return html`<div class="verdict ${mark}">
    <svg class="shape" aria-hidden="true"><use href="#mark-${mark}"></use></svg>
    <p class="word">${word}</p>
    <p class="reason">${reason}</p>
  </div>`
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What the tools stand on, each with a shape and words. */
function sources(deps: AppDeps, { sources: { store, chain, prices }, head_age_s }: Standing): Markup {
  const { call } = deps
  const head = head_age_s === null ? '' : `; newest block ${spanText(head_age_s)} old`
  const rows: [string, boolean | null, string][] = [
    ['store', store, deps.store.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'],
    ['chain', chain, `eip155:${deps.chain_id}${deps.sandbox === null ? '' : ', of this machine'}${head}`],
    ['market prices', prices, call.sources.prices.source === 'fixed_sample' ? 'fixed samples, not the world' : 'public interfaces'],
    [
      'registrations',
      null,
      call.sources.registrations.source === 'fixed_sample' ? 'fixed samples, not the world' : 'each registry is asked when a tool needs it',
    ],
  ]
  return html`<ul class="stands">
    ${rows.map(([name, up, words]) => {
      const [mark, word] =
        up === null ? (['done', 'not watched'] as const) : up ? (['valid', 'answers'] as const) : (['invalid', 'does not answer'] as const)
      return html`<li>
        <b>${name}</b>
        <span class="verdict small ${mark}"
          ><svg class="shape" aria-hidden="true"><use href="#mark-${mark}"></use></svg>${word}</span
        >
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
        : MARKET_NAMES.map((name) => `${name} ${usdcText(prices[name])}`).join(', ') + ' USDC',
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

/** Seconds in the two largest units. */
function spanText(seconds: number): string {
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60]
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}

/** The places of the charts; their room is kept until they are drawn. */
function charts({ takes_payments }: AppDeps): Markup {
  return html`<section class="history" id="history" aria-labelledby="history-title" data-bounds="${JSON.stringify(priceBounds())}">
    <div class="history-head">
      <h2 id="history-title">Lately</h2>
      <fieldset class="spans">
        <legend class="heard">Span of the charts</legend>
        <label><input type="radio" name="span" value="hour" checked /> <span>1 hour</span></label>
        <label><input type="radio" name="span" value="day" /> <span>24 hours</span></label>
      </fieldset>
      <p class="live" id="live"><span id="live-words">not yet read</span></p>
      <p class="heard" id="live-heard" role="status"></p>
    </div>
    <noscript
      ><p>The charts are drawn by a script of this site. <a href="/status/history.json">The numbers behind them</a> are JSON.</p></noscript
    >
    ${chart('latency', 'Time to answer', 'Bounds under which half, 95 % and 99 % of the calls stayed. The scale is logarithmic.')}
    ${chart('calls', 'Calls a minute', 'Answered with a result, or with 202 while a payment settles; asked to pay with 402; refused for what was sent; failed by our fault or that of a source.')}
    ${chart('sources', 'What the tools stand on', 'A line while it answers, a hatched block while it does not. A block stands for its whole stretch of time.')}
    ${takes_payments ? chart('settlement', 'Settlements under way', 'Payments whose transfer was sent or cannot be told yet; overdue after ten minutes.') : ''}
    ${chart('prices', 'Price of a call', 'USDC, by class of tool, between its floor and its cap. It follows the sales of the class.')}
    ${chart('head', 'Age of the newest block', 'Seconds between the newest block that was seen and the clock of this machine.')}
  </section>`
}

function chart(id: string, title: string, words: string): Markup {
  return html`<figure class="chart ${id}" aria-labelledby="title-${id}">
    <figcaption>
      <h3 id="title-${id}">${title}</h3>
      <p class="hint">${words}</p>
    </figcaption>
    <div class="drawing" id="chart-${id}"></div>
    <details id="table-${id}">
      <summary>As a table</summary>
      <div class="rows"></div>
    </details>
  </figure>`
}

/** Floor and cap of each class, so that the script knows the scale. */
function priceBounds(): Record<Market, [floor: string, cap: string]> {
  const bounds = MARKET_NAMES.map((name) => [name, [MARKETS[name].floor_minor.toString(), MARKETS[name].cap_minor.toString()]])
  return Object.fromEntries(bounds) as Record<Market, [string, string]>
}
