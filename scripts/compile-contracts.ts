/**
 * Compiles contracts/*.sol with solc from npm and writes the artifacts to data/contracts/, and to test/chain/samples/ and
 * test/contracts-solidity/samples/ what only tests place. Run it after every change to a contract or to one of the packages it imports; a test compiles again and compares.
 *
 *   node scripts/compile-contracts.ts
 */
import { writeFileSync } from 'node:fs'
import { compileArtifacts, DEPOSIT_SAMPLES, TOKEN_SAMPLES } from './support/solidity.ts'

for (const [path, text] of [...compileArtifacts(), ...compileArtifacts(TOKEN_SAMPLES), ...compileArtifacts(DEPOSIT_SAMPLES)]) {
  writeFileSync(new URL(`../${path}`, import.meta.url), text)
  console.log(`${path} ${text.length} bytes`)
}
