import { Parser, type Node } from 'commonmark'

/** What another reader, the reference implementation of CommonMark, finds in a Markdown text. */
export interface Outline {
  headings: { level: number; text: string }[]
  links: { text: string; href: string }[]
  images: { text: string; href: string }[]
  /** But for the breaks in cells. */
  raw_html: string[]
  tree: Block[]
}

/** A block with what it holds; the text has each run of white space as one space. */
export type Block = [type: string, ...content: (string | Block)[]]

export function outlineOf(markdown: string): Outline {
  const outline: Outline = { headings: [], links: [], images: [], raw_html: [], tree: [] }
  const document = new Parser().parse(markdown)
  const walker = document.walker()
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { node, entering } = event
    if (!entering) continue
    if (node.type === 'heading') outline.headings.push({ level: node.level, text: textOf(node) })
    if (node.type === 'link') outline.links.push({ text: textOf(node), href: node.destination ?? '' })
    if (node.type === 'image') outline.images.push({ text: textOf(node), href: node.destination ?? '' })
    if ((node.type === 'html_inline' || node.type === 'html_block') && !isBreak(node)) outline.raw_html.push(node.literal ?? '')
  }
  outline.tree = childrenOf(document)
  return outline
}

/** A run of white space is one space, and none at the edges. */
export function tidy(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** A line break as cells of tables write it. */
function isBreak({ type, literal }: Node): boolean {
  return type === 'html_inline' && literal === '<br>'
}

/** The text in a node. The marks of a deletion, which CommonMark does not know, are no text; escaped ones stand alone. */
function textOf(node: Node): string {
  const parts: string[] = []
  const walker = node.walker()
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { type, literal } = event.node
    if (!event.entering) continue
    if (type === 'text') parts.push((literal ?? '').replaceAll('~~', ''))
    else if (type === 'softbreak' || type === 'linebreak' || isBreak(event.node)) parts.push(' ')
    else if (type === 'code') parts.push(literal ?? '')
  }
  return tidy(parts.join(''))
}

function childrenOf(node: Node): Block[] {
  const blocks: Block[] = []
  for (let child = node.firstChild; child !== null; child = child.next) blocks.push(blockOf(child))
  return blocks
}

function blockOf(node: Node): Block {
  if (node.type === 'paragraph') return ['p', textOf(node)]
  if (node.type === 'heading') return [`h${node.level}`, textOf(node)]
  if (node.type === 'code_block') return ['pre', node.info ?? '', node.literal ?? '']
  if (node.type === 'list') return [node.listType === 'ordered' ? `ol ${node.listStart}` : 'ul', ...childrenOf(node)]
  if (node.type === 'item') return ['li', ...childrenOf(node)]
  return [node.type === 'block_quote' ? 'quote' : node.type, ...childrenOf(node)]
}
