import { type TypedData, typedDataJson, type TypedStruct } from '../payments/typed-data.ts'
import { usdcOn } from '../payments/usdc.ts'

const TRANSFER_STRUCT: TypedStruct = {
  name: 'TransferWithAuthorization',
  fields: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
}

/** Typed data of a transfer of USDC that pays an invoice (EIP-3009). */
export function transferTypedData(
  chain_id: number,
  message: { from: string; to: string; value_minor: bigint; valid_before_s: bigint; nonce: string },
): TypedData {
  const { name, version, address } = usdcOn(chain_id)
  const { from, to, value_minor, valid_before_s, nonce } = message
  const values = { from, to, value: value_minor, validAfter: 0n, validBefore: valid_before_s, nonce }
  return typedDataJson({ name, version, chainId: chain_id, verifyingContract: address }, TRANSFER_STRUCT, values)
}
