import { html } from 'hono/html'
import { modeMark } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { layout } from './layout.ts'

/** What a person sees at an address that nothing has; programs get a problem. */
export function missingPage(deps: AppDeps): string {
  const main = html`<div class="lead">
    <h1>Nothing is here</h1>
    <p>
      No page and no document has this address. The <a href="/">tools</a> can be searched by name, the <a href="/docs">documentation</a> has
      its contents on the left, and <a href="/problems">problems</a> lists every error by its code.
    </p>
  </div>`
  return layout({ title: 'Nothing is here · assay', mark: modeMark(deps), main })
}
