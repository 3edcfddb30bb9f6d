/** Attacks by documents, over HTTP: entities and bombs of XML, schemas that grow, pages that nest, and cells that a spreadsheet would run. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { entryCsv, type EntryRow } from '../../src/pure/documents/reconcile/report-rows.ts'
import { csvLine } from '../../src/cli/ledger.ts'
import { restCall, startTestApp, type TestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await startTestApp({ free_daily: 1_000_000 })
})
after(() => app.stop())

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09'
const laughs = Array.from({ length: 30 }, (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`).join('')
const quadratic = `<!ENTITY a "${'a'.repeat(50_000)}">`

const BOMBS: Record<string, string> = {
  'a billion laughs': `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">${laughs}]><Document xmlns="${NAMESPACE}">&l30;</Document>`,
  'one long entity, often': `<!DOCTYPE x [${quadratic}]><Document xmlns="${NAMESPACE}">${'&a;'.repeat(50_000)}</Document>`,
  'an entity of itself': `<!DOCTYPE x [<!ENTITY a "&b;"><!ENTITY b "&a;">]><Document xmlns="${NAMESPACE}">&a;</Document>`,
  'a file of the machine': `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><Document xmlns="${NAMESPACE}"><CstmrCdtTrfInitn><GrpHdr><MsgId>&a;</MsgId></GrpHdr></CstmrCdtTrfInitn></Document>`,
  'an address of the network': `<!DOCTYPE x SYSTEM "http://169.254.169.254/latest/meta-data/"><Document xmlns="${NAMESPACE}"/>`,
  'a parameter entity': `<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:1/x.dtd">%a;]><Document xmlns="${NAMESPACE}"/>`,
  'an included file': `<Document xmlns="${NAMESPACE}" xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file:///etc/passwd" parse="text"/></Document>`,
  'a style sheet': `<?xml-stylesheet href="http://127.0.0.1:1/x.xsl" type="text/xsl"?><Document xmlns="${NAMESPACE}"/>`,
  'nothing but depth': `<Document xmlns="${NAMESPACE}">${'<a>'.repeat(60_000)}`,
  'nothing but attributes': `<Document xmlns="${NAMESPACE}" ${Array.from({ length: 40_000 }, (_, index) => `a${index}=""`).join(' ')}/>`,
  'nothing but prefixes': `<Document xmlns="${NAMESPACE}" ${Array.from({ length: 20_000 }, (_, index) => `xmlns:a${index}="u${index}"`).join(' ')}/>`,
  'one long name': `<Document xmlns="${NAMESPACE}"><${'a'.repeat(500_000)}/></Document>`,
}

/** A call that must end as an answer or as the caller's own problem, with nothing of the machine in it. */
async function survives(tool: string, input: unknown, name: string): Promise<Record<string, unknown>> {
  const { status, body } = await restCall(app.url, tool, input)
  const text = JSON.stringify(body)
  // A budget that was used up is an answer or a problem of its own; a refusal of the form would show nothing.
  assert.ok(status < 500 && body['code'] !== 'INPUT_SCHEMA_INVALID', `${name}: ${status} ${text.slice(0, 300)}`)
  assert.ok(!/root:x?:0|ECONNREFUSED|ENOENT|INTERNAL/.test(text), `${name}: ${text.slice(0, 300)}`)
  assert.ok(text.length < 2_000_000, `${name}: an answer of ${text.length} characters`)
  return body
}

// attack: XML entities, DTDs, inclusion
// in: documents and texts
// asset: files, network
// attacker: author
// defence: documents with a DTD are refused; nothing is expanded or fetched
test('bombs of XML are findings, nothing is expanded and nothing is fetched', async () => {
  for (const [name, document] of Object.entries(BOMBS)) {
    const { result } = await survives('iso20022-validate', { raw_payload: document, format: 'xml' }, name)
    assert.equal((result as { valid?: boolean } | undefined)?.valid ?? false, false, name)
    await survives('reconcile', { pain001_xml: document, camt053_xml: document }, name)
  }
})

const nested = (depth: number, open: string, close: string, inner: string) => open.repeat(depth) + inner + close.repeat(depth)
const SCHEMAS: Record<string, string> = {
  'a circle of references': '{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}',
  'references that double': `{"$ref":"#/$defs/d0","$defs":{${Array.from({ length: 40 }, (_, index) => `"d${index}":{"allOf":[{"$ref":"#/$defs/d${index + 1}"},{"$ref":"#/$defs/d${index + 1}"}]}`).join()},"d40":true}}`,
  'doubling by anyOf that fails': `{"$ref":"#/$defs/d0","$defs":{${Array.from({ length: 30 }, (_, index) => `"d${index}":{"anyOf":[{"$ref":"#/$defs/d${index + 1}"},{"$ref":"#/$defs/d${index + 1}"}]}`).join()},"d30":false}}`,
  'a reference to elsewhere': '{"$ref":"http://127.0.0.1:1/schema.json"}',
  'a file': '{"$ref":"file:///etc/passwd"}',
  'a dynamic circle': '{"$dynamicAnchor":"a","properties":{"x":{"$dynamicRef":"#a"}},"$dynamicRef":"#a"}',
  depth: nested(60, '{"not":', '}', 'true'),
  'a pattern that backtracks': '{"additionalProperties":{"pattern":"^(a+)+$"},"pattern":"^(([a-z])+.)+[A-Z]([a-z])+$"}',
  'a pattern that multiplies': '{"additionalProperties":{"pattern":"((((a{1,99}){1,99}){1,99}){1,99}){1,99}"}}',
  'names by pattern': `{"patternProperties":{${Array.from({ length: 200 }, (_, index) => `"^(a|a)*${index}$":false`).join()}}}`,
  'items that must differ': '{"additionalProperties":{"uniqueItems":true}}',
}

// attack: JSON schemas with exponential work, cycles or slow patterns
// in: documents and texts
// asset: processor time
// attacker: author
// defence: step budget; patterns run in linear time
test('schemas that grow end within their budget, and patterns run in linear time', async () => {
  const items = Array.from({ length: 5_000 }, (_, index) => [index % 2, { a: [index] }])
  const data = { x: `${'a'.repeat(60_000)}!`, ['a'.repeat(1_000)]: 1, list: items }
  for (const [name, schema] of Object.entries(SCHEMAS)) {
    const { result, code } = await survives('instant-json-schema-verifier', { schema: JSON.parse(schema) as unknown, data }, name)
    assert.ok(result !== undefined || ['HEAVY_DEADLINE', 'TOO_COSTLY'].includes(String(code)), `${name}: ${String(code)}`)
  }
})

// attack: documents that cost more than their size
// in: documents and texts
// asset: processor time
// attacker: author
// defence: bounds of nodes, depth and size; worker threads with a deadline and a heap limit
test('pages and texts that are made to be slow are not', async () => {
  const pages: Record<string, string> = {
    depth: '<div>'.repeat(200_000),
    tables: '<table><tr><td>'.repeat(30_000),
    'misnested formatting': '<b><i><a>'.repeat(40_000) + '</b></i>'.repeat(40_000),
    'an attribute without end': `<a href="${'a'.repeat(500_000)}`,
    comments: '<!--'.repeat(100_000),
    'styles of comments': `<p style="${'/*'.repeat(200_000)}">`,
    entities: '&amp'.repeat(300_000),
    lists: '<ul><li>'.repeat(50_000),
  }
  for (const [name, html] of Object.entries(pages)) await survives('clean-markdown-scraper', { html }, name)
  for (const text of ['a '.repeat(200_000), '.'.repeat(400_000), '\u0301'.repeat(300_000), '((('.repeat(100_000)]) {
    await survives('context-distill', { text }, text.slice(0, 4))
  }
})

/** Starts of cells that spreadsheets run (OWASP, "CSV Injection"), and where a semicolon or a tab parts cells in theirs. */
const FORMULAS = [
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(1)',
  '\t=1',
  '\r=1',
  '\n=1',
  ' =1',
  '|calc',
  '\uff1d1+1',
  '\uff0b1',
  '\uff0d1',
  '\uff20x',
  'x;=1+1;',
  'x\t=1',
  '";=1',
  'a",=1+1,"',
]

/** Cells as RFC 4180 reads them, and as a program with semicolons or tabs does that knows nothing of quotes in the middle. */
function cellsOf(line: string): string[] {
  const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  )
  return [...cells, ...line.split(/[;\t]/).slice(1)]
}

const RUNS = /^[\s"']*?[=+\-@|\uff1d\uff0b\uff0d\uff20\t\r\n]/

// attack: cells that a spreadsheet runs as formulas
// in: documents and texts
// asset: a reader's spreadsheet
// attacker: author
// defence: such cells are prefixed with an apostrophe, also after semicolons and tabs
test('no cell of an exported table begins as a formula, whatever a statement, a file name or a reference says', () => {
  const row: EntryRow = {
    entry: '0:1',
    end_to_end_id: null,
    reason: 'no_reference',
    currency: 'EUR',
    amount_minor: '-100',
    source: 'x',
    direction: 'credit',
    reference: null,
  }
  for (const text of FORMULAS) {
    const exported = [
      entryCsv('unmatched', { ...row, end_to_end_id: text, reference: text, source: text }, [text]),
      csvLine([text, text, 1, null, true]),
    ]
    for (const [index, line] of exported.entries()) {
      for (const cell of cellsOf(line.replace(/\r$/, ''))) {
        const number = /^-?\d+(?:\.\d+)?$/.test(cell)
        assert.ok(number || !RUNS.test(cell) || cell.startsWith("'"), `${index} ${JSON.stringify(text)} → ${JSON.stringify(cell)}`)
      }
    }
  }
})
