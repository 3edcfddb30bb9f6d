/** What the image, the compose file and the Kubernetes example promise, read as text: no container runs here. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { isIP, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { wideProxies } from '../../src/service/clients.ts'
import { SETTINGS } from '../../src/service/config.ts'
import { limits } from '../../src/service/limits.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const [image, compose, kubernetes] = [read('Dockerfile'), read('compose.yaml'), read('deploy/kubernetes/assay.yaml')]

test('every setting that a deployment names is one of the service', () => {
  // What compose only passes on from its own environment is a name of its own.
  const names = [image, compose, kubernetes].flatMap(
    (text) => text.replaceAll(/\$\{ASSAY_\w+/g, '').match(/\bASSAY_[A-Z_]+(?=[:=\s,])/g) ?? [],
  )
  assert.ok(new Set(names).size > 10)
  assert.deepEqual(
    [...new Set(names)].filter((name) => !(name in SETTINGS)),
    [],
  )
})

test('the image runs as nobody special, says how it is, and holds no secret', () => {
  const stages = image.split(/^FROM /m)
  const last = stages.at(-1) ?? ''
  assert.match(last, /^USER node$/m)
  assert.ok(last.indexOf('USER node') < last.indexOf('CMD ["node"'))
  assert.match(last, /^HEALTHCHECK .*\n\s+CMD \["node"/m)
  assert.doesNotMatch(image, /KEY_FILE|SECRET|PASSWORD/)
  // What is copied is let through by .dockerignore, and is there.
  const allowed = read('.dockerignore')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
  const copied = [...image.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '))
  assert.deepEqual([...new Set(copied)].sort(), allowed.sort())
  for (const name of copied) assert.ok(existsSync(new URL(`../../${name}`, import.meta.url)), name)
})

test('the image asks itself at the operator port of the settings', async () => {
  const [program = '', ...args] = JSON.parse(/^HEALTHCHECK .*\n\s+CMD (\[.*\])$/m.exec(image)?.[1] ?? '[]') as string[]
  assert.equal(program, 'node')
  const server = createServer((request, response) => response.writeHead(request.url === '/health' ? 200 : 404).end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const asked = async (env: Record<string, string>) => {
    const [code] = (await once(spawn(process.execPath, args, { env }), 'exit')) as [number]
    return code
  }
  const ways = [{ ASSAY_PORT: String(port - 1) }, { ASSAY_ADMIN_PORT: String(port) }, { ASSAY_PORT: String(port), ASSAY_ADMIN_PORT: 'off' }]
  for (const env of ways) assert.equal(await asked(env), 0)
  server.close()
  await once(server, 'close')
  for (const env of ways) assert.equal(await asked(env), 1)
})

test('a stop is heard of before the port closes', () => {
  const seconds = Number(/preStop: \{ exec: \{ command: \[sleep, '(\d+)'\]/.exec(kubernetes)?.[1])
  const grace_s = Number(/terminationGracePeriodSeconds: (\d+)/.exec(kubernetes)?.[1])
  // The pause and the calls in flight fit into the grace period.
  assert.ok(seconds >= 5 && seconds + limits.stop_ms / 1_000 < grace_s, `${seconds} of ${grace_s}`)
  assert.match(read('deploy/compose/Caddyfile'), /^\t\tlb_try_duration \d+s\n\t\tfail_duration \d+s$/m)
})

test('Kubernetes is kept from inventing settings', () => {
  // A Service named assay would otherwise put ASSAY_PORT=tcp://… into every pod of its namespace.
  assert.match(kubernetes, /enableServiceLinks: false/)
  assert.match(kubernetes, /runAsNonRoot: true/)
  assert.match(kubernetes, /readOnlyRootFilesystem: true/)
})

test('probes go to the operator port, which nothing publishes', () => {
  for (const probe of ['readinessProbe: { httpGet: { path: /health,', 'livenessProbe: { tcpSocket: {'])
    assert.ok(kubernetes.includes(`${probe} port: operator }`), probe)
  assert.match(kubernetes, /kind: Service\n.*\nspec: \{ .*ports: \[\{ name: http, port: 80, targetPort: http \}\] \}/)
  assert.match(kubernetes, /prometheus\.io\/port: '8403'/)
  assert.match(read('deploy/compose/Caddyfile'), /^\t\thealth_port 8403$/m)
  assert.doesNotMatch(image, /^EXPOSE .*8403/m)
})

test('no secret stands in a deployment file, and instances are reached through the proxy alone', () => {
  assert.doesNotMatch(compose, /PASSWORD: |(?<!@sha256:)[0-9a-f]{64}/)
  assert.deepEqual(compose.match(/^ {4}ports:.*$/gm), ["    ports: ['127.0.0.1:8402:8402']"])
  assert.match(compose, /ASSAY_TRUSTED_PROXIES: 172\.30\.84\.0\/24/)
  const [, proxies = ''] = /^ {2}ASSAY_TRUSTED_PROXIES: (\S+)$/m.exec(kubernetes) ?? []
  assert.deepEqual([proxies === '', wideProxies(proxies.split(','))], [false, []])
  assert.ok(
    proxies.split(',').every((one) => isIP(one) !== 0),
    'single addresses',
  )
  assert.match(read('deploy/compose/Caddyfile'), /header_up X-Forwarded-For \{remote_host\}/)
})
