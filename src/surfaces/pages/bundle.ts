import { posix } from 'node:path'

/**
 * Joins the modules of one entry that are this site's own into one file, so that a page asks once where it would ask thirty times. Each
 * module becomes a function that is called once and gives what it exports. Only the forms of import and export that this code base writes
 * are known; any other is thrown at the start, and none is guessed at. What belongs to `pure/` or to a package stays a file of its own.
 */
export interface Bundle {
  /** Where it is served. */
  path: string
  body: string
}

const ROOM = 'surfaces/pages/client/'

/** Where the bundle of an entry is served. */
export function bundlePath(entry: string): string {
  return `bundles/${entry.slice(ROOM.length).replace(/\.ts$/, '.js')}`
}

/** Whether a module is joined; all others are imported. */
export function isJoined(path: string): boolean {
  return path.startsWith('surfaces/') || path.startsWith('service/')
}

/** `bodies`: the text of every module by its path, its types taken out. */
export function bundle(entry: string, bodies: ReadonlyMap<string, string>): Bundle {
  const path = bundlePath(entry)
  const names = new Map<string, string>()
  const outer = new Map<string, string>()
  const parts: string[] = []
  let given: readonly string[] = []
  const add = (module: string): string => {
    const known = names.get(module) ?? outer.get(module)
    if (known !== undefined) return known
    if (!isJoined(module)) {
      const name = `outer_${outer.size}`
      outer.set(module, name)
      return name
    }
    const { body, exported } = joined(module, bodies.get(module) ?? '', path, add)
    const name = `part_${names.size}`
    names.set(module, name)
    parts.push(`const ${name} = (() => {\n${body}\nreturn { ${exported.join(', ')} };\n})();`)
    // The entry is the last to end, since it waits for what it imports.
    given = exported.map((one) => one.replace(/:.*/, ''))
    return name
  }
  const last = add(entry)
  const imports = [...outer].map(([module, name]) => `import * as ${name} from '${relative(path, module)}';`)
  const exports = given.length === 0 ? [] : [`export const { ${given.join(', ')} } = ${last};`]
  return { path, body: [...imports, ...parts, ...exports, ''].join('\n') }
}

function relative(from: string, to: string): string {
  const found = posix.relative(posix.dirname(from), to)
  return found.startsWith('.') ? found : `./${found}`
}

const IMPORT_NAMES = /^import \{ ([^}]*) \} from ['"]([^'"]+)['"];?$/
const EXPORT_FROM = /^export \{ ([^}]*) \} from ['"]([^'"]+)['"];?$/
const EXPORT_NAMES = /^export \{ ([^}]*) \};?$/
const EXPORT_HERE = /^export ((?:async )?function\*?|class|const) (\w+)/
const LATER = /\bimport\((['"])(\.[^'"]+)\1\)/g

/** The body of one module as a body of a function. `add` joins what it imports first and names it. */
function joined(module: string, text: string, bundle_path: string, add: (module: string) => string): { body: string; exported: string[] } {
  const placeOf = (specifier: string) => posix.join(posix.dirname(module), specifier)
  const exported: string[] = []
  const lines = text.split('\n').map((line) => {
    const [, names = '', from = ''] = IMPORT_NAMES.exec(line) ?? []
    if (from !== '') return `const { ${renamed(names)} } = ${add(placeOf(from))};`
    const [, passed = '', source = ''] = EXPORT_FROM.exec(line) ?? []
    if (source !== '') {
      const name = add(placeOf(source))
      exported.push(...pairs(passed).map(([own, given]) => `${given}: ${name}.${own}`))
      return ''
    }
    const [, listed] = EXPORT_NAMES.exec(line) ?? []
    if (listed !== undefined) {
      exported.push(...pairs(listed).map(([own, given]) => `${given}: ${own}`))
      return ''
    }
    const [, , here] = EXPORT_HERE.exec(line) ?? []
    if (here !== undefined) exported.push(here)
    else if (/^(?:import|export)\b/.test(line)) throw new Error(`${module} has a form that cannot be joined: ${line}`)
    return line.replace(/^export /, '')
  })
  const body = lines.join('\n').replace(LATER, (_, quote: string, specifier: string) => {
    return `import(${quote}${relative(bundle_path, bundlePath(placeOf(specifier)))}${quote})`
  })
  return { body, exported }
}

/** `a, b as c` as pairs of the name inside and the one outside. */
function pairs(names: string): [string, string][] {
  return names.split(',').map((one) => {
    const [own = '', given = own] = one.trim().split(' as ')
    return [own, given]
  })
}

/** The names of an import as those of a pattern. */
function renamed(names: string): string {
  return pairs(names)
    .map(([own, given]) => (own === given ? own : `${own}: ${given}`))
    .join(', ')
}
