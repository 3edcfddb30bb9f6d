import { html, Island } from './html.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { BoughtCode, BuyCredit, CreditBalance } from './components/credits-desk.ts'
import { layout, type Markup } from './layout.ts'

/** Renders `/credits`: packs, use, balance and conditions. Card data is entered on the pages of Stripe. */
export function creditsPage(deps: AppDeps): string {
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
export function boughtPage(deps: AppDeps): string {
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
