import { el, svg } from '../dom.ts'
import type { Piece } from './pieces.ts'

/** A piece as nodes of this document. */
export function build(given: Piece): Node {
  if (typeof given === 'string') return document.createTextNode(given)
  const { tag, attributes, children } = given
  const nodes = children.map(build)
  return tag === 'svg' || tag === 'use' ? svg(tag, attributes, ...nodes) : el(tag, attributes, ...nodes)
}
