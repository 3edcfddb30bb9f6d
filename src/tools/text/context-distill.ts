import { z } from 'zod'
import { distillText } from '../../pure/documents/distill.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { limits } from '../../service/limits.ts'

/** Reduces a text to reproducible figures, with a hash of exactly this text. */
export default defineTool({
  id: 'context-distill',
  title: 'Distill a text',
  description:
    'Counts the words of a text, ranks its five most frequent words that are not English stop words, gives its first sentence and the ' +
    'keccak-256 hash of exactly the text that was sent. Deterministic; no model, no summary.',
  family: 'text',
  version: '1.0.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['words and their frequency', 'first sentence', 'keccak-256 of the UTF-8 bytes of the exact input'],
    not_checked: ['meaning or truth', 'language; stop words are English', 'word breaks in Thai, Lao, Khmer and Burmese'],
  },
  batch_field: 'text',
  bounds: { body_bytes: limits.document_body_bytes },
  heavy: true,
  headline: [
    {
      tone: 'neutral',
      word: '{word_count|word|words}',
      sentence: 'The most frequent words are listed, and the first sentence.',
      badge: 'distilled',
    },
  ],
  sources: [],
  input: z.strictObject({ text: z.string().max(limits.text_chars).describe('The text, in any language.') }),
  output: z.strictObject({
    word_count: z.int().min(0).max(limits.text_chars).describe('Number of words.'),
    top_words: z
      .array(
        z.strictObject({
          word: z.string().describe('The word in lower case.'),
          count: z.int().min(1).max(limits.text_chars).describe('How often it occurs.'),
        }),
      )
      .max(5)
      .describe('The most frequent words without stop words; ties in code point order.'),
    first_sentence: z.string().describe('The first sentence, white space collapsed, at most 1,000 characters.'),
    first_sentence_cut: z.boolean().describe('True if the first sentence was longer and was cut.'),
    keccak256: z.string().describe('keccak-256 of the UTF-8 bytes of the exact input, 0x and 64 hex digits.'),
    stop_words_version: z.string().describe('Version of the English stop-word table.'),
  }),
  example: { text: 'All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience.' },
  run: ({ text }) => distillText(text),
})
