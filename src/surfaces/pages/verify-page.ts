import { html } from 'hono/html'
import { modeMark, RECEIPT_LIMIT } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { assetPath } from './assets.ts'
import { sendRow } from './form.ts'
import { layout } from './layout.ts'

/** `/verify`: judges a receipt in the browser. What is judged stands behind `#r=`, which browsers do not send, or is pasted. */
export function verifyPage(deps: AppDeps): string {
  const main = html`<div class="lead">
      <h1>Verify a receipt</h1>
      <p>
        Your browser does the arithmetic: the receipt is not sent anywhere. Only the <a href="/.well-known/xdr-1.json">key list</a> of this
        service is read. The code that judges is <a href="${assetPath('pure/receipts/verify.ts')}">one small module</a>, the same one that
        the server and the command line run.
      </p>
    </div>
    <div class="halves">
      <form class="ask" id="verify">
        <div class="field">
          <label for="given">receipt <span class="kind">JSON</span></label>
          <textarea
            id="given"
            rows="6"
            aria-describedby="about-given"
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
          ></textarea>
          <p class="hint" id="about-given">
            A receipt, a whole answer, or the link of a badge. With a whole answer the result is held against the receipt too.
          </p>
        </div>
        ${sendRow('Verify')}
        <noscript
          ><p class="hint">
            This page needs a script of this site. In a shell: <code>assay verify receipt.json</code>, or
            <code>POST /v1/receipt/verify</code>.
          </p></noscript
        >
      </form>
      <section class="answer" id="answer" aria-label="Verdict">
        <p class="empty">The verdict will stand here, with the seal of the receipt, the text that was signed and the key that signed it.</p>
        <p class="empty">No receipt at hand? Each answer of a tool has one: <a href="/#tools">call one</a>.</p>
      </section>
      <section class="scope">
        <h2>What a receipt proves</h2>
        <p>${RECEIPT_LIMIT}</p>
      </section>
    </div>`
  return layout({ title: 'Verify a receipt · assay', mark: modeMark(deps), main, script: 'verify' })
}
