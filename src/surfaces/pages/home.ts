import { html } from 'hono/html'
import type { Tool } from '../../service/catalogue/define.ts'
import {
  allowanceWords,
  byFamily,
  DOCUMENTS,
  HONEST_LIMITS,
  LIVE_PRICES,
  markedName,
  modeMark,
  paymentWords,
  priceWords,
} from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { answerPane, askForm, curlSample } from './form.ts'
import { layout, type Markup } from './layout.ts'
import { exampleResult, freeWords } from './tool-words.ts'

/** The tool that a newcomer can try at once. */
const FIRST_TOOL = 'iban-check'

/** `/` for people: what this is, one form to try, the catalogue with its prices, and where machines read on. */
export function homePage(deps: AppDeps): string {
  const { tools, find } = deps.call.catalogue
  const first = find(FIRST_TOOL)
  const main = html`<div class="lead">
      <h1>Checks that sign their answers</h1>
      <p>
        assay serves small deterministic checks, ${tools.length} of them here, that software agents call one by one over REST or MCP. Each
        answer carries a receipt, signed with a published key, that anybody can <a href="/verify">verify</a> without asking us again. It
        also says what was not checked: a passing checksum does not prove that an account, a company or a book exists.
      </p>
    </div>
    ${first === undefined ? '' : tryIt(deps, first)}
    <section id="tools" aria-labelledby="tools-title">
      <h2 id="tools-title">Tools</h2>
      <p class="measure">${allowanceWords(deps.free, tools)} ${LIVE_PRICES} ${paymentWords(deps)}</p>
      ${byFamily(tools).map(({ title, tools: members }) => family(deps, title, members))}
    </section>
    <section aria-labelledby="machines-title">
      <h2 id="machines-title">For machines</h2>
      <dl class="links">
        ${[['/llms.txt', 'this service in plain words'] as const, ...DOCUMENTS].map(
          ([path, words]) =>
            html`<div>
              <dt>
                <a href="${path}"><code>${path}</code></a>
              </dt>
              <dd>${words}</dd>
            </div> `,
        )}
        <div>
          <dt><code>${deps.origins.mcp_url}/mcp</code></dt>
          <dd>MCP over Streamable HTTP</dd>
        </div>
      </dl>
    </section>
    <section aria-labelledby="limits-title">
      <h2 id="limits-title">What an answer does not say</h2>
      <ul class="measure">
        ${HONEST_LIMITS.map((words) => html`<li>${words.replaceAll('`', '')}</li> `)}
      </ul>
    </section>`
  return layout({ title: `${markedName(deps)}: checks that sign their answers`, mark: modeMark(deps), main, script: 'ask' })
}

function tryIt(deps: AppDeps, tool: Tool): Markup {
  return html`<section aria-labelledby="try-title">
    <h2 id="try-title">
      Try one: <a href="/tools/${tool.id}"><code>${tool.id}</code></a>
    </h2>
    <div class="halves">
      ${askForm(deps, tool)} ${answerPane(deps, exampleResult(tool, deps.call.sources), 'short')}
      <div>${curlSample(deps, tool)}</div>
    </div>
  </section>`
}

function family(deps: AppDeps, title: string, tools: readonly Tool[]): Markup {
  return html`<section class="family">
    <h3>${title}</h3>
    <ul>
      ${tools.map(
        (tool) =>
          html`<li>
            <div>
              <a href="/tools/${tool.id}">${tool.title}</a> <code>${tool.id}</code>
              <p class="hint">${tool.description}</p>
            </div>
            <dl>
              <div>
                <dt>price</dt>
                <dd>${priceWords(tool)}</dd>
              </div>
              <div>
                <dt>free calls</dt>
                <dd>${freeWords(deps, tool)}</dd>
              </div>
            </dl>
          </li> `,
      )}
    </ul>
  </section> `
}
