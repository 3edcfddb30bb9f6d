/** The token of sandboxes and tests. It answers as USDC does and is worth nothing. Source: contracts/TestUsdc.sol. */
import artifact from '../../../data/contracts/test-usdc.json' with { type: 'json' }

/** Code that, run as a contract's creation, returns the code to place; `owner` may mint, pause and blacklist. */
export function testUsdcCreation(owner: string): string {
  return `${artifact.creation_code}${owner.slice(2).toLowerCase().padStart(64, '0')}`
}
