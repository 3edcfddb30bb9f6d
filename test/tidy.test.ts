import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources, type SourceFile } from './support/source.ts'

const FILE_LINES = 500
const FUNCTION_LINES = 70
const FUNCTION_LINES_P90 = 25
const CALL_LINES = 150

/** What may not be called, where it may all the same, and what to use instead. */
const BANNED: { pattern: RegExp; allowed: RegExp; instead: string }[] = [
  { pattern: /\bDate\.now\(|\bnew Date\(\)/, allowed: /^src\/(adapters\/clock\/|client\/options\.ts)/, instead: 'ask the Clock port' },
  {
    pattern: /(?<![.\w])fetch\((?!\w+:)/,
    allowed: /^src\/(adapters|client|surfaces\/pages\/(client|components))\//,
    instead: 'write an adapter',
  },
  {
    pattern: /\b(Number|parseFloat|parseInt)\([^)]*(amount|minor|usdc|price)/i,
    allowed: /^$/,
    instead: 'money is BigInt in code and text on the wire',
  },
  { pattern: /toLocale(Upper|Lower)Case/, allowed: /^$/, instead: 'fold ASCII by hand; locales change identifiers' },
  { pattern: /\bprocess\.env\b/, allowed: /^src\/(main\.ts|cli(\.ts|\/))/, instead: 'read a setting in service/config.ts' },
  {
    pattern: /\bas any\b|: any\b|<any>|@ts-ignore|@ts-nocheck|oxlint-disable|eslint-disable/,
    allowed: /^$/,
    instead: 'narrow from unknown',
  },
  { pattern: /\bconsole\./, allowed: /^$/, instead: 'use the Log port, or write to the stream' },
  { pattern: /\bMath\.random\(/, allowed: /^$/, instead: 'use the random adapter' },
  { pattern: /\b(TODO|FIXME|XXX|HACK)\b/, allowed: /^$/, instead: 'do it, or write it down as an issue' },
]

const BANNED_IN_TESTS: typeof BANNED = [
  { pattern: /\b(test|it|describe)\.(only|todo|skip)\(|\bskip: true/, allowed: /^$/, instead: 'run it or delete it' },
  { pattern: /@ts-ignore|oxlint-disable|eslint-disable|\bas any\b/, allowed: /^$/, instead: 'narrow from unknown' },
  { pattern: /\bsetTimeout\(/, allowed: /^test\/support\//, instead: 'wait for the event, not for a while' },
]

const sources = readSources('src/**/*.ts')
const tests = readSources('test/**/*.ts')

/** The text without comments and strings, so that prose may name what code may not. */
function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'/g, (found) => found.replace(/[^\n]/g, ' '))
}

function offences(files: SourceFile[], rules: typeof BANNED): string[] {
  return files.flatMap((file) =>
    codeOf(file.text)
      .split('\n')
      .flatMap((line, index) =>
        rules
          .filter(({ pattern, allowed }) => pattern.test(line) && !allowed.test(file.path))
          .map(({ instead }) => `${file.path}:${index + 1} ${line.trim().slice(0, 60)} (${instead})`),
      ),
  )
}

test('files stay readable in one go', () => {
  const lines = (file: SourceFile) => file.text.split('\n').length - 1
  const long = [...sources, ...tests].filter((file) => lines(file) > FILE_LINES)
  assert.deepEqual(
    long.map((file) => `${file.path} has ${lines(file)} lines: the idea wants to be two`),
    [],
  )
  const call = sources.find(({ path }) => path === 'src/service/calls/call.ts')
  assert.ok(call !== undefined && lines(call) <= CALL_LINES, 'call.ts must stay a story that fits one page')
})

test('functions stay small', () => {
  const all = sources.flatMap((file) => file.functions.map((one) => ({ ...one, path: file.path })))
  assert.ok(all.length > 500, `only ${all.length} functions were read`)
  assert.deepEqual(
    all.filter(({ lines }) => lines > FUNCTION_LINES).map(({ path, line, name, lines }) => `${path}:${line} ${name} has ${lines} lines`),
    [],
  )
  const sizes = all.map(({ lines }) => lines).toSorted((a, b) => a - b)
  const p90 = sizes[Math.floor(sizes.length * 0.9)] ?? 0
  assert.ok(p90 <= FUNCTION_LINES_P90, `nine of ten functions should have at most ${FUNCTION_LINES_P90} lines, not ${p90}`)
})

test('file names are in kebab-case', () => {
  const odd = [...sources, ...tests].filter(({ path }) => !/^[a-z0-9-]+(\.test)?\.ts$/.test(path.split('/').at(-1) ?? ''))
  assert.deepEqual(
    odd.map(({ path }) => path),
    [],
  )
})

test('banned calls are replaced', () => {
  assert.deepEqual(offences(sources, BANNED), [])
  assert.deepEqual(
    offences(
      tests.filter(({ path }) => path !== 'test/tidy.test.ts'),
      BANNED_IN_TESTS,
    ),
    [],
  )
})

test('the rules bite: each one finds an offence in a file made for it', () => {
  const bait = [
    'const a = Date.now()',
    'await fetch(url)',
    'Number(amount_minor)',
    'x.toLocaleUpperCase()',
    'process.env.HOME',
    'let a: any',
    'console.log(1)',
    'Math.random()',
    'TODO',
  ]
  bait.forEach((line, index) => {
    const file: SourceFile = { path: 'src/pure/bait.ts', text: line, imports: [], functions: [] }
    const rule = BANNED[index]
    assert.ok(rule !== undefined && offences([file], [rule]).length === 1, `the rule against "${line}" does not bite`)
  })
})
