import { isObject, textOf } from '../../../pure/is-object.ts'

/** EIP-1193 provider of a browser wallet. */
interface Provider {
  request(asked: { method: string; params?: readonly unknown[] }): Promise<unknown>
}

export interface Wallet {
  /** Identifies the announcement; new for every page. */
  uuid: string
  /** Untrusted text, shortened and cleaned; may be empty. */
  name: string
  provider: Provider
}

const WALLETS_MAX = 12
const NAME_CHARS = 32

/**
 * Asks the wallets of this browser to announce themselves (EIP-6963, final since 2023) and calls `found` once for each. Names are not
 * verified: any extension can use any name. Icons are `data:` URLs, which this page does not load.
 */
export function discoverWallets(found: (wallet: Wallet) => void): void {
  const known = new Set<string>()
  window.addEventListener('eip6963:announceProvider', (event) => {
    const wallet = walletOf(event instanceof CustomEvent ? event.detail : null)
    if (wallet === null || known.has(wallet.uuid) || known.size >= WALLETS_MAX) return
    known.add(wallet.uuid)
    found(wallet)
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))
}

function walletOf(detail: unknown): Wallet | null {
  if (!isObject(detail) || !isObject(detail['info'])) return null
  const { provider, info } = detail
  const [uuid, name] = [textOf(info['uuid']), textOf(info['name'])]
  if (uuid === null || name === null || !isProvider(provider)) return null
  return { uuid: uuid.slice(0, 64), name: plainText(name, NAME_CHARS), provider }
}

function isProvider(value: unknown): value is Provider {
  return typeof value === 'object' && value !== null && 'request' in value && typeof value.request === 'function'
}

/** Untrusted text as one line, without control, direction and other invisible characters. */
export function plainText(text: string, chars: number): string {
  const clean = text.slice(0, 4 * chars).replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
  return Array.from(clean.trim()).slice(0, chars).join('')
}

/** Two letters, shown in place of the icon. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = ['?'], second] = words.map((word) => Array.from(word))
  const letters = second === undefined ? first.slice(0, 2) : [first[0], second[0]]
  return letters.join('').toUpperCase()
}

/** Account that the wallet shares; null when it shares none. Like the functions below, it throws what the wallet throws. */
export async function requestAccount({ provider }: Wallet): Promise<string | null> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' })
  const first: unknown = Array.isArray(accounts) ? accounts[0] : null
  return typeof first === 'string' && /^0x[0-9a-fA-F]{40}$/.test(first) ? first : null
}

export async function isOnChain({ provider }: Wallet, chain_id: number): Promise<boolean> {
  const answer = await provider.request({ method: 'eth_chainId' })
  return typeof answer === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(answer) && BigInt(answer) === BigInt(chain_id)
}

/** Asks the wallet to switch to a network, because wallets sign typed data only for their current one. */
export async function switchChain({ provider }: Wallet, chain_id: number): Promise<void> {
  await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chain_id.toString(16)}` }] })
}

/** Signature of EIP-712 typed data; null when the wallet returns none. Contract wallets sign with more than 65 bytes. */
export async function signTypedData({ provider }: Wallet, account: string, typed_data: unknown): Promise<string | null> {
  const signed = await provider.request({ method: 'eth_signTypedData_v4', params: [account, JSON.stringify(typed_data)] })
  return typeof signed === 'string' && /^0x(?:[0-9a-fA-F]{2}){64,4096}$/.test(signed) ? signed : null
}

/** Domain of a token whose transfer is signed (EIP-3009). */
export interface TokenDomain {
  name: string
  version: string
  chain_id: number
  token: string
}

/** EIP-712 typed data of a transfer with authorization. */
export function transferTypedData({ name, version, chain_id, token }: TokenDomain, message: Readonly<Record<string, string>>) {
  const fields = (text: string) =>
    text.split(', ').map((field) => {
      const [type = '', member = ''] = field.split(' ')
      return { name: member, type }
    })
  return {
    types: {
      EIP712Domain: fields('string name, string version, uint256 chainId, address verifyingContract'),
      TransferWithAuthorization: fields('address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce'),
    },
    domain: { name, version, chainId: chain_id, verifyingContract: token },
    primaryType: 'TransferWithAuthorization',
    message,
  }
}

/** EIP-1193: the user declined. */
export const DECLINED = 4001
/** EIP-3085: the wallet does not have the network. */
export const UNKNOWN_CHAIN = 4902
/** EIP-1474: the wallet already shows a request. */
export const REQUEST_OPEN = -32_002

/** Code of an error that a wallet threw, which may be a plain object from another realm. */
export function walletErrorCode(error: unknown): number | null {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  return typeof code === 'number' ? code : null
}
