/** What a conversion reads and writes at most; beyond it something is left out and counted, never refused. */
export const MARKDOWN_BOUNDS = {
  /** UTF-16 units of Markdown; whole blocks are left out beyond it. */
  output_chars: 4_000_000,
  /** Lists, items and quotes within one another; deeper ones lose their structure and keep their text. */
  depth: 256,
  /** Of one attribute; a longer address is no link. */
  attribute_chars: 4_096,
  /** Columns of a table; what stands beyond joins the last one. */
  columns: 100,
  /** Entries of each list in the answer, and characters of the texts in them. */
  listed: 1_000,
  listed_chars: 1_000,
} as const
