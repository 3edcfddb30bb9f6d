import { FAMILIES, type Tool } from '../../service/catalogue/define.ts'
import { nearestName } from '../../service/catalogue/search.ts'
import { modeMark, priceWords } from '../../service/catalogue/text.ts'
import { priceBounds, type PricesNow } from '../../service/payments/price-book.ts'
import type { AppDeps } from '../deps.ts'
import { Samples } from './components/samples.ts'
import { ToolDesk } from './components/tool-desk.ts'
import { html, Island } from './html.ts'
import { layout } from './layout.ts'
import { deskProps, freeWords, priceNowWords } from './tool-words.ts'

/** `/tools/{id}`: what the tool decides, a form to run it, the answer, and the same call for programs. */
export async function toolPage(deps: AppDeps, tool: Tool, prices: PricesNow | null): Promise<string> {
  const props = await deskProps(deps, tool)
  const main = html`
    <div class="lead">
      <p class="crumb"><a href="/#tools">Tools</a> · <a href=${`/#family-${tool.family}`}>${FAMILIES[tool.family]}</a></p>
      <h1>${tool.title}</h1>
      <p>${tool.description}</p>
      <${Terms} deps=${deps} tool=${tool} prices=${prices} />
    </div>
    <${Island} id="desk" component=${ToolDesk} props=${{ ...props, samples: Samples }} />
    ${props.example === null && html`<${Scope} scope=${tool.scope} />`}
  `
  return layout({
    title: `${tool.title} · assay`,
    mark: modeMark(deps),
    main,
    script: 'tool',
    styles: ['components/document-findings.css'],
  })
}

function Terms({ deps, tool, prices }: { deps: AppDeps; tool: Tool; prices: PricesNow | null }) {
  const { formula } = priceBounds(tool.price)
  return html`<dl class="terms">
    <div><dt>Tool</dt><dd><code>${tool.id}</code> ${tool.version}</dd></div>
    <div>
      <dt>Price now</dt>
      <dd>
        ${priceNowWords(tool, prices)}
        ${tool.price !== 'free' && prices !== null && html`<span class="hint">${priceWords(tool)}, by demand</span>`}
        ${formula !== null && html`<span class="hint">${formula}</span>`}
      </dd>
    </div>
    <div><dt>Free calls</dt><dd>${freeWords(deps, tool)}</dd></div>
  </dl>`
}

function Scope({ scope }: { scope: Tool['scope'] }) {
  return html`<section class="scope" aria-label="Scope">
    <div><h2>Checked</h2><ul>${scope.checked.map((line) => html`<li>${line}</li>`)}</ul></div>
    <div><h2>Not checked</h2><ul>${scope.not_checked.map((line) => html`<li>${line}</li>`)}</ul></div>
  </section>`
}

/** Page for an unknown tool id. The id is not shown; a similar one is. */
export function unknownToolPage(deps: AppDeps, id: string): string {
  const { tools } = deps.call.catalogue
  const meant = nearestName(
    id,
    tools.map((tool) => tool.id),
  )
  const main = html`<div class="lead">
    <h1>Unknown tool</h1>
    <p>
      ${meant !== null && html`Did you mean <a href=${`/tools/${meant}`}><code>${meant}</code></a>? `}
      See the <a href="/#tools">list of all tools</a>.
    </p>
  </div>`
  return layout({ title: 'Unknown tool · assay', mark: modeMark(deps), main })
}
