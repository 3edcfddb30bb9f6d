import { raw } from 'hono/html'
import { layout } from '../pages/layout.ts'

export { HTML_TYPE, PAGE_HEADERS } from '../pages/layout.ts'

/** A page without a script; `title` and `mark` are text, `main` is markup. */
export function htmlPage(title: string, mark: string | null, main: string): string {
  return layout({ title, mark, main: raw(main) })
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
