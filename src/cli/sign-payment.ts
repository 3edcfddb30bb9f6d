import { systemClock } from '../adapters/clock/system.ts'
import { isObject } from '../pure/is-object.ts'
import { networkOf } from '../pure/networks.ts'
import type { TypedData } from '../pure/payments/typed-data.ts'
import { USDC_DECIMALS, usdcText } from '../pure/payments/usdc.ts'
import { canonicalText } from '../pure/receipts/canonical.ts'
import type { SignRequest } from '../pure/signing/sign-request.ts'
import type { Invocation } from './commands.ts'
import { CliError, printable } from './errors.ts'
import { requestService, serviceUrl } from './remote.ts'

/** Maximum remaining validity of a transfer that is signed, in seconds: as long as the service takes one. */
const LONGEST_S = 3_600

/** The transfer that the owner of the key allows. */
interface AllowedPayment {
  to: string
  max_minor: bigint
  /** Origin of the service that issued the invoice. */
  url: string
}

/** Limits of the options for a document that moves money. Throws a CliError if one is missing. */
export function allowedPayment(invocation: Invocation): AllowedPayment {
  const [to, max] = [invocation.text('to'), invocation.text('max-usdc')]
  if (to === null || max === null || invocation.text('url') === null)
    throw new CliError(
      'usage',
      'This signature moves money. Say what you allow: --to 0x… (the merchant), --max-usdc 49.00 and --url https://… (the service that issued the invoice).',
    )
  if (!/^0x[0-9a-fA-F]{40}$/.test(to)) throw new CliError('usage', '--to is the address of the merchant: 0x and 40 hexadecimal digits.')
  const amount = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(max)
  if (amount === null) throw new CliError('usage', '--max-usdc is an amount of USDC with at most six decimals, such as 49.00.')
  const max_minor = BigInt(`${amount[1]}${(amount[2] ?? '').padEnd(USDC_DECIMALS, '0')}`)
  return { to: to.toLowerCase(), max_minor, url: new URL(serviceUrl(invocation)).origin }
}

/**
 * Checks a transfer for an invoice before it is signed: to the allowed recipient, at most the allowed amount, of USDC as its contract
 * signs it, valid for at most an hour, for an invoice that the service at `url` has issued with this recipient and nonce, and submitted
 * nowhere else. Throws a CliError.
 */
export async function checkPayment({ domain, message }: TypedData, { submit }: SignRequest, allowed: AllowedPayment): Promise<void> {
  const refused = (what: string) => new CliError('negative', `${what} Nothing was signed.`)
  const text = (name: string) => String(message[name])
  if (text('to').toLowerCase() !== allowed.to) throw refused(`The transfer goes to ${printable(text('to'))}; --to allows ${allowed.to}.`)
  const value_minor = wholeNumber(text('value'))
  if (value_minor === null || value_minor > allowed.max_minor) {
    const shown = value_minor === null ? printable(text('value')) : `${usdcText(value_minor)} USDC`
    throw refused(`The transfer is of ${shown}; --max-usdc allows ${usdcText(allowed.max_minor)} USDC.`)
  }
  const usdc = networkOf(Number(domain['chainId']))?.usdc
  const is_usdc =
    usdc !== undefined &&
    domain['name'] === usdc.name &&
    domain['version'] === usdc.version &&
    String(domain['verifyingContract']).toLowerCase() === usdc.address.toLowerCase()
  if (!is_usdc) throw refused('The domain is not that of USDC on a supported network.')
  const left_s = (wholeNumber(text('validBefore')) ?? 0n) - BigInt(Math.floor(systemClock.now_ms() / 1_000))
  if (left_s <= 0n) throw refused('The transfer has expired (validBefore). Fetch the document again.')
  if (left_s > BigInt(LONGEST_S))
    throw refused(`The transfer would be valid for ${left_s} s (validBefore); at most ${LONGEST_S} s are allowed.`)
  await checkInvoice(message, submit, allowed, refused)
}

/** Compares the transfer with the invoice at its issuer. */
async function checkInvoice(
  message: TypedData['message'],
  { url, body }: SignRequest['submit'],
  allowed: AllowedPayment,
  refused: (what: string) => CliError,
): Promise<void> {
  const target = URL.canParse(url) ? new URL(url) : null
  const id = /^\/api\/invoice\/(inv_\w{1,64})\/pay$/.exec(target?.pathname ?? '')?.[1]
  if (target?.origin !== allowed.url || id === undefined)
    throw refused(`The signature would be sent to ${printable(url)}; expected ${allowed.url}/api/invoice/{id}/pay, the service of --url.`)
  const sent = isObject(body) ? body['authorization'] : undefined
  if (!isObject(sent) || canonicalText(sent) !== canonicalText(message))
    throw refused('The request in submit has another transfer than the one to sign.')
  const { status, body: invoice } = await requestService(allowed.url, `/api/invoice/${id}`)
  if (status !== 200 || !isObject(invoice)) throw refused(`${allowed.url} does not show the invoice ${id} (status ${status}).`)
  if (String(invoice['merchant']).toLowerCase() !== allowed.to) throw refused(`The invoice ${id} is of another merchant.`)
  if (invoice['payment_nonce'] !== message['nonce'])
    throw refused(`The nonce is not the next one of the invoice ${id}: the transfer would not pay it.`)
}

function wholeNumber(text: string): bigint | null {
  return /^\d{1,78}$/.test(text) ? BigInt(text) : null
}
