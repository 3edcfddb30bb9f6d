import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import type { XmlFault } from '../../src/pure/documents/xml/parser.ts'
import { readXml, XmlReader } from '../../src/pure/documents/xml/reader.ts'
import { runs, SEED } from '../support/counts.ts'
import { camtMessage, painMessage } from '../support/iso20022-messages.ts'
import { mutated, MUTATION } from '../support/xml-mutations.ts'

/** What a handler is told, one line an event. */
function told(
  document: string | Uint8Array,
  sizes: readonly number[] = [document.length + 1],
): { events: string[]; fault: XmlFault | null } {
  const events: string[] = []
  const reader = new XmlReader({
    open: ({ local, namespace }, attributes) =>
      void events.push(
        `<${namespace} ${local} ${attributes.map((one) => `${one.namespace} ${one.local}=${one.value}`).join(' ')} @${reader.line}`,
      ),
    close: (text) => void events.push(`>${text}`),
    mixed: (text) => void events.push(`mixed ${text}`),
    aside: (kind) => void events.push(`aside ${kind}`),
  })
  for (let at = 0, index = 0; at < document.length; index++) {
    const size = sizes[index % sizes.length] ?? 1
    reader.write(document.slice(at, at + size))
    at += size
  }
  return { events, fault: reader.end() }
}

function faultOf(document: string | Uint8Array): [code: string, line: number, column: number] | null {
  const fault = readXml(document, { open: () => undefined, close: () => undefined })
  return fault === null ? null : [fault.code, fault.line, fault.column]
}

test('elements, texts, attributes and namespaces are told', () => {
  const document = `<?xml version="1.0"?>
<a:x xmlns:a="u" xmlns="v" n="1" a:m='2'><y> 1&amp;<![CDATA[<2]]>&#x33; </y><a:z/>
<y xmlns="">t<q/>u</y></a:x>`
  assert.deepEqual(told(document), {
    events: [
      '<u x  n=1 u m=2 @2',
      '<v y  @2',
      '> 1&<23 ',
      '<u z  @2',
      '>',
      '< y  @3',
      'mixed t',
      '< q  @3',
      '>',
      'mixed u',
      '>null',
      '>null',
    ],
    fault: null,
  })
})

test('comments and instructions in values are told', () => {
  assert.deepEqual(
    told('<a><b>1<!-- -->2</b><!-- between --><?do it?><b><!-- --></b></a>').events.filter((event) => event.startsWith('aside')),
    ['aside comment', 'aside instruction'],
  )
})

// attack: XML entities, DTDs, inclusion
test('a document type declaration is refused before it is read', () => {
  assert.deepEqual(faultOf('<?xml version="1.0"?>\n<!-- a -->\n <!DOCTYPE a ['), ['XML_DOCTYPE', 3, 2])
  assert.deepEqual(faultOf('<!doctype a><a/>'), ['XML_DOCTYPE', 1, 1])
  assert.deepEqual(faultOf('\uFEFF<!DOCTYPE a><a/>'), ['XML_DOCTYPE', 1, 1])
  assert.equal(faultOf('<a><!DOCTYPE a></a>')?.[0], 'XML_NOT_WELLFORMED')
  assert.equal(faultOf('text<!DOCTYPE a><a/>')?.[0], 'XML_NOT_WELLFORMED')
  for (let size = 1; size < 12; size++) assert.equal(told('<?p q?><!-- --><!DOCTYPE a><a/>', [size]).fault?.code, 'XML_DOCTYPE')
})

test('only UTF-8 is read', () => {
  const declared = (name: string) => faultOf(`<?xml version="1.0" encoding="${name}"?><a/>`)?.[0] ?? null
  assert.deepEqual([declared('UTF-8'), declared('utf-8')], [null, null])
  assert.deepEqual([declared('UTF-16'), declared('ISO-8859-1'), declared('US-ASCII')], ['XML_ENCODING', 'XML_ENCODING', 'XML_ENCODING'])
  const utf16 = (text: string, little: boolean) =>
    Uint8Array.from(Array.from(text).flatMap((one) => (little ? [one.charCodeAt(0), 0] : [0, one.charCodeAt(0)])))
  for (const little of [true, false]) {
    assert.equal(faultOf(utf16('<a/>', little))?.[0], 'XML_ENCODING')
    assert.equal(faultOf(Uint8Array.from([...(little ? [0xff, 0xfe] : [0xfe, 0xff]), ...utf16('<a/>', little)]))?.[0], 'XML_ENCODING')
  }
  assert.equal(faultOf(Uint8Array.from([0x3c, 0x61, 0x3e, 0xc3, 0x28]))?.[0], 'XML_ENCODING')
  assert.equal(faultOf(Uint8Array.from([0x3c, 0x61, 0x3e, 0xe2, 0x82]))?.[0], 'XML_ENCODING')
  assert.equal(faultOf(new TextEncoder().encode('\uFEFF<a>é€😀</a>')), null)
  assert.equal(faultOf('<a>\ud800</a>')?.[0], 'XML_NOT_WELLFORMED')
})

test('depth, attributes, texts and size are bounded', () => {
  const deep = (levels: number) => '<a>'.repeat(levels) + '</a>'.repeat(levels)
  assert.equal(faultOf(deep(64)), null)
  assert.deepEqual(faultOf(deep(65))?.[0], 'XML_LIMIT')
  const wide = (count: number) => `<a ${Array.from({ length: count }, (_, index) => `b${index}=""`).join(' ')}/>`
  assert.equal(faultOf(wide(16)), null)
  assert.equal(faultOf(wide(17))?.[0], 'XML_LIMIT')
  assert.equal(faultOf(`<a>${'x'.repeat(65_536)}</a>`), null)
  assert.equal(faultOf(`<a>${'x'.repeat(65_537)}</a>`)?.[0], 'XML_LIMIT')
  assert.equal(faultOf(`<a>${'x<![CDATA[y]]>'.repeat(40_000)}</a>`)?.[0], 'XML_LIMIT')
  assert.equal(faultOf(`<!--${' '.repeat(70_000)}--><a/>`)?.[0], 'XML_LIMIT')
  for (const endless of ['<a><!--', '<a><b c="', '<a><?p ', '<a><![CDATA[', '<a>', '<a><b', '<a><b ']) {
    assert.equal(faultOf(endless + 'x'.repeat(400_000))?.[0], 'XML_LIMIT', endless)
  }
  const reader = new XmlReader({ open: () => undefined, close: () => undefined }, { size_cap: 10 })
  assert.equal(reader.write('<a></a>'), null)
  assert.equal(reader.write('     ')?.code, 'XML_LIMIT')
  assert.equal(reader.end()?.code, 'XML_LIMIT')
})

test('what breaks XML or its namespaces is refused', () => {
  const broken = [
    '',
    '<a>',
    '<a></b>',
    '<a/><a/>',
    '<a/>x',
    '<a b="1" b="2"/>',
    '<a>]]></a>',
    '<a>&x;</a>',
    '<a>\u0001</a>',
    '<a b=c/>',
    '<a b="<"/>',
  ]
  const names = ['<x:a/>', '<a:b:c xmlns:a="u"/>', '<a xmlns:b=""/>', '<a xmlns:xmlns="u"/>', '<a xmlns:xml="u"/>', '<:a/>']
  const doubled = '<a xmlns:b="u" xmlns:c="u" b:x="1" c:x="2"/>'
  for (const document of [...broken, ...names, doubled]) assert.equal(faultOf(document)?.[0], 'XML_NOT_WELLFORMED', document)
  assert.deepEqual(faultOf('<a>\n  <b></c>\n</a>'), ['XML_NOT_WELLFORMED', 2, 9])
})

/** The same events from the parser alone, without prefixes, which these documents do not have. */
function plain(document: string): { events: string[]; failed: boolean } {
  const events: string[] = []
  const parser = new SaxesParser({ xmlns: false })
  let text: string | null = null
  parser.on('opentag', ({ name, attributes }) => {
    events.push(
      `<${name} ${Object.entries(attributes)
        .map((pair) => pair.join('='))
        .join(' ')}`,
    )
    text = ''
  })
  const gather = (more: string) => void (text = text === null ? null : text + more)
  parser.on('text', gather)
  parser.on('cdata', gather)
  parser.on('closetag', () => {
    events.push(`>${text}`)
    text = null
  })
  parser.on('error', (error) => {
    throw error
  })
  try {
    parser.write(document).close()
    return { events, failed: false }
  } catch {
    return { events, failed: true }
  }
}

function ours(document: string, size: number): { events: string[]; failed: boolean; judged: boolean } {
  const { events, fault } = told(document, [size])
  const shown = events
    .filter((event) => /^[<>]/.test(event))
    .map((event) => event.replace(/^<\S* (\S+) +(.*) @\d+$/s, '<$1 $2').replaceAll(/ {2,}/g, ' '))
  return { events: shown, failed: fault !== null, judged: fault === null || fault.code === 'XML_NOT_WELLFORMED' }
}

test('the fast lane and the parser alone read the same, wherever the text is cut', () => {
  const sources = [painMessage(), camtMessage('02')].map((text) => text.replaceAll(/ xmlns="[^"]*"/g, ''))
  fc.assert(
    fc.property(
      fc.constantFrom(...sources),
      fc.array(MUTATION, { maxLength: 3 }),
      fc.integer({ min: 1, max: 3_000 }),
      (source, changes, size) => {
        const document = changes.reduce(mutated, source)
        // Namespaces and bounds are ours; the parser alone does not know them.
        fc.pre(
          document.isWellFormed() && !document.includes('<!') && !/[\w"']:|:[\w"']/.test(document.replaceAll(/\d\d:\d\d(:\d\d)?/g, '')),
        )
        const expected = plain(document)
        const found = ours(document, size)
        // Bounds and encodings are ours as well.
        fc.pre(found.judged)
        assert.equal(found.failed, expected.failed)
        if (!expected.failed)
          assert.deepEqual(
            found.events,
            expected.events.map((event) => event.replaceAll(/ {2,}/g, ' ')),
          )
      },
    ),
    { numRuns: runs(300, 10_000), seed: SEED },
  )
})
