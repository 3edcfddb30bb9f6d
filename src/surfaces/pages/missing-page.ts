import { modeMark } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { html } from './html.ts'
import { layout } from './layout.ts'

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
