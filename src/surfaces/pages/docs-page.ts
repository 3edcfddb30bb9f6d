import { html } from './html.ts'
import type { Hono } from 'hono'
import { openApiDocument } from '../openapi.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { sendDocument, type StoredDocument } from '../http/document.ts'
import { runExamples } from '../discovery/documents.ts'
import type { Env } from '../http/reply.ts'
import type { Chapter } from './docs/parts.ts'
import { operationChapters, readReference, referenceChapters, type Reference } from './docs/reference.ts'
import { GROUPS, REFERENCE, topicPath, type Topic } from './docs/topics.ts'
import { HTML_TYPE, layout, PAGE_HEADERS, type Markup } from './layout.ts'
import { storedPage } from './priced.ts'

const HEADERS = { ...PAGE_HEADERS, 'cache-control': 'no-cache' }

/** `/docs`, `/docs/{topic}` and `/docs/reference/{operation}`: each made once, when it is first asked for. */
export function docsRoutes(app: Hono<Env>, deps: AppDeps): void {
  const kept = keeper<StoredDocument>()
  const known = keeper<Reference>()
  const reference = () => known('', () => referenceOf(deps))
  const page = (id: string, make: () => Promise<string>) => kept(id, async () => storedPage(await make()))
  for (const topic of GROUPS.flatMap(({ topics }) => topics)) {
    const make = () => Promise.resolve(docsPage(deps, topic, topic.chapters(deps)))
    app.get(topicPath(topic), async (context) => sendDocument(context, await page(topic.id, make)))
  }
  app.get('/docs/reference', async (context) => {
    const chosen = context.req.query('operation')
    if (chosen !== undefined && (await reference()).operations.has(chosen)) return context.redirect(`/docs/reference/${chosen}#try`, 303)
    return sendDocument(context, await page(REFERENCE.id, async () => docsPage(deps, REFERENCE, referenceChapters(await reference()))))
  })
  app.get('/docs/reference/:operation', async (context) => {
    const id = context.req.param('operation')
    const found = await reference()
    const operation = found.operations.get(id)
    if (operation === undefined) return context.body(unknownPage(deps), 404, { ...HEADERS, 'content-type': HTML_TYPE })
    const topic = { id: `reference/${id}`, title: id, words: '' }
    return sendDocument(
      context,
      await page(topic.id, () => Promise.resolve(docsPage(deps, topic, operationChapters(deps, found, operation)))),
    )
  })
  app.get('/docs/:topic', (context) => context.body(unknownPage(deps), 404, { ...HEADERS, 'content-type': HTML_TYPE }))
}

/** Cache of promises by name. A rejected promise is removed, so that the next request retries. */
function keeper<Value>(): (name: string, make: () => Promise<Value>) => Promise<Value> {
  const made = new Map<string, Promise<Value>>()
  return (name, make) => {
    const known = made.get(name)
    if (known !== undefined) return known
    const fresh = make()
    made.set(name, fresh)
    fresh.catch(() => made.delete(name))
    return fresh
  }
}

async function referenceOf(deps: AppDeps): Promise<Reference> {
  const { tools } = deps.call.catalogue
  const examples = await runExamples(tools, deps.call.sources)
  return readReference(openApiDocument({ deployment: deps, tools, schemas: deps.schemas, examples }))
}

type Named = Pick<Topic, 'id' | 'title' | 'words'>

function docsPage(deps: AppDeps, topic: Named, chapters: readonly Chapter[]): string {
  const inside = topic.id.startsWith('reference/')
  const main = html`<div class="docs">
    ${contents(topic)}
    <article class="doc-page">
      <div class="lead">
        ${crumb(topic, inside)}
        <h1>${inside ? html`<code>${topic.title}</code>` : topic.title}</h1>
        ${topic.words === '' ? '' : html`<p>${topic.words}</p>`}
      </div>
      ${chapters.length > 2 ? pageContents(chapters) : ''}
      ${chapters.map(
        ({ id, title, body }) =>
          html`<section id="${id}" aria-labelledby="${id}-title">
            <h2 id="${id}-title"><a class="anchor" href="#${id}">${title}</a></h2>
            ${body}
          </section>`,
      )}
    </article>
  </div>`
  const page = { title: `${topic.title} · assay docs`, mark: modeMark(deps), main, styles: ['styles/docs.css'] }
  return layout(inside ? { ...page, script: 'docs' } : page)
}

function crumb({ id }: Named, inside: boolean): Markup | string {
  if (id === '') return ''
  return html`<p class="crumb"><a href="/docs">Docs</a>${inside ? html` · <a href="/docs/reference">API reference</a>` : ''}</p>`
}

/** The rail of topics; a narrow screen has them folded above the text instead. */
function contents(topic: Named): Markup {
  return html`<nav class="rail" aria-label="Documentation">${topicLists(topic)}</nav>
    <details class="folded">
      <summary>Contents</summary>
      <nav aria-label="Documentation, folded">${topicLists(topic)}</nav>
    </details>`
}

function topicLists(topic: Named): Markup {
  const link = ({ id, title }: Named) => {
    const above = id === REFERENCE.id && topic.id.startsWith('reference/')
    return html`<li>
      <a href="${topicPath({ id })}" aria-current=${id === topic.id ? 'page' : above ? 'true' : undefined}>${title}</a>
    </li>`
  }
  return html`${[...GROUPS, { title: 'Look up', topics: [REFERENCE] }].map(
    (group) =>
      html`<p class="rail-title">${group.title}</p>
        <ul>
          ${group.topics.map(link)}
        </ul>`,
  )}`
}

function pageContents(chapters: readonly Chapter[]): Markup {
  return html`<nav class="on-page" aria-label="On this page">
    <ul>
      ${chapters.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
  </nav>`
}

function unknownPage(deps: AppDeps): string {
  const main = html`<div class="lead">
    <h1>No such page</h1>
    <p>
      The <a href="/docs">documentation</a> has its contents on the left; the <a href="/docs/reference">API reference</a> has every
      operation.
    </p>
  </div>`
  return layout({ title: 'No such page · assay docs', mark: modeMark(deps), main })
}
