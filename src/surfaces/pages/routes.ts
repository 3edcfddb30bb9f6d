import type { Hono } from 'hono'
import { once } from '../../pure/once.ts'
import type { AppDeps } from '../deps.ts'
import { sendDocument, storedDocument } from '../http/document.ts'
import type { Env } from '../http/reply.ts'
import { assets } from './assets.ts'
import { docsRoutes } from './docs-page.ts'
import { boughtPage, creditsPage, merchantPage, preflightPage, reconcilePage, verifyPage } from './fixed-pages.ts'
import { HTML_TYPE, PAGE_HEADERS } from './layout.ts'
import { LIVE_HEADERS, pricedPage, storedPage } from './priced.ts'
import { toolPage, unknownToolPage } from './tool-page.ts'

const FOR_GOOD = 'public, max-age=31536000, immutable'

/** Policy of scripts. A worker is bound by the policy sent with its file and not by that of the page (Content Security Policy 3, §4.2). */
const SCRIPT_POLICY = { 'content-security-policy': "default-src 'none'; script-src 'self'; frame-ancestors 'none'" }

/** Pages that are the same for everybody. */
const FIXED: Readonly<Record<string, (deps: AppDeps) => string>> = {
  '/preflight': preflightPage,
  '/reconcile': reconcilePage,
  '/merchant': merchantPage,
  '/credits': creditsPage,
  '/credits/done': boughtPage,
}

/** The pages for people, and what they load. `/` is negotiated among the discovery documents. */
export function pageRoutes(app: Hono<Env>, deps: AppDeps): void {
  const { catalogue } = deps.call
  const verify = once(() => storedPage(verifyPage(deps)))
  docsRoutes(app, deps)
  app.get('/verify', (context) => sendDocument(context, verify()))
  for (const [path, write] of Object.entries(FIXED)) {
    const page = once(() => storedDocument(HTML_TYPE, write(deps), { ...PAGE_HEADERS, 'cache-control': 'no-cache' }))
    app.get(path, (context) => sendDocument(context, page()))
  }
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
    const asset = await files.get(context.req.param('path'))?.()
    if (asset === undefined) return context.notFound()
    // A page may outlive the files that it was made for; it then gets those of now, to be asked for again.
    const kept = context.req.param('version') === version ? FOR_GOOD : 'no-store'
    const { body, headers } = await asset.encoded.for(context.req.header('accept-encoding'))
    return context.body(body, 200, { ...headers, ...SCRIPT_POLICY, 'content-type': asset.type, 'cache-control': kept })
  })
}
