import { INVOICE_STATES, type InvoiceState } from '../../pure/invoices/standing.ts'
import { networkOf } from '../../pure/networks.ts'
import { modeMark, modeWord } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { MerchantDesk, type MerchantDeskProps } from './components/merchant-desk.ts'
import { html, Island } from './html.ts'
import { layout } from './layout.ts'
import { localized } from './messages.ts'

/** `/merchant`: a merchant creates, signs, shares, follows, voids, lists and exports invoices with a wallet of the browser. */
export function merchantPage(deps: AppDeps): string {
  const { states } = localized('en', undefined).messages
  const props: MerchantDeskProps = {
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
