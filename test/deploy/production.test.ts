/** The image without a container: what its Dockerfile copies and installs, in a folder of its own, serves without a development dependency. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import { startAnvil } from '../support/anvil.ts'
import { restCall } from '../support/app.ts'
import { liveDeployment } from '../support/faults-live.ts'
import { readSources } from '../support/source.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const IMAGE = read('Dockerfile')

interface Lockfile {
  packages: Record<string, { dev?: boolean; devOptional?: boolean; optional?: boolean }>
}

/** Folders that `npm ci --omit=dev` fills, without those that the Dockerfile removes and those of other platforms. */
function productionPackages(): string[] {
  const { packages } = JSON.parse(read('package-lock.json')) as Lockfile
  const removed = [...IMAGE.matchAll(/rm -rf (\S+)/g)].map(([, folder = '']) => folder)
  const wanted = Object.entries(packages).filter(([path, { dev }]) => path.startsWith('node_modules/') && dev !== true)
  const kept = wanted.filter(([path]) => !removed.some((folder) => path === folder || path.startsWith(`${folder}/`)))
  const there = kept.filter(([path]) => existsSync(join(ROOT, path)))
  for (const [path, { optional }] of kept) assert.ok(optional === true || existsSync(join(ROOT, path)), `${path} is not installed`)
  return there.map(([path]) => path)
}

/** Lays out the folder that the image works in. Sources are copied, since Node looks for packages beside the real file. */
async function layOut(folder: string): Promise<void> {
  const last = IMAGE.split(/^FROM /m).at(-1) ?? ''
  for (const [, name = ''] of last.matchAll(/^COPY (?!--from)(\S+) \S+$/gm))
    await cp(join(ROOT, name), join(folder, name), { recursive: true })
  for (const path of productionPackages()) {
    // What lies inside of another package comes with it.
    if (path.lastIndexOf('node_modules/') > 0) continue
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await symlink(join(ROOT, path), join(folder, path))
  }
}

/** The last `CMD` that begins a line, or the one of the health check: a program and its arguments. */
function command(pattern: RegExp): string[] {
  const found = pattern.exec(IMAGE)?.[1] ?? assert.fail('the Dockerfile has no such command')
  const [program, ...args] = JSON.parse(found) as string[]
  assert.equal(program, 'node')
  return args
}

test('production packages, sources and data are all that the image needs to serve, pass its health check and end', async () => {
  assert.match(IMAGE, /^RUN npm ci --omit=dev /m)
  const folder = await mkdtemp(join(tmpdir(), 'assay-image-'))
  const anvil = await startAnvil({ chain_id: 84_532 })
  const live = await liveDeployment(anvil, { ASSAY_FREE_DAILY: '5' })
  await layOut(folder)
  const laid_out = readdirSync(folder)
  // A cache of compiled files would outlive the folder.
  const env = { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', NODE_DISABLE_COMPILE_CACHE: '1', ...live.settings }
  const child = spawn(process.execPath, command(/^CMD (\[.+\])$/m), { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
  try {
    let [notes, url, operator_port] = ['', '', '']
    for await (const line of createInterface(child.stderr)) {
      notes += `${line}\n`
      ;[, url = '', operator_port = ''] = /listens on (http\S+) \(operator: \S+:(\d+)\)/.exec(line) ?? []
      if (url !== '') break
    }
    assert.notEqual(url, '', notes)
    const { status, body } = await restCall(url, 'iban-check', { iban: 'GB82WEST12345698765432' })
    assert.deepEqual([status, (body['result'] as { valid: boolean }).valid], [200, true])
    const health = command(/^\s+CMD (\["node", "-e".+\])$/m)
    const ends = (port: string) =>
      once(spawn(process.execPath, health, { env: { ...env, ASSAY_ADMIN_PORT: port }, stdio: 'ignore' }), 'exit')
    assert.deepEqual(await ends(operator_port), [0, null])
    assert.deepEqual(await ends('1'), [1, null])
    // The command line is in the image too, under its own name.
    assert.match(IMAGE, /^RUN .* && ln -s \/app\/src\/cli\.ts \/usr\/local\/bin\/assay$/m)
    const proof = spawn(join(folder, 'src/cli.ts'), ['ledger', 'prove', '--json'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
    const [proved] = await Promise.all([text(proof.stdout), once(proof, 'exit')])
    assert.equal((JSON.parse(proved) as { proved: unknown }).proved, true)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
    // The root file system may be read-only: whatever was written lies in the data folder.
    assert.deepEqual(readdirSync(folder), laid_out)
  } finally {
    child.kill('SIGKILL')
    await live.remove()
    await anvil.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

test('whatever the sources import, now or when it is needed first, is a production dependency', () => {
  const { dependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  const allowed = new Set([...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {})])
  const sources = readSources('src/**/*.ts')
  assert.ok(sources.length > 300)
  const others = sources.flatMap(({ path, imports }) => {
    const names = imports.filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
    const packages = names.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
    return packages.filter((name) => !allowed.has(name)).map((name) => `${path}: ${name}`)
  })
  assert.deepEqual(others, [])
})
