import type { Hono } from 'hono'
import type { ComponentProps } from 'preact'
import { DEFAULT_WINDOW, windowSentence } from '../../pure/documents/reconcile/values.ts'
import { INVOICE_STATES, type InvoiceState } from '../../pure/invoices/standing.ts'
import { networkOf } from '../../pure/networks.ts'
import { once } from '../../pure/once.ts'
import { PREFLIGHT_STATEMENT } from '../../pure/protocols/check.ts'
import { FAMILIES, type Tool } from '../../service/catalogue/define.ts'
import { CHECK_HEADLINES } from '../../service/catalogue/headlines.ts'
import { nearestName } from '../../service/catalogue/search.ts'
import { modeMark, modeWord, priceWords } from '../../service/catalogue/text.ts'
import { limits } from '../../service/limits.ts'
import { priceBounds, type PricesNow } from '../../service/payments/price-book.ts'
import { partShown, RULE_PARTS } from '../../service/preflight/preflight.ts'
import type { AppDeps } from '../deps.ts'
import { sendDocument } from '../http/document.ts'
import type { Env } from '../http/reply.ts'
import { assets, modulePath, scriptPaths } from './assets.ts'
import { BoughtCode, BuyCredit, CreditBalance } from './components/credits-desk.ts'
import { MerchantDesk } from './components/merchant-desk.ts'
import { PreflightDesk, type PreflightDeskProps } from './components/preflight-desk.ts'
import { ReconcileDesk } from './components/reconcile-desk.ts'
import { Samples } from './components/samples.ts'
import { ToolDesk } from './components/tool-desk.ts'
import { VerifyDesk } from './components/verify-desk.ts'
import { docsRoutes } from './docs-page.ts'
import { html, Island } from './html.ts'
import { HTML_TYPE, layout, PAGE_HEADERS, type Markup } from './layout.ts'
import { localized } from './messages.ts'
import { pricedDocument, storedPage } from './priced.ts'
import { deskProps, freeWords, paymentWays, priceNowWords } from './tool-words.ts'

const FOR_GOOD = 'public, max-age=31536000, immutable'

/** Policy of scripts. A worker is bound by the policy sent with its file and not by that of the page (Content Security Policy 3, §4.2). */
const SCRIPT_POLICY = { 'content-security-policy': "default-src 'none'; script-src 'self'; frame-ancestors 'none'" }

/** Pages that are the same for everybody. */
const FIXED: Readonly<Record<string, (deps: AppDeps) => string>> = {
  '/verify': verifyPage,
  '/preflight': preflightPage,
  '/reconcile': reconcilePage,
  '/merchant': merchantPage,
  '/credits': creditsPage,
  '/credits/done': boughtPage,
}

/** The pages for people, and what they load. `/` is negotiated among the discovery documents. */
export function pageRoutes(app: Hono<Env>, deps: AppDeps): void {
  const { catalogue } = deps.call
  docsRoutes(app, deps)
  for (const [path, write] of Object.entries(FIXED)) {
    const page = once(() => storedPage(write(deps)))
    app.get(path, (context) => sendDocument(context, page()))
  }
  const tools = new Map(
    catalogue.tools.map((tool) => [tool.id, pricedDocument(deps, async (prices) => storedPage(await toolPage(deps, tool, prices)))]),
  )
  app.get('/tools', (context) => context.redirect('/#tools', 308))
  app.get('/tools/:tool', async (context) => {
    const named = context.req.param('tool')
    const tool = catalogue.find(named)
    const page = tools.get(named)
    if (page !== undefined) return sendDocument(context, await page())
    if (tool !== undefined) return context.redirect(`/tools/${tool.id}`, 308)
    return context.body(unknownToolPage(deps, named), 404, { ...PAGE_HEADERS, 'cache-control': 'no-cache', 'content-type': HTML_TYPE })
  })
  app.get('/assets/:version/:path{.+}', async (context) => {
    const { version, files } = assets()
    const asset = await files.get(context.req.param('path'))?.()
    if (asset === undefined) return context.notFound()
    // A page may outlive the files that it was made for; it then gets those of now, to be asked for again.
    const kept = context.req.param('version') === version ? FOR_GOOD : 'no-store'
    const { body, headers } = await asset.encoded.for(context.req.header('accept-encoding'))
    return context.body(body, 200, { ...headers, ...SCRIPT_POLICY, 'content-type': asset.type, 'cache-control': kept })
  })
}

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
function unknownToolPage(deps: AppDeps, id: string): string {
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

/** Tool of the sample receipt. */
const SAMPLE_TOOL = 'iban-check'

/** `/verify`: verifies receipts and certificates in the browser. They are pasted, read from files, or follow `#r=`, which browsers do not send. */
function verifyPage(deps: AppDeps): string {
  const main = html`
    <div class="lead">
      <h1>Verify receipts</h1>
      <p>
        Check who signed a receipt and whether its result was changed. Your browser does the arithmetic; what you paste is not sent. The
        page loads the <a href="/.well-known/xdr-1.json">key list</a> of this service, and its verifier is
        <a href=${modulePath('pure/receipts/verify')}>one small module</a>, the same one that the server and the command line use.
      </p>
    </div>
    <${Island} id="desk" component=${VerifyDesk} props=${verifyProps(deps)} />
  `
  return layout({ title: 'Verify receipts · assay', mark: modeMark(deps), main, script: 'verify', styles: ['styles/verify.css'] })
}

function verifyProps(deps: AppDeps): ComponentProps<typeof VerifyDesk> {
  const { catalogue } = deps.call
  const tool = catalogue.find(SAMPLE_TOOL)
  const own = catalogue.tools.filter(({ headlines }) => headlines !== CHECK_HEADLINES)
  return {
    headlines: Object.fromEntries(own.map(({ id, headlines }) => [id, headlines])),
    sample: tool === undefined ? null : { tool: tool.id, title: tool.title, input: JSON.stringify(tool.example) },
  }
}

/** `/preflight`: a document of one of the protocols, checked as it is typed, each finding at its place. */
function preflightPage(deps: AppDeps): string {
  const props: PreflightDeskProps = {
    parts: rulePartsOf(deps),
    limits: {
      body_bytes: limits.preflight_body_bytes,
      depth: limits.preflight_depth,
      nodes: limits.preflight_nodes,
      payee_chars: limits.preflight_payee_chars,
    },
    statement: PREFLIGHT_STATEMENT,
  }
  const main = html`
    <div class="lead">
      <h1>Preflight</h1>
      <p>
        Checks a document of an agent protocol against selected rules before you act on it. The document is sent to this service, which
        checks it and stores neither the document nor the findings. Free, ${deps.preflight_per_minute} documents a minute.
      </p>
    </div>
    <${Island} id="desk" component=${PreflightDesk} props=${props} />
  `
  return layout({
    title: 'Preflight · assay',
    mark: modeMark(deps),
    main,
    script: 'preflight',
    styles: ['styles/desk.css', 'styles/preflight.css'],
  })
}

/** Metadata of each group of rules, shown before the first report. */
function rulePartsOf(deps: AppDeps): PreflightDeskProps['parts'] {
  return RULE_PARTS.map((part) => {
    const { id, title, versions, document_types, uncovered_types, not_checked, rules } = partShown(part, deps.origins.base_url)
    const types = [...document_types, ...uncovered_types]
    return { id, title, versions, types, not_checked, rules: rules.length, prefix: rules[0]?.code.replace(/-.*/, '') ?? '' }
  })
}

/** Largest file that the page takes. Browsers can read more; for larger files the command line is faster. */
const FILE_BYTES = 67_108_864

/** `/reconcile`: compares payments with a bank statement in the browser; the files stay on the machine. */
function reconcilePage(deps: AppDeps): string {
  const props = {
    worker: scriptPaths('reconcile/worker').entry,
    file_bytes: FILE_BYTES,
    body_bytes: limits.document_body_bytes,
    ways: paymentWays(deps),
  }
  const main = html`
    <div class="lead">
      <h1>Reconcile</h1>
      <p>
        Find out which payments are settled, unpaid, paid twice or paid with a different amount. Your browser does the work:
        <b>the files stay on your machine</b>. It runs <a href=${modulePath('pure/documents/reconcile/reconcile')}>the same engine</a> as
        the tool <a href="/tools/reconcile"><code>reconcile</code></a> and the command line.
      </p>
    </div>
    <${Island} id="desk" component=${ReconcileDesk} props=${props} />
    <section class="scope" aria-label="Scope">
      <h2>Checked</h2>
      <p>
        End-to-end ids first, then UETR and other ids; amounts to the minor unit; returns, charges, batches and repeated statements;
        direction and account of each entry. ${windowSentence(DEFAULT_WINDOW)} Every entry is counted once.
      </p>
      <h2>Not checked</h2>
      <p>
        The schemas of the messages and the balances of the statement. Currencies are not converted. An ACH file alone shows that a payment
        was originated, not that it was settled.
      </p>
    </section>
  `
  return layout({
    title: 'Reconcile · assay',
    mark: modeMark(deps),
    main,
    script: 'reconcile',
    styles: ['styles/desk.css', 'styles/reconcile.css'],
  })
}

/** `/merchant`: a merchant creates, signs, shares, follows, voids, lists and exports invoices with a wallet of the browser. */
function merchantPage(deps: AppDeps): string {
  const { states } = localized('en', undefined).messages
  const props: ComponentProps<typeof MerchantDesk> = {
    site_url: deps.origins.site_url,
    network: networkOf(deps.chain_id)?.name ?? `chain ${deps.chain_id}`,
    test_tokens: modeWord(deps) !== null,
    words: Object.fromEntries(INVOICE_STATES.map((state) => [state, states[state].word])) as Record<InvoiceState, string>,
  }
  const main = html`
    <div class="lead">
      <h1>Get paid in USDC</h1>
      <p>
        Create an invoice, send its link to your customer, and see here when it is paid. The customer pays with any wallet or exchange, straight
        to your account: assay never holds the money, charges no fee and needs no registration.
      </p>
      <noscript>
        <p class="problem">
          This page needs JavaScript. Without it, use the API: <a href="/docs/reference/create-invoice"><code>POST /api/invoice/create</code></a>
          creates an invoice, and <a href="/docs/invoices">Invoices</a> explains how to sign, share, void and list it.
        </p>
      </noscript>
    </div>
    <${Island} id="merchant" component=${MerchantDesk} props=${props} />
    <section class="scope" aria-label="Good to know">
      <h2>What your signature does</h2>
      <p>
        It proves to the customer that the invoice is yours, and keeps the invoice in your list. It moves no money and allows no transfer. You need
        no ETH: nothing is sent to the chain when you create, sign or void.
      </p>
      <h2>By a program</h2>
      <p>
        The same by HTTP: <a href="/docs/invoices">invoices</a>, <a href="/docs/webhooks">webhooks</a> that report payments to your shop, and
        <a href="/reconcile">reconciliation</a> with bank statements.
      </p>
    </section>
  `
  return layout({
    title: 'Get paid in USDC · assay',
    mark: modeMark(deps),
    main,
    script: 'merchant',
    styles: ['styles/desk.css', 'styles/merchant.css'],
  })
}

/** Renders `/credits`: packs, use, balance and conditions. Card data is entered on the pages of Stripe. */
function creditsPage(deps: AppDeps): string {
  const main = html`<div class="lead">
      <h1>Service credits</h1>
      <p>
        Pay for calls without a wallet: buy a credit code by card and send it in the <code>X-CREDIT</code> header. Each call is debited its
        current price. A call that fails because of assay costs nothing.
      </p>
    </div>
    <section aria-labelledby="buy-title">
      <h2 id="buy-title">Buy a credit</h2>
      ${
        deps.credits.checkout === null
          ? CARDS_OFF
          : html`<${Island} id="buying-desk" component=${BuyCredit} props=${{ packs_usd: deps.credits.checkout.packs_usd }} />`
      }
    </section>
    <section aria-labelledby="use-title">
      <h2 id="use-title">Use a credit</h2>
      <figure class="sample">
        <figcaption>A call paid with a credit <button type="button" class="copy" data-copies="sample">Copy</button></figcaption>
        <pre id="sample" tabindex="0"><code>${sampleCall(deps.origins.api_url)}</code></pre>
      </figure>
      <p class="measure">
        The Idempotency-Key identifies the call. If you repeat a request with the same key, you get the stored answer and pay nothing more,
        so a lost connection costs nothing. Over MCP, send the code in <code>_meta["assay/credit"]</code> and the key in
        <code>_meta["assay/idempotency-key"]</code>, or in the headers.
      </p>
    </section>
    <section aria-labelledby="balance-title">
      <h2 id="balance-title">Balance</h2>
      <${Island} id="balance-desk" component=${CreditBalance} props=${{}} />
    </section>
    ${WHAT_IT_IS}`
  return layout({ title: 'Service credits · assay', mark: modeMark(deps), main, script: 'credits', styles: ['styles/credits.css'] })
}

/** A value and not part of the template, so that its line breaks stay. */
function sampleCall(api_url: string): string {
  return `curl -s ${api_url}/v1/tools/iban-check/call \\
  -H 'X-CREDIT: ac_…' -H "Idempotency-Key: $(uuidgen)" \\
  -d '{"input":{"iban":"GB82WEST12345698765432"}}'`
}

const CARDS_OFF: Markup = html`<p class="empty" id="cards-off">
  Card payments are off: this deployment is not connected to Stripe. Existing codes still work, and you can pay for calls in USDC (x402).
</p>`

const WHAT_IT_IS: Markup = html`<section aria-labelledby="is-title">
  <h2 id="is-title">What a credit is</h2>
  <ul class="measure">
    <li>
      A credit is prepaid calls of this service. It is not an account, a deposit or a token, and it earns no interest.
    </li>
    <li>The code is a bearer code without a name: if you lose it, it cannot be replaced.</li>
    <li>It does not expire. Unused credit is refunded only to the card: ask for a refund, and the balance is removed.</li>
    <li>A refund or dispute of the card payment removes the same amount of credit immediately; a withdrawn dispute restores it.</li>
    <li>Receipts of these calls have the tier “paid” and the zero address as payer, because no payment was made on a chain.</li>
  </ul>
</section>`

/** Renders `/credits/done`, to which Stripe returns the buyer. The code is shown only in the browser that bought it. */
function boughtPage(deps: AppDeps): string {
  const main = html`<div class="lead">
      <h1>Your credit code</h1>
      <p>The code is shown once, in the browser that bought it. Save it before you leave this page.</p>
    </div>
    <section aria-labelledby="code-title">
      <h2 id="code-title">Code</h2>
      <${Island} id="bought-desk" component=${BoughtCode} props=${{}} />
      <noscript><p class="hint">This page needs JavaScript.</p></noscript>
    </section>
    <p><a href="/credits">Use the code or see its balance</a></p>`
  return layout({ title: 'Your credit code · assay', mark: modeMark(deps), main, script: 'credits', styles: ['styles/credits.css'] })
}

/** Page for people at an unknown address; programs get a problem document. */
export function missingPage(deps: AppDeps): string {
  const main = html`<div class="lead">
    <h1>Page not found</h1>
    <p>
      Find a <a href="/">tool</a> by name, read the <a href="/docs">documentation</a>, or look up an error code under <a
        href="/problems"
        >problems</a
      >.
    </p>
  </div>`
  return layout({ title: 'Page not found · assay', mark: modeMark(deps), main })
}
