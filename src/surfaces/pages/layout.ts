import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { assetPath, scriptPaths, type Script } from './assets.ts'
import { html } from './html.ts'

export type Markup = VNode

export const HTML_TYPE = 'text/html; charset=utf-8'

/**
 * Headers of every page: everything from this origin, nothing inline, and no way to turn text into markup in a script. No window of another
 * origin shares a page's browsing context group (HTML standard, "Cross-origin opener policies"); wallets are injected by their extensions
 * (EIP-6963) and open no popup of the page, so `same-origin` breaks none. The device features that no page uses are switched off for what a
 * page may have been tricked into running.
 */
export const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()',
}

export interface Page {
  title: string
  /** Notice above everything else, such as that of the sandbox; null for none. */
  mark: string | null
  main: VNode
  script?: Script
  /** Style sheets in addition to the common one, by their path in this folder. */
  styles?: readonly string[]
  /** False on the checkout: no navigation, search or free calls, which do not concern a payer. */
  site?: boolean
  /** Text of the search field, on the page that shows its results. */
  query?: string
  /** Language tag of the text; English by default. */
  language?: string
  /** Text of the link to the content, in that language. */
  skip?: string
}

/** Pages of the site, in the order of the navigation, which is one line on a phone. */
const SITE = [
  ['/', 'Tools'],
  ['/verify', 'Verify'],
  ['/preflight', 'Preflight'],
  ['/reconcile', 'Reconcile'],
  ['/merchant', 'Get paid'],
  ['/docs', 'Docs'],
] as const

/** Pages at the foot of each page. */
const MORE = [
  ['/status', 'Status'],
  ['/docs/reference', 'API reference'],
  ['/credits', 'Credits'],
  ['/problems', 'Problems'],
] as const

/** Renders a whole page. */
export function layout(given: Page): string {
  const { title, mark, main, script, styles = [], site = true, query = '', language = 'en', skip = 'Skip to content' } = given
  const page = html`<html lang=${language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>${title}</title>
      <link rel="icon" type="image/svg+xml" href=${assetPath('icon.svg')} />
      ${['style.css', ...styles].map((path) => html`<link rel="stylesheet" href=${assetPath(path)} />`)}
      <${Scripts} scripts=${[...(site ? (['frame'] as const) : []), ...(script === undefined ? [] : [script])]} />
    </head>
    <body>
      <a class="skip" href="#main">${skip}</a>
      ${mark !== null && html`<p class="mark" role="note" lang=${language === 'en' ? undefined : 'en'}><span>${mark}</span></p>`}
      <${MarkSprite} />
      <${Header} query=${query} site=${site} />
      <main id="main" tabindex="-1">${main}</main>
      ${site && html`<footer class="foot"><nav id="more" aria-label="More pages">${linksTo(MORE)}</nav></footer>`}
    </body>
  </html>`
  return `<!doctype html>\n${renderToString(page)}`
}

/** Name, free calls left, navigation and the search, which works without a script too; the name alone where `site` is false. */
function Header({ query, site }: { query: string; site: boolean }) {
  if (!site) return html`<header class="top">${NAME}</header>`
  return html`<header class="top">
    ${NAME}
    <p class="left" id="allowance"></p>
    <nav id="site" aria-label="Site">${linksTo(SITE)}</nav>
    <search>
      <form id="finder" action="/" method="get">
        <input
          type="search"
          id="search"
          name="q"
          value=${query}
          placeholder="Search tools"
          aria-label="Search tools"
          aria-keyshortcuts="/"
          maxlength="64"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
        />
        <kbd aria-hidden="true">/</kbd>
      </form>
    </search>
  </header>`
}

function linksTo(pages: readonly (readonly [path: string, name: string])[]) {
  return pages.map(([path, name]) => html`<a href=${path}>${name}</a>`)
}

const NAME: Markup = html`<a class="name" href="/"
  ><svg class="stamp" aria-hidden="true"><use href="#mark-valid"></use></svg>assay</a
>`

/** Scripts of a page, and what they import, once each. */
function Scripts({ scripts }: { scripts: readonly Script[] }) {
  const all = scripts.map(scriptPaths)
  const imports = new Set(all.flatMap((one) => one.imports))
  return html`
    ${[...imports].map((path) => html`<link rel="modulepreload" href=${path} />`)}
    ${all.map(({ entry }) => html`<script type="module" src=${entry}></script>`)}
  `
}

/**
 * Shape of each verdict, for `<use href="#mark-…">`: a filled ring with a tick, a half ring, an open ring with a stroke, and a plain ring
 * for answers that judge nothing. Colours come from the style sheet, so that they follow light and dark.
 */
export function MarkSprite() {
  return html`<svg class="sprite" width="0" height="0" aria-hidden="true">
    <symbol id="mark-valid" viewBox="-12 -12 24 24">
      <circle r="10.5" fill="currentColor" />
      <path class="tick" d="M-5 .2l3.4 3.6L5.2-3.8" fill="none" stroke-width="2.4" />
    </symbol>
    <symbol id="mark-unverifiable" viewBox="-12 -12 24 24">
      <circle r="9.6" fill="none" stroke="currentColor" stroke-width="1.8" />
      <path d="M0-10.5a10.5 10.5 0 0 1 0 21z" fill="currentColor" />
    </symbol>
    <symbol id="mark-invalid" viewBox="-12 -12 24 24">
      <circle r="9.6" fill="none" stroke="currentColor" stroke-width="1.8" />
      <path d="M-6.8 6.8L6.8-6.8" stroke="currentColor" stroke-width="1.8" />
    </symbol>
    <symbol id="mark-done" viewBox="-12 -12 24 24"><circle r="9.6" fill="none" stroke="currentColor" stroke-width="1.8" /></symbol>
  </svg>`
}
