/** What the chain can say against a payment: our code for it, the word of the official facilitator, and what we tell the payer. */

type OnChainCode =
  | 'BAD_SIGNATURE'
  | 'ERC6492_NOT_SUPPORTED'
  | 'REPLAY'
  | 'EXPIRED'
  | 'NOT_YET_VALID'
  | 'ASSET_MISCONFIGURED'
  | 'INSUFFICIENT_FUNDS'
  | 'PAYER_BLOCKED'
  | 'SIMULATION_FAILED'
  | 'ASSET_NOT_DEPLOYED'
  | 'EIP3009_NOT_SUPPORTED'
  | 'TOKEN_PAUSED'
  | 'RECIPIENT_BLOCKED'
  | 'UPSTREAM_RPC_UNAVAILABLE'
  | 'VERIFICATION_BUSY'
  | 'RATE_LIMITED'

export interface OnChainRefusal {
  ok: false
  code: OnChainCode
  detail: string
  /** As @x402/evm 2.27.0 says it; null where it would have said nothing against the payment. */
  x402_reason: string | null
  /** The same payment may pass later. */
  retryable: boolean
  retry_after_s?: number
  /** It speaks against the payment, not against us or the chain; such refusals are counted against the client. */
  payers_fault: boolean
}

/** What the official facilitator says when the simulation fails and its diagnosis finds nothing. It knows neither blacklist nor pause. */
const SIMULATION = 'invalid_exact_evm_transaction_simulation_failed'

function payers(code: OnChainCode, x402_reason: string, detail: string, retryable = false): OnChainRefusal {
  return { ok: false, code, detail, x402_reason, retryable, payers_fault: true }
}

function ours(code: OnChainCode, x402_reason: string | null, detail: string, retry_after_s?: number): OnChainRefusal {
  const retry = retry_after_s === undefined ? { retryable: false } : { retryable: true, retry_after_s }
  return { ok: false, code, detail, x402_reason, ...retry, payers_fault: false }
}

/** A pause or a blacklist is lifted by people, not within seconds. */
const BLOCKED_RETRY_S = 60
const RPC_RETRY_S = 5

export const REFUSALS = {
  accountSignature: payers(
    'BAD_SIGNATURE',
    'invalid_exact_evm_signature',
    'The signature does not recover to authorization.from. Sign over the token name, version, chain and address of the terms.',
  ),
  walletSignature: payers(
    'BAD_SIGNATURE',
    'invalid_exact_evm_signature',
    'The wallet at authorization.from refuses the signature (EIP-1271).',
  ),
  factoryNotAllowed: payers(
    'ERC6492_NOT_SUPPORTED',
    'eip6492_factory_not_allowed',
    'The wallet at authorization.from is not deployed and its factory is not on the allow-list. Deploy the wallet, then pay.',
  ),
  undeployedWallet: payers(
    'ERC6492_NOT_SUPPORTED',
    'invalid_exact_evm_payload_undeployed_smart_wallet',
    'The wallet at authorization.from is not deployed, and wallets are not deployed here. Deploy it, then pay.',
  ),
  used: payers('REPLAY', 'invalid_exact_evm_nonce_already_used', 'This authorization was used or cancelled on chain before.'),
  expired: payers(
    'EXPIRED',
    'invalid_exact_evm_payload_authorization_valid_before',
    'By the time of the chain the authorization has expired.',
  ),
  notYetValid: {
    ...payers(
      'NOT_YET_VALID',
      'invalid_exact_evm_payload_authorization_valid_after',
      'By the time of the chain the authorization is not valid yet. Send the same payment again shortly.',
      true,
    ),
    retry_after_s: 2,
  },
  insufficient: payers(
    'INSUFFICIENT_FUNDS',
    'invalid_exact_evm_insufficient_balance',
    'The payer holds less of the token than the authorization moves.',
    true,
  ),
  payerBlocked: payers('PAYER_BLOCKED', SIMULATION, 'The token has blacklisted the payer.'),
  simulation: payers('SIMULATION_FAILED', SIMULATION, 'The token refuses the transfer and names no reason that is known here.'),
  simulationText: payers('SIMULATION_FAILED', SIMULATION, 'The token refuses the transfer for a reason of its own.'),
  assetNotDeployed: ours('ASSET_NOT_DEPLOYED', 'asset_not_deployed_contract', 'There is no contract at the token address of the terms.'),
  notSupported: ours(
    'EIP3009_NOT_SUPPORTED',
    'invalid_exact_evm_eip3009_not_supported',
    'The token of the terms does not take signed transfers (EIP-3009).',
  ),
  tokenName: ours(
    'ASSET_MISCONFIGURED',
    'invalid_exact_evm_token_name_mismatch',
    'The token calls itself otherwise than the terms do, so no signature over them can settle.',
  ),
  tokenVersion: ours(
    'ASSET_MISCONFIGURED',
    'invalid_exact_evm_token_version_mismatch',
    'The token has another version than the terms say, so no signature over them can settle.',
  ),
  paused: ours('TOKEN_PAUSED', SIMULATION, 'The token is paused: nobody can pay with it now.', BLOCKED_RETRY_S),
  recipientBlocked: ours('RECIPIENT_BLOCKED', SIMULATION, 'The token has blacklisted the recipient of the terms.', BLOCKED_RETRY_S),
  chainSilent: ours(
    'UPSTREAM_RPC_UNAVAILABLE',
    'unexpected_verify_error',
    'The chain cannot be read now. The payment was left untouched.',
    RPC_RETRY_S,
  ),
  busy: ours('VERIFICATION_BUSY', null, 'Too many payments are being verified. The payment was left untouched; send it again.', 1),
} as const satisfies Record<string, OnChainRefusal>

export function tooManyFailures(retry_after_s: number): OnChainRefusal {
  return ours('RATE_LIMITED', null, 'Too many payments of this client failed verification. The payment was left untouched.', retry_after_s)
}
