import type { PrivateKeyAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { base64 } from './paying.ts'

/** Challenge of SIGN-IN-WITH-X in the answer of a refused payment. */
export interface Challenge {
  info: Record<'domain' | 'uri' | 'version' | 'statement' | 'nonce' | 'issuedAt' | 'expirationTime', string>
  supportedChains: unknown
}

/** Signs as EIP-4361 says, by viem's own text. */
export async function signIn(account: PrivateKeyAccount, info: Challenge['info']): Promise<string> {
  const message = createSiweMessage({
    address: account.address,
    chainId: 84_532,
    domain: info.domain,
    uri: info.uri,
    version: '1',
    statement: info.statement,
    nonce: info.nonce,
    issuedAt: new Date(info.issuedAt),
    expirationTime: new Date(info.expirationTime),
  })
  const signature = await account.signMessage({ message })
  return base64({ ...info, address: account.address, chainId: 'eip155:84532', type: 'eip191', signature })
}
