import { needText } from '../kit/expect.ts'
import { isWeakAlgorithm } from '../kit/keys.ts'
import type { Place } from '../place.ts'
import { rule } from '../rule.ts'
import { DIGEST_CHARS } from './digests.ts'
import { isLegacy, VCT, type Mandate } from './mandates.ts'
import { ap2Spec, ISSUE_BUDGET, rfc } from './spec.ts'
import { CURRENT, type Ap2View } from './view.ts'

/** AP2-001…003, 034…036 and 045: what stands around the claims. */
export const ENVELOPE_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-001',
      severity: 'both',
      why: 'A verifier applies the rules of the type; without one it must refuse.',
      spec: ap2Spec('specification', 'Mandates'),
      hint: 'Send the decoded claims of a mandate or receipt of version 0.2.',
      good: { vct: 'mandate.payment.1', transaction_id: '…' },
      bad: { mandate: 'pay for it' },
    },
    ({ error, warning }, { mandates, tokens, context }) => {
      if (mandates.length === 0 && tokens.length === 0) error(context.document, 'holds no mandate or receipt that is known here')
      for (const mandate of mandates) {
        if (isLegacy(mandate))
          warning(mandate.claims, 'is a mandate of version 0.1, which version 0.2 has replaced', { expected: 'version 0.2' })
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-002',
      severity: 'error',
      why: 'Types are compared whole, with the number at their end; a shorter one is no type.',
      spec: ap2Spec('specification', 'Mandate Versioning'),
      hint: 'Send mandate.payment.1, mandate.payment.open.1, mandate.checkout.1 or mandate.checkout.open.1.',
      good: { vct: 'mandate.payment.1' },
      bad: { vct: 'mandate.payment' },
    },
    ({ error }, { mandates, disclosed }) => {
      for (const { type, claims } of mandates) {
        const vct = claims.get('vct')
        const expected = vctOf(type)
        if (expected === null && !vct.present) continue
        if (!vct.present ? disclosed.hides(claims) : vct.redacted || vct.text() === expected) continue
        error(vct, vct.present ? 'is not exactly a type of version 0.2' : 'is missing', { expected: expected ?? 'a type of version 0.2' })
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-003',
      severity: 'error',
      why: 'What is inside an encoded token is not looked at here.',
      spec: ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs'),
      hint: 'Decode the token, and send its claims with signatures left out or redacted.',
      good: { mandate: { vct: 'mandate.payment.1' } },
      bad: { mandate: 'eyJhbGciOiJFUzI1NiJ9.eyJ2Y3QiOiJtYW5kYXRlLnBheW1lbnQuMSJ9.AAAA~' },
    },
    ({ error }, { tokens, mandates }) => {
      // Beside its own claims a token does no harm; in a list it stands for a mandate that is missing.
      const missing = mandates.length === 0 ? tokens : tokens.filter(({ parent }) => parent?.kind === 'array')
      for (const token of missing) error(token, 'is an encoded token', { expected: 'an object of decoded claims' })
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-034',
      severity: 'warning',
      types: CURRENT,
      why: 'A constraint that is not disclosed is not evaluated, so that nothing was violated proves nothing.',
      spec: ISSUE_BUDGET,
      hint: 'Disclose every constraint of the open mandate before you rely on it.',
      good: { constraints: [{ type: 'payment.amount_range' }] },
      bad: { constraints: [{ '...': '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' }] },
    },
    ({ warning }, { disclosed }) => {
      for (const place of disclosed.undisclosed()) {
        const vct = place.get('vct').text()
        // The credential of the user may hide what it likes.
        if (vct === null || vct.startsWith('mandate.'))
          warning(place, place.has('...') ? 'is not disclosed' : 'has members that are not disclosed')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-035',
      severity: 'error',
      types: CURRENT,
      why: 'Every hash of the mandate is computed with it.',
      spec: rfc(9901, 'Hash Function Claim'),
      hint: 'Send sha-256, or leave it out.',
      good: { _sd_alg: 'sha-256' },
      bad: { _sd_alg: 'SHA256' },
    },
    ({ error }, { disclosed }) => {
      const expected = `one of ${Object.keys(DIGEST_CHARS).join(', ')}`
      for (const place of disclosed.algorithms) {
        const isKnown = Object.hasOwn(DIGEST_CHARS, place.text() ?? '')
        if (!isKnown && !place.redacted) error(place, 'is no hash algorithm that is known here', { expected })
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-036',
      severity: 'warning',
      types: ['checkout_mandate', 'payment_mandate', 'mandates'],
      why: 'Without them a closed mandate can be cut from its chain and shown to another verifier.',
      spec: ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs'),
      hint: 'Bind the token to the open mandate by sd_hash, and to its verifier by aud and nonce.',
      good: { typ: 'kb+sd-jwt', sd_hash: '…', aud: 'merchant', nonce: '…' },
      bad: { typ: 'kb+sd-jwt', aud: 'merchant' },
    },
    ({ warning }, { mandates, disclosed }) => {
      const told = new Set<unknown>()
      for (const mandate of mandates) {
        const { type, claims, envelope } = mandate
        if ((type !== 'checkout_mandate' && type !== 'payment_mandate') || !isDelegated(mandate)) continue
        const holder = envelope?.payload ?? claims
        if (told.has(holder.value) || disclosed.hides(holder)) continue
        told.add(holder.value)
        for (const name of BINDING)
          if (!holder.has(name) && !claims.has(name)) warning(holder.get(name), 'is missing in a delegated mandate')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-045',
      severity: 'error',
      why: 'A mandate is evidence by its signature alone; none is no signature, and one by a shared secret may be of whoever verifies it.',
      spec: ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs'),
      hint: 'Sign the token with a private key, such as with ES256, and name the algorithm in alg of its header.',
      good: { header: { alg: 'ES256', typ: 'kb+sd-jwt' } },
      bad: { header: { alg: 'none' } },
    },
    ({ error }, { mandates }) => {
      const told = new Set<unknown>()
      for (const { envelope } of mandates) {
        const header = envelope?.header
        if (header?.kind !== 'object' || told.has(header.value)) continue
        told.add(header.value)
        const alg = header.get('alg')
        if (needText(error, alg) !== null && isWeakAlgorithm(alg.value))
          error(alg, 'is an algorithm that proves nothing to strangers', { expected: 'such as ES256' })
      }
    },
  ),
]

const BINDING = ['sd_hash', 'aud', 'nonce']

/** Whether the token says that it continues another one. */
function isDelegated({ claims, envelope }: Mandate): boolean {
  const holders: Place[] = envelope === null ? [claims] : [claims, envelope.payload]
  const typ = envelope?.header.get('typ').text() ?? ''
  return typ.startsWith('kb') || holders.some((holder) => BINDING.some((name) => holder.has(name)))
}

function vctOf(type: Mandate['type']): string | null {
  switch (type) {
    case 'checkout_mandate':
    case 'open_checkout_mandate':
    case 'payment_mandate':
    case 'open_payment_mandate':
      return VCT[type]
    case 'checkout_receipt':
    case 'payment_receipt':
    case 'intent_mandate':
    case 'cart_mandate':
    case 'legacy_payment_mandate':
    case 'unknown':
      return null
  }
}
