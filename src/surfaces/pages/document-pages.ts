import type { Hono } from 'hono'
import type { AppDeps } from '../deps.ts'
import { once } from '../../pure/once.ts'
import { sendDocument, storedDocument } from '../discovery/document.ts'
import type { Env } from '../http/env.ts'
import { HTML_TYPE, PAGE_HEADERS } from './layout.ts'
import { preflightPage } from './preflight-page.ts'
import { reconcilePage } from './reconcile-page.ts'

/** The pages where documents are checked as they lie: one sends them to the preflight, the other keeps them in the browser. */
export function documentPages(app: Hono<Env>, deps: AppDeps): void {
  const stored = (text: string) => storedDocument(HTML_TYPE, text, { ...PAGE_HEADERS, 'cache-control': 'no-cache' })
  const preflight = once(() => stored(preflightPage(deps)))
  const reconcile = once(() => stored(reconcilePage(deps)))
  app.get('/preflight', (context) => sendDocument(context, preflight()))
  app.get('/reconcile', (context) => sendDocument(context, reconcile()))
}
