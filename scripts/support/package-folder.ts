import { execFileSync } from 'node:child_process'
import { chmod, copyFile, cp, glob, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { manPage } from '../../src/cli/completion.ts'
import { clientTypes } from './client-types.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Packages that only `serve` and `doctor` load; `npm install --omit=optional` leaves them out. */
const SERVICE_ONLY: ReadonlySet<string> = new Set([
  '@a2a-js/sdk',
  '@hono/node-server',
  '@opentelemetry/api',
  '@pdf-lib/fontkit',
  'commonmark',
  'dejavu-fonts-ttf',
  'htm',
  'pdf-lib',
  'preact',
  'preact-render-to-string',
  'prom-client',
  'qrcode',
  'stripe',
])
/** The data of this package is written into the folder: it is CommonJS, which a browser cannot load. */
const INLINED = 'isbn3'

interface Manifest {
  version: string
  description: string
  license: string
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}

/**
 * Builds the publishable folder: the command line and the library as JavaScript, types of the library, tables as modules, and a package.json
 * that names only what these files import. What lies in the folder before is removed.
 */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  // The library comes second: its files run in browsers and on older versions of Node, and have declarations.
  compile('tsconfig.service.json', folder)
  compile('tsconfig.package.json', folder)
  await writeFile(join(folder, 'src/client/tools.d.ts'), await clientTypes())
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest
  const files = await filesBelow(folder)
  const imported = new Set<string>()
  for (const path of files) {
    if (path === 'package.json') await manifestModule(folder, manifest)
    else if (path.endsWith('.json')) await tableModule(folder, path)
    else await rewrite(folder, path, imported)
  }
  await isbnModule(folder)
  await copyPlainFiles(folder)
  await writeFile(join(folder, 'assay.1'), manPage())
  await writeFile(join(folder, 'assay.js'), COMMAND)
  await chmod(join(folder, 'assay.js'), 0o755)
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(packageJson(manifest, imported), null, 2)}\n`)
  await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  await writeFile(join(folder, 'README.md'), readme(manifest))
}

function compile(project: string, folder: string): void {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', join(ROOT, project), '--outDir', folder], { cwd: ROOT, encoding: 'utf8' })
}

/** The command: asks for the version of Node before the first module is loaded, which an older one could not read. */
const COMMAND = `#!/usr/bin/env node
import { homedir } from 'node:os'
import { join } from 'node:path'

// Keys and store belong neither in the folder of a project nor in the root, from which desktop applications start commands.
process.env.ASSAY_DATA_DIR ||= join(homedir(), '.assay')
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 15)) await import('./src/cli.js')
else {
  process.stderr.write(\`assay: Node.js 22.15 or later is needed; this is \${process.versions.node}.\\n\`)
  process.exitCode = 78
}
`

/** Style sheets, the icon, sample files, the guides, and the tables as files, which some modules read by name. */
async function copyPlainFiles(folder: string): Promise<void> {
  for await (const path of glob('src/**/*.{css,svg,xml}', { cwd: ROOT })) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await copyFile(join(ROOT, path), join(folder, path))
  }
  for (const path of ['data', 'docs/guide']) await cp(join(ROOT, path), join(folder, path), { recursive: true })
}

/** Module with the members of package.json that the service reads. */
async function manifestModule(folder: string, { version }: Manifest): Promise<void> {
  await writeFile(join(folder, 'package.js'), `export default ${JSON.stringify({ version })}\n`)
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      join(parentPath, name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
}

/** A table as a module: JSON modules need import attributes, which older browsers and bundlers do not read. */
async function tableModule(folder: string, path: string): Promise<void> {
  const text = JSON.stringify(JSON.parse(await readFile(join(folder, path), 'utf8')))
  await writeFile(join(folder, path.replace(/\.json$/, '.js')), `export default ${text}\n`)
  await rm(join(folder, path))
}

/** Import and export statements; between the keywords only names can appear. */
const IMPORT = /^((?:import|export)\s[\w\s{},*$]*?\bfrom\s+)(['"])([^'"]+)\2(\s+with\s*\{[^}]*\})?/gm

/** Points the imports of a module, or of its types, to what lies in the folder, and notes the packages that are left. */
async function rewrite(folder: string, path: string, imported: Set<string>): Promise<void> {
  const text = await readFile(join(folder, path), 'utf8')
  const changed = text.replace(IMPORT, (_, clause: string, quote: string, specifier: string) => {
    const target = targetOf(path, specifier)
    notePackage(target, imported)
    return `${clause}${quote}${target}${quote}`
  })
  for (const [, specifier = ''] of text.matchAll(LOADED)) notePackage(specifier, imported)
  // Types that were inferred name their module in the middle of a line.
  const typed = changed.replace(/\bimport\("(\.[^"]+)\.ts"\)/g, 'import("$1.js")')
  await writeFile(join(folder, path), typed.replace(MODULE_URL, '.js$1, import.meta.url)'))
}

/** Packages that are loaded on demand, or asked for by their place. */
const LOADED = /\bimport(?:\.meta\.resolve)?\('([^'.][^']*)'\)/g
/** Threads and the command itself, named by their place. */
const MODULE_URL = /\.ts(['`]), import\.meta\.url\)/g

function notePackage(specifier: string, imported: Set<string>): void {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return
  imported.add(
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/'),
  )
}

function targetOf(path: string, specifier: string): string {
  if (specifier === INLINED) {
    const relative = posix.relative(posix.dirname(path), `data/${INLINED}.js`)
    return relative.startsWith('.') ? relative : `./${relative}`
  }
  return specifier.startsWith('.') ? specifier.replace(/\.(?:ts|json)$/, '.js') : specifier
}

/** The range message as isbn3 carries it, under its own licence. */
async function isbnModule(folder: string): Promise<void> {
  const { groups } = createRequire(join(ROOT, 'package.json'))(INLINED) as { groups: unknown }
  const { version } = JSON.parse(await readFile(join(ROOT, `node_modules/${INLINED}/package.json`), 'utf8')) as { version: string }
  const notice = `// Ranges of ISBN groups from ${INLINED} ${version}, MIT licence: see ${INLINED}.LICENSE.\n`
  await mkdir(join(folder, 'data'), { recursive: true })
  await writeFile(join(folder, `data/${INLINED}.js`), `${notice}export default ${JSON.stringify({ groups })}\n`)
  await copyFile(await licenceOf(INLINED), join(folder, `data/${INLINED}.LICENSE`))
}

async function licenceOf(name: string): Promise<string> {
  const place = join(ROOT, 'node_modules', name)
  const found = (await readdir(place)).find((file) => /^licen[sc]e/i.test(file))
  if (found === undefined) throw new Error(`${name} brings no licence text`)
  return join(place, found)
}

function packageJson({ version, description, license, dependencies, optionalDependencies }: Manifest, imported: ReadonlySet<string>) {
  const entry = (path: string) => ({ types: `./src/${path}.d.ts`, default: `./src/${path}.js` })
  const needed = [...imported].toSorted().map((name) => {
    const exact = dependencies[name] ?? optionalDependencies[name]
    if (exact === undefined) throw new Error(`the package imports ${name}, which is not a dependency`)
    return [name, exact] as const
  })
  const only_service = ([name]: readonly [string, string]) => SERVICE_ONLY.has(name)
  return {
    name: 'assay',
    version,
    description,
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=22.15' },
    bin: { assay: 'assay.js' },
    man: './assay.1',
    exports: {
      '.': entry('client/index'),
      './client': entry('client/index'),
      './receipts': entry('pure/receipts/index'),
      './checks': entry('client/checks'),
      './package.json': './package.json',
    },
    dependencies: Object.fromEntries(needed.filter((one) => !only_service(one))),
    optionalDependencies: Object.fromEntries(needed.filter(only_service)),
  }
}

function readme({ description }: Manifest): string {
  return `# assay

${description}

- \`npx assay help\` lists the commands. \`npx assay call\` runs a check on this machine, \`npx assay mcp --small\` serves them to an agent,
  \`npx assay verify\` verifies receipts.
- \`assay/client\` calls a service, pays for calls within a cap (x402), and verifies every receipt.
- \`assay/receipts\` issues, chains and verifies receipts, offline.
- \`assay/checks\` holds the identifier checks as pure functions.

\`\`\`js
import { createClient } from 'assay/client'

const client = createClient({ url: 'http://127.0.0.1:8402' })
const answer = await client.call('iban-check', { iban: 'GB82 WEST 1234 5698 7654 32' })
console.log(answer.result.valid, answer.receipt_hash)
\`\`\`

\`\`\`json
{ "mcpServers": { "assay": { "command": "npx", "args": ["-y", "assay", "mcp", "--small"] } } }
\`\`\`

The command needs Node.js 22.15 or later; its keys and its store are in \`~/.assay\`, or in \`ASSAY_DATA_DIR\`. Client and receipts import only @noble/curves and @noble/hashes, and run on Node 20, on Bun, and in
browsers with a bundler or an import map. \`npm install --omit=optional assay\` leaves out the packages that only \`assay serve\` and \`assay doctor\` load
(80 of 135 MB). The chain of the sandbox, @foundry-rs/anvil, is not part of it; without it \`assay serve\` takes no sandbox payments.
`
}
