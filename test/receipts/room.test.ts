import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { RECEIPT } from './example.ts'

const ROOM = new URL('../../src/pure/receipts/', import.meta.url)

test('the room imports noble and itself, nothing else', () => {
  const files = readdirSync(ROOM).filter((name) => name.endsWith('.ts'))
  assert.ok(files.length >= 8)
  for (const file of files) {
    const source = readFileSync(new URL(file, ROOM), 'utf8')
    const imported = [...source.matchAll(/^(?:import|export) [^;]*? from '([^']+)'$|\bimport\('([^']+)'\)/gm)].map(
      (match) => match[1] ?? match[2] ?? '',
    )
    for (const target of imported) assert.match(target, /^(?:\.\/[a-z0-9-]+\.ts|@noble\/[a-z]+\/[a-z0-9_]+\.js)$/, file)
    assert.doesNotMatch(source, /\b(?:process|Buffer|globalThis|Date)\.|\bnew Date|\brequire\(|\bMath\.(?:random|sin|cos)\(/, file)
  }
})

test('a receipt verifies where nothing of Node is left in the global scope', () => {
  const program = `
    for (const name of ['process', 'Buffer', 'global', 'setImmediate', 'require', 'fetch']) delete globalThis[name]
    const { verifyReceipt } = await import('${new URL('verify.ts', ROOM).href}')
    const { sealSvg } = await import('${new URL('seal.ts', ROOM).href}')
    const verdict = verifyReceipt(${JSON.stringify(RECEIPT)})
    console.log(JSON.stringify([verdict.valid, sealSvg(verdict.digest).length > 1000]))
  `
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  assert.deepEqual(JSON.parse(printed), [true, true])
})
