import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildMcpb } from './support/mcpb.ts'
import { buildPackage } from './support/package-folder.ts'

/**
 * Builds the npm package in `dist/package` and packs it: `node scripts/build-package.ts`. With `--mcpb` also the extension for Claude Desktop, whose
 * packages come from the registry.
 */
const dist = fileURLToPath(new URL('../dist', import.meta.url))
await buildPackage(`${dist}/package`)
const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', dist], { cwd: `${dist}/package`, encoding: 'utf8' })
const tarball = `${dist}/${packed.trim()}`
process.stdout.write(`${tarball}\n`)
if (process.argv.includes('--mcpb')) {
  const archive = tarball.replace(/\.tgz$/, '.mcpb')
  await buildMcpb(tarball, `${dist}/mcpb`, archive)
  process.stdout.write(`${archive}\n`)
}
