/** The key that pays for gas: it holds nothing else, and signs nothing but transactions. The secret stays inside. */

export interface GasTransaction {
  account_nonce: number
  to: string
  data: string
  gas: bigint
  max_fee_wei: bigint
  priority_fee_wei: bigint
}

interface SignedTransaction {
  raw: string
  hash: string
}

export interface GasWallet {
  /** 0x-prefixed lower-case address. */
  readonly address: string
  /** Name of the wallet in store and logs: the address, or CAIP-10 (eip155:137:0x…) on a further network, where it has its own nonces. */
  readonly account: string
  /** An EIP-1559 transaction of the deployment's chain, without value. Deterministic. */
  sign(transaction: GasTransaction): SignedTransaction
}
