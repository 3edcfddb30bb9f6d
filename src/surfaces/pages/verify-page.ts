import { CHECK_HEADLINES } from '../../service/catalogue/headlines.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { modulePath } from './assets.ts'
import { VerifyDesk, type VerifyDeskProps } from './components/verify-desk.ts'
import { html, Island } from './html.ts'
import { layout } from './layout.ts'

/** Tool of the sample receipt. */
const SAMPLE_TOOL = 'iban-check'

/** `/verify`: verifies receipts and certificates in the browser. They are pasted, read from files, or follow `#r=`, which browsers do not send. */
export function verifyPage(deps: AppDeps): string {
  const main = html`
    <div class="lead">
      <h1>Verify receipts</h1>
      <p>
        Check who signed a receipt and whether its result was changed. Your browser does the arithmetic; what you paste is not sent. The
        page loads the <a href="/.well-known/xdr-1.json">key list</a> of this service, and its verifier is
        <a href=${modulePath('pure/receipts/verify')}>one small module</a>, the same one that the server and the command line use.
      </p>
    </div>
    <${Island} id="desk" component=${VerifyDesk} props=${deskProps(deps)} />
  `
  return layout({ title: 'Verify receipts · assay', mark: modeMark(deps), main, script: 'verify', styles: ['styles/verify.css'] })
}

function deskProps(deps: AppDeps): VerifyDeskProps {
  const { catalogue } = deps.call
  const tool = catalogue.find(SAMPLE_TOOL)
  const own = catalogue.tools.filter(({ headlines }) => headlines !== CHECK_HEADLINES)
  return {
    headlines: Object.fromEntries(own.map(({ id, headlines }) => [id, headlines])),
    sample: tool === undefined ? null : { tool: tool.id, title: tool.title, input: JSON.stringify(tool.example) },
  }
}
