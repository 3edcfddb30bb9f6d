/** The few pages that are served before the site is there: one column, no script, nothing loaded. */

const STYLE = `
:root{color-scheme:light dark;--paper:#FAF8F3;--raised:#FFFFFF;--ink:#1B1D21;--muted:#5A5F66;--rule:#DDD8CC;--metal:#7A5415}
@media (prefers-color-scheme:dark){:root{--paper:#111315;--raised:#191C1F;--ink:#ECE9E2;--muted:#A3A7AD;--rule:#30343A;--metal:#D8B26A}}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 ui-sans-serif,system-ui,sans-serif}
main{max-width:68ch;margin:0 auto;padding:40px 16px}
h1{font-size:40px;line-height:1.2;margin:0 0 16px}h2{font-size:20px;margin:40px 0 8px;border-top:1px solid var(--rule);padding-top:16px}
a{color:var(--metal)}a:focus-visible{outline:2px solid var(--metal);outline-offset:2px}
code,pre{font-family:ui-monospace,monospace;font-variant-numeric:tabular-nums;font-size:14px}
pre{background:var(--raised);border:1px solid var(--rule);border-radius:2px;padding:16px;overflow-x:auto}
dt{margin-top:12px}dd{margin:0;color:var(--muted)}
.mark{margin:0;padding:12px 16px;font-weight:600;border-bottom:1px solid var(--ink);background:repeating-linear-gradient(135deg,var(--rule) 0 8px,var(--raised) 8px 16px)}
.mark span{background:var(--raised);padding:4px 8px;border-radius:2px}
`

const STYLE_HASH = btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(STYLE)))))

/** Allows this one style sheet and nothing else. */
export const PAGE_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
}

export const HTML_TYPE = 'text/html; charset=utf-8'

/** A whole page; `title` and `mark` are text, `main` is markup. */
export function htmlPage(title: string, mark: string | null, main: string): string {
  const band = mark === null ? '' : `<p class="mark" role="note"><span>${escapeHtml(mark)}</span></p>\n`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${band}<main>
${main}
</main>
</body>
</html>
`
}

/** Rows of a definition list, each a link with words about it. */
export function linkList(rows: readonly { href: string; name: string; words: string }[]): string {
  const row = ({ href, name, words }: (typeof rows)[number]) =>
    `<dt><a href="${escapeHtml(href)}"><code>${escapeHtml(name)}</code></a></dt>\n<dd>${escapeHtml(words)}</dd>`
  return `<dl>\n${rows.map(row).join('\n')}\n</dl>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
