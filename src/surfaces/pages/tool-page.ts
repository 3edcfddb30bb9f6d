import { html } from 'hono/html'
import { FAMILIES, type Tool } from '../../service/catalogue/define.ts'
import { modeMark, priceWords } from '../../service/catalogue/text.ts'
import { nearest } from '../../service/nearest.ts'
import { priceBounds } from '../../service/payments/price.ts'
import type { AppDeps } from '../deps.ts'
import { answerPane, askForm, curlSample } from './form.ts'
import { layout } from './layout.ts'
import { exampleResult, freeWords } from './tool-words.ts'

/** `/tools/{id}`: what the tool does and does not, a form to ask it, and a place for the answer. */
export function toolPage(deps: AppDeps, tool: Tool): string {
  const { formula } = priceBounds(tool.price)
  const main = html`<div class="lead">
      <p class="crumb"><a href="/#tools">Tools</a> · ${FAMILIES[tool.family]}</p>
      <h1>${tool.title}</h1>
      <p>${tool.description}</p>
      <dl class="terms">
        <div>
          <dt>tool</dt>
          <dd><code>${tool.id}</code> ${tool.version}</dd>
        </div>
        <div>
          <dt>price</dt>
          <dd>
            ${priceWords(tool)}${formula === null ? '' : html` <span class="hint">${formula}</span>`}${tool.price === 'free' ? '' : html` <a class="hint" href="/health">price now</a>`}
          </dd>
        </div>
        <div>
          <dt>free calls</dt>
          <dd>${freeWords(deps, tool)}</dd>
        </div>
      </dl>
    </div>
    <div class="halves">
      ${askForm(deps, tool)} ${answerPane(deps, exampleResult(tool, deps.call.sources), 'whole')}
      <div>
        ${curlSample(deps, tool)}
        <section class="scope" aria-label="Scope">
          <h2>It checks</h2>
          <ul>
            ${tool.scope.checked.map((words) => html`<li>${words}</li>`)}
          </ul>
          <h2>It does not check</h2>
          <ul>
            ${tool.scope.not_checked.map((words) => html`<li>${words}</li>`)}
          </ul>
        </section>
      </div>
    </div>`
  return layout({ title: `${tool.title} · assay`, mark: modeMark(deps), main, script: 'ask' })
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
