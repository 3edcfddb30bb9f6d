/**
 * Markup as data, so that the server writes and the browser builds the very same view from one description. Text is text in both: neither
 * side ever reads it as markup.
 */
export type Piece = string | Element

interface Element {
  tag: Tag
  attributes: Readonly<Record<string, string>>
  children: readonly Piece[]
}

export type Tag = 'b' | 'code' | 'dd' | 'div' | 'dl' | 'dt' | 'h2' | 'h3' | 'li' | 'ol' | 'p' | 'span' | 'svg' | 'time' | 'ul' | 'use'

/** A child that is null is left out. */
export function piece(tag: Tag, attributes: Readonly<Record<string, string>> = {}, ...children: (Piece | null)[]): Piece {
  return { tag, attributes, children: children.filter((child) => child !== null) }
}

/** The mark of a verdict, beside its word. */
export function markPiece(mark: string): Piece {
  return piece('svg', { class: 'shape', 'aria-hidden': 'true' }, piece('use', { href: `#mark-${mark}` }))
}
