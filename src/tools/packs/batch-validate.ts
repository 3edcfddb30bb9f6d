import { z } from 'zod'
import { defineTool, type ItemAnswer, type ItemCatalogue, PURE } from '../../service/catalogue/define.ts'
import { limits } from '../../service/limits.ts'

/** The permitted ids that end in -check; a test holds the words of the field against the registry. */
const CHECKS = 'aba-routing, abn, e164, ean13, ein-format, gstin, iban, ifsc, isbn, isin, lei, luhn, sedol, swift-bic, vat-mod97'

/**
 * Up to fifty checks of single values in one call, one payment and one receipt. Items are judged one by one: a wrong item is an
 * error in its place and never fails the batch.
 */
export default defineTool({
  id: 'batch-validate',
  title: 'Check many values in one call',
  description:
    'Runs up to 50 single-value checks in one call with one receipt, from 10 items on at a tenth of the price each; the minimum price is that of one call. Items are {tool, value}; each answer ' +
    'has the index of its item, and a wrong item never fails the batch.',
  family: 'packs',
  version: '1.1.1',
  price: 'batch',
  annotations: PURE,
  scope: {
    checked: ['each item by the rules of its tool'],
    not_checked: ['anything across items', 'that any of the values exists'],
  },
  headline: [
    {
      when: { invalid_count: 0, error_count: 0 },
      tone: 'good',
      word: 'all {count} valid',
      badge: 'all valid',
      sentence: 'No item is invalid.',
    },
    {
      when: { error_count: 0 },
      tone: 'bad',
      word: '{invalid_count} of {count} invalid',
      badge: 'some invalid',
      sentence: '{valid_count|item is|items are} valid.',
    },
    {
      when: { invalid_count: 0 },
      tone: 'caution',
      word: '{error_count} of {count} not checked',
      badge: 'some not checked',
      sentence: '{valid_count|item is|items are} valid.',
    },
    {
      tone: 'bad',
      word: '{invalid_count} of {count} invalid, {error_count} not checked',
      badge: 'some invalid',
      sentence: '{valid_count|item is|items are} valid.',
    },
  ],
  sources: ['catalogue'],
  input: z.strictObject({
    items: z
      .array(
        z.looseObject({
          tool: z.unknown().optional().describe(`An id: company-number-format, context-distill or, with -check behind it, ${CHECKS}.`),
          value: z.unknown().optional().describe(`The value to check, as text of at most ${limits.batch_value_chars} characters.`),
        }),
      )
      .min(1)
      .max(limits.batch_items)
      .describe('The checks to run, each {tool, value}, both texts.'),
  }),
  output: z.strictObject({
    count: z.int().min(0).max(limits.batch_items).describe('Number of items.'),
    valid_count: z.int().min(0).max(limits.batch_items).describe('Items whose result says valid: true.'),
    invalid_count: z.int().min(0).max(limits.batch_items).describe('Items whose result says valid: false.'),
    error_count: z.int().min(0).max(limits.batch_items).describe('Items that could not be checked.'),
    results: z
      .array(
        z.strictObject({
          index: z.int().min(0).max(limits.batch_items).describe('Place of the item in the request, from 0.'),
          tool: z.string().nullable().describe('The tool that answered, or null when none could.'),
          ok: z.boolean().describe('Whether the item was checked.'),
          result: z.record(z.string(), z.unknown()).nullable().describe("The check's own result, or null."),
          error: z
            .strictObject({ code: z.string().describe('Kind of fault.'), message: z.string().describe('One sentence.') })
            .nullable()
            .describe('Why the item was not checked, or null.'),
        }),
      )
      .describe('One answer an item, in the order of the items.'),
  }),
  example: {
    items: [
      { tool: 'iban-check', value: 'GB82 WEST 1234 5698 7654 32' },
      { tool: 'isbn-check', value: '978-0-306-40615-7' },
    ],
  },
  run({ items }, { catalogue }) {
    const results = items.map((item, index) => itemResult(index, answerItem(item, catalogue)))
    const judged = (valid: boolean) => results.filter(({ result }) => result?.['valid'] === valid).length
    return {
      count: items.length,
      valid_count: judged(true),
      invalid_count: judged(false),
      error_count: results.filter(({ ok }) => !ok).length,
      results,
    }
  },
})

function answerItem(item: { tool?: unknown; value?: unknown }, catalogue: ItemCatalogue): ItemAnswer {
  const stray = Object.keys(item).some((key) => key !== 'tool' && key !== 'value')
  if (stray || typeof item.tool !== 'string' || typeof item.value !== 'string')
    return malformed('An item is {"tool": text, "value": text}.')
  if (item.value.length > limits.batch_value_chars) return malformed(`A value has at most ${limits.batch_value_chars} characters.`)
  return catalogue.check(item.tool, item.value)
}

function malformed(message: string): ItemAnswer {
  return { ok: false, code: 'input_invalid', message }
}

// In the order of RFC 8785, so that the canonical text of fifty answers costs no sorting.
function itemResult(index: number, answer: ItemAnswer) {
  if (!answer.ok) return { error: { code: answer.code, message: answer.message }, index, ok: false, result: null, tool: null }
  return { error: null, index, ok: true, result: answer.result, tool: String(answer.result['tool']) }
}
