import { evmForm, isBurnAddress, sameAccount } from '../kit/addresses.ts'
import { need, oneOf, textForm } from '../kit/expect.ts'
import { digitText } from '../kit/money.ts'
import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'
import { networkOf, schemeOf } from './signed.ts'
import type { Payload } from './view.ts'

/** Payments out of a channel (scheme_batch_settlement_evm, Client: Payment Construction). */

/** What a channel is opened with; null for payments of other schemes and networks. */
export function channelOf(payload: Payload): Place | null {
  const isEvm = networkOf(payload)?.family === 'evm'
  return schemeOf(payload) === 'batch-settlement' && isEvm ? payload.place.down('payload', 'channelConfig') : null
}

const HASH = { pattern: /^0x[0-9a-fA-F]{64}$/, expected: '0x and 64 hexadecimal digits' }
const SIGNATURE = { pattern: /^0x(?:[0-9a-fA-F]{2}){65,32768}$/, expected: '0x and at least 130 hexadecimal digits' }

/** The form of the channel and of the voucher, which each of the three kinds of payment has. */
export function channelForms(error: Say, payload: Payload): void {
  const channel = channelOf(payload)
  const body = payload.place.get('payload')
  if (channel === null || body.kind !== 'object') return
  if (need(error, body.get('type'), 'string')) oneOf(error, body.get('type'), ['deposit', 'voucher', 'refund'])
  if (need(error, channel, 'object') && !channel.redacted) {
    for (const name of ['payer', 'payerAuthorizer', 'receiver', 'receiverAuthorizer', 'token']) account(error, channel.get(name))
    need(error, channel.get('withdrawDelay'), 'number')
    if (need(error, channel.get('salt'), 'string')) textForm(error, channel.get('salt'), HASH)
  }
  const voucher = body.get('voucher')
  if (!need(error, voucher, 'object') || voucher.redacted) return
  if (need(error, voucher.get('channelId'), 'string')) textForm(error, voucher.get('channelId'), HASH)
  if (need(error, voucher.get('signature'), 'string')) textForm(error, voucher.get('signature'), SIGNATURE)
  const most = voucher.get('maxClaimableAmount')
  if (need(error, most, 'string') && !most.redacted && digitText(most) === null) error(most, 'is no text of decimal digits')
}

function account(error: Say, place: Place): void {
  if (need(error, place, 'string') && !place.redacted && ['none', 'wrong_case'].includes(evmForm(place.text() ?? '')))
    error(place, 'is no EVM address', { expected: '0x and 40 hexadecimal digits' })
}

/** A channel pays its receiver in its token, whatever the terms say. */
export function channelAgrees(error: Say, payload: Payload): void {
  const channel = channelOf(payload)
  const { terms } = payload
  if (channel === null || terms === null) return
  const pairs: [Place, Place, string][] = [
    [channel.get('receiver'), terms.get('payTo'), 'is not the recipient of the terms'],
    [channel.get('token'), terms.get('asset'), 'is not the token of the terms'],
    [channel.get('receiverAuthorizer'), terms.down('extra', 'receiverAuthorizer'), 'is not the receiverAuthorizer of the terms'],
  ]
  for (const [own, asked, words] of pairs) {
    const [one, other] = [own.text(), asked.text()]
    if (one !== null && other !== null && evmForm(one) !== 'none' && !isBurnAddress(other) && !sameAccount(one, other)) error(own, words)
  }
  const [own, asked] = [channel.get('withdrawDelay').integer(), terms.down('extra', 'withdrawDelay').integer()]
  if (own !== null && asked !== null && own !== asked) error(channel.get('withdrawDelay'), 'is not the withdrawDelay of the terms')
}
