import { html } from 'hono/html'
import { modeMark } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { assetPath } from './assets.ts'
import { headlineTables, sendRow } from './form.ts'
import { layout, type Markup } from './layout.ts'

/** `/verify`: judges receipts and certificates in the browser. What is judged stands behind `#r=`, which browsers do not send, is pasted, or let fall as files. */
export function verifyPage(deps: AppDeps): string {
  const main = html`<div class="lead">
      <h1>Verify receipts</h1>
      <p>
        Your browser does the arithmetic: nothing that you give is sent anywhere. Only the
        <a href="/.well-known/xdr-1.json">key list</a> of this service is read. The code that judges is
        <a href="${assetPath('pure/receipts/verify.ts')}">one small module</a>, the same one that the server and the command line run.
      </p>
    </div>
    <div class="halves">
      ${askForm()}
      <section class="answer" id="answer" aria-label="Verdict" data-headlines="${headlineTables(deps.call.catalogue.tools)}">
        <p class="empty">
          The verdict will stand here: each question with its own answer, the seal, the text that was signed and the key that signed it.
        </p>
        <p class="empty">No receipt at hand? Each answer of a tool has one: <a href="/tools/iban-check">call one</a>.</p>
      </section>
      <div class="scope">${scope()}</div>
    </div>
    <section class="chain" id="chain" aria-labelledby="chain-title" hidden>
      <h2 id="chain-title">How they follow one another</h2>
      <p class="measure hint">
        Earlier receipts stand above. A line is a signed link: solid where it holds, dashed and crossed where it does not. Several may
        follow one. A dashed ring is a receipt that is named and not here; it may be a broken one of these, since a changed receipt has
        another digest.
      </p>
      <div class="chain-halves">
        <div id="chain-place"></div>
        <div class="answer" id="one"></div>
      </div>
      <details>
        <summary>As a table</summary>
        <div id="chain-table"></div>
      </details>
    </section>`
  return layout({ title: 'Verify receipts · assay', mark: modeMark(deps), main, script: 'verify', style: 'verify' })
}

function askForm(): Markup {
  return html`<form class="ask" id="verify">
    <div class="field drop" id="drop">
      <label for="given">receipts <span class="kind">JSON</span></label>
      <textarea id="given" rows="8" aria-describedby="about-given" autocomplete="off" autocapitalize="off" spellcheck="false"></textarea>
      <p class="hint" id="about-given">
        A receipt, a whole answer, the link of a badge, or a certificate POL-1; or several: an array, or one a line. With a whole answer the
        result and the link are checked too.
      </p>
      <p class="files">
        <label for="files">or files</label> <input type="file" id="files" multiple accept=".json,.jsonl,.ndjson,.txt,application/json" />
      </p>
    </div>
    ${sendRow('Verify')}
    <p class="hint" id="key-list">Reading the key list of this service.</p>
    <noscript
      ><p class="hint">
        This page needs a script of this site. In a shell: <code>assay verify receipt.json --keys xdr-1.json</code>, or
        <code>POST /v1/receipt/verify</code>.
      </p></noscript
    >
  </form>`
}

function scope(): Markup {
  return html`<h2>What a verified receipt proves</h2>
    <ul>
      <li>The key that it names signed exactly these fields: tool, version, hashes of input and result, payer, amount, time.</li>
      <li>This service publishes that key, and it was good at the time that the receipt gives.</li>
      <li>Where the answer came along: the result is the stamped one, and the named earlier receipt was linked by the same key.</li>
    </ul>
    <h2>What it does not prove</h2>
    <ul>
      <li>That the result is right, or that anything in it exists.</li>
      <li>That money moved: payer, amount and tier are the signer’s word. The chain proves payments.</li>
      <li>When it was signed: the time is the signer’s word.</li>
      <li>That there are no other receipts: a chain shows what was linked, not what was left out.</li>
    </ul>`
}
