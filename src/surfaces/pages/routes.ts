import type { Hono } from 'hono'
import type { AppDeps } from '../deps.ts'
import { once } from '../../pure/once.ts'
import { sendDocument } from '../discovery/document.ts'
import type { Env } from '../http/env.ts'
import { assets } from './assets.ts'
import { docsRoutes } from './docs-page.ts'
import { documentPages } from './document-pages.ts'
import { HTML_TYPE } from './layout.ts'
import { LIVE_HEADERS, pricedPage, storedPage } from './priced.ts'
import { toolPage, unknownToolPage } from './tool-page.ts'
import { verifyPage } from './verify-page.ts'

const FOR_GOOD = 'public, max-age=31536000, immutable'

/** A worker obeys the policy of its own file and not of the page: what it imports is loaded by this one (Content Security Policy 3, §4.2). */
const SCRIPT_POLICY = { 'content-security-policy': "default-src 'none'; script-src 'self'; frame-ancestors 'none'" }

/** The pages for people, and what they load. `/` is negotiated among the discovery documents. */
export function pageRoutes(app: Hono<Env>, deps: AppDeps): void {
  const { catalogue } = deps.call
  const verify = once(() => storedPage(verifyPage(deps)))
  docsRoutes(app, deps)
  app.get('/verify', (context) => sendDocument(context, verify()))
  documentPages(app, deps)
  const tools = new Map(catalogue.tools.map((tool) => [tool.id, pricedPage(deps, (prices) => toolPage(deps, tool, prices))]))
  app.get('/tools', (context) => context.redirect('/#tools', 308))
  app.get('/tools/:tool', async (context) => {
    const named = context.req.param('tool')
    const tool = catalogue.find(named)
    const page = tools.get(named)
    if (page !== undefined) return sendDocument(context, await page())
    if (tool !== undefined) return context.redirect(`/tools/${tool.id}`, 308)
    return context.body(unknownToolPage(deps, named), 404, { ...LIVE_HEADERS, 'content-type': HTML_TYPE })
  })
  app.get('/assets/:version/:path{.+}', async (context) => {
    const { version, files } = assets()
    const asset = files.get(context.req.param('path'))
    if (asset === undefined) return context.notFound()
    // A page may outlive the files that it was made for; it then gets those of now, to be asked for again.
    const kept = context.req.param('version') === version ? FOR_GOOD : 'no-store'
    const { body, headers } = await asset.encoded.for(context.req.header('accept-encoding'))
    return context.body(body, 200, { ...headers, ...SCRIPT_POLICY, 'content-type': asset.type, 'cache-control': kept })
  })
}
