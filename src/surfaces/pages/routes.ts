import type { Hono } from 'hono'
import type { AppDeps } from '../deps.ts'
import { once, sendDocument, storedDocument, type StoredDocument } from '../discovery/document.ts'
import type { Env } from '../http/env.ts'
import { assets } from './assets.ts'
import { HTML_TYPE, PAGE_HEADERS } from './layout.ts'
import { toolPage, unknownToolPage } from './tool-page.ts'
import { verifyPage } from './verify-page.ts'

/** Pages name the version of their assets, so each visit asks whether they still stand. */
const HEADERS = { ...PAGE_HEADERS, 'cache-control': 'no-cache' }
const FOR_GOOD = 'public, max-age=31536000, immutable'

/** The pages for people, and what they load. `/` is negotiated among the discovery documents. */
export function pageRoutes(app: Hono<Env>, deps: AppDeps): void {
  const { catalogue } = deps.call
  const verify = once(() => page(verifyPage(deps)))
  app.get('/verify', (context) => sendDocument(context, verify()))
  app.get('/tools', (context) => context.redirect('/#tools', 308))
  app.get('/tools/:tool', (context) => {
    const named = context.req.param('tool')
    const tool = catalogue.find(named)
    if (tool === undefined) return context.body(unknownToolPage(deps, named), 404, { ...HEADERS, 'content-type': HTML_TYPE })
    return tool.id === named ? sendDocument(context, page(toolPage(deps, tool))) : context.redirect(`/tools/${tool.id}`, 308)
  })
  app.get('/assets/:version/:path{.+}', (context) => {
    const { version, files } = assets()
    const asset = files.get(context.req.param('path'))
    if (asset === undefined) return context.notFound()
    // A page may outlive the files that it was made for; it then gets those of now, to be asked for again.
    const kept = context.req.param('version') === version ? FOR_GOOD : 'no-store'
    return context.body(asset.body, 200, { 'content-type': asset.type, 'cache-control': kept })
  })
}

function page(text: string): StoredDocument {
  return storedDocument(HTML_TYPE, text, HEADERS)
}
