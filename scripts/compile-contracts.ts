/**
 * Compiles contracts/*.sol with solc from npm and writes the artifacts to data/contracts/. Run it after every change to a contract or
 * to one of the packages it imports; a test compiles again and compares.
 *
 *   node scripts/compile-contracts.ts
 */
import { writeFileSync } from 'node:fs'
import { compileArtifacts } from './support/solidity.ts'

for (const [path, text] of compileArtifacts()) {
  writeFileSync(new URL(`../${path}`, import.meta.url), text)
  console.log(`${path} ${text.length} bytes`)
}
