import { DEFAULT_WINDOW, windowSentence } from '../../pure/documents/reconcile/dates.ts'
import { html } from 'hono/html'
import { modeMark, paymentWords } from '../../service/catalogue/text.ts'
import { limits } from '../../service/limits.ts'
import type { AppDeps } from '../deps.ts'
import { assetPath, scriptPaths } from './assets.ts'
import { layout, type Markup } from './layout.ts'

const MIB = 1_048_576
/** Bytes of one file that the page takes. A browser would read more; beyond this the command line is the better place. */
const FILE_BYTES = 64 * MIB

/** `/reconcile`: payments against what the bank says of them, worked out in the browser; the files stay on the machine. */
export function reconcilePage(deps: AppDeps): string {
  const main = html`<div class="lead">
      <h1>Reconcile</h1>
      <p>
        Which payments are settled, and which are not? Your browser works it out: <b>the files are not sent anywhere</b>. The engine is
        <a href="${assetPath('pure/documents/reconcile/reconcile.ts')}">the same one</a> that the tool
        <a href="/tools/reconcile"><code>reconcile</code></a> and the command line run.
      </p>
    </div>
    <form
      class="ask files"
      id="reconcile"
      data-worker="${scriptPaths('reconcile/worker').entry}"
      data-file-bytes="${FILE_BYTES}"
      data-body-bytes="${limits.document_body_bytes}"
    >
      <div class="slots">
        ${slot('instructions', 'Payments', 'pain.001 or pacs.008')} ${slot('statement', 'What the bank says', 'camt.053, or an ACH file')}
      </div>
      <p class="hint">
        Drop one file or both anywhere on this page. At most ${FILE_BYTES / MIB} MiB each; the command line takes files of any size:
        <code class="line" tabindex="0">assay reconcile --instructions payments.xml --statement statement.xml</code>
      </p>
      <p class="option">
        <label for="evidence"><input type="checkbox" id="evidence" /> An ACH entry that was only originated settles nothing</label>
      </p>
      <p class="send">
        <button type="submit">Reconcile</button>
        <button type="button" class="quiet" id="sample-correct">Sample files</button>
        <button type="button" class="quiet" id="sample-faulty">A statement with a fault</button>
      </p>
      <div class="state">
        <div class="progress" id="progress" data-idle>
          <progress id="passed" max="1" value="0" aria-label="Read so far"></progress>
          <span class="hint" id="speed"></span>
          <button type="button" class="quiet" id="cancel">Stop</button>
        </div>
        <p class="hint heard" id="asking" role="status"></p>
      </div>
      <noscript
        ><p class="hint">
          This page needs a script of this site. In a shell: <code>assay reconcile --instructions … --statement …</code>
        </p></noscript
      >
    </form>
    <section class="answer" id="answer" aria-label="Result" tabindex="-1">
      <p class="empty">The verdict on every payment will stand here, with the sums of each currency. Two files are needed.</p>
    </section>
    ${rowsMarkup()} ${signMarkup()}
    <section class="scope" aria-label="Scope">
      <h2>What is compared</h2>
      <p>
        End-to-end ids first, then UETR and weaker ids; amounts to the minor unit; returns, charges, batches and repeated statements;
        direction and account of each entry. ${windowSentence(DEFAULT_WINDOW)} Every entry is counted exactly once.
      </p>
      <h2>What is not</h2>
      <p>
        The messages against their schemas, balances, and conversion between currencies: nothing is converted. An ACH file alone shows that
        a payment was originated, not that it was settled. What this page shows is not signed.
      </p>
    </section>
    <p id="payment-words" hidden>${paymentWords(deps)}</p>`
  return layout({ title: 'Reconcile · assay', mark: modeMark(deps), main, script: 'reconcile', style: 'reconcile' })
}

function slot(side: 'instructions' | 'statement', title: string, kinds: string): Markup {
  return html`<div class="slot" id="slot-${side}">
    <h2>${title}</h2>
    <p class="hint">${kinds}</p>
    <p class="given" id="given-${side}"><span class="none">no file yet</span></p>
    <label class="choose" for="file-${side}">Choose a file</label>
    <input type="file" id="file-${side}" accept=".xml,.txt,.ach,application/xml,text/xml,text/plain" aria-describedby="given-${side}" />
  </div>`
}

function rowsMarkup(): Markup {
  return html`<section id="rows" aria-labelledby="rows-title" hidden>
    <div class="bar">
      <h2 id="rows-title">Every payment</h2>
      <p class="acts">
        <button type="button" class="quiet" id="export-csv">Save as CSV</button>
        <button type="button" class="quiet" id="export-json">Save as JSON</button>
      </p>
    </div>
    <fieldset class="views" id="views">
      <legend class="heard">Which rows</legend>
    </fieldset>
    <p class="search">
      <label for="row-search" class="heard">Search rows</label>
      <input type="search" id="row-search" placeholder="Search: id, amount, reason" autocomplete="off" spellcheck="false" maxlength="64" />
      <span class="hint" id="found" role="status"></span>
    </p>
    <div class="grid" id="grid" tabindex="0" role="region" aria-label="Rows">
      <table>
        <thead></thead>
        <tbody></tbody>
      </table>
    </div>
  </section>`
}

function signMarkup(): Markup {
  return html`<section id="sign" aria-labelledby="sign-title" hidden>
    <h2 id="sign-title">A signed receipt</h2>
    <p class="measure">
      This page proves nothing to others. The service can reconcile the same two files and sign its answer: then
      <b>both files are sent to it</b>, and it counts as one call of <a href="/tools/reconcile"><code>reconcile</code></a
      >.
    </p>
    <p class="send">
      <button type="button" id="sign-now">Send both files and sign</button> <span class="hint" id="signing" role="status"></span>
    </p>
    <div id="signed"></div>
  </section>`
}
