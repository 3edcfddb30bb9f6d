// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Distill a text. */
export interface ContextDistillInput {
  /** The text, in any language. */
  text: string
}

export interface ContextDistillOutput {
  /** Number of words. */
  word_count: number
  /** The most frequent words without stop words; equal counts in code-point order. */
  top_words: readonly { word: string; count: number }[]
  /** The first sentence, white space collapsed, at most 1,000 characters. */
  first_sentence: string
  /** Whether the first sentence was longer and has been cut. */
  first_sentence_cut: boolean
  /** keccak-256 of the UTF-8 bytes of the exact input, 0x and 64 hex digits. */
  keccak256: string
  /** Version of the English stop-word table. */
  stop_words_version: string
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'context-distill'
}
