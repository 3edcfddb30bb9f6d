import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { XmlDocument, XmlParseError } from 'libxml2-wasm'
import { readXml } from '../../src/pure/documents/xml/reader.ts'
import { runs, SEED } from '../support/counts.ts'
import { camtMessage, pacsMessage, painMessage } from '../support/iso20022-messages.ts'
import { mutated, MUTATION } from '../support/xml-mutations.ts'

const ENVELOPE = `<?xml version='1.0' encoding='utf-8' standalone="yes" ?><!-- é --><e:E xmlns:e="urn:e" e:a="1" a='2 > 1'><?p q?>`
const SOURCES = [
  painMessage(),
  painMessage({ version: '03' }).replaceAll('<', '<x:').replaceAll('<x:/', '</x:').replace('<x:?', '<?').replace('xmlns=', 'xmlns:x='),
  pacsMessage(),
  camtMessage('04').replaceAll('>EUR<', '>&#69;U<![CDATA[R]]><').replaceAll('STMT', 'ST\u{1f600}\u20ac'),
  `${ENVELOPE}${painMessage().replace(/<\?.*\?>/, '')}</e:E>`,
]

function libxml2(bytes: Uint8Array): boolean {
  try {
    XmlDocument.fromBuffer(bytes).dispose()
    return true
  } catch (error) {
    // Whether the name of a namespace is a URI is no matter of form (Namespaces in XML 1.0, section 2.2).
    return error instanceof XmlParseError && error.details.every(({ message }) => message.includes('is not a valid URI'))
  }
}

/** Null where our reader says nothing of form: a bound, an encoding or a document type declaration, which it refuses as such. */
function ours(bytes: Uint8Array): boolean | null {
  const fault = readXml(bytes, { open: () => undefined, close: () => undefined })
  if (fault === null) return true
  return fault.code === 'XML_NOT_WELLFORMED' ? false : null
}

test('libxml2 and the reader agree on what is well-formed', () => {
  for (const source of SOURCES) assert.deepEqual([ours(encode(source)), libxml2(encode(source))], [true, true])
  fc.assert(
    fc.property(fc.constantFrom(...SOURCES), fc.array(MUTATION, { minLength: 1, maxLength: 2 }), (source, changes) => {
      const document = changes.reduce(mutated, source)
      fc.pre(document.isWellFormed())
      const bytes = encode(document)
      const found = ours(bytes)
      if (found !== null) assert.equal(found, libxml2(bytes))
    }),
    { numRuns: runs(200, 2_000), seed: SEED },
  )
})

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
