import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'

/**
 * Measures the structure of the source: `npm run tidy -- --report`. Run it before and after a change. Without `--report`, as in `npm run
 * check`, it prints the limits that are exceeded and exits with 1 if there are any, apart from the targets that were never reached.
 */

const LIMITS: Record<string, number> = {
  'lines of src': 98_000,
  'files of src': 750,
  'exports with one importer, in %': 35,
  'exported type names in two or more files': 40,
  'doc comments that start with What, Who, Whether or Where, in %': 1,
  'lines of committed generated code': 0,
  'lines of OpenAPI by hand': 0,
}

/** Targets that the source has not reached yet; the check does not enforce them. */
const NOT_REACHED: ReadonlySet<string> = new Set(['lines of src', 'files of src'])

interface Source {
  path: string
  text: string
  exports: { name: string; type: boolean }[]
  /** Imported names, each with its file. */
  imports: { from: string; name: string }[]
}

function read(path: string): Source {
  const text = readFileSync(path, 'utf8')
  const { module } = parseSync(path, text)
  const at = (specifier: string) => posix.normalize(posix.join(posix.dirname(path), specifier))
  const imports = module.staticImports.flatMap(({ moduleRequest, entries }) =>
    entries.map(({ importName }) => ({ from: at(moduleRequest.value), name: importName.name ?? '*' })),
  )
  const dynamic = [...text.matchAll(/import\('([^']+)'\)/g)].map(([, specifier = '']) => ({ from: at(specifier), name: '*' }))
  const own = module.staticExports.flatMap(({ entries }) => entries.filter(({ moduleRequest }) => moduleRequest === null))
  const exports = own.map(({ exportName, isType }) => {
    const name = exportName.name ?? 'default'
    return { name, type: isType || new RegExp(`export (?:interface|type) ${name.replace('$', '\\$')}\\b`).test(text) }
  })
  return { path, text, exports, imports: [...imports, ...dynamic] }
}

const sources = globSync('src/**/*.ts').map((path) => read(path.replaceAll('\\', '/')))

function lines(some: readonly Source[]): number {
  return some.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
}

function importedOnce(): { exports: number; once: number } {
  const importers = new Map<string, Set<string>>()
  for (const { path, imports } of sources) {
    for (const { from, name } of imports) {
      const key = `${from} ${name}`
      importers.set(key, (importers.get(key) ?? new Set()).add(path))
    }
  }
  const all = sources.flatMap(({ path, exports }) => exports.map(({ name }) => `${path} ${name}`))
  return { exports: all.length, once: all.filter((one) => importers.get(one)?.size === 1).length }
}

function typeNamesTwice(): number {
  const files = new Map<string, number>()
  for (const { exports } of sources) for (const { name, type } of exports) if (type) files.set(name, (files.get(name) ?? 0) + 1)
  return [...files.values()].filter((count) => count > 1).length
}

function questions(): { comments: number; asking: number } {
  const comments = sources.flatMap(({ text }) => [...text.matchAll(/\/\*\*\s*(?:\n\s*\* )?(\w+)/g)].map(([, word = '']) => word))
  return { comments: comments.length, asking: comments.filter((word) => /^(?:What|Who|Whether|Where)$/.test(word)).length }
}

const percent = (part: number, whole: number) => Math.round((part / whole) * 1_000) / 10
const { exports, once } = importedOnce()
const { comments, asking } = questions()
const generated = sources.filter(({ text }) => /^(?:\/\/|\/\*\*?) *(?:Generated|Made by|Written by)\b/m.test(text.slice(0, 400)))
const measured: Record<string, number> = {
  'lines of src': lines(sources),
  'files of src': sources.length,
  exports,
  'exports with one importer, in %': percent(once, exports),
  'exported type names in two or more files': typeNamesTwice(),
  'doc comments that start with What, Who, Whether or Where, in %': percent(asking, comments),
  'lines of committed generated code': lines(generated),
  'lines of OpenAPI by hand': lines(
    sources.filter(({ path, text }) => /openapi[\w-]*\.ts$/.test(path) && !text.includes('endpointPaths') && !text.includes('components(')),
  ),
}

const over = Object.entries(LIMITS).filter(([name, limit]) => (measured[name] ?? 0) > limit)
if (process.argv.includes('--report')) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  console.log(`at ${commit}`)
  for (const [name, value] of Object.entries(measured)) {
    const limit = LIMITS[name]
    console.log(`${String(value).padStart(8)}  ${name}${limit === undefined ? '' : `, limit ${limit}${value > limit ? ': exceeded' : ''}`}`)
  }
} else {
  const enforced = over.filter(([name]) => !NOT_REACHED.has(name))
  for (const [name, limit] of enforced) console.log(`${name}: ${measured[name]}, limit ${limit}`)
  process.exitCode = enforced.length > 0 ? 1 : 0
}
