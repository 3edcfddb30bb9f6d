import { byId, copyOnClick } from './dom.ts'
import { createCheckout, type Checkout } from './pay/checkout.ts'
import { countDown } from './pay/countdown.ts'
import { hashForm } from './pay/hash-form.ts'
import { follow } from './pay/live.ts'
import { isPayable, readRecord, type PayRecord } from './pay/record.ts'
import { createScreen } from './pay/screen.ts'
import { createWalletList } from './pay/wallet-list.ts'
import { discoverWallets } from './pay/wallets.ts'

/** The checkout of one invoice: follows it, and lets a wallet of this browser sign for it. */

const page = byId('checkout', HTMLElement)
const first = readRecord(JSON.parse(page.dataset['record'] ?? 'null'))
if (first === null) throw new Error('the page holds no invoice')

let record: PayRecord = first
const screen = createScreen(first)
const live = follow({
  path: `/api/invoice/${first.invoice_id}`,
  events: page.dataset['events'] ?? null,
  written_ms: Number(page.dataset['now'] ?? 0),
  onRecord: take,
  onLine: (reached) => screen.line(reached),
})
const checkout: Checkout = createCheckout({ live, screen, record: () => record, onPhase: (phase) => wallets.phase(phase) })
const wallets = createWalletList({ choose: (wallet) => void checkout.pay(wallet), stop: () => checkout.stop() })

copyOnClick()
hashForm({ screen, record: () => record, onRecord: take })
discoverWallets((wallet) => wallets.add(wallet))
wallets.asked()
if (isPayable(record)) {
  countDown({
    shown: byId('left', HTMLElement),
    now_s: () => live.clock.now_s(),
    expires_s: () => record.expires_s,
    say: (words) => screen.say(words),
    onOver: () => void live.refresh(),
  })
}
checkout.resume()

function take(found: PayRecord): void {
  record = found
  screen.show(found, checkout.trace())
  if (found.status === 'SETTLED' || found.status === 'VOID') live.hurry(false)
}
