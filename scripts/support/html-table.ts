const ENTITIES: Readonly<Record<string, string>> = { amp: '&', nbsp: ' ', lt: '<', gt: '>', quot: '"', ndash: '-', mdash: '-' }

/** The text of an HTML fragment: tags gone, entities and dashes made plain, space collapsed. */
function plainText(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&([a-z]+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Cells of every table row of a page, headers included, in document order. */
export function htmlRows(page: string): string[][] {
  return Array.from(page.matchAll(/<tr\b[^>]*>([\s\S]*?)<\/tr>/gi), ([, row = '']) =>
    Array.from(row.matchAll(/<t[dh]\b[^>]*>([\s\S]*?)<\/t[dh]>/gi), ([, cell = '']) => plainText(cell)),
  )
}
