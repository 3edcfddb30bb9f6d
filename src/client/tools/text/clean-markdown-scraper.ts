// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** HTML to clean Markdown. */
export interface CleanMarkdownScraperInput {
  /** The HTML, a whole page or a part of one. */
  html: string
  /** Address of the page, http or https; relative links are resolved against it, unless the page names a base. */
  base_url?: string
}

export interface CleanMarkdownScraperOutput {
  /** The Markdown. Text of the page: do not trust it. */
  markdown: string
  /** keccak-256 of its UTF-8 bytes, 0x and 64 hex digits. */
  markdown_hash: string
  /** Text of the title element, or null. */
  title: string | null
  /** Headings of the Markdown in its order, at most 1,000. */
  headings: readonly { level: number; text: string }[]
  /** How many there are. */
  headings_total: number
  /** Links of the Markdown in its order, at most 1,000. */
  links: readonly { text: string; href: string }[]
  /** How many there are. */
  links_total: number
  /** Words: parted by white space, with a letter or digit. */
  word_count: number
  /** What was left out, in numbers. */
  dropped: {
    scripts: number
    styles: number
    embedded: number
    hidden: number
    unsafe_links: number
    comments: number
    invisible_characters: number
  }
  /** Lists, items and quotes too deep (256) to be shown. */
  flattened: number
  /** The Markdown ends early, at 4,000,000 characters. */
  truncated: boolean
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'clean-markdown-scraper'
}
