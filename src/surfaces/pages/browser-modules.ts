import { readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { extname, posix } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * Source files as native browser modules. Each is served at a path that mirrors `src/`, with its types removed and its import specifiers
 * rewritten, so that a reader can compare what runs in the browser with what runs on the server. Packages are served under `vendor/`.
 */
export interface SourceModule {
  path: string
  text: string
  /** Modules that must be there before this one runs. */
  imports: readonly ModulePath[]
  /** Modules that it loads on demand with `import()`. */
  later: readonly ModulePath[]
}

interface ModulePath {
  path: string
  file: string
}

const SOURCE = fileURLToPath(new URL('../../', import.meta.url))

/** Extension of the source files: `.ts` in a checkout, `.js` in the package, which is compiled. */
export const MODULE_EXTENSION = extname(import.meta.url)

/** Static imports: at the start of a line, or anywhere in a minified package. Imports of types only are erased before. */
const IMPORT = /^((?:import|export)\b(?!\s+type\b)\s*[\w\s{},*$]*?\s*\bfrom\s*)(['"])([^'"]+)\2(?: with \{\s*type: (['"])json\4\s*\})?/gm
const LATER = /\bimport\((['"])(\.[^'"]+)\1\)/g

/** Returns the module of an entry and all that it may load, by path. */
export function moduleGraph(entries: readonly URL[]): Map<string, SourceModule> {
  const graph = new Map<string, SourceModule>()
  const queue = entries.map((url): ModulePath => ({ path: fileURLToPath(url).slice(SOURCE.length), file: fileURLToPath(url) }))
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { path, file } = next
    if (graph.has(path)) continue
    const text = readModule(file)
    const found = (pattern: RegExp, group: number) => [...text.matchAll(pattern)].map((match) => resolve(path, file, match[group] ?? ''))
    const module = file.endsWith('.json')
      ? { path, text: `export default ${text}`, imports: [], later: [] }
      : { path, text, imports: found(IMPORT, 3), later: found(LATER, 2) }
    graph.set(path, module)
    queue.push(...module.imports, ...module.later)
  }
  return graph
}

/** Returns the paths of all modules that `path` imports, directly or not, without those that it loads on demand. */
export function importsOf(graph: ReadonlyMap<string, SourceModule>, path: string): string[] {
  const seen = new Set<string>([path])
  for (const one of seen) for (const needed of graph.get(one)?.imports ?? []) seen.add(needed.path)
  seen.delete(path)
  return [...seen]
}

/** The text that a browser gets. Takes milliseconds a file, so it runs in a worker. */
export function browserText({ path, text, imports }: SourceModule): string {
  // Not every browser imports JSON, and Firefox never in a worker.
  if (path.startsWith('data/')) return text
  // The verifier of receipts keeps its comments and lines, for readers; other files lose comments, for size.
  const script = stripTypeScriptTypes(text, { mode: path.startsWith('pure/receipts/') ? 'strip' : 'transform' })
  const targets = new Map(imports.map((one) => [one.path, posix.relative(posix.dirname(path), one.path)]))
  return script.replace(IMPORT, (whole, clause: string, quote: string, specifier: string) => {
    const target = targets.get(mirroredPath(path, specifier))
    if (target === undefined) return whole
    return `${clause}${quote}${target.startsWith('.') ? target : `./${target}`}${quote}`
  })
}

function readModule(file: string): string {
  const text = readFileSync(file, 'utf8')
  return isCommonJs(text) ? asModule(text) : text
}

/** Returns the served path of an import: `vendor/<name>` for a package; for a file, its path below `src/` or the root (`data/…`). */
function mirroredPath(path: string, specifier: string): string {
  if (!specifier.startsWith('.')) return `vendor/${specifier}${/\.m?js$/.test(specifier) ? '' : '.js'}`
  return posix
    .join(posix.dirname(path), specifier)
    .replace(/^(?:\.\.\/)+/, '')
    .replace(/\.json$/, '.js')
}

function resolve(path: string, file: string, specifier: string): ModulePath {
  const mirrored = mirroredPath(path, specifier)
  if (specifier.startsWith('.')) return { path: mirrored, file: fileURLToPath(new URL(specifier, pathToFileURL(file))) }
  return { path: mirrored, file: packageFile(file, specifier) }
}

/** The file of a package: as Node finds it for an import of ours, and for `require` where packages import one another. */
function packageFile(importer: string, specifier: string): string {
  return importer.startsWith(SOURCE) ? fileURLToPath(import.meta.resolve(specifier)) : createRequire(importer).resolve(specifier)
}

/**
 * A package of the older kind as a browser module, so that what needs it runs in browsers from the same file. Knows what compilers write:
 * names required by literal texts, and `exports.name = …` at the start of a line. Nothing of the package itself is changed.
 */
function asModule(text: string): string {
  const required = [...new Set([...text.matchAll(/\brequire\("([\w./@-]+)"\)/g)].map(([, name = '']) => name))]
  const exported = [...new Set([...text.matchAll(/^exports\.(\w+) = /gm)].map(([, name = '']) => name))]
  const imports = required.map((name, index) => `import required_${index} from '${name}'`)
  const known = required.map((name, index) => `${JSON.stringify(name)}: required_${index}`)
  const given = exported.map((name) => `const export_${name} = exports.${name}\nexport { export_${name} as ${name} }`)
  return [
    ...imports,
    'const exports = {}',
    `const required = {${known.join(', ')}}`,
    ';(function (exports, require) {',
    text,
    '})(exports, (name) => required[name])',
    ...given,
    'export default exports',
    '',
  ].join('\n')
}

/** Checks if a file of a package is CommonJS as compilers write it, and not an ES module. */
function isCommonJs(text: string): boolean {
  return /^exports\.\w+ = /m.test(text) && !/^(?:import|export)\s/m.test(text)
}
