import { isMembers, textOf } from '../shapes.ts'

/** What a wallet in the browser offers to a page (EIP-1193). */
export interface Provider {
  request(asked: { method: string; params?: readonly unknown[] }): Promise<unknown>
}

export interface Wallet {
  /** Tells one announcement from another; drawn anew with every page. */
  uuid: string
  /** A stranger's text, cut and cleaned. */
  name: string
  provider: Provider
}

const WALLETS_MAX = 12
const NAME_CHARS = 32

/**
 * Asks the wallets of this browser to announce themselves (EIP-6963, final since 2023) and tells each that does, once. What they say of
 * themselves is unproved: any extension may take any name. Their icons are data: addresses, which this page does not load.
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
  if (!isMembers(detail) || !isMembers(detail['info'])) return null
  const { provider, info } = detail
  const [uuid, name] = [textOf(info['uuid']), textOf(info['name'])]
  if (uuid === null || name === null || !isProvider(provider)) return null
  return { uuid: uuid.slice(0, 64), name: plainText(name, NAME_CHARS) || 'A wallet without a name', provider }
}

function isProvider(value: unknown): value is Provider {
  return typeof value === 'object' && value !== null && 'request' in value && typeof value.request === 'function'
}

/** A stranger's text without control, direction and other unseen characters, in one line. */
export function plainText(text: string, chars: number): string {
  const clean = text.slice(0, 4 * chars).replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
  return Array.from(clean.trim()).slice(0, chars).join('')
}

/** Two letters instead of the icon. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = ['?'], second] = words.map((word) => Array.from(word))
  const letters = second === undefined ? first.slice(0, 2) : [first[0], second[0]]
  return letters.join('').toUpperCase()
}
