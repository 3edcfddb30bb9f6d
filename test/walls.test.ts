import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { test } from 'node:test'
import { readSources, type SourceFile } from './support/source.ts'

/**
 * Who may import whom. A wing is the first folder under `src/`; an entry is a wing, a folder or file under `src/`, a package, or a
 * `node:` module. Types count too: what is not listed here is not known there.
 */
const ALLOWED: Record<string, string[]> = {
  pure: ['pure', 'data', '@noble/curves', '@noble/hashes'],
  ports: ['ports', 'pure/payments/states.ts'],
  tools: [
    'pure',
    'ports',
    'service/catalogue/define.ts',
    'service/catalogue/packs.ts',
    'service/catalogue/schemas.ts',
    'service/limits.ts',
    'zod',
  ],
  service: ['service', 'pure', 'ports', 'zod'],
  adapters: ['ports', 'pure', 'service/limits.ts', 'service/problems.ts', 'node:'],
  surfaces: ['surfaces', 'service', 'pure', 'ports', 'hono', 'zod'],
  client: ['client', 'pure/receipts', 'pure/is-object.ts'],
}

/** The one file, or folder, that may reach further, and why. */
const EXCEPTIONS: Record<string, string[]> = {
  // The one parser or data library in the one file that needs it.
  'pure/checks/isbn.ts': ['isbn3'],
  'pure/checks/countries.ts': ['iso-3166'],
  'pure/checks/e164.ts': ['libphonenumber-js'],
  'pure/checks/domains.ts': ['disposable-email-domains-js'],
  'pure/documents/xml/': ['saxes'],
  'pure/documents/markdown/': ['htmlparser2'],
  'pure/documents/json-schema/': ['re2js'],
  // Exports of the library in addition to the client, and the facts of payment that it shares with the service.
  'client/checks.ts': ['pure/checks'],
  'client/payment.ts': ['pure/payments/usdc.ts', 'pure/payments/price-curve.ts'],
  'client/verification.ts': ['pure/networks.ts'],
  // Drawing: a document, and a code of squares.
  'service/invoices/pdf.ts': ['pdf-lib', '@pdf-lib/fontkit', 'node:fs/promises'],
  'service/invoices/qr.ts': ['qrcode'],
  // The folder walk, and the keyed hash of a client.
  'service/catalogue/load.ts': ['node:fs/promises'],
  'service/clients.ts': ['node:crypto', 'node:net'],
  // The hot path stands on node:http itself.
  'surfaces/http/node-server.ts': ['node:http', 'node:stream', '@hono/node-server'],
  'surfaces/http/connections.ts': ['node:http', 'node:net'],
  'surfaces/operator.ts': ['node:http'],
  // Compressed once, sent many times.
  'surfaces/http/document.ts': ['node:zlib', 'node:util'],
  'surfaces/mcp/': ['@modelcontextprotocol/server'],
  'surfaces/a2a/': ['@a2a-js/sdk'],
  // Browsers get the source files themselves, read once and stripped of types.
  'surfaces/pages/assets.ts': ['node:crypto', 'node:fs', 'node:url', 'node:worker_threads'],
  'surfaces/pages/assets-worker.ts': ['node:worker_threads'],
  'surfaces/pages/browser-modules.ts': ['node:fs', 'node:module', 'node:path', 'node:url'],
  'surfaces/pages/messages.ts': ['node:fs'],
  // Guides, and the parser of their Markdown.
  'surfaces/pages/docs/guides.ts': ['commonmark', 'node:fs'],
  // Sample documents, which are data.
  'surfaces/pages/components/preflight-desk.ts': ['data/samples'],
  // Components, for the server and for browsers.
  'surfaces/pages/': ['preact', 'htm', 'preact-render-to-string'],
  // Each adapter has its one client library.
  'adapters/store/postgres.ts': ['pg'],
  'adapters/store/copy-store.ts': ['pg'],
  'adapters/log/': ['pino'],
  'adapters/cards/': ['stripe'],
  'adapters/telemetry/': ['prom-client'],
  'adapters/tracing/': ['@opentelemetry/api'],
  'adapters/gas-wallet/': ['@noble/curves'],
  'adapters/signer/': ['@noble/curves', '@noble/hashes', 'hash-wasm', 'secp256k1'],
}

const HINT: Record<string, string> = {
  pure: 'pure is true everywhere: pass what it needs as an argument',
  ports: 'ports are types only',
  tools: 'a tool reaches the world through its sources',
  service: 'the service speaks to the world through ports; give it one',
  adapters: 'adapters never import each other; put what they share into pure',
  surfaces: 'a surface translates; move the logic into the service',
  client: 'the library stands on the receipts alone',
}

/** Entry points and what they assemble may reach everywhere. */
const FREE = /^src\/(?:main\.ts|cli\.ts|cli\/|assembly\/)/

/** An import as the table names it: a path under `src/` or `data/`, else the module itself. */
function target(file: SourceFile, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier
  return posix.normalize(posix.join(posix.dirname(file.path), specifier)).replace(/^src\//, '')
}

function covers(entry: string, name: string): boolean {
  return name === entry || name.startsWith(entry.endsWith('/') || entry.endsWith(':') ? entry : `${entry}/`)
}

function violations(file: SourceFile): string[] {
  const path = file.path.replace(/^src\//, '')
  const wing = path.split('/')[0] ?? ''
  const extra = Object.entries(EXCEPTIONS).flatMap(([place, names]) => (path.startsWith(place) ? names : []))
  const allowed = [...(ALLOWED[wing] ?? []), ...extra]
  // An adapter may import its own folder, never a neighbour's.
  if (wing === 'adapters') allowed.push(path.split('/').slice(0, 2).join('/'))
  return file.imports
    .map((specifier) => target(file, specifier))
    .filter((name) => !allowed.some((entry) => covers(entry, name)))
    .map((name) => `${file.path} imports ${name}: ${HINT[wing] ?? 'the room is not in the table'}`)
}

const sources = readSources('src/**/*.ts')

test('every wing imports only what the table allows', () => {
  assert.ok(sources.length > 100, `the walls were read from only ${sources.length} files`)
  const walled = sources.filter(({ path }) => !FREE.test(path))
  assert.deepEqual(walled.flatMap(violations), [])
})

test('only surfaces, the assembly and the command line reach into calls', () => {
  const inward = (file: SourceFile) => file.imports.some((one) => target(file, one).startsWith('service/calls/'))
  const callers = sources.filter(inward).map(({ path }) => path)
  assert.deepEqual(
    callers.filter((path) => !FREE.test(path) && !/^src\/(surfaces|service\/calls)\//.test(path)),
    [],
  )
})

test('no file imports in a circle', () => {
  const edges = new Map(sources.map((file) => [file.path.replace(/^src\//, ''), file.imports.map((one) => target(file, one))]))
  const done = new Set<string>()
  const circle = (name: string, trail: string[]): string[] | null => {
    if (trail.includes(name)) return [...trail.slice(trail.indexOf(name)), name]
    if (done.has(name)) return null
    for (const next of edges.get(name) ?? []) {
      const found = edges.has(next) ? circle(next, [...trail, name]) : null
      if (found !== null) return found
    }
    done.add(name)
    return null
  }
  assert.deepEqual(
    [...edges.keys()].map((name) => circle(name, [])).filter((found) => found !== null),
    [],
  )
})

test('nothing outside the tests imports main or a test', () => {
  const guilty = sources.filter((file) => file.imports.some((one) => /(^|\/)main\.ts$|^(\.\.\/)+test\//.test(one)))
  assert.deepEqual(
    guilty.map(({ path }) => path),
    [],
  )
})
