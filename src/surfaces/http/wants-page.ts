import type { Context } from 'hono'
import { accepts } from 'hono/accepts'

const JSON_FORM = 'application/json'
const PAGE_FORM = 'text/html'

/**
 * Whether a client would rather have a page than JSON (RFC 9110 §12.5.1): by weight, each form under the most specific range that names it.
 * Where both weigh the same, the one that is named more closely; else what is usual here.
 */
export function wantsPage(context: Context, usual: 'json' | 'page' = 'json'): boolean {
  const form = usual === 'page' ? PAGE_FORM : JSON_FORM
  return accepts(context, { header: 'Accept', supports: [JSON_FORM, PAGE_FORM], default: form, match: heavier }) === PAGE_FORM
}

interface Range {
  type: string
  q: number
}

function heavier(ranges: readonly Range[], { default: usual }: { default: string }): string {
  const [page, json] = [standing(PAGE_FORM, ranges), standing(JSON_FORM, ranges)]
  const ahead = page.weight - json.weight || page.closeness - json.closeness
  if (ahead === 0) return usual
  return ahead > 0 ? PAGE_FORM : JSON_FORM
}

function standing(form: string, ranges: readonly Range[]): { weight: number; closeness: number } {
  const matching = ['*/*', `${form.slice(0, form.indexOf('/'))}/*`, form]
  for (const [closeness, range] of [...matching.entries()].toReversed()) {
    const found = ranges.find(({ type }) => type.toLowerCase() === range)
    if (found !== undefined) return { weight: found.q, closeness: found.q === 0 ? 0 : closeness }
  }
  return { weight: 0, closeness: 0 }
}
