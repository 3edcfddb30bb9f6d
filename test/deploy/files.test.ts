/** What the image, the compose file and the Kubernetes example promise, read as text: no container runs here. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SETTINGS } from '../../src/service/config.ts'

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

test('Kubernetes is kept from inventing settings', () => {
  // A Service named assay would otherwise put ASSAY_PORT=tcp://… into every pod of its namespace.
  assert.match(kubernetes, /enableServiceLinks: false/)
  assert.match(kubernetes, /runAsNonRoot: true/)
  assert.match(kubernetes, /readOnlyRootFilesystem: true/)
})

test('no secret stands in a deployment file, and instances are reached through the proxy alone', () => {
  assert.doesNotMatch(compose, /PASSWORD: |[0-9a-f]{64}/)
  assert.deepEqual(compose.match(/^ {4}ports:.*$/gm), ["    ports: ['127.0.0.1:8402:8402']"])
  assert.match(compose, /ASSAY_TRUSTED_PROXIES: 172\.30\.84\.0\/24/)
  assert.match(read('deploy/compose/Caddyfile'), /header_up X-Forwarded-For \{remote_host\}/)
})
