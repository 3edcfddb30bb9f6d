import { byId } from '../dom.ts'
import { isMembers } from '../shapes.ts'
import { requestFault } from './faults.ts'
import { readRecord, type PayRecord } from './record.ts'
import type { Screen } from './screen.ts'

export interface HashFormParts {
  screen: Screen
  record(): PayRecord
  onRecord(record: PayRecord): void
}

/** Names a transaction that was made elsewhere; the service believes nothing but the chain. */
export function hashForm({ screen, record, onRecord }: HashFormParts): void {
  const form = byId('named', HTMLFormElement)
  const field = byId('tx-hash', HTMLInputElement)
  const fault = byId('tx-fault', HTMLElement)
  const say = (words: string) => {
    fault.textContent = words
    fault.hidden = words === ''
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const tx_hash = field.value.trim()
    const fits = /^0x[0-9a-fA-F]{64}$/.test(tx_hash)
    field.toggleAttribute('aria-invalid', !fits)
    say(fits ? '' : 'A transaction hash is 0x and 64 hexadecimal digits.')
    if (!fits) return field.focus()
    void name(tx_hash)
  })

  async function name(tx_hash: string): Promise<void> {
    screen.trouble(null)
    screen.say('Looking for the transaction on the chain …')
    const answer = await post(`/api/invoice/${record().invoice_id}/transactions`, tx_hash)
    screen.say('')
    if (answer === null) return say('The service could not be reached. Try again when the line is back.')
    const found = readRecord(answer)
    if (found === null) return screen.trouble(isMembers(answer) ? requestFault(answer) : null)
    const known = found.payments.some((one) => one.tx_hash === tx_hash.toLowerCase())
    onRecord(found)
    if (isMembers(answer) && answer['transaction_found'] === false) {
      return say('No block holds this transaction yet. Compare the hash; if it was sent only now, look again in a few seconds.')
    }
    const more = found.merchant_verified
      ? 'A plain transfer must be of exactly what is due, in USDC, to this address, and fit no other open invoice of the merchant.'
      : 'The merchant has not signed this invoice, so a plain transfer is never matched to it, even when it reached the merchant.'
    say(known ? '' : `In that transaction nothing was found that pays this invoice. ${more}`)
    if (known) screen.say('Found. It stands under “What has arrived”.')
  }
}

async function post(path: string, tx_hash: string): Promise<unknown> {
  try {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify({ tx_hash }), cache: 'no-store' })
    return await response.json()
  } catch {
    return null
  }
}
