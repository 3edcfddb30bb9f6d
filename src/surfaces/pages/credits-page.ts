import { html } from 'hono/html'
import { modeMark } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { layout, type Markup } from './layout.ts'

/** `/credits`: what a credit is, the packs, and what is left of one. The card is asked for on Stripe's own pages. */
export function creditsPage(deps: AppDeps): string {
  const main = html`<div class="lead">
      <h1>Service credits</h1>
      <p>
        Calls can be paid without a wallet: buy a code by card, send it as <code>X-CREDIT</code>, and each call is debited its price of the
        moment, to the last of six decimals. A call that fails by our fault costs nothing.
      </p>
    </div>
    <section aria-labelledby="buy-title">
      <h2 id="buy-title">Buy a credit</h2>
      ${deps.credits.shop === null ? CARDS_OFF : packs(deps.credits.shop.packs_usd)}
    </section>
    <section aria-labelledby="use-title">
      <h2 id="use-title">Use it</h2>
      <figure class="sample">
        <figcaption>A call paid with a credit <button type="button" class="copy" data-copies="sample">Copy</button></figcaption>
        <pre id="sample" tabindex="0"><code>curl -s ${deps.origins.api_url}/v1/tools/iban-check/call \\
  -H 'X-CREDIT: ac_…' -H "Idempotency-Key: $(uuidgen)" \\
  -d '{"input":{"iban":"GB82WEST12345698765432"}}'</code></pre>
      </figure>
      <p class="measure">
        The Idempotency-Key names the call. Sent again with the same key, the same request brings the same answer and costs nothing more; so
        a broken connection loses nothing. Over MCP the code travels in <code>_meta["assay/credit"]</code> and the key in
        <code>_meta["assay/idempotency-key"]</code>, or in the headers.
      </p>
    </section>
    ${balance()} ${WHAT_IT_IS}`
  return layout({ title: 'Service credits · assay', mark: modeMark(deps), main, script: 'credits', style: 'credits' })
}

const CARDS_OFF: Markup = html`<p class="empty" id="cards-off">
  Cards are off: this deployment is not connected to Stripe. Codes that were sold before are honoured, and calls can be paid on the x402
  terms of their 402.
</p>`

function packs(packs_usd: readonly number[]): Markup {
  return html`<form id="buy" class="packs">
    <fieldset>
      <legend>Pack, US dollars</legend>
      ${packs_usd.map(
        (usd, index) =>
          html`<label><input type="radio" name="pack" value="${usd}" ${index === 0 ? html`checked` : ''} /> ${usd}.00 USD</label> `,
      )}
    </fieldset>
    <p class="hint">One dollar is one dollar of calls. You pay on Stripe’s page; no card number comes here.</p>
    <button type="submit">Pay by card</button>
    <p class="said" id="buying" role="status"></p>
    <noscript><p class="hint">Buying needs a script of this site: it keeps the secret that the code is handed over for.</p></noscript>
  </form>`
}

function balance(): Markup {
  return html`<section aria-labelledby="balance-title">
    <h2 id="balance-title">What is left</h2>
    <form id="balance" class="ask">
      <div class="field">
        <label for="code">credit code</label>
        <input id="code" type="text" placeholder="ac_…" maxlength="64" autocomplete="off" autocapitalize="off" spellcheck="false" />
        <p class="hint">Whoever has the code can spend it. It is sent to this service only.</p>
      </div>
      <button type="submit">Show the balance</button>
      <p class="said" id="asking" role="status"></p>
    </form>
    <div id="shown"></div>
  </section>`
}

const WHAT_IT_IS: Markup = html`<section aria-labelledby="is-title">
  <h2 id="is-title">What a credit is</h2>
  <ul class="measure">
    <li>
      Units of this service, paid in advance. It is no account, no deposit and no token; nothing is held for you, and nothing pays interest.
    </li>
    <li>A bearer code: there is no name behind it, and nobody can find or replace a code that is lost.</li>
    <li>It does not run out. Unused units go back only by reversing the card payment: ask for a refund, and what is left is taken back.</li>
    <li>A refund or a dispute of the card payment takes back as much of the credit at once; a dispute that is withdrawn gives it back.</li>
    <li>Receipts of such calls are of tier paid and name the zero address as payer, since nobody paid on a chain.</li>
  </ul>
</section>`

/** `/credits/done`: where Stripe sends the buyer back to; the code is shown to the browser that began. */
export function boughtPage(deps: AppDeps): string {
  const main = html`<div class="lead">
      <h1>Your credit code</h1>
      <p>The code is handed to the browser that bought it, once. Keep it before you leave this page.</p>
    </div>
    <section aria-labelledby="code-title">
      <h2 id="code-title">Code</h2>
      <p class="said" id="waiting" role="status">Asking whether the payment has arrived …</p>
      <div id="handed" hidden>
        <p class="characters code" id="bought"></p>
        <p class="hint" id="worth"></p>
        <p>
          <button type="button" data-copies="bought">Copy</button>
          <button type="button" id="kept">I have kept it: erase it here</button>
        </p>
      </div>
      <noscript><p class="hint">This page needs a script of this site.</p></noscript>
    </section>
    <p><a href="/credits">Use it, or look at what is left</a></p>`
  return layout({ title: 'Your credit code · assay', mark: modeMark(deps), main, script: 'credits', style: 'credits' })
}
