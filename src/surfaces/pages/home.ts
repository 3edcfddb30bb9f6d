import { html } from 'hono/html'
import type { Family, Tool } from '../../service/catalogue/define.ts'
import { allowanceWords, byFamily, DOCUMENTS, HONEST_LIMITS, markedName, modeMark, paymentWords } from '../../service/catalogue/text.ts'
import { nearest } from '../../service/nearest.ts'
import type { PricesNow } from '../../service/payments/price.ts'
import type { AppDeps } from '../deps.ts'
import { foundWords, isFound, QUERY_CHARS, searchWords } from './client/search-words.ts'
import { answerPane, askForm, samples } from './form.ts'
import { layout, type Markup } from './layout.ts'
import { exampleResult, freeWords, ownAllowance, priceNowWords } from './tool-words.ts'

/** The tool that a newcomer can try at once. */
const FIRST_TOOL = 'iban-check'

/** `/` for people: what this is, one form to try, the catalogue with its prices now, and where machines read on. `query` is what was searched. */
export async function homePage(deps: AppDeps, prices: PricesNow | null, query = ''): Promise<string> {
  const first = deps.call.catalogue.find(FIRST_TOOL)
  const sought = query.slice(0, QUERY_CHARS)
  const searching = searchWords(sought).length > 0
  const main = html`<div id="front" ${searching ? 'hidden' : ''}>
      <div class="lead">
        <h1>Checks that sign their answers</h1>
        <p>
          assay serves small deterministic checks, ${deps.call.catalogue.tools.length} of them here, that software agents call one by one
          over REST or MCP. Each answer carries a receipt, signed with a published key, that anybody can
          <a href="/verify">verify</a> without asking us again. It also says what was not checked: a passing checksum does not prove that an
          account, a company or a book exists.
        </p>
      </div>
      ${first === undefined ? '' : await tryIt(deps, first)}
    </div>
    ${catalogue(deps, prices, sought)} ${machines(deps)}
    <section aria-labelledby="limits-title">
      <h2 id="limits-title">What an answer does not say</h2>
      <ul class="measure">
        ${HONEST_LIMITS.map((words) => html`<li>${words.replaceAll('`', '')}</li> `)}
      </ul>
    </section>`
  const title = `${markedName(deps)}: checks that sign their answers`
  return layout({ title, mark: modeMark(deps), main, script: 'home', style: 'home', query: sought })
}

async function tryIt(deps: AppDeps, tool: Tool): Promise<Markup> {
  return html`<section class="try" aria-labelledby="try-title">
    <h2 id="try-title">
      Try one: <a href="/tools/${tool.id}"><code>${tool.id}</code></a>
    </h2>
    <div class="halves">
      ${askForm(deps, tool)} ${answerPane(deps, tool, await exampleResult(tool, deps.call.sources), 'short')}
      <div>${samples(deps, tool)}</div>
    </div>
  </section>`
}

/** Every tool, with those that the search does not find folded away; families lead the way at the side. */
function catalogue(deps: AppDeps, prices: PricesNow | null, query: string): Markup {
  const { tools } = deps.call.catalogue
  const words = searchWords(query)
  const families = byFamily(tools)
  const hits = new Set(families.flatMap(({ title, tools: members }) => members.filter((tool) => isFound(soughtText(tool, title), words))))
  return html`<section id="tools" aria-labelledby="tools-title">
    <h2 id="tools-title">Tools</h2>
    <p class="found" id="found" role="status">${foundWords(hits.size, tools.length, words)}</p>
    <div class="measure" id="prices" ${words.length > 0 ? 'hidden' : ''}>
      <p class="hint">${allowanceWords(deps.free, tools)}</p>
      <p class="hint">
        ${paymentWords(deps)} Prices are those of the moment in which this page was made; they move with demand between a floor and a cap.
      </p>
    </div>
    ${hits.size === 0 ? nothingFound(query, tools) : ''}
    <div class="shelves">
      <nav class="rail" aria-label="Families of tools">
        <ul>
          ${families.map(({ family, title, tools: members }) => {
            const found = members.filter((tool) => hits.has(tool)).length
            return html`<li ${found === 0 ? 'hidden' : ''}>
              <a href="#family-${family}">${title} <span>${found}</span></a>
            </li> `
          })}
        </ul>
      </nav>
      <div>${families.map((shelf) => shelfMarkup(deps, prices, shelf, hits))}</div>
    </div>
  </section>`
}

/** The words in which a search looks. */
function soughtText({ title, id, description }: Tool, family: string): string {
  return `${family} ${title} ${id} ${description}`
}

function nothingFound(query: string, tools: readonly Tool[]): Markup {
  const meant = nearest(
    query.trim().replace(/\s+/g, '-'),
    tools.map(({ id }) => id),
  )
  return html`<p>
    ${
      meant === null
        ? ''
        : html`Perhaps you mean <a href="/tools/${meant}"><code>${meant}</code></a
            >. `
    }<a href="/#tools">All tools</a>
  </p>`
}

interface Shelf {
  family: Family
  title: string
  tools: readonly Tool[]
}

function shelfMarkup(deps: AppDeps, prices: PricesNow | null, { family, title, tools }: Shelf, hits: ReadonlySet<Tool>): Markup {
  return html`<section class="family" id="family-${family}" ${tools.some((tool) => hits.has(tool)) ? '' : 'hidden'}>
    <h3>${title}</h3>
    <ul>
      ${tools.map((tool) => toolRow(deps, prices, tool, hits.has(tool)))}
    </ul>
  </section> `
}

function toolRow(deps: AppDeps, prices: PricesNow | null, tool: Tool, shown: boolean): Markup {
  const apart = tool.price === 'free' || ownAllowance(deps, tool) !== undefined
  return html`<li ${shown ? '' : 'hidden'}>
    <div>
      <a href="/tools/${tool.id}">${tool.title}</a> <code>${tool.id}</code>
      <p class="hint">${tool.description}</p>
    </div>
    <p class="cost">
      <span class="heard">Price now: </span
      >${priceNowWords(tool, prices)}${apart ? html`<span class="hint">${freeWords(deps, tool)}</span>` : ''}
    </p>
  </li> `
}

function machines(deps: AppDeps): Markup {
  return html`<section aria-labelledby="machines-title">
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
  </section>`
}
