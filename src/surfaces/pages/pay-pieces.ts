import { raw } from 'hono/html'
import { escapeHtml } from '../discovery/html.ts'
import type { Piece } from './client/pay/pieces.ts'
import type { Markup } from './layout.ts'

/** A piece as markup, every text escaped. */
export function written(given: Piece | null): Markup {
  return raw(given === null ? '' : textOf(given))
}

function textOf(given: Piece): string {
  if (typeof given === 'string') return escapeHtml(given)
  const { tag, attributes, children } = given
  const written_attributes = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeHtml(value)}"`)
  return `<${tag}${written_attributes.join('')}>${children.map(textOf).join('')}</${tag}>`
}
