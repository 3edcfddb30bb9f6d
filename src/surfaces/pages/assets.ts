import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { once } from '../../pure/once.ts'
import { encodedBody, type EncodedBody } from '../http/document.ts'
import { importsOf, moduleGraph, MODULE_EXTENSION, type SourceModule } from './browser-modules.ts'

/**
 * Files that pages load: style sheets, the icon, sample files, and native browser modules made from the source files (browser-modules.ts). The list follows
 * from the imports of the entries, so no other file can be requested. Types are removed in a worker and compression runs on the threads of
 * the engine, each when a file is first requested.
 */
export interface Asset {
  type: string
  encoded: EncodedBody
}

interface Assets {
  /** Hash of all files; part of every path, so that each file may be cached for good. */
  version: string
  files: ReadonlyMap<string, () => Promise<Asset>>
  /** Entry of each script, then all that it imports, for preloading. */
  closures: ReadonlyMap<Script, readonly string[]>
}

/** Script of each page that has one: `client/<name>.ts`. */
const SCRIPTS = [
  'frame',
  'home',
  'tool',
  'verify',
  'status',
  'pay',
  'credits',
  'docs',
  'merchant',
  'preflight',
  'reconcile',
  'reconcile/worker',
] as const

export type Script = (typeof SCRIPTS)[number]

const FOLDER = fileURLToPath(new URL('./', import.meta.url))
const SCRIPT_TYPE = 'text/javascript; charset=utf-8'
const PLAIN_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
}

/** All assets, listed once a process. Throws when a module imports a file that does not exist. */
export const assets = once((): Assets => {
  const entryOf = (script: Script) => `surfaces/pages/client/${script}${MODULE_EXTENSION}`
  const graph = moduleGraph(SCRIPTS.map((script) => new URL(`../../${entryOf(script)}`, import.meta.url)))
  const plain = new Map(
    globSync('**/*.{css,svg,xml}', { cwd: FOLDER })
      .toSorted()
      .map((path) => [path, readFileSync(FOLDER + path, 'utf8')] as const),
  )
  const files = new Map<string, () => Promise<Asset>>()
  for (const [path, text] of plain) {
    const type = PLAIN_TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? ''
    files.set(
      path,
      onRequest(() => Promise.resolve(asset(type, text))),
    )
  }
  for (const [path, module] of graph) {
    files.set(
      path,
      onRequest(async () => asset(SCRIPT_TYPE, await typeStripper.get()(module))),
    )
  }
  const hash = createHash('sha256')
  for (const [path, text] of [...plain, ...[...graph].map(([name, module]) => [name, module.text] as const)])
    hash.update(`${path}\n${text}\n`)
  return {
    version: hash.digest('hex').slice(0, 12),
    files,
    closures: new Map(SCRIPTS.map((script) => [script, [entryOf(script), ...importsOf(graph, entryOf(script))]])),
  }
})

function asset(type: string, body: string): Asset {
  return { type, encoded: encodedBody(body, 'kept') }
}

/** Removes the types of a module in the worker of this process, which answers in the order in which it was asked. */
const typeStripper = forgetful((): ((module: SourceModule) => Promise<string>) => {
  const waiting: PromiseWithResolvers<string>[] = []
  const worker = new Worker(new URL('./assets-worker.ts', import.meta.url))
  worker.on('message', (text: string) => {
    waiting.shift()?.resolve(text)
    if (waiting.length === 0) worker.unref()
  })
  worker.on('error', (error) => {
    typeStripper.forget()
    for (const one of waiting.splice(0)) one.reject(error)
  })
  return (module) => {
    const answer = Promise.withResolvers<string>()
    waiting.push(answer)
    // The process may end while nothing is requested.
    worker.ref()
    worker.postMessage(module, [])
    return answer.promise
  }
})

/** Computes on first use and keeps the value until it is forgotten. */
function forgetful<Value>(compute: () => Value): { get(): Value; forget(): void } {
  let kept: { value: Value } | null = null
  return {
    get: () => (kept ??= { value: compute() }).value,
    forget: () => {
      kept = null
    },
  }
}

/** A file that is made when it is first requested; after a failure it is made again. */
function onRequest(make: () => Promise<Asset>): () => Promise<Asset> {
  const made = forgetful(() => {
    const making = make()
    making.catch(() => made.forget())
    return making
  })
  return made.get
}

/** Makes and compresses every file, one after another, so that the first visitors wait for none. */
export async function prepareAssets(): Promise<void> {
  for (const make of assets().files.values()) await (await make()).encoded.for('br')
}

/** The address of an asset. */
export function assetPath(path: string): string {
  return `/assets/${assets().version}/${path}`
}

/** The address of a source module, which is named without its extension. */
export function modulePath(module: string): string {
  return assetPath(module + MODULE_EXTENSION)
}

/** The address of an entry, and of everything that it will import. */
export function scriptPaths(script: Script): { entry: string; imports: string[] } {
  const [entry = '', ...imports] = (assets().closures.get(script) ?? []).map(assetPath)
  return { entry, imports }
}
