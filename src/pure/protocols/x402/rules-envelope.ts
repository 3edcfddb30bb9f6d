import { need, needItems, optional, present } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { x402Spec } from './spec.ts'
import { ALIASES, amountName, isMissing, type Entry, type X402View } from './view.ts'

/** X402-001…004, 029, 041: what stands around the terms. */
export const ENVELOPE_RULES = [
  rule<X402View>(
    {
      code: 'X402-001',
      severity: 'both',
      why: 'Clients choose their reader by this number, and throw on anything else.',
      spec: x402Spec(2, 'PaymentRequired'),
      hint: 'Send the number 2, or 1 for old clients.',
      good: { x402Version: 2 },
      bad: { x402Version: '2' },
    },
    ({ error, warning }, { envelopes }) => {
      for (const envelope of envelopes) {
        const place = envelope.get('x402Version')
        if (!need(error, place, 'number') || place.redacted) continue
        const version = place.integer()
        if (version !== 1n && version !== 2n) error(place, 'is neither 1 nor 2', { expected: '1 or 2' })
        else if (version === 1n) warning(place, 'is 1, a legacy version', { expected: '2' })
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-002',
      severity: 'error',
      types: ['payment_required', 'resource_list'],
      why: 'A challenge that offers nothing cannot be paid.',
      spec: x402Spec(2, 'PaymentRequired'),
      hint: 'List at least one way to pay.',
      good: { accepts: [{ scheme: 'exact' }] },
      bad: { accepts: [] },
    },
    ({ error }, { context, document, challenges }) => {
      if (context.type === 'resource_list') listItems(error, document)
      for (const challenge of challenges) {
        if (!challenge.has('accepts') && !isMissing(challenge, 'accepts')) continue
        for (const item of needItems(error, challenge.get('accepts'))) optional(error, item, 'object')
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-003',
      severity: 'error',
      why: 'Version 1 calls the amount maxAmountRequired, version 2 calls it amount; a reader of one does not see the other.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Name the amount as the version of the document does.',
      good: { x402Version: 2, accepts: [{ amount: '2000' }] },
      bad: { x402Version: 2, accepts: [{ maxAmountRequired: '2000' }] },
    },
    ({ error }, { entries }) => {
      for (const { place, version } of entries) {
        const own = place.get(amountName(version))
        const other = place.get(amountName(version === '1' ? '2' : '1'))
        const isSwap = other.present && (!own.present || own.value !== other.value)
        if (isSwap) error(other, `is what version ${version === '1' ? 2 : 1} calls the amount`, { expected: amountName(version) })
      }
    },
  ),
  rule<X402View>(
    {
      code: 'X402-004',
      severity: 'error',
      why: 'No client looks for a member under another name.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Rename the member.',
      good: { payTo: '0x…' },
      bad: { payToAddress: '0x…' },
    },
    ({ error }, { challenges, entries }) => {
      for (const challenge of challenges) renamed(error, challenge, ['accepts'])
      for (const { place } of entries) renamed(error, place, ['payTo', 'network', 'asset', 'maxTimeoutSeconds'])
    },
  ),
  rule<X402View>(
    {
      code: 'X402-029',
      severity: 'both',
      why: 'Readers look for members in extra and extensions; some releases of the official package refuse null.',
      spec: x402Spec(2, 'PaymentRequirements'),
      hint: 'Send an object, or leave the member out.',
      good: { extra: {} },
      bad: { extra: 'USD Coin' },
    },
    ({ error, warning }, { entries, extensions }) => {
      for (const place of [...entries.map((entry: Entry) => entry.place.get('extra')), ...extensions]) {
        if (place.kind === 'null') warning(place, 'is null', { expected: 'an object, or nothing' })
        else optional(error, place, 'object')
      }
      // Of a description of outputs null is as good as nothing.
      for (const { place } of entries) if (place.get('outputSchema').kind !== 'null') optional(error, place.get('outputSchema'), 'object')
    },
  ),
  rule<X402View>(
    {
      code: 'X402-041',
      severity: 'both',
      types: ['payment_required'],
      why: 'Version 1 asks for a text that says why a payment is needed; clients of both refuse anything but a text.',
      spec: x402Spec(1, 'PaymentRequirements response'),
      hint: 'Add error, such as "payment required".',
      good: { x402Version: 1, error: 'payment required' },
      bad: { x402Version: 1 },
    },
    ({ error, warning }, { document, version }) => {
      const words = document.get('error')
      if (version === '1') present(warning, words)
      if (version === '1' || words.kind !== 'null') optional(error, words, 'string')
    },
  ),
]

/** The items of a list are objects; one under `resources` may also name bare URLs. */
function listItems(error: Say, document: Place): void {
  const items = document.get('items')
  const list = items.present ? items : document.get('resources')
  optional(error, list, 'array')
  for (const item of list.items()) if (items.present || item.kind !== 'string') optional(error, item, 'object')
}

function renamed(error: Say, holder: Place, names: readonly string[]): void {
  for (const name of names) {
    if (holder.has(name)) continue
    for (const alias of ALIASES[name] ?? []) {
      if (holder.has(alias)) error(holder.get(alias), 'is not what the protocol calls this member', { expected: name })
    }
  }
}
