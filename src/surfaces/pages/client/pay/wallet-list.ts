import { byId, el } from '../dom.ts'
import type { Phase } from './checkout.ts'
import { initials, type Wallet } from './wallets.ts'

/** The wallets of this browser as buttons, in the order in which they announced themselves. */
export interface WalletList {
  add(wallet: Wallet): void
  /** Those that are there have announced themselves by now; others may still come. */
  asked(): void
  phase(phase: Phase): void
}

export interface WalletListParts {
  choose(wallet: Wallet): void
  stop(): void
}

export function createWalletList({ choose, stop }: WalletListParts): WalletList {
  const list = byId('wallets', HTMLElement)
  const stopping = byId('stop', HTMLButtonElement)
  const none = byId('no-wallet', HTMLElement)
  let now: Phase = 'idle'
  stopping.addEventListener('click', () => {
    stop()
    list.querySelector('button')?.focus()
  })
  return {
    add(wallet) {
      const button = el(
        'button',
        { type: 'button', class: 'wallet' },
        el('span', { class: 'initials', 'aria-hidden': 'true' }, initials(wallet.name)),
        el('span', {}, `Pay with ${wallet.name}`),
      )
      // Not disabled: a disabled button would lose the focus that the payer has on it.
      button.addEventListener('click', () => now === 'idle' && choose(wallet))
      none.hidden = true
      list.append(el('li', {}, button))
    },
    asked() {
      none.hidden = list.childElementCount > 0
    },
    phase(phase) {
      now = phase
      stopping.hidden = phase !== 'wallet'
      for (const button of list.querySelectorAll('button')) button.setAttribute('aria-disabled', String(phase !== 'idle'))
    },
  }
}
