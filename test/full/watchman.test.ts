/** Contract of the screening adapter with a real watchman, built by the Go toolchain and with the lists of its own tests; skipped where either is missing. */
import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createNameScreening } from '../../src/adapters/name-screening/http.ts'
import { until } from '../support/until.ts'

const MODULE = 'github.com/moov-io/watchman@v0.52.0'
const BUILD_MS = 900_000
const START_MS = 120_000
const run = promisify(execFile)

let folder = ''
let watchman: ChildProcess | null = null
let url = ''
/** Why there is no engine; null when it runs. */
let missing: string | null = 'not started'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Folder of the module's source. Rejects without Go or without the module. */
async function sourceOf(module: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: folder, timeout: BUILD_MS })
  return (JSON.parse(stdout) as { Dir: string }).Dir
}

async function start(): Promise<void> {
  const source = await sourceOf(MODULE)
  const program = join(folder, 'watchman')
  await run('go', ['build', '-mod=mod', '-modcacherw', '-o', program, './cmd/server'], {
    cwd: source,
    timeout: BUILD_MS,
    env: { ...process.env, GOFLAGS: '-mod=readonly' },
  })
  const [port, admin] = [await freePort(), await freePort()]
  const lists = join(source, 'test', 'testdata')
  const config = join(folder, 'config.yml')
  await writeFile(
    config,
    JSON.stringify({
      Watchman: {
        Servers: { BindAddress: `127.0.0.1:${port}`, AdminAddress: `127.0.0.1:${admin}` },
        Telemetry: { ServiceName: 'watchman' },
        Download: { RefreshInterval: '12h', InitialDataDirectory: lists, IncludedLists: ['us_ofac'] },
        Search: { Goroutines: { Default: 2, Min: 1, Max: 4 } },
      },
    }),
  )
  watchman = spawn(program, { env: { ...process.env, APP_CONFIG: config, INITIAL_DATA_DIRECTORY: lists }, stdio: 'ignore' })
  url = `http://127.0.0.1:${port}`
  await until('watchman answers', async () => (await fetch(`${url}/v2/listinfo`).catch(() => null))?.ok === true, START_MS)
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-watchman-'))
  await writeFile(join(folder, 'go.mod'), 'module contract\n\ngo 1.24\n')
  missing = await start().then(
    () => null,
    (error: unknown) => `watchman cannot be built or started here: ${String(error).slice(0, 200)}`,
  )
})
after(async () => {
  watchman?.kill()
  await rm(folder, { recursive: true, force: true })
})

test('a real watchman finds its listed names and says with which lists', async (context) => {
  if (missing !== null) {
    context.skip(missing)
    return
  }
  const engine = createNameScreening('watchman', url)
  const search = async (name: string) => {
    const answer = await engine.search(name, AbortSignal.timeout(30_000))
    assert.ok(answer.kind === 'screened', JSON.stringify(answer))
    return answer
  }
  const found = await search('Viktor Bout')
  assert.deepEqual(
    found.lists.map(({ name, entries }) => [name, (entries ?? 0) > 5_000]),
    [['us_ofac', true]],
  )
  assert.match(found.lists[0]?.date ?? '', /^\d{4}-\d{2}-\d{2}$/)
  assert.ok(
    found.matches.some(({ name, list, score }) => /BOUT/.test(name) && list === 'us_ofac' && score >= engine.threshold),
    JSON.stringify(found.matches),
  )
  assert.ok((await search('Banco Nacional de Cuba')).matches.some(({ name }) => name === 'BANCO NACIONAL DE CUBA'))
  assert.deepEqual((await search('Thomas Weber')).matches, [])
})
