import { DEFAULT_WINDOW, windowSentence } from '../../pure/documents/reconcile/values.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import { limits } from '../../service/limits.ts'
import type { AppDeps } from '../deps.ts'
import { modulePath, scriptPaths } from './assets.ts'
import { ReconcileDesk } from './components/reconcile-desk.ts'
import { html, Island } from './html.ts'
import { layout } from './layout.ts'
import { paymentWays } from './tool-words.ts'

/** Largest file that the page takes. Browsers can read more; for larger files the command line is faster. */
const FILE_BYTES = 67_108_864

/** `/reconcile`: compares payments with a bank statement in the browser; the files stay on the machine. */
export function reconcilePage(deps: AppDeps): string {
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
