import { readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { posix } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'
import { once } from '../discovery/document.ts'

/**
 * What pages load: one style sheet, one icon, and the browser modules. Modules are the source files themselves, types blanked out, at
 * paths that mirror `src/`; only the names of packages are rewritten to paths. So the receipts room that judges in a browser is the one
 * that judges on the server. The list of files follows from the imports of the entries: nothing else can be asked for.
 */
interface Asset {
  type: string
  body: string
}

interface Assets {
  /** Names this set of files in every path, so that each may be cached for good. */
  version: string
  files: ReadonlyMap<string, Asset>
  /** Each entry, and after it all that it imports, for preloading. */
  closures: Readonly<Record<Script, readonly string[]>>
}

const ENTRIES = { ask: new URL('./client/ask.ts', import.meta.url), verify: new URL('./client/verify.ts', import.meta.url) }

export type Script = keyof typeof ENTRIES

const SOURCE = new URL('../../', import.meta.url)
const SCRIPT_TYPE = 'text/javascript; charset=utf-8'
const PLAIN: Record<string, { file: URL; type: string }> = {
  'style.css': { file: new URL('./style.css', import.meta.url), type: 'text/css; charset=utf-8' },
  'icon.svg': { file: new URL('./icon.svg', import.meta.url), type: 'image/svg+xml; charset=utf-8' },
}

/** Only what can stand between `import` and `from`, at the start of a line: prose in comments does not match. */
const IMPORT = /^((?:import|export)\s+[\w\s{},*$]+?\s+from\s+)(['"])([^'"]+)\2/gm

/** All assets, read once a process. Throws when a module imports what is not there. */
export const assets = once((): Assets => {
  const bodies = new Map<string, string>()
  const closures = { ask: follow(ENTRIES.ask, bodies), verify: follow(ENTRIES.verify, bodies) }
  const files = new Map<string, Asset>([...bodies].map(([path, body]) => [path, { type: SCRIPT_TYPE, body }]))
  for (const [path, { file, type }] of Object.entries(PLAIN)) files.set(path, { type, body: readFileSync(file, 'utf8') })
  const version = nobleCrypto.keccak256Hex(JSON.stringify([...files])).slice(2, 14)
  return { version, files, closures }
})

/** The address of an asset. */
export function assetPath(path: string): string {
  return `/assets/${assets().version}/${path}`
}

/** The address of an entry, and of everything that it will import. */
export function scriptPaths(script: Script): { entry: string; imports: string[] } {
  const [entry = '', ...imports] = assets().closures[script].map(assetPath)
  return { entry, imports }
}

/** Reads a module and, through its imports, all others that it needs; gives their served paths, its own first. */
function follow(entry: URL, bodies: Map<string, string>): string[] {
  const places = new Map([[entry.href.slice(SOURCE.href.length), fileURLToPath(entry)]])
  // What a module imports joins the end of the map, and so the walk.
  for (const [path, file] of places) {
    const { body, found } = readModule(path, file)
    bodies.set(path, body)
    for (const one of found) places.set(one.path, one.file)
  }
  return [...places.keys()]
}

interface Place {
  path: string
  file: string
}

function readModule(path: string, file: string): { body: string; found: Place[] } {
  const text = readFileSync(file, 'utf8')
  const script = path.endsWith('.ts') ? quietly(() => stripTypeScriptTypes(text)) : text
  const found: Place[] = []
  const body = script.replace(IMPORT, (_, clause: string, quote: string, specifier: string) => {
    const place = resolve(path, file, specifier)
    found.push(place)
    const relative = posix.relative(posix.dirname(path), place.path)
    return `${clause}${quote}${specifier.startsWith('.') ? specifier : relative.startsWith('.') ? relative : `./${relative}`}${quote}`
  })
  return { body, found }
}

/** A package lies under `vendor/`, by its name and the name of the file that it exports. */
function resolve(path: string, file: string, specifier: string): Place {
  if (specifier.startsWith('.')) {
    return { path: posix.join(posix.dirname(path), specifier), file: fileURLToPath(new URL(specifier, pathToFileURL(file))) }
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
