import assert from 'node:assert/strict'
import { stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'
import { assets, scriptPaths } from '../../src/surfaces/pages/assets.ts'
import { browserText, importsOf, moduleGraph } from '../../src/surfaces/pages/browser-modules.ts'

const ENTRY = new URL('../../src/surfaces/pages/client/tool.ts', import.meta.url)
const graph = moduleGraph([ENTRY])

/** Static imports of a JavaScript text, and those made on demand. */
const specifiers = (text: string) => [
  ...[...text.matchAll(/^(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm)].map(([, name = '']) => name),
  ...[...text.matchAll(/\bimport\(['"]([^'"]+)['"]\)/g)].map(([, name = '']) => name),
]

test('every import of a browser module leads to a module that is served', () => {
  assert.ok(graph.has('surfaces/pages/client/tool.ts') && graph.size > 20)
  for (const module of graph.values()) {
    for (const specifier of specifiers(browserText(module))) {
      assert.match(specifier, /^\.\.?\//, `${module.path} imports ${specifier}, which no browser can resolve`)
      const { pathname } = new URL(specifier, `http://localhost/${module.path}`)
      assert.ok(graph.has(pathname.slice(1)), `${module.path} imports ${specifier}, which is not served`)
    }
  }
})

test('served modules have no types left, and those of the verifier keep their lines', () => {
  for (const module of graph.values()) {
    if (module.path.startsWith('data/')) continue
    const text = browserText(module)
    // JavaScript passes through as it is.
    assert.equal(stripTypeScriptTypes(text), text, module.path)
    // JSON is served as a script, which an import with a type refuses.
    assert.doesNotMatch(text, /\bwith\s*\{\s*type\b/, module.path)
    if (module.path.startsWith('pure/receipts/')) assert.equal(text.split('\n').length, module.text.split('\n').length, module.path)
  }
})

test('what is loaded on demand is served, but not preloaded', () => {
  const preloaded = importsOf(graph, 'surfaces/pages/client/tool.ts')
  const later = [...graph.values()].flatMap((module) => module.later.map(({ path }) => path))
  assert.ok(later.length > 0)
  assert.deepEqual(
    preloaded.filter((path) => later.includes(path)),
    [],
  )
  for (const path of later) assert.ok(assets().files.has(path), path)
  assert.ok(scriptPaths('pay').imports.length > 10)
})
