import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientTypes } from './client-types.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The data of this package is written into the folder: it is CommonJS, which a browser cannot load. */
const INLINED = 'isbn3'

interface Manifest {
  version: string
  description: string
  license: string
  dependencies: Record<string, string>
}

/**
 * Builds the publishable folder of the library: JavaScript and types by the compiler, tables as modules, and a package.json that names only
 * what these files import. What lies in the folder before is removed.
 */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(ROOT, 'tsconfig.package.json'), '--outDir', folder],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  )
  await writeFile(join(folder, 'src/client/tools.d.ts'), await clientTypes())
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest
  const files = await filesBelow(folder)
  const imported = new Set<string>()
  for (const path of files) {
    if (path.endsWith('.json')) await tableModule(folder, path)
    else await rewrite(folder, path, imported)
  }
  await isbnModule(folder)
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(packageJson(manifest, imported), null, 2)}\n`)
  await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  await writeFile(join(folder, 'README.md'), readme(manifest))
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
    if (!target.startsWith('.'))
      imported.add(
        target
          .split('/')
          .slice(0, target.startsWith('@') ? 2 : 1)
          .join('/'),
      )
    return `${clause}${quote}${target}${quote}`
  })
  // Types that were inferred name their module in the middle of a line.
  const whole = changed.replace(/\bimport\("(\.[^"]+)\.ts"\)/g, 'import("$1.js")')
  await writeFile(join(folder, path), whole)
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

function packageJson({ version, description, license, dependencies }: Manifest, imported: ReadonlySet<string>) {
  const entry = (path: string) => ({ types: `./src/${path}.d.ts`, default: `./src/${path}.js` })
  const needed = [...imported].toSorted().map((name) => {
    const exact = dependencies[name]
    if (exact === undefined) throw new Error(`the library imports ${name}, which is not a dependency`)
    return [name, exact]
  })
  return {
    name: 'assay',
    version,
    description,
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      '.': entry('client/index'),
      './client': entry('client/index'),
      './receipts': entry('pure/receipts/index'),
      './checks': entry('client/checks'),
      './package.json': './package.json',
    },
    dependencies: Object.fromEntries(needed),
  }
}

function readme({ description }: Manifest): string {
  return `# assay

${description}

- \`assay/client\` calls a service, pays for calls within a cap (x402), and verifies every receipt.
- \`assay/receipts\` issues, chains and verifies receipts, offline.
- \`assay/checks\` holds the identifier checks as pure functions.

\`\`\`js
import { createClient } from 'assay/client'

const client = createClient({ url: 'http://127.0.0.1:8402' })
const answer = await client.call('iban-check', { iban: 'GB82 WEST 1234 5698 7654 32' })
console.log(answer.result.valid, answer.receipt_hash)
\`\`\`

Client and receipts depend only on @noble/curves and @noble/hashes. Node 20, Bun, and browsers with a bundler or an import map.
`
}
