import { hydrate } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { QUERY_CHARS, queryWords, searchEntries, type SearchEntry } from './tool-search.ts'

/** A tool, or a guide of the documentation, as the catalogue lists it. */
interface CatalogueEntry extends SearchEntry {
  href: string
  title: string
  /** Id of a tool; empty for a guide. */
  id: string
  family: string
  price: string
  /** Free calls of the tool where they differ from the shared allowance; else empty. */
  note: string
}

interface CatalogueProps {
  entries: readonly CatalogueEntry[]
  families: readonly { family: string; title: string }[]
  query: string
  payment_note: string
}

/** All tools by family, folded; while the search field has words, the tools and guides that it finds, best first. */
export function Catalogue({ entries, families, query: initial, payment_note }: CatalogueProps) {
  const [query, setQuery] = useState(initial)
  useEffect(() => followSearchField(setQuery), [])
  const searching = queryWords(query).length > 0
  useEffect(() => showFrontPage(!searching, query), [query])
  const tools = entries.filter(({ id }) => id !== '')
  return html`
    ${searching && html`<${SearchResults} query=${query} found=${searchEntries(query, entries)} />`}
    <section id="tools" aria-labelledby="tools-title" hidden=${searching}>
    <h2 id="tools-title">${tools.length} tools</h2>
    <p class="hint measure">${payment_note}</p>
    ${families.map(
      ({ family, title }) =>
        html`<${Shelf} key=${family} id=${`family-${family}`} title=${title} entries=${tools.filter((tool) => tool.family === family)} />`,
    )}
    <${Shelf} key="guides" id="guides" title="Guides" entries=${entries.filter(({ id }) => id === '')} />
    </section>
  `
}

/** Entries of one family, folded. A link to the list opens it. */
function Shelf({ id, title, entries }: { id: string; title: string; entries: readonly CatalogueEntry[] }) {
  return html`<details class="family">
    <summary><h3>${title}</h3> <span>${entries.length}</span></summary>
    <ul id=${id}>${entries.map((entry) => html`<${EntryRow} entry=${entry} />`)}</ul>
  </details>`
}

function SearchResults({ query, found }: { query: string; found: readonly CatalogueEntry[] }) {
  const shown = query.trim().slice(0, QUERY_CHARS)
  return html`<section class="results" aria-labelledby="found">
    <h1 id="found" role="status">
      ${found.length === 0 ? `Nothing found for “${shown}”` : `${found.length} ${found.length === 1 ? 'result' : 'results'} for “${shown}”`}
    </h1>
    ${found.length === 0 && html`<p>Try fewer or other words, or <a href="/">show all tools</a>.</p>`}
    <ul>${found.map((entry) => html`<${EntryRow} entry=${entry} />`)}</ul>
  </section>`
}

function EntryRow({ entry: { href, title, id, text, price, note, keywords, family } }: { entry: CatalogueEntry }) {
  return html`<li key=${href} data-keywords=${keywords} data-family=${family}>
    <div>
      <a href=${href}>${title}</a><code>${id === '' ? 'guide' : id}</code>
      <p class="hint about">${text}</p>
    </div>
    ${
      price !== '' &&
      html`<p class="cost"><span class="heard">Price now: </span><span>${price}</span>${note !== '' && html`<span class="hint">${note}</span>`}</p>`
    }
  </li>`
}

/** Calls `change` as the search field of the page changes; Escape clears it, Enter leads to the first result. */
function followSearchField(change: (query: string) => void): (() => void) | undefined {
  const field = document.getElementById('search')
  const form = document.getElementById('finder')
  if (!(field instanceof HTMLInputElement) || form === null) return undefined
  const listeners = new AbortController()
  const { signal } = listeners
  field.addEventListener('input', () => change(field.value), { signal })
  field.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || field.value === '') return
      event.preventDefault()
      field.value = ''
      change('')
    },
    { signal },
  )
  form.addEventListener(
    'submit',
    (event) => {
      event.preventDefault()
      document.querySelector<HTMLElement>('.results li a')?.focus()
    },
    { signal },
  )
  // The browser may have restored what was typed before a reload.
  if (field.value !== '') change(field.value)
  return () => listeners.abort()
}

/** The introduction makes way for results; the address follows, so that it can be shared. */
function showFrontPage(shown: boolean, query: string): void {
  const front = document.getElementById('front')
  if (front !== null) front.hidden = !shown
  const address = shown ? '/' : `/?q=${encodeURIComponent(query.trim())}`
  if (location.pathname + location.search !== address) history.replaceState(null, '', address + (shown ? location.hash : ''))
}

/** Attaches the catalogue to what the server rendered of it. */
export function hydrateCatalogue(): void {
  const root = document.getElementById('catalogue')
  if (root !== null) hydrate(html`<${Catalogue} ...${catalogueInPage()} />`, root)
}

/** Reads the props back from the rendered catalogue, which is smaller than to send them twice. */
function catalogueInPage(): CatalogueProps {
  const text = (within: Element, selector: string) => within.querySelector(selector)?.textContent ?? ''
  const entries = [...document.querySelectorAll<HTMLElement>('#tools .family li')].map((row): CatalogueEntry => {
    const { keywords = '', family = '' } = row.dataset
    const [title, code, about] = [text(row, 'a'), text(row, 'code'), text(row, '.about')]
    const id = code === 'guide' ? '' : code
    return {
      href: row.querySelector('a')?.getAttribute('href') ?? '',
      title,
      id,
      family,
      price: text(row, '.cost span:nth-child(2)'),
      note: text(row, '.cost .hint'),
      name: `${title} ${id}`,
      text: about,
      keywords,
    }
  })
  const families = [...document.querySelectorAll('#tools .family:has([id^="family-"])')].map((shelf) => ({
    family: shelf.querySelector('ul')?.id.replace('family-', '') ?? '',
    title: text(shelf, 'h3'),
  }))
  const query = document.getElementById('search')
  return {
    entries,
    families,
    query: query instanceof HTMLInputElement ? query.defaultValue : '',
    payment_note: text(document.body, '#tools > .hint'),
  }
}
