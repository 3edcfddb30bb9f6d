import { fillMessage } from '../../../../pure/messages.ts'
import { faultOf, walletFault, type Fault } from './faults.ts'
import type { PayMessages } from './pay-messages.ts'
import { chainName, type PayRecord, type Signing } from './record.ts'
import {
  isOnChain,
  requestAccount,
  signTypedData,
  switchChain,
  transferTypedData,
  UNKNOWN_CHAIN,
  walletErrorCode,
  type Wallet,
} from '../wallets.ts'

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
  const { name } = wallet
  const { say, messages } = tools
  const { checkout, faults } = messages
  try {
    say(fillMessage(checkout.wallet_account, { wallet: name }))
    const payer = await requestAccount(wallet)
    if (payer === null) return { ok: false, fault: faultOf(faults, 'no_account') }
    if (payer.toLowerCase() === record.merchant.toLowerCase()) return { ok: false, fault: faultOf(faults, 'merchant_pays') }
    const misplaced = await onChain(wallet, record.chain_id, tools)
    if (misplaced !== null) return { ok: false, fault: misplaced }
    say(fillMessage(checkout.wallet_sign, { wallet: name, address: shortAddress(payer) }))
    return await signature(wallet, payer, record, signing, tools)
  } catch (error) {
    return { ok: false, fault: walletFault(faults, error, name) }
  }
}

async function signature(
  wallet: Wallet,
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
  const signed = await signTypedData(wallet, payer, transferTypedData({ ...signing, chain_id: record.chain_id }, authorization))
  if (signed === null) return { ok: false, fault: faultOf(messages.faults, 'no_signature') }
  const body = JSON.stringify({ authorization, signature: signed })
  return { ok: true, signed: { body, payer, nonce: signing.nonce, signed_s: now_s(), valid_before_s } }
}

/** Has the wallet switch to the network of the invoice. Null on success. */
async function onChain(wallet: Wallet, chain_id: number, { say, messages }: SignTools): Promise<Fault | null> {
  if (await isOnChain(wallet, chain_id)) return null
  const values = { wallet: wallet.name, chain: chainName(chain_id) ?? String(chain_id), chain_id: String(chain_id) }
  say(fillMessage(messages.checkout.wallet_switch, values))
  try {
    await switchChain(wallet, chain_id)
  } catch (error) {
    return faultOf(messages.faults, walletErrorCode(error) === UNKNOWN_CHAIN ? 'unknown_network' : 'other_network', values)
  }
  return (await isOnChain(wallet, chain_id)) ? null : faultOf(messages.faults, 'other_network', values)
}

/** Shortened address for sentences. */
function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`
}
