/** A transfer that a payer has signed (EIP-3009, transferWithAuthorization). Addresses and nonce are 0x-prefixed lower-case hex. */
export interface Authorization {
  from: string
  to: string
  value_minor: bigint
  /** Seconds since 1970; the token takes it strictly between the two. */
  valid_after_s: bigint
  valid_before_s: bigint
  /** 32 bytes, chosen by the payer; used once for ever. */
  nonce: string
}

/** An authorization with what proves it: 65 bytes of an account's key, or what a contract wallet takes for one. */
export interface SignedAuthorization extends Authorization {
  /** 0x-prefixed lower-case hex. */
  signature: string
}

/** The EIP-712 domain of a token. */
export interface TokenDomain {
  name: string
  version: string
  chain_id: number
  verifying_contract: string
}
