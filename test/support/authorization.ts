import { randomBytes } from 'node:crypto'
import { toHex, type Hex, type PrivateKeyAccount } from 'viem'

/** The message of an EIP-3009 transfer, as the standard names its fields. */
export interface Authorization {
  from: Hex
  to: Hex
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

/** EIP-3009. */
export const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** The EIP-712 domains of USDC as Circle publishes them: the names differ between Base and Base Sepolia. */
export function usdcDomain(chain_id: number, token: Hex) {
  return { name: chain_id === 8453 ? 'USD Coin' : 'USDC', version: '2', chainId: chain_id, verifyingContract: token } as const
}

/** A transfer that is good for ever, with a random nonce, unless told otherwise. */
export function authorization(from: Hex, to: Hex, value: bigint, other: Partial<Authorization> = {}): Authorization {
  return { from, to, value, validAfter: 0n, validBefore: 2n ** 48n - 1n, nonce: toHex(randomBytes(32)), ...other }
}

/** 65 bytes: r, s, v. Signed by viem, for the token on that chain. */
export function signTransfer(signer: PrivateKeyAccount, chain_id: number, token: Hex, message: Authorization): Promise<Hex> {
  const domain = usdcDomain(chain_id, token)
  return signer.signTypedData({ domain, types: transferTypes, primaryType: 'TransferWithAuthorization', message })
}
