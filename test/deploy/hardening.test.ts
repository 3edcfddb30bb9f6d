/** Limits and privileges of the containers: memory from one plan, images by digest, no root, no capabilities, no way to what is not needed. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { containerMemoryMb, limits, MEMORY_PLAN } from '../../src/service/limits.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const [image, compose, kubernetes, proxy] = [
  read('Dockerfile'),
  read('compose.yaml'),
  read('deploy/kubernetes/assay.yaml'),
  read('deploy/compose/Caddyfile'),
]

/** Lines of a top-level entry of compose.yaml, or of one of its services. */
function block(name: string): string {
  const found = new RegExp(`^( *)${name}:[^{\\n]*\\n((?:\\1 +.*\\n)+)`, 'm').exec(compose)?.[2]
  assert.ok(found !== undefined, name)
  return found
}

const INSTANCES = block('x-assay')
const CONTAINERS = { assay: INSTANCES, postgres: block('postgres'), proxy: block('proxy') }

// attack: heap, bodies and workers at their bounds at the same time
// in: documents and texts
// asset: memory of the container
// attacker: author, client
// defence: the container limit is computed from these bounds, and the peak is measured
test('the memory limits of all manifests, the heap of the process and the documents follow one plan', () => {
  // By hand: 512 + 48 heap, 2 × (512 + 48 + 16) workers, 64 bodies, 256 off the heap = 2,032 MiB, in steps of 256.
  assert.equal(containerMemoryMb(), 2_048)
  assert.equal(limits.heavy_workers * limits.heavy_memory_mb, 1_024)
  assert.match(kubernetes, new RegExp(`limits: \\{ memory: ${containerMemoryMb()}Mi, `))
  assert.match(INSTANCES, new RegExp(`^  mem_limit: ${containerMemoryMb()}m$`, 'm'))
  assert.match(INSTANCES, new RegExp(`^  memswap_limit: ${containerMemoryMb()}m$`, 'm'))
  for (const command of [/^CMD (.*)$/m.exec(image)?.[1], /^ {2}command: (.*)$/m.exec(INSTANCES)?.[1]]) {
    const [heap, semi_space] = ['old', 'semi'].map((space) =>
      Number(new RegExp(`--max-${space}-space-size=(\\d+)`).exec(command ?? '')?.[1]),
    )
    assert.equal(heap, MEMORY_PLAN.heap_mb)
    assert.equal(3 * (semi_space ?? 0), MEMORY_PLAN.young_mb)
  }
  assert.match(read('docs/operating/scale.md'), new RegExp(`${containerMemoryMb().toLocaleString('en-US')} MiB`))
})

// attack: a tag that is moved to other content
// in: outgoing requests and stored data
// asset: the image
// attacker: base image
// defence: base images are named by digest
test('every image of others is named by version and digest', () => {
  const files = ['Dockerfile', 'compose.yaml', ...globSync('deploy/**/*.{yaml,yml}', { cwd: new URL('../../', import.meta.url) })]
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/^\s*(?:FROM|ARG \w*IMAGE\w*=|-? ?image:)\s*(\S+)/gm)].map(([, name = '']) => ({ file, name })),
  )
  const others = named.filter(
    ({ name }) => name !== '${NODE_IMAGE}' && !name.startsWith('${WATCHMAN_IMAGE:-') && !name.startsWith('registry.example/'),
  )
  assert.deepEqual(
    others.map(({ name }) => name.replace(/[:@].*$/, '')),
    ['node', 'postgres', 'caddy'],
  )
  for (const { file, name } of others) assert.match(name, /^[a-z]+:\d+\.\d+(?:\.\d+)?(?:-[a-z-]+)?@sha256:[0-9a-f]{64}$/, file)
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
  assert.ok(image.includes(`ARG NODE_IMAGE=node:${devDependencies['node']}-`), 'the image runs the Node that the tests run')
})

// attack: root, capabilities, writable file system, other services
// in: outgoing requests and stored data
// asset: the cluster
// attacker: client who runs code in a container
// defence: no root where the image allows it, capabilities dropped, read-only root, closed networks
test('in compose every container has a read-only root, dropped capabilities, and bounds of memory and processes', () => {
  for (const [name, text] of Object.entries(CONTAINERS)) {
    for (const line of [/read_only: true/, /cap_drop: \[ALL\]/, /no-new-privileges:true/, /mem_limit: \d+m/, /pids_limit: \d+/]) {
      assert.match(text, line, name)
    }
    assert.doesNotMatch(text, /privileged: true|network_mode|pid: host|docker\.sock/, name)
  }
  assert.match(INSTANCES, /user: '1000:1000'/)
  assert.doesNotMatch(INSTANCES, /cap_add/)
  // A tmpfs without a size may take half of the machine's memory.
  for (const [, list = ''] of compose.matchAll(/tmpfs: \[(.*)\]/g)) {
    for (const mount of list.split(', ')) assert.match(mount, /:size=\d+m'$/)
  }
})

// attack: root, capabilities, writable file system, other services
test('in compose the proxy does not reach the store, and the store reaches nothing outside', () => {
  assert.match(CONTAINERS.postgres, /networks: \[database\]/)
  assert.match(CONTAINERS.proxy, /networks: \[inner\]/)
  assert.match(INSTANCES, /networks: \[inner, database\]/)
  assert.match(compose, /^ {2}database: \{ internal: true \}$/m)
})

test('the proxy bounds headers and slow clients as the service does', () => {
  assert.match(proxy, new RegExp(`max_header_size ${limits.header_bytes / 1_024}KiB`))
  assert.match(proxy, new RegExp(`read_header ${limits.header_timeout_ms / 1_000}s`))
  assert.match(proxy, new RegExp(`read_body ${limits.request_timeout_ms / 1_000}s`))
  assert.match(proxy, new RegExp(`idle ${limits.keep_alive_ms / 1_000}s`))
  assert.ok(Number(/max_size (\d+)MB/.exec(proxy)?.[1]) * 1_000_000 >= limits.document_body_bytes)
  assert.match(proxy, /^\tadmin off$/m)
})

// attack: root, capabilities, writable file system, other services
test('Kubernetes runs the pod as the restricted Pod Security Standard asks, without a service account', () => {
  assert.match(
    kubernetes,
    /runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: \{ type: RuntimeDefault \}/,
  )
  assert.match(kubernetes, /allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: \{ drop: \[ALL\] \}/)
  assert.match(kubernetes, /automountServiceAccountToken: false/)
  assert.match(kubernetes, /requests: \{ cpu: '\d+', memory: \d+Mi, ephemeral-storage: \d+Mi \}/)
  assert.match(kubernetes, /limits: \{ memory: \d+Mi, ephemeral-storage: \d+Mi \}/)
  assert.doesNotMatch(kubernetes, /hostPath|hostNetwork|hostPID|hostPort|privileged/)
})

// attack: root, capabilities, writable file system, other services
test('Kubernetes lets in the ingress alone, and out only names, the store and public https', () => {
  const policy = kubernetes.split('kind: NetworkPolicy')[1] ?? ''
  assert.match(policy, /podSelector: \{ matchLabels: \{ app: assay \} \}\n {2}policyTypes: \[Ingress, Egress\]/)
  assert.deepEqual(
    [...policy.matchAll(/port: (\d+)/g)].map(([, port]) => Number(port)),
    [8_402, 53, 53, 5_432, 443],
  )
  // RFC 6890: what is not public, the address of cloud metadata among it.
  for (const range of [
    '10.0.0.0/8',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '::1/128',
    'fc00::/7',
    'fe80::/10',
  ]) {
    assert.ok(policy.includes(range), range)
  }
})
