import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

interface Packed {
  manifest: { name: string; version: string }
  /** A folder of `node_modules`, or a packed file. */
  place: string
}

/**
 * npm registry on this machine: the packages that are installed here, packed when they are asked for, and one packed file. What is not
 * installed is 404, so an install that needs anything else fails. Needs no network.
 */
export async function startRegistry(tarball: string, manifest: Packed['manifest']): Promise<{ url: string; stop(): Promise<void> }> {
  const packages = [...installed(), { manifest, place: tarball }]
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname).slice(1)
    const packed = packages.find((one) => path === fileOf(one))
    if (packed !== undefined) {
      const bytes = packed.place === tarball ? readFile(tarball) : tarOf(packed.place)
      return void bytes.then(
        (file) => response.end(file),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
    }
    const versions = packages.filter((one) => one.manifest.name === path)
    const newest = versions.at(-1)
    if (newest === undefined) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}')
    const origin = `http://${request.headers.host ?? ''}`
    const described = versions.map(
      (one) => [one.manifest.version, { ...one.manifest, dist: { tarball: `${origin}/${fileOf(one)}` } }] as const,
    )
    const document = { name: path, 'dist-tags': { latest: newest.manifest.version }, versions: Object.fromEntries(described) }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the registry does not listen')
  return {
    url: `http://127.0.0.1:${address.port}/`,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function fileOf({ manifest: { name, version } }: Packed): string {
  return `${name}/-/${version}.tgz`
}

/** Packages of the lockfile that are on this machine; the same name may be there in several versions. */
function installed(): Packed[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'node_modules/.package-lock.json'), 'utf8')) as { packages: Record<string, object> }
  return Object.keys(lock.packages).map((path) => ({
    manifest: JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8')) as Packed['manifest'],
    place: join(ROOT, path),
  }))
}

const PACKED_BYTES_MAX = 2 ** 28

/** The folder as npm packs it, without compression. */
async function tarOf(folder: string): Promise<Buffer> {
  const options = ['-c', '--exclude=./node_modules', '--transform=s,^\\.,package,', '-C', folder, '.']
  const { stdout } = await promisify(execFile)('tar', options, { encoding: 'buffer', maxBuffer: PACKED_BYTES_MAX })
  return stdout
}
