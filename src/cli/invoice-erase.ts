import { systemClock } from '../adapters/clock/system.ts'
import { INVOICE_ID } from '../pure/invoices/terms.ts'
import type { Invocation } from './commands.ts'
import { markMode, readEnvironment, withLedger } from './deployment.ts'
import { CliError, type Exit } from './errors.ts'
import { outcomeMark, say, wantsJson } from './terminal.ts'

/** `assay invoice erase`: erases the personal details of an invoice in the store of this deployment. Repeating it changes nothing. */
export async function eraseInvoice(invocation: Invocation): Promise<Exit> {
  const [, invoice_id] = invocation.words
  if (invoice_id === undefined) throw new CliError('usage', 'Name the invoice: assay invoice erase inv_….')
  if (!INVOICE_ID.test(invoice_id))
    throw new CliError(
      'usage',
      'The id of an invoice is inv_ and 12 to 26 lower-case letters and digits; the record of the invoice shows it.',
    )
  const settings = readEnvironment()
  markMode(settings)
  const erase = await withLedger(settings, ({ store }) => store.privacy.erase_invoice(invoice_id, systemClock.now_ms()), { texts: true })
  if (erase.kind === 'unknown') throw new CliError('negative', 'The store has no invoice of this id. Nothing was erased.')
  const { kind, deliveries, subscriptions } = erase
  const erased_at = new Date(erase.erased_ms).toISOString()
  if (wantsJson(invocation)) {
    say(
      JSON.stringify({
        invoice_id,
        erased_at,
        erased_before: kind === 'already',
        webhook_events: deliveries,
        webhook_subscriptions: subscriptions,
      }),
    )
  } else if (kind === 'already') {
    say(`${outcomeMark(true, 'Erased before')} ${invoice_id}: its personal details were erased at ${erased_at}.`)
  } else {
    say(
      `${outcomeMark(true, 'Erased')} ${invoice_id}: its personal details, ${deliveries} webhook events and ${subscriptions} webhook subscriptions.`,
    )
    say('Backups of the store, and receivers of webhooks, may still have them (docs/operating/privacy.md).')
  }
  return 'ok'
}
