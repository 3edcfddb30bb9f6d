import { fillMessage } from '../../../../pure/messages.ts'
import { codeOf, faultOf, walletFault, type Fault } from './faults.ts'
import type { PayMessages } from './pay-messages.ts'
import { chainName, type PayRecord, type Signing } from './record.ts'
import type { Provider, Wallet } from './wallets.ts'

/** A signed transfer: the request body for the service, and the end of its validity. */
export interface SignedPayment {
  body: string
  payer: string
  nonce: string
  signed_s: number
  valid_before_s: number
}

export type SignEnd = { ok: true; signed: SignedPayment } | { ok: false; fault: Fault }

/** `say` shows what the wallet waits for; `now_s` is the time of the service. */
export interface SignTools {
  say(words: string): void
  now_s(): number
  messages: PayMessages
}

/** Validity of a signature in seconds. */
const VALID_S = 900
/** `validAfter` lies this far in the past, because the clock of the chain may be behind. */
const BEHIND_S = 600

/**
 * Asks the wallet for its account, the right network and one signature: an EIP-3009 transfer of the amount due to the merchant, whose nonce
 * identifies the invoice. No allowance, no other recipient, no gas.
 */
export async function askWallet(wallet: Wallet, record: PayRecord, signing: Signing, tools: SignTools): Promise<SignEnd> {
  const { provider, name } = wallet
  const { say, messages } = tools
  const { checkout, faults } = messages
  try {
    say(fillMessage(checkout.wallet_account, { wallet: name }))
    const payer = accountOf(await provider.request({ method: 'eth_requestAccounts' }))
    if (payer === null) return { ok: false, fault: faultOf(faults, 'no_account') }
    if (payer.toLowerCase() === record.merchant.toLowerCase()) return { ok: false, fault: faultOf(faults, 'merchant_pays') }
    const misplaced = await onChain(wallet, record.chain_id, tools)
    if (misplaced !== null) return { ok: false, fault: misplaced }
    say(fillMessage(checkout.wallet_sign, { wallet: name, address: shortAddress(payer) }))
    return await signature(provider, payer, record, signing, tools)
  } catch (error) {
    return { ok: false, fault: walletFault(faults, error, name) }
  }
}

async function signature(
  provider: Provider,
  payer: string,
  record: PayRecord,
  signing: Signing,
  { now_s, messages }: SignTools,
): Promise<SignEnd> {
  const from_s = now_s()
  const valid_before_s = from_s + VALID_S
  const authorization = {
    from: payer,
    to: record.merchant,
    value: String(record.due_minor),
    validAfter: String(from_s - BEHIND_S),
    validBefore: String(valid_before_s),
    nonce: signing.nonce,
  }
  const typed = JSON.stringify(typedData(signing, record.chain_id, authorization))
  const signed = await provider.request({ method: 'eth_signTypedData_v4', params: [payer, typed] })
  if (typeof signed !== 'string' || !/^0x(?:[0-9a-fA-F]{2}){64,4096}$/.test(signed))
    return { ok: false, fault: faultOf(messages.faults, 'no_signature') }
  const body = JSON.stringify({ authorization, signature: signed })
  return { ok: true, signed: { body, payer, nonce: signing.nonce, signed_s: now_s(), valid_before_s } }
}

/** EIP-712 typed data for `eth_signTypedData_v4`. */
function typedData({ token, name, version }: Signing, chain_id: number, message: Readonly<Record<string, string>>) {
  const field = (line: string) => {
    const [type = '', member = ''] = line.split(' ')
    return { name: member, type }
  }
  return {
    types: {
      EIP712Domain: ['string name', 'string version', 'uint256 chainId', 'address verifyingContract'].map(field),
      TransferWithAuthorization: [
        'address from',
        'address to',
        'uint256 value',
        'uint256 validAfter',
        'uint256 validBefore',
        'bytes32 nonce',
      ].map(field),
    },
    domain: { name, version, chainId: chain_id, verifyingContract: token },
    primaryType: 'TransferWithAuthorization',
    message,
  }
}

function accountOf(accounts: unknown): string | null {
  const first: unknown = Array.isArray(accounts) ? accounts[0] : null
  return typeof first === 'string' && /^0x[0-9a-fA-F]{40}$/.test(first) ? first : null
}

/** Asks the wallet to switch to the network of the invoice, because wallets sign typed data only for their current one. Null on success. */
async function onChain({ provider, name }: Wallet, chain_id: number, { say, messages }: SignTools): Promise<Fault | null> {
  const isThere = async () => chainOf(await provider.request({ method: 'eth_chainId' })) === BigInt(chain_id)
  if (await isThere()) return null
  const values = { wallet: name, chain: chainName(chain_id) ?? String(chain_id), chain_id: String(chain_id) }
  say(fillMessage(messages.checkout.wallet_switch, values))
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chain_id.toString(16)}` }] })
  } catch (error) {
    return faultOf(messages.faults, codeOf(error) === UNKNOWN_CHAIN ? 'unknown_network' : 'other_network', values)
  }
  return (await isThere()) ? null : faultOf(messages.faults, 'other_network', values)
}

/** EIP-3085: the wallet does not have the network. */
const UNKNOWN_CHAIN = 4902

function chainOf(answer: unknown): bigint | null {
  return typeof answer === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(answer) ? BigInt(answer) : null
}

/** Shortened address for sentences. */
function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`
}
