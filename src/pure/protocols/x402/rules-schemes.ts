import { isBurnAddress } from '../kit/addresses.ts'
import { need, needText } from '../kit/expect.ts'
import { integer } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { addressForm, hasExtra, isEip3009 } from './rules-addresses.ts'
import { schemeSpec } from './spec.ts'
import type { X402View } from './view.ts'

/** A quarter of an hour, and thirty days. */
const DELAY_S = { min: 900n, max: 2_592_000n }
const MOST_BPS = 10_000n

/** X402-046: what the payer signs by the schemes that keep money for a while, on EVM networks. */
export const SCHEME_RULES = [
  rule<X402View>(
    {
      code: 'X402-046',
      severity: 'both',
      why: 'The payer signs for these parties and times; without them it cannot sign, or signs what nobody can settle.',
      spec: schemeSpec('batch-settlement/scheme_batch_settlement_evm.md', '402 Response (PaymentRequirements)'),
      hint: 'Send in extra what the scheme asks for, with accounts as addresses, times in seconds and fees in hundredths of a per cent.',
      good: { scheme: 'batch-settlement', extra: { receiverAuthorizer: '0x…', withdrawDelay: 900, name: 'USD Coin', version: '2' } },
      bad: { scheme: 'batch-settlement', extra: { withdrawDelay: 60 } },
    },
    (report, { context, entries }) => {
      for (const { place, scheme, network } of entries) {
        if (network?.family !== 'evm' || !hasExtra(place)) continue
        if (scheme === 'batch-settlement') batch(report.error, place)
        if (scheme === 'auth-capture') capture(report, place.get('extra'), BigInt(context.now_s))
        if ((scheme === 'batch-settlement' || scheme === 'auth-capture') && isEip3009(place))
          for (const name of ['name', 'version']) needText(report.error, place.down('extra', name))
      }
    },
  ),
]

function batch(error: Say, entry: Place): void {
  const extra = entry.get('extra')
  account(error, extra.get('receiverAuthorizer'))
  if (need(error, extra.get('withdrawDelay'), 'number')) integer(error, extra.get('withdrawDelay'), DELAY_S)
}

function account(error: Say, place: Place): void {
  if (!need(error, place, 'string') || !addressForm(error, place, 'evm')) return
  if (isBurnAddress(place.text() ?? '')) error(place, 'is an address that nobody signs for')
}

function capture({ error, warning }: Report, extra: Place, now_s: bigint): void {
  account(error, extra.get('captureAuthorizer'))
  if (need(error, extra.get('feeRecipient'), 'string')) addressForm(error, extra.get('feeRecipient'), 'evm')
  const number = (name: string, max?: bigint) =>
    need(error, extra.get(name), 'number') ? integer(error, extra.get(name), { min: 0n, ...(max === undefined ? {} : { max }) }) : null
  const [end, refundable] = [number('captureDeadline'), number('refundDeadline')]
  const [least, most] = [number('minFeeBps', MOST_BPS), number('maxFeeBps', MOST_BPS)]
  if (end !== null && refundable !== null && refundable < end) error(extra.get('refundDeadline'), 'is earlier than captureDeadline')
  if (least !== null && most !== null && least > most) error(extra.get('minFeeBps'), 'is more than maxFeeBps')
  if (end !== null && end <= now_s) warning(extra.get('captureDeadline'), 'has passed, so that nothing can be captured')
}
