import { html } from 'hono/html'
import { assetPath, scriptPaths, type Script } from './assets.ts'
import { MARK_SPRITE } from './marks.ts'

/** Markup whose strangers' parts have been escaped. */
export type Markup = ReturnType<typeof html>

export const HTML_TYPE = 'text/html; charset=utf-8'

/** Everything from this origin, nothing inline, and no way to turn text into markup in a script. */
export const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
}

export interface Page {
  title: string
  /** What must be known of the deployment before anything else; null when there is nothing to mark. */
  mark: string | null
  main: Markup
  script?: Script
}

/** A whole page. */
export function layout({ title, mark, main, script }: Page): string {
  return `<!doctype html>\n${markupText(
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" type="image/svg+xml" href="${assetPath('icon.svg')}" />
        <link rel="stylesheet" href="${assetPath('style.css')}" />
        ${script === undefined ? '' : scripts(script)}
      </head>
      <body>
        <a class="skip" href="#main">To the content</a>
        ${mark === null ? '' : html`<p class="mark" role="note"><span>${mark}</span></p> `}${MARK_SPRITE}
        <header class="top">
          <a class="name" href="/"
            ><svg class="stamp" aria-hidden="true"><use href="#mark-valid"></use></svg>assay</a
          >
          <nav aria-label="Site">
            <a href="/#tools">Tools</a> <a href="/verify">Verify a receipt</a> <a href="/llms.txt">For machines</a>
          </nav>
          <p class="left" id="allowance" hidden></p>
        </header>
        <main id="main" tabindex="-1">${main}</main>
      </body>
    </html> `,
  )}`
}

function scripts(script: Script): Markup {
  const { entry, imports } = scriptPaths(script)
  return html`${imports.map((path) => html`<link rel="modulepreload" href="${path}" /> `)}
    <script type="module" src="${entry}"></script> `
}

/** Pages wait for nothing, so their markup is never a promise. */
function markupText(markup: Markup): string {
  if (markup instanceof Promise) throw new TypeError('a page holds a promise')
  return markup.toString()
}
