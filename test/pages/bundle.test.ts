import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bundle, bundlePath } from '../../src/surfaces/pages/bundle.ts'
import { elementPlaces } from '../../src/surfaces/pages/client/answer/xml-places.ts'

const AT = 'surfaces/pages/client/'
const of = (modules: Record<string, string>) => new Map(Object.entries(modules).map(([name, text]) => [`${AT}${name}`, text]))

test('joined modules do what they do apart', async () => {
  const modules = of({
    'entry.ts':
      "import { double as twice, Box } from './one.ts';\nimport { passed } from './two.ts';\nexport const answer = passed(new Box(twice(20)).value);\n",
    'one.ts': 'export function double(n) {\n    return n * 2;\n}\nexport class Box {\n    constructor(value) { this.value = value; }\n}\n',
    'two.ts':
      "import { double } from './one.ts';\nconst two = double(1);\nfunction add(n) { return n + two; }\nexport { add as passed };\nexport { Box } from './one.ts';\n",
  })
  const { path, body } = bundle(`${AT}entry.ts`, modules)
  assert.equal(path, 'bundles/entry.js')
  const made = (await import(`data:text/javascript,${encodeURIComponent(body)}`)) as { answer: number }
  assert.equal(made.answer, 42)
})

test('what is not joined is imported once, and what is loaded later is found from the new place', () => {
  const modules = of({
    'entry.ts': "import { a } from '../../../pure/x.ts';\nimport { b } from './deep/one.ts';\nvoid import('./later.ts');\n",
    'deep/one.ts': "import { a } from '../../../../pure/x.ts';\nexport const b = a;\n",
  })
  const { body } = bundle(`${AT}entry.ts`, modules)
  assert.deepEqual(body.match(/^import .*$/gm), ["import * as outer_0 from '../pure/x.ts';"])
  assert.ok(body.includes("import('./later.js')"))
  assert.equal(bundlePath(`${AT}reconcile/worker.ts`), 'bundles/reconcile/worker.js')
})

test('a form that is not known is refused, not guessed at', () => {
  for (const line of [
    "import './effect.ts';",
    'export default 1;',
    "export * from './x.ts';",
    'export let changing = 1;',
    "import all, { a } from './x.ts';",
  ]) {
    assert.throws(() => bundle(`${AT}entry.ts`, of({ 'entry.ts': `${line}\n` })), /cannot be joined/, line)
  }
})

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
