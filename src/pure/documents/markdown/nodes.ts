/** The document between reading and writing: a flat list of steps, so that no depth of nesting costs anything. */

export interface TableNode {
  kind: 'table'
  /** It holds headings, code or tables, or has one column: its cells are written as blocks. */
  layout: boolean
}

export type FormatNode = { kind: 'strong' | 'em' | 'del' | 'code' } | { kind: 'link'; href: string }

export type DocumentNode =
  | { kind: 'block' }
  | { kind: 'list'; ordered: boolean; start: number }
  | { kind: 'item'; value: number | null }
  | { kind: 'quote' }
  | { kind: 'heading'; level: number }
  | { kind: 'pre'; language: string }
  | TableNode
  | { kind: 'row'; table: TableNode; head: boolean }
  | { kind: 'cell'; table: TableNode; head: boolean; colspan: number; rowspan: number }
  | FormatNode

/** Block nodes open and close like brackets; a format may close while later ones are open. */
export type Step =
  | { step: 'open' | 'close'; node: DocumentNode }
  /** `apart`: what comes next is no part of it. */
  | { step: 'text'; text: string; apart?: true }
  | { step: 'break' }
  | { step: 'rule' }
  /** A box to tick, or one of several to choose from. */
  | { step: 'box'; ticked: boolean }
  /** `src` is null where the address was not fit to keep. */
  | { step: 'image'; alt: string; src: string | null }

/** What was left out, in numbers. */
export interface Dropped {
  scripts: number
  styles: number
  /** Other elements with their content: pictures, frames, templates, players. */
  embedded: number
  /** Elements that their own attributes hide, each with its content. */
  hidden: number
  /** Addresses of links and images that were not fit to keep; texts stay. */
  unsafe_links: number
  comments: number
  /** Control characters, overrides of the writing direction and tag characters. */
  invisible_characters: number
}
