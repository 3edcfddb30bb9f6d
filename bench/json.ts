import { readStrictJson } from '../src/pure/documents/strict-json.ts'
import { limits } from '../src/service/limits.ts'
import { PASTED_IBANS } from './call-requests.ts'
import { atMost, figures, type SuiteReport } from './report.ts'
import { race } from './stopwatch.ts'

const BOUNDS = { depth: limits.json_depth, nodes: limits.json_nodes }
const SIZE = 10_240

/** The strict reader of bodies against the engine's own parser. */
export async function json(): Promise<SuiteReport> {
  const texts = { 'payment batch, one line': invoices(0), 'the same, indented': invoices(2), 'prose with escapes': prose() }
  const rows = Object.entries(texts).map(([title, text]) => ({ title, bytes: Buffer.byteLength(text), ...read(text) }))
  return {
    title: 'Strict JSON reading against JSON.parse',
    method: ['Microseconds of thread CPU time a text, median of 15 turns of 60 ms, both readers in turn. The values read must be equal.'],
    header: ['text', 'bytes', 'JSON.parse µs', 'strict µs', 'ratio'],
    rows: rows.map(({ title, bytes, parse, strict }) => [title, String(bytes), figures(parse), figures(strict), figures(strict / parse)]),
    gates: rows.map(({ title, parse, strict }) => atMost(`strict reading of ${title}`, strict / parse, 2, 'x')),
    notes: [],
  }
}

function read(text: string): { parse: number; strict: number } {
  const strict = readStrictJson(text, BOUNDS)
  if (!strict.ok || JSON.stringify(strict.value) !== JSON.stringify(JSON.parse(text)))
    throw new Error('the strict reader reads something else than JSON.parse')
  return race({
    parse: () => (JSON.parse(text) === null ? 0 : 1),
    strict: () => (readStrictJson(text, BOUNDS).ok ? 1 : 0),
  })
}

/** A list of payments: short texts, numbers, flags, nulls and nesting, as bodies of tools have them. */
function invoices(indent: number): string {
  const items = Array.from({ length: 200 }, (_, index) => ({
    id: `INV-2026-${10_000 + index}`,
    creditor: { name: `Müller & Söhne ${index} GmbH`, iban: PASTED_IBANS[index % PASTED_IBANS.length], bic: 'DEUTDEFF500' },
    amount: `${index * 17}.${10 + (index % 90)}`,
    currency: 'EUR',
    due_in_days: index % 60,
    rate: index / 8,
    urgent: index % 3 === 0,
    remittance: index % 2 === 0 ? null : `invoice ${index}, "net" terms`,
  }))
  return fitting((count) => JSON.stringify({ input: { items: items.slice(0, count) } }, null, indent))
}

function prose(): string {
  const sentence = 'A line of text with a "quoted" word, a tab\t, a break\nand a sign such as \u{20ac} or \u{1f600}.'
  return fitting((count) => JSON.stringify({ input: { text: Array.from({ length: count }, () => sentence).join(' ') } }))
}

/** The longest text of at most the size. */
function fitting(textOf: (count: number) => string): string {
  let count = 1
  while (Buffer.byteLength(textOf(count + 1)) <= SIZE) count++
  return textOf(count)
}
