import { chainFault, codeOf, PAGE_FAULTS, walletFault, type Fault } from './faults.ts'
import { chainName, type PayRecord, type Signing } from './record.ts'
import type { Provider, Wallet } from './wallets.ts'

/** A transfer that the payer signed: the very body that the service takes, and when it stops being of use. */
export interface SignedPayment {
  body: string
  payer: string
  nonce: string
  signed_s: number
  valid_before_s: number
}

export type SignEnd = { ok: true; signed: SignedPayment } | { ok: false; fault: Fault }

/** How long a signature can be used, in seconds: long enough to think in the wallet, short enough to run out soon. */
const VALID_S = 900
/** Clocks of chains may be a little behind. */
const BEHIND_S = 600

/**
 * Account, chain, signature: everything that the wallet is asked. It signs one transfer of the amount to the merchant (EIP-3009), whose
 * nonce names this invoice; no allowance, no other recipient, no gas. `say` tells what the wallet waits for. `now_s` is the service's time.
 */
export async function askWallet(
  wallet: Wallet,
  record: PayRecord,
  signing: Signing,
  { say, now_s }: { say: (words: string) => void; now_s: () => number },
): Promise<SignEnd> {
  const { provider, name } = wallet
  try {
    say(`Waiting for ${name}: allow this page to see your address.`)
    const payer = accountOf(await provider.request({ method: 'eth_requestAccounts' }))
    if (payer === null) return { ok: false, fault: PAGE_FAULTS.no_account }
    if (payer.toLowerCase() === record.merchant.toLowerCase()) return { ok: false, fault: PAGE_FAULTS.merchant_pays }
    const misplaced = await onChain(wallet, record.chain_id, say)
    if (misplaced !== null) return { ok: false, fault: misplaced }
    say(`Waiting for ${name}: sign the transfer from ${shortAddress(payer)}.`)
    return await signature(provider, payer, record, signing, now_s)
  } catch (error) {
    return { ok: false, fault: walletFault(error, name) }
  }
}

async function signature(provider: Provider, payer: string, record: PayRecord, signing: Signing, now_s: () => number): Promise<SignEnd> {
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
  if (typeof signed !== 'string' || !/^0x(?:[0-9a-fA-F]{2}){64,4096}$/.test(signed)) return { ok: false, fault: PAGE_FAULTS.no_signature }
  const body = JSON.stringify({ authorization, signature: signed })
  return { ok: true, signed: { body, payer, nonce: signing.nonce, signed_s: now_s(), valid_before_s } }
}

/** EIP-712, as eth_signTypedData_v4 takes it. */
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

/** Wallets sign typed data only for the chain that they stand on, so the wallet is asked to change to it. Null when it stands there. */
async function onChain({ provider, name }: Wallet, chain_id: number, say: (words: string) => void): Promise<Fault | null> {
  const isThere = async () => chainOf(await provider.request({ method: 'eth_chainId' })) === BigInt(chain_id)
  if (await isThere()) return null
  const chain = chainName(chain_id)
  say(`Waiting for ${name}: change to ${chain}.`)
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chain_id.toString(16)}` }] })
  } catch (error) {
    return chainFault(name, chain, chain_id, codeOf(error) === UNKNOWN_CHAIN)
  }
  return (await isThere()) ? null : chainFault(name, chain, chain_id, false)
}

/** EIP-3085: the wallet does not know the chain. */
const UNKNOWN_CHAIN = 4902

function chainOf(answer: unknown): bigint | null {
  return typeof answer === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(answer) ? BigInt(answer) : null
}

/** The ends of an address, for sentences; the whole of it stands on the page. */
function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`
}
