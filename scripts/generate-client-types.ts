import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clientTypes } from './support/client-types.ts'

/** Writes the types of every tool's input and output, as the client library publishes them: `node scripts/generate-client-types.ts`. */
const root = fileURLToPath(new URL('../', import.meta.url))
const files = await clientTypes()
await rm(`${root}src/client/tools`, { recursive: true, force: true })
for (const [path, text] of files) {
  await mkdir(dirname(root + path), { recursive: true })
  await writeFile(root + path, text)
}
process.stdout.write(`${files.size} files written\n`)
