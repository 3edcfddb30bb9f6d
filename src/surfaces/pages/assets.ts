import { readdirSync, readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { posix } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'
import { once } from '../../pure/once.ts'
import { encodedBody, type EncodedBody } from '../http/encoded.ts'
import { bundle, bundlePath, isJoined } from './bundle.ts'
import { asModule, isCommonJs } from './common-js.ts'

/**
 * What pages load: style sheets, one icon, and the browser modules. Those of `pure/` are the source files themselves at paths that mirror
 * `src/`, types blanked out and the names of packages rewritten to paths, so that the room that judges in a browser can be read there and
 * held against the one that judges on the server. Packages lose their comments to the parser of Node; the modules of a page are joined
 * into one file. The list of files follows from the imports of the entries: nothing else can be asked for.
 */
interface Asset {
  type: string
  body: string
  encoded: EncodedBody
}

interface Assets {
  /** Names this set of files in every path, so that each may be cached for good. */
  version: string
  files: ReadonlyMap<string, Asset>
  /** The joined file of each entry, and after it all that it imports at once, for preloading. What it imports later is served all the same. */
  closures: ReadonlyMap<Script, readonly string[]>
}

/** The script of each page that has one: `client/<name>.ts`. */
const SCRIPTS = [
  'frame',
  'home',
  'tool',
  'verify',
  'status',
  'pay',
  'credits',
  'preflight',
  'reconcile',
  'reconcile/worker',
  'docs',
] as const

export type Script = (typeof SCRIPTS)[number]

/** What one page needs beyond the common style sheet: `styles/<page>.css`. */
const STYLES = new URL('./styles/', import.meta.url)
const SOURCE = new URL('../../', import.meta.url)
const SCRIPT_TYPE = 'text/javascript; charset=utf-8'
const CSS_TYPE = 'text/css; charset=utf-8'
const PLAIN: Record<string, { file: URL; type: string }> = {
  'style.css': { file: new URL('./style.css', import.meta.url), type: CSS_TYPE },
  'icon.svg': { file: new URL('./icon.svg', import.meta.url), type: 'image/svg+xml; charset=utf-8' },
}

/** Only what can stand between `import` and `from`, at the start of a line: prose in comments does not match. */
const IMPORT = /^((?:import|export)\s+[\w\s{},*$]+?\s+from\s+)(['"])([^'"]+)\2(?: with \{ type: (['"])json\4 \})?/gm

/** A module that is loaded when it is first wanted. */
const LATER = /\bimport\((['"])(\.[^'"]+)\1\)/g

/** All assets, read once a process. Throws when a module imports what is not there. */
export const assets = once((): Assets => {
  const bodies = new Map<string, string>()
  const entries = new Map<string, readonly string[]>()
  const paths = SCRIPTS.map((name) => [name, follow(new URL(`./client/${name}.ts`, import.meta.url), bodies, entries)] as const)
  const closures = new Map(paths.map(([name, entry]) => [name, [bundlePath(entry), ...(entries.get(entry) ?? [])]] as const))
  const files = new Map<string, Asset>()
  for (const [path, body] of bodies) {
    if (!isJoined(path)) files.set(path, asset(SCRIPT_TYPE, body))
  }
  for (const entry of entries.keys()) {
    const { path, body } = bundle(entry, bodies)
    files.set(path, asset(SCRIPT_TYPE, body))
  }
  for (const [path, { file, type }] of Object.entries(PLAIN)) files.set(path, asset(type, readFileSync(file, 'utf8')))
  for (const name of readdirSync(STYLES).filter((file) => file.endsWith('.css'))) {
    files.set(`styles/${name}`, asset(CSS_TYPE, readFileSync(new URL(name, STYLES), 'utf8')))
  }
  const version = nobleCrypto.keccak256Hex(JSON.stringify([...files].map(([path, { body }]) => [path, body]))).slice(2, 14)
  return { version, files, closures }
})

function asset(type: string, body: string): Asset {
  return { type, body, encoded: encodedBody(body, 'kept') }
}

/** The address of an asset. */
export function assetPath(path: string): string {
  return `/assets/${assets().version}/${path}`
}

/** The address of an entry, and of everything that it will import. */
export function scriptPaths(script: Script): { entry: string; imports: string[] } {
  const [entry = '', ...imports] = (assets().closures.get(script) ?? []).map(assetPath)
  return { entry, imports }
}

/**
 * Reads a module and, through its imports, all others that it needs, into `bodies`. Notes in `entries` which of them stay files of their own,
 * for this entry and for those that are loaded later. Gives its path.
 */
function follow(entry: URL, bodies: Map<string, string>, entries: Map<string, readonly string[]>): string {
  const own = entry.href.slice(SOURCE.href.length)
  if (entries.has(own)) return own
  const places = new Map([[own, fileURLToPath(entry)]])
  const later: URL[] = []
  // What a module imports joins the end of the map, and so the walk.
  for (const [path, file] of places) {
    const { body, found } = readModule(path, file)
    for (const one of found) places.set(one.path, one.file)
    bodies.set(path, body)
    for (const [, , specifier = ''] of body.matchAll(LATER)) later.push(new URL(specifier, pathToFileURL(file)))
  }
  entries.set(
    own,
    [...places.keys()].filter((path) => !isJoined(path)),
  )
  for (const one of later) follow(one, bodies, entries)
  return own
}

interface Place {
  path: string
  file: string
}

function readModule(path: string, file: string): { body: string; found: Place[] } {
  const text = readFileSync(file, 'utf8')
  const found: Place[] = []
  // Not every browser imports JSON, and Firefox never in a worker.
  if (file.endsWith('.json')) return { body: `export default ${text}`, found }
  const mode = path.startsWith('pure/') ? 'strip' : 'transform'
  const script = quietly(() => stripTypeScriptTypes(isCommonJs(text) ? asModule(text) : text, { mode }))
  const body = script.replace(IMPORT, (_, clause: string, quote: string, specifier: string) => {
    const place = resolve(path, file, specifier)
    found.push(place)
    const relative = posix.relative(posix.dirname(path), place.path)
    return `${clause}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`
  })
  return { body, found }
}

/** A package lies under `vendor/`, by its name and the name of the file that it exports; a table of `data/` beside the rooms of `src/`. */
function resolve(path: string, file: string, specifier: string): Place {
  if (specifier.startsWith('.')) {
    const joined = posix.join(posix.dirname(path), specifier).replace(/^(?:\.\.\/)+/, '')
    return { path: joined.replace(/\.json$/, '.js'), file: fileURLToPath(new URL(specifier, pathToFileURL(file))) }
  }
  return { path: `vendor/${specifier}`, file: createRequire(file).resolve(specifier) }
}

/** Node runs this service by the same stripping, but warns where it is called by name; an operator need not read that. */
function quietly<Value>(work: () => Value): Value {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return work()
  } finally {
    process.emitWarning = emitWarning
  }
}
