import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keccak } from 'hash-wasm'
import { distillText, firstSentence, MAX_RANKED_WORD_CHARS, MAX_SENTENCE_CHARS, STOP_WORDS } from '../../src/pure/documents/distill.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText } from '../support/identifiers.ts'

const few = { numRuns: runs(100, 2_000), seed: SEED }
const many = { numRuns: runs(1_000, 20_000), seed: SEED }

const WORDS = [
  'invoice',
  'Invoice',
  'ledger',
  'zebra',
  "don't",
  'the',
  'of',
  'état',
  'straße',
  'Ωmega',
  '3.14',
  '1,000',
  'node.js',
  '𝒳',
  'ﬁle',
  'b',
  'a',
]
const GAPS = [' ', '  ', '\n', ' — ', ', ', '; ', '/', '_', '-', ' (', ') ', '"', '!', '😀', '\u200b']
const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 60 })
const gaps = fc.infiniteStream(fc.constantFrom(...GAPS))

test('words and their counts come back from texts built of known words', () => {
  fc.assert(
    fc.property(words, gaps, (list, between) => {
      const text = list.map((word) => word + (between.next().value ?? ' ')).join('')
      const ranked = new Map<string, number>()
      for (const word of list) if (!STOP_WORDS.has(word)) ranked.set(word.toLowerCase(), (ranked.get(word.toLowerCase()) ?? 0) + 1)
      const byCodePoint = (a: string, b: string) => (Array.from(a, hex).join() < Array.from(b, hex).join() ? -1 : 1)
      const top = [...ranked].sort(([a, x], [b, y]) => y - x || byCodePoint(a, b)).slice(0, 5)
      const { word_count, top_words } = distillText(text)
      assert.equal(word_count, list.length)
      assert.deepEqual(
        top_words,
        top.map(([word, count]) => ({ word, count })),
      )
    }),
    many,
  )
})

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(6, '0')
}

test('the hash is keccak-256 of the UTF-8 bytes, as another implementation has it', async () => {
  // The Keccak team's first short-message vector; also the code hash of an empty account in Ethereum.
  assert.equal(distillText('').keccak256, '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
  const property = fc.asyncProperty(anyText, async (text) => {
    assert.equal(distillText(text).keccak256, `0x${await keccak(Buffer.from(text, 'utf8'), 256)}`)
  })
  await fc.assert(property, few)
})

test('any text: no exception, bounded answers, in order', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anyText,
        fc.string({ unit: fc.constantFrom('a', 'B', '.', "'", ',', '1', ' ', '\n', '\u0301', '東', 'の', '!', '”', '\ud800') }),
      ),
      (text) => {
        const { word_count, top_words, first_sentence, first_sentence_cut } = distillText(text)
        assert.ok(word_count >= top_words.length && top_words.length <= 5)
        for (const [at, { word, count }] of top_words.entries()) {
          assert.ok(word.length > 0 && !STOP_WORDS.has(word) && count >= 1 && count <= (top_words[at - 1]?.count ?? word_count))
          assert.equal(distillText(word).word_count, 1)
        }
        assert.ok(first_sentence.length <= MAX_SENTENCE_CHARS && first_sentence.isWellFormed())
        assert.equal(first_sentence, first_sentence.trim())
        assert.equal(first_sentence_cut && text.length <= MAX_SENTENCE_CHARS, false)
        assert.equal(first_sentence === '', text.trim() === '')
      },
    ),
    many,
  )
})

test('canonically equal texts have the same words', () => {
  const unit = fc.constantFrom('e\u0301', 'é', 'A\u030a', '\u212b', '가', '각', 'が', 'カ\u3099', 'q\u0323\u0307', ' ', 'x', "'")
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      const [nfc, nfd] = [distillText(text.normalize('NFC')), distillText(text.normalize('NFD'))]
      assert.deepEqual([nfc.word_count, nfc.top_words], [nfd.word_count, nfd.top_words])
    }),
    many,
  )
})

test('a run too long for a word is counted and not ranked', () => {
  const longest = 'x'.repeat(MAX_RANKED_WORD_CHARS)
  assert.deepEqual(distillText(longest).top_words, [{ word: longest, count: 1 }])
  assert.partialDeepStrictEqual(distillText(`${longest}x word`), { word_count: 2 })
  assert.deepEqual(distillText(`${longest}x word`).top_words, [{ word: 'word', count: 1 }])
})

test('where first sentences end', () => {
  const sentences: [text: string, first: string][] = [
    ['One. Two.', 'One.'],
    ['One two', 'One two'],
    ['Is it? Yes!', 'Is it?'],
    ['Wait... what? No.', 'Wait... what?'],
    ['Wait… Then go.', 'Wait…'],
    ['He said "stop." Then left.', 'He said "stop."'],
    ['(Read this.) Then go.', '(Read this.)'],
    ['Version 1.2.3 of example.com is out. Get it.', 'Version 1.2.3 of example.com is out.'],
    ['Dr. A. Nobel, i.e. St. Peter vs. Prof. X. Then', 'Dr. A. Nobel, i.e. St. Peter vs. Prof. X. Then'],
    ['See fig. 2 and No. 7. Fine.', 'See fig. 2 and No. 7.'],
    ['He said no. Then left.', 'He said no.'],
    ['Closed at 5 p.m. on Friday. Open later.', 'Closed at 5 p.m. on Friday.'],
    ['Took 5 ms. Good.', 'Took 5 ms.'],
    ['2. Second item. Third', '2. Second item.'],
    ['no capitals here. none at all', 'no capitals here. none at all'],
    ['First line\nsecond line.\n\nNext', 'First line second line.'],
    ['Heading\n \nText.', 'Heading'],
    ['هل هذا واضح؟ نعم.', 'هل هذا واضح؟'],
    ['यह वाक्य है। दूसरा।', 'यह वाक्य है।'],
    ['「そうです。」と言った。次。', '「そうです。」'],
    ['\ufeff \t Tabs\tand   spaces. X', 'Tabs and spaces.'],
  ]
  for (const [text, first_sentence] of sentences) assert.deepEqual(firstSentence(text), { first_sentence, first_sentence_cut: false })
})

test('a long sentence is cut between words, a long word between characters', () => {
  assert.deepEqual(firstSentence(`${'word '.repeat(300)}end.`), { first_sentence: 'word '.repeat(200).trim(), first_sentence_cut: true })
  assert.deepEqual(firstSentence(`x${'😀'.repeat(600)}`), { first_sentence: `x${'😀'.repeat(499)}`, first_sentence_cut: true })
})

test('work grows linearly, also with hostile texts', () => {
  const distinct = Array.from({ length: 30_000 }, (_, at) => at.toString(36)).join(' ')
  const hostile = [
    'a',
    'a ',
    '.',
    '. ',
    '.a',
    "a'",
    '1,',
    '\n',
    '\n ',
    '!)',
    '東',
    '\u0301\u0323',
    'a\u0301\u0323',
    'a\u00ad',
    '😀',
    '\ud800',
  ]
  const units = [...hostile, distinct].filter((_unit, index) => index % runs(4, 1) === 0)
  for (const unit of units) {
    const large = unit.repeat(128_000 / unit.length)
    // Sixteen times the text; squared or worse would be 256 and more.
    const ratio = growth(large, large.slice(0, 8_000), 80)
    assert.ok(ratio < 80, `${JSON.stringify(unit.slice(0, 10))}: ${ratio}`)
  }
})

/** How much more work the large text is. Code that is still being compiled, or a neighbour on the core, is a matter of one look; growth shows in all. */
function growth(large: string, small: string, enough: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let look = 0; look < 6 && least >= enough; look++) least = Math.min(least, work(large) / work(small))
  return least
}

/** Systems that count a thread's time in ticks of their clock are off by one of about 10 ms at either end. */
const MEASURED_US = 40_000

/** Processor time of this thread for the text, so that a busy machine does not count; in µs, over as many rounds as make it measurable. */
function work(text: string): number {
  for (let rounds = 1; ; rounds *= 2) {
    const before = process.threadCpuUsage()
    for (let round = 0; round < rounds; round++) distillText(text)
    const { user, system } = process.threadCpuUsage(before)
    // Only the sum is measured; how the kernel parts it is a sample.
    if (user + system >= MEASURED_US) return (user + system) / rounds
  }
}
