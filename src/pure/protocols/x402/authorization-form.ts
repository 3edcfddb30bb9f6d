import { evmForm } from '../kit/addresses.ts'
import { need, optional, textForm, type TextForm } from '../kit/expect.ts'
import { digitText } from '../kit/money.ts'
import type { Say } from '../rule.ts'
import { networkOf, schemeOf, signedBy, type Signed } from './signed.ts'
import type { Payload } from './view.ts'

const NONCES: Readonly<Record<Signed['method'], TextForm>> = {
  eip3009: { pattern: /^0x[0-9a-fA-F]{64}$/, expected: '0x and 64 hexadecimal digits' },
  permit2: { pattern: /^(?:0|[1-9][0-9]{0,77}|0x[0-9a-fA-F]{1,64})$/, expected: 'an integer of at most 256 bits' },
}
// A key signs with 65 bytes; a contract wallet may return as much as it likes.
const SIGNATURE = { pattern: /^0x(?:[0-9a-fA-F]{2}){65,32768}$/, expected: '0x and at least 130 hexadecimal digits' }

/** The form of what was signed on EVM networks by exact and upto, and that it is there at all. */
export function authorizationForms(error: Say, payload: Payload): void {
  const [scheme, network] = [schemeOf(payload), networkOf(payload)]
  if ((network !== null && network.family !== 'evm') || (scheme !== null && scheme !== 'exact' && scheme !== 'upto')) return
  if (network !== null && scheme !== null) authorizationThere(error, payload, scheme)
  const signed = signedBy(payload)
  for (const one of signed) authorizationForm(error, one)
  const signature = payload.place.down('payload', 'signature')
  if (signed.length > 0 && need(error, signature, 'string')) textForm(error, signature, SIGNATURE)
}

/** Of exact an authorization of either kind must be there, unless money is moved by delegation; of upto one of Permit2. */
function authorizationThere(error: Say, { place, terms }: Payload, scheme: string): void {
  const body = place.get('payload')
  const extra = (terms ?? place).get('extra')
  const method = extra.get('assetTransferMethod')
  if (body.kind !== 'object' || extra.redacted || method.redacted || method.text() === 'erc7710') return
  const permit = body.get('permit2Authorization')
  const either = scheme === 'upto' ? [permit] : [body.get('authorization'), permit]
  const given = either.filter(({ present, kind }) => present && kind !== 'null')
  for (const one of given) optional(error, one, 'object')
  if (given.length === 0) need(error, scheme === 'upto' || method.text() === 'permit2' ? permit : body.get('authorization'), 'object')
}

function authorizationForm(error: Say, { method, addresses, amount, after, before, nonce }: Signed): void {
  for (const place of addresses) {
    if (need(error, place, 'string') && !place.redacted && ['none', 'wrong_case'].includes(evmForm(place.text() ?? '')))
      error(place, 'is no EVM address', { expected: '0x and 40 hexadecimal digits' })
  }
  for (const place of [amount, after, before]) {
    if (need(error, place, 'string') && !place.redacted && digitText(place) === null) error(place, 'is no text of decimal digits')
  }
  const [start, end] = [digitText(after), digitText(before)]
  if (start !== null && end !== null && start >= end) error(before, 'is not later than validAfter')
  // Beyond this the number counts milliseconds.
  if (end !== null && end > 100_000_000_000n && end < 100_000_000_000_000n) error(before, 'counts milliseconds', { expected: 'seconds' })
  if (need(error, nonce, 'string')) textForm(error, nonce, NONCES[method])
}
