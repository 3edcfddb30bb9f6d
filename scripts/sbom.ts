import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The bill of materials of what the service runs on, in CycloneDX, by npm itself: `node scripts/sbom.ts` writes
 * `dist/assay-<version>.cdx.json`, `--print` prints it. Development packages are left out here: `npm sbom --omit dev` (11.19) leaves out hono, pg
 * and zod with them, since development packages need those too. The same lockfile gives the same text: npm's random
 * serial number and the time of the day say nothing of the content and are taken away; the name is that of the package, not of its folder.
 */

interface Bill {
  serialNumber?: string
  metadata: { timestamp?: string; component: { 'bom-ref': string; name: string; version: string } }
  components: { 'bom-ref': string; purl: string; properties?: { name: string }[] }[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const { name, version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { name: string; version: string }
const printed = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1_048_576,
  stdio: ['ignore', 'pipe', 'ignore'],
})
const text = `${JSON.stringify(settled(JSON.parse(printed) as Bill), null, 2)}\n`
if (process.argv.includes('--print')) process.stdout.write(text)
else {
  const path = `${root}dist/${name}-${version}.cdx.json`
  mkdirSync(`${root}dist`, { recursive: true })
  writeFileSync(path, text)
  process.stdout.write(`${path}\n`)
}

function settled({ serialNumber: _serial, ...bill }: Bill): Bill {
  const { timestamp: _time, ...metadata } = bill.metadata
  const components = bill.components
    .filter(({ properties = [] }) => !properties.some((property) => property.name === 'cdx:npm:package:development'))
    .toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
  const known = new Set([metadata.component['bom-ref'], ...components.map((component) => component['bom-ref'])])
  const dependencies = bill.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => known.has(one)) }))
  return { ...bill, metadata: { ...metadata, component: { ...metadata.component, name, version } }, components, dependencies }
}
