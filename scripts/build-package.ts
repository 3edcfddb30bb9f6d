import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildPackage } from './support/package-folder.ts'

/** Builds the npm package in `dist/package` and packs it: `node scripts/build-package.ts`. */
const dist = fileURLToPath(new URL('../dist', import.meta.url))
await buildPackage(`${dist}/package`)
const tarball = execFileSync('npm', ['pack', '--silent', '--pack-destination', dist], { cwd: `${dist}/package`, encoding: 'utf8' })
process.stdout.write(`${dist}/${tarball.trim()}\n`)
