/**
 * Contracts whose address follows from their code (EIP-1014), so that it is the same on every chain that has the deterministic deployer.
 */
import { fromHex, nobleCrypto, toHex } from '../receipts/crypto.ts'

/** The proxy that turns a salt and creation code into a contract by CREATE2 (Arachnid's deterministic-deployment-proxy). */
export const DETERMINISTIC_DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

const SALT = `0x${'00'.repeat(32)}`

export interface Deployment {
  /** 0x-prefixed lower-case address. */
  address: string
  creation_code: string
  /** Sent to DETERMINISTIC_DEPLOYER without value, this places the contract; sent again, it fails and changes nothing. */
  deploy_calldata: string
}

export function deploymentOf(creation_code: string): Deployment {
  const address = create2Address(DETERMINISTIC_DEPLOYER, SALT, creation_code)
  return { address, creation_code, deploy_calldata: SALT + creation_code.slice(2) }
}

/** EIP-1014: the last 20 bytes of keccak(0xff ‖ deployer ‖ salt ‖ keccak(creation code)). All are 0x-prefixed lower-case hex. */
export function create2Address(deployer: string, salt: string, creation_code: string): string {
  return lastBytes(`0xff${deployer.slice(2)}${salt.slice(2)}${keccakOfHex(creation_code).slice(2)}`)
}

/** Address of the first contract that a contract creates with CREATE: the last 20 bytes of keccak(rlp([creator, 1])), EIP-161. */
export function firstCreated(creator: string): string {
  return lastBytes(`0xd694${creator.slice(2)}01`)
}

function lastBytes(hex: string): string {
  return `0x${keccakOfHex(hex).slice(26)}`
}

function keccakOfHex(hex: string): string {
  const bytes = fromHex(hex)
  if (bytes === null) throw new RangeError('not hexadecimal')
  return toHex(nobleCrypto.keccak256(bytes))
}
