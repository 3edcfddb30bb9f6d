/**
 * The facilitator that the peers of the `paid-call` suite ask. It verifies as @x402/evm does first: the EIP-712 signature, with viem. It looks
 * at no chain, remembers no nonce, and its settlement is a constant.
 */
import { getAddress, verifyTypedData, type Hex } from 'viem'

interface Payment {
  payload: { signature: Hex; authorization: { from: Hex; to: Hex; value: string; validAfter: string; validBefore: string; nonce: Hex } }
}

interface Requirements {
  network: string
  asset: Hex
  extra: { name: string; version: string }
}

export const TRANSFER_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

export const NETWORK = 'eip155:84532'

export const facilitator = {
  getSupported: () => Promise.resolve({ kinds: [{ x402Version: 2, scheme: 'exact', network: NETWORK }], extensions: [], signers: {} }),
  async verify({ payload: { signature, authorization } }: Payment, { network, asset, extra }: Requirements) {
    const { from, to, value, validAfter, validBefore, nonce } = authorization
    const isValid = await verifyTypedData({
      address: from,
      domain: { ...extra, chainId: Number(network.split(':')[1]), verifyingContract: getAddress(asset) },
      types: TRANSFER_TYPES,
      primaryType: 'TransferWithAuthorization',
      message: { from, to, value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), nonce },
      signature,
    })
    return isValid ? { isValid, payer: from } : { isValid, payer: from, invalidReason: 'invalid_exact_evm_payload_signature' }
  },
  settle: ({ payload: { authorization } }: Payment) =>
    Promise.resolve({ success: true, transaction: `0x${'5'.repeat(64)}`, network: NETWORK, payer: authorization.from }),
}
