import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isObject } from '../../../pure/is-object.ts'
import type { Screen } from '../client/pay/checkout.ts'
import { requestFault } from '../client/pay/faults.ts'
import { readRecord, type PayRecord } from '../client/pay/record.ts'
import { html } from '../html.ts'
import { usePayLocale, usePayText } from './pay-texts.ts'

function transferRule({ deposit, merchant_verified }: PayRecord) {
  if (deposit !== null) return 'deposit_rule'
  return merchant_verified ? 'plain_transfer_rule' : 'unsigned_transfer_rule'
}

interface HashFormProps {
  record: PayRecord
  screen: Pick<Screen, 'say' | 'trouble'>
  onRecord(record: PayRecord): void
}

/** Form for the hash of a transaction that was sent from elsewhere; the service checks it on the chain. */
export function HashForm({ record, screen, onRecord }: HashFormProps) {
  const { messages } = usePayLocale()
  const text = usePayText()
  const [fault, setFault] = useState('')
  const [invalid, setInvalid] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const message = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (fault !== '') message.current?.scrollIntoView({ block: 'nearest' })
  }, [fault])
  const check = async (tx_hash: string) => {
    screen.trouble(null)
    screen.say(text('looking_up'))
    const answer = await postHash(record.invoice_id, tx_hash)
    screen.say('')
    if (answer === null) return setFault(text('unreachable'))
    const found = readRecord(answer)
    if (found === null) return screen.trouble(isObject(answer) ? requestFault(messages.faults, answer) : null)
    onRecord(found)
    if (isObject(answer) && answer['transaction_found'] === false) return setFault(text('not_in_block'))
    if (found.payments.some((one) => one.tx_hash === tx_hash.toLowerCase())) return screen.say(text('found'))
    setFault(`${text('no_payment_found')} ${text(transferRule(found))}`)
  }
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const tx_hash = field.current?.value.trim() ?? ''
    const fits = /^0x[0-9a-fA-F]{64}$/.test(tx_hash)
    setInvalid(!fits)
    setFault(fits ? '' : text('bad_hash', { length: String(tx_hash.length) }))
    if (fits) void check(tx_hash)
    else field.current?.focus()
  }
  return html`<details class="named">
    <summary>${text('already_paid')}</summary>
    <p class="hint">${text('already_paid_help')}</p>
    <form id="named" novalidate onSubmit=${submit}>
      <label for="tx-hash">${text('hash')}</label>
      <input
        id="tx-hash"
        ref=${field}
        name="tx_hash"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        maxlength="80"
        aria-describedby="tx-fault"
        aria-invalid=${invalid ? 'true' : undefined}
      />
      <p class="fault" id="tx-fault" role="alert" ref=${message} hidden=${fault === ''}>${fault}</p>
      <p class="send"><button type="submit">${text('check_payment')}</button></p>
    </form>
  </details>`
}

async function postHash(invoice_id: string, tx_hash: string): Promise<unknown> {
  try {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ tx_hash })
    const response = await fetch(`/api/invoice/${invoice_id}/transactions`, { method: 'POST', headers, body, cache: 'no-store' })
    return await response.json()
  } catch {
    return null
  }
}
