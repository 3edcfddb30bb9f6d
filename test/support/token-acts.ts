import { encodeDeployData, encodeFunctionData, parseAbi, parseSignature, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Payment } from '../../src/ports/payments.ts'
import { BATCH_SETTLER } from '../../src/pure/contracts/deployment.ts'
import type { Anvil } from './anvil.ts'
import { contract } from './contracts.ts'
import { authorization, signTransfer, usdcDomain } from './authorization.ts'

const TOKEN = parseAbi([
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
  'function cancelAuthorization(address,bytes32,bytes)',
])

/** What others may do with an authorization that they have seen. All resolve when mined. */

/** Anybody may send it as it is. Returns the transaction's hash. */
export async function transferAsStranger(anvil: Anvil, payment: Payment): Promise<string> {
  const { payer, to, value_minor, valid_after_s, valid_before_s, nonce, signature } = payment
  const args = [payer as Hex, to as Hex, value_minor, valid_after_s, valid_before_s, nonce as Hex, signature as Hex] as const
  return send(anvil, encodeFunctionData({ abi: TOKEN, functionName: 'transferWithAuthorization', args }))
}

/** The payer takes it back. */
export async function cancelAsPayer(anvil: Anvil, payer: PrivateKeyAccount, nonce: string): Promise<string> {
  const signature = await payer.signTypedData({
    domain: usdcDomain(anvil.chain_id, anvil.token),
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce: nonce as Hex },
  })
  const args = [payer.address, nonce as Hex, signature] as const
  return send(anvil, encodeFunctionData({ abi: TOKEN, functionName: 'cancelAuthorization', args }))
}

/** The payer sends the money, or some of it, elsewhere; under the same nonce when one is given. */
export async function spendElsewhere(anvil: Anvil, payer: PrivateKeyAccount, to: Hex, value: bigint, nonce?: string): Promise<string> {
  const message = authorization(payer.address, to, value, nonce === undefined ? {} : { nonce: nonce as Hex })
  const signature = await signTransfer(payer, anvil.chain_id, anvil.token, message)
  const { from, validAfter, validBefore } = message
  const args = [from, to, value, validAfter, validBefore, message.nonce, signature] as const
  return send(anvil, encodeFunctionData({ abi: TOKEN, functionName: 'transferWithAuthorization', args }))
}

/** These, signed anew by the payer for the recipient that they name, in one transaction in this order. Returns its hash. */
export async function batchAsStranger(anvil: Anvil, payer: PrivateKeyAccount, payments: readonly Payment[]): Promise<string> {
  const items = payments.map(async ({ to, value_minor, nonce }) => {
    const message = authorization(payer.address, to as Hex, value_minor, { nonce: nonce as Hex })
    const { r, s, yParity } = parseSignature(await signTransfer(payer, anvil.chain_id, anvil.token, message))
    return { ...message, v: 27 + yParity, r, s }
  })
  const { abi } = contract('batch-settler')
  const data = encodeFunctionData({ abi, functionName: 'settle', args: [anvil.token, await Promise.all(items)] })
  const transaction = { from: anvil.owner, to: BATCH_SETTLER.address, data, gas: '0xf4240' }
  const hash = String(await anvil.rpc('eth_sendTransaction', [transaction]))
  await anvil.rpc('evm_mine')
  return hash
}

/** A contract wallet that takes the signatures of its owner: the code that its creation code returns. */
export async function placeSmartWallet(anvil: Anvil, owner: Hex, at: Hex): Promise<Hex> {
  const data = encodeDeployData({ ...contract('test-wallet'), args: [owner] })
  await anvil.setCode(at, String(await anvil.rpc('eth_call', [{ data }, 'latest'])))
  return at
}

async function send(anvil: Anvil, data: Hex): Promise<string> {
  const transaction = { from: anvil.owner, to: anvil.token, data, gas: '0x30d40' }
  const hash = String(await anvil.rpc('eth_sendTransaction', [transaction]))
  await anvil.rpc('evm_mine')
  return hash
}
