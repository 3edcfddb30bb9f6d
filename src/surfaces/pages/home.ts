import type { ComponentProps } from 'preact'
import type { Tool } from '../../service/catalogue/define.ts'
import { allowanceWords, byFamily, DOCUMENTS, HONEST_LIMITS, markedName, modeMark } from '../../service/catalogue/text.ts'
import type { PricesNow } from '../../service/payments/price-book.ts'
import type { AppDeps } from '../deps.ts'
import { Catalogue } from './components/catalogue.ts'
import { ToolDesk } from './components/tool-desk.ts'
import { QUERY_CHARS, queryWords } from './components/tool-search.ts'
import { GROUPS, REFERENCE } from './docs/guides.ts'
import { html, Island } from './html.ts'
import { layout } from './layout.ts'
import { deskProps, freeWords, ownAllowance, priceNowWords } from './tool-words.ts'

type CatalogueProps = ComponentProps<typeof Catalogue>
type CatalogueEntry = CatalogueProps['entries'][number]

/** The tool that a newcomer can try on the first page. */
const FIRST_TOOL = 'iban-check'

/** Words by which people look for a tool that its title and description do not have. */
const KEYWORDS: Readonly<Record<string, string>> = {
  'ofac-sdn-check': 'sanctions sanctioned blacklist AML screening',
  'iban-check': 'bank account number',
  'swift-bic-check': 'bank identifier',
  'aba-routing-check': 'bank American',
  'luhn-check': 'credit card',
  'e164-check': 'telephone mobile',
  'ean13-check': 'barcode GTIN',
  'lei-check': 'legal entity identifier',
  'iso20022-validate': 'XML payment file pain pacs camt SEPA SWIFT MX',
  reconcile: 'bank statement matching ledger',
  'pre-disbursement-guard': 'fraud payee vendor supplier',
  'vendor-onboarding-pack': 'supplier KYB due diligence',
  'clean-markdown-scraper': 'web page convert',
  'calculate-fx-savings': 'foreign exchange currency transfer fees',
  'fx-spot-price-oracle': 'foreign exchange rate currency',
  'create-b2b-invoice': 'bill request payment',
}

/** The same for guides, by the last part of their address. */
const GUIDE_KEYWORDS: Readonly<Record<string, string>> = {
  docs: 'quickstart start first call',
  rest: 'HTTP curl TypeScript Python Go snippets examples',
  mcp: 'Claude Cursor VS Code Model Context Protocol install',
  client: 'npm library SDK TypeScript',
  cli: 'terminal shell command',
  payment: 'x402 402 wallet USDC channel settlement refund pay',
  prices: 'cost free allowance',
  receipts: 'signature verify proof key badge',
  audit: 'bundle auditor evidence',
  errors: 'problems codes status retry',
  invoices: 'merchant bill get paid',
  webhooks: 'events callbacks notifications',
  'going-live': 'deploy operate production',
  reference: 'OpenAPI endpoints operations try',
}

/** `/` for people: what assay does, one form to try, the catalogue with current prices, links for programs. `query` is the search. */
export async function homePage(deps: AppDeps, prices: PricesNow | null, query = ''): Promise<string> {
  const { catalogue } = deps.call
  const first = catalogue.find(FIRST_TOOL)
  const sought = query.slice(0, QUERY_CHARS)
  const main = html`
    <div id="front" hidden=${queryWords(sought).length > 0}>
      <div class="lead">
        <h1>Checks that sign their answers</h1>
        <p>
          Check a bank account, a tax number, a payee or a payment file before money moves. Each of the ${catalogue.tools.length} tools
          answers with a decision, its reasons and a signed receipt that anyone can <a href="/verify">verify</a> later. Software calls them
          over REST or MCP and pays per call; see the <a href="/docs">quickstart</a>. Merchants <a href="/merchant">get paid in USDC</a>.
        </p>
        ${
          deps.sandbox !== null &&
          html`<p>No real money moves in this sandbox; every wallet can <a href="/docs/payment#test-money">get test USDC</a>.</p>`
        }
      </div>
      ${
        first !== undefined &&
        html`<section class="try" aria-labelledby="try-title">
          <h2 id="try-title">Try it: <a href=${`/tools/${first.id}`}>${first.title}</a></h2>
          <${Island} id="desk" component=${ToolDesk} props=${{ ...(await deskProps(deps, first)), compact: true }} />
        </section>`
      }
    </div>
    <div id="catalogue"><${Catalogue} ...${catalogueProps(deps, prices, sought)} /></div>
    <${ForPrograms} deps=${deps} />
    <section aria-labelledby="limits-title">
      <h2 id="limits-title">What an answer does not prove</h2>
      <ul class="measure">${HONEST_LIMITS.map((line) => html`<li>${line.replaceAll('`', '')}</li>`)}</ul>
    </section>
  `
  const title = `${markedName(deps)}: checks that sign their answers`
  return layout({ title, mark: modeMark(deps), main, script: 'home', styles: ['styles/home.css'], query: sought })
}

function catalogueProps(deps: AppDeps, prices: PricesNow | null, query: string): CatalogueProps {
  const { tools } = deps.call.catalogue
  const families = byFamily(tools)
  const guides = [...GROUPS.flatMap(({ topics }) => topics), REFERENCE].map(({ path, title, words }): CatalogueEntry => ({
    href: path,
    title,
    id: '',
    family: '',
    price: '',
    note: '',
    name: title,
    text: words,
    keywords: `guide docs ${GUIDE_KEYWORDS[path.split('/').at(-1) ?? ''] ?? ''}`.trim(),
  }))
  return {
    families: families.map(({ family, title }) => ({ family, title })),
    entries: [...families.flatMap(({ title, tools: members }) => members.map((tool) => toolEntry(deps, prices, tool, title))), ...guides],
    query,
    payment_note: `${allowanceWords(deps.free, tools)} Prices are current and move with demand.`,
  }
}

function toolEntry(deps: AppDeps, prices: PricesNow | null, tool: Tool, family: string): CatalogueEntry {
  const special = tool.price === 'free' || ownAllowance(deps, tool) !== undefined
  return {
    href: `/tools/${tool.id}`,
    title: tool.title,
    id: tool.id,
    family: tool.family,
    price: priceNowWords(tool, prices),
    note: special ? freeWords(deps, tool) : '',
    name: `${tool.title} ${tool.id}`,
    text: tool.description,
    keywords: `${KEYWORDS[tool.id] ?? ''} ${family}`.trim(),
  }
}

function ForPrograms({ deps }: { deps: AppDeps }) {
  const documents = [['/llms.txt', 'this service in plain text'] as const, ...DOCUMENTS]
  return html`<section id="machines" aria-labelledby="machines-title">
    <h2 id="machines-title">For programs</h2>
    <dl class="links">
      <div><dt><code>${deps.origins.mcp_url}/mcp</code></dt><dd>MCP over Streamable HTTP</dd></div>
      ${documents.map(([path, about]) => html`<div><dt><a href=${path}><code>${path}</code></a></dt><dd>${about}</dd></div>`)}
    </dl>
  </section>`
}
