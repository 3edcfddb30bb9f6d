import { isObject, textOf } from '../../../../pure/is-object.ts'

/** EIP-1193 provider of a browser wallet. */
export interface Provider {
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
