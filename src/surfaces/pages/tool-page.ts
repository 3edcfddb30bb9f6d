import { html } from 'hono/html'
import { FAMILIES, type Tool } from '../../service/catalogue/define.ts'
import { modeMark, priceWords } from '../../service/catalogue/text.ts'
import { nearest } from '../../service/nearest.ts'
import { priceBounds, type PricesNow } from '../../service/payments/price.ts'
import type { AppDeps } from '../deps.ts'
import { answerPane, askForm, samples } from './form.ts'
import { layout, type Markup } from './layout.ts'
import { exampleResult, freeWords, priceNowWords } from './tool-words.ts'

/** `/tools/{id}`: what the tool does and does not, a form to ask it, and a place for the answer. */
export async function toolPage(deps: AppDeps, tool: Tool, prices: PricesNow | null): Promise<string> {
  const main = html`<div class="lead">
      <p class="crumb"><a href="/#tools">Tools</a> · <a href="/#family-${tool.family}">${FAMILIES[tool.family]}</a></p>
      <h1>${tool.title}</h1>
      <p>${tool.description}</p>
      ${terms(deps, tool, prices)}
    </div>
    <div class="halves">
      ${askForm(deps, tool)} ${answerPane(deps, tool, await exampleResult(tool, deps.call.sources), 'whole')}
      <div>${samples(deps, tool)} ${scope(tool)}</div>
    </div>`
  return layout({ title: `${tool.title} · assay`, mark: modeMark(deps), main, script: 'tool', style: 'tool' })
}

function terms(deps: AppDeps, tool: Tool, prices: PricesNow | null): Markup {
  const { formula } = priceBounds(tool.price)
  const range = tool.price === 'free' || prices === null ? '' : html` <span class="hint">moves from ${priceWords(tool)}</span>`
  return html`<dl class="terms">
    <div>
      <dt>tool</dt>
      <dd><code>${tool.id}</code> ${tool.version}</dd>
    </div>
    <div>
      <dt>price now</dt>
      <dd>${priceNowWords(tool, prices)}${range}${formula === null ? '' : html` <span class="hint">${formula}</span>`}</dd>
    </div>
    <div>
      <dt>free calls</dt>
      <dd>${freeWords(deps, tool)}</dd>
    </div>
  </dl>`
}

function scope(tool: Tool): Markup {
  return html`<section class="scope" aria-label="Scope">
    <h2>It checks</h2>
    <ul>
      ${tool.scope.checked.map((words) => html`<li>${words}</li>`)}
    </ul>
    <h2>It does not check</h2>
    <ul>
      ${tool.scope.not_checked.map((words) => html`<li>${words}</li>`)}
    </ul>
  </section>`
}

/** The page for an id that no tool has. The id itself is not shown; a tool that may be meant is. */
export function unknownToolPage(deps: AppDeps, id: string): string {
  const { tools } = deps.call.catalogue
  const meant = nearest(
    id,
    tools.map((tool) => tool.id),
  )
  const main = html`<div class="lead">
    <h1>No such tool</h1>
    <p>
      ${
        meant === null
          ? ''
          : html`Perhaps you mean <a href="/tools/${meant}"><code>${meant}</code></a
              >. `
      }The <a href="/#tools">list of tools</a> has them all.
    </p>
  </div>`
  return layout({ title: 'No such tool · assay', mark: modeMark(deps), main })
}
