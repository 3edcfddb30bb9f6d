import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementPlaces } from '../../src/surfaces/pages/components/document-findings.ts'

test('elements are found by their paths', () => {
  const text = `<?xml version="1.0"?><!-- <a> --><d:doc a="1 > 0"><g><![CDATA[<g>]]></g><p><n> </n></p>\n<p><n>two</n><empty/></p></d:doc>`
  const shown = (path: string) => {
    const range = elementPlaces(text, [path]).get(path)
    return range && text.slice(range.start, range.end)
  }
  assert.equal(shown('/doc'), '<d:doc a="1 > 0">')
  assert.equal(shown('/doc/g'), '<![CDATA[<g>]]>')
  assert.equal(shown('/doc/p[1]/n'), '<n>')
  assert.equal(shown('/doc/p[2]/n'), 'two')
  assert.equal(shown('/doc/p[2]/empty'), '<empty/>')
  assert.equal(shown('/doc/p[3]'), undefined)
  for (const broken of ['<a', '<a b="', '</a></b>', '<a></b></a>', '<!-- ', '<![CDATA[', ''])
    assert.ok(elementPlaces(broken, ['/a']).size <= 1)
})
