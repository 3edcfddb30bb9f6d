import { html } from 'hono/html'
import { assetPath, scriptPaths, type Script } from './assets.ts'
import { MARK_SPRITE } from './marks.ts'

/** Markup whose strangers' parts have been escaped. */
export type Markup = ReturnType<typeof html>

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
  /** What must be known of the deployment before anything else; null when there is nothing to mark. */
  mark: string | null
  main: Markup
  script?: Script
  /** The style sheet of this page alone, `styles/<name>.css`. */
  style?: string
  /** What stands in the search, on the page that shows what it found. */
  query?: string
}

/** The places of this site, in the order of its head. */
const PLACES = [
  ['/', 'Tools'],
  ['/verify', 'Verify'],
  ['/preflight', 'Preflight'],
  ['/reconcile', 'Reconcile'],
  ['/docs', 'Docs'],
  ['/status', 'Status'],
] as const

/** A whole page. */
export function layout({ title, mark, main, script, style, query = '' }: Page): string {
  return `<!doctype html>\n${markupText(
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" type="image/svg+xml" href="${assetPath('icon.svg')}" />
        <link rel="stylesheet" href="${assetPath('style.css')}" />
        ${style === undefined ? '' : html`<link rel="stylesheet" href="${assetPath(`styles/${style}.css`)}" />`} ${scripts(script)}
      </head>
      <body>
        <a class="skip" href="#main">To the content</a>
        ${mark === null ? '' : html`<p class="mark" role="note"><span>${mark}</span></p> `}${MARK_SPRITE} ${head(query)}
        <main id="main" tabindex="-1">${main}</main>
      </body>
    </html> `,
  )}`
}

/** Name, free calls left, the places of the site, and the search, which works without a script too. */
function head(query: string): Markup {
  return html`<header class="top">
    <a class="name" href="/"
      ><svg class="stamp" aria-hidden="true"><use href="#mark-valid"></use></svg>assay</a
    >
    <p class="left" id="allowance"></p>
    <nav id="site" aria-label="Site">${PLACES.map(([path, name]) => html`<a href="${path}">${name}</a> `)}</nav>
    <search>
      <form id="finder" action="/" method="get">
        <input
          type="search"
          id="search"
          name="q"
          value="${query}"
          placeholder="Search tools"
          aria-label="Search tools"
          aria-keyshortcuts="/"
          maxlength="64"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
        /><kbd aria-hidden="true">/</kbd>
      </form>
    </search>
  </header>`
}

/** The frame of every page, and the script of this one; what both import is named once. */
function scripts(script: Script | undefined): Markup {
  const all = [scriptPaths('frame'), ...(script === undefined ? [] : [scriptPaths(script)])]
  const imports = new Set(all.flatMap((one) => one.imports))
  return html`${[...imports].map((path) => html`<link rel="modulepreload" href="${path}" /> `)}
  ${all.map(({ entry }) => html`<script type="module" src="${entry}"></script> `)}`
}

/** Pages wait for nothing, so their markup is never a promise. */
function markupText(markup: Markup): string {
  if (markup instanceof Promise) throw new TypeError('a page holds a promise')
  return markup.toString()
}
