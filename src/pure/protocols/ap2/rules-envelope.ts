import { expectText } from '../kit/expect.ts'
import { isWeakAlgorithm } from '../kit/keys.ts'
import type { JsonCursor } from '../json-cursor.ts'
import { rfc, type RuleTable, type FindingReporter } from '../protocol.ts'
import { DIGEST_CHARS } from './values.ts'
import { isOfV01, VCT, type Ap2Mandate } from './mandates.ts'
import { ap2Spec, ISSUE_BUDGET, CURRENT, type Ap2View } from './view.ts'
import { expectInteger } from '../kit/money.ts'

/** AP2-001…003, 034…036 and 045: types, tokens and disclosures around the claims. */
export const ENVELOPE_RULES: RuleTable<Ap2View> = {
  'AP2-001': {
    severity: 'both',
    why: 'A verifier applies the rules of the type; without one it must refuse.',
    spec: ap2Spec('specification', 'Mandates'),
    hint: 'Send the decoded claims of a mandate or receipt of version 0.2.',
    good: { vct: 'mandate.payment.1', transaction_id: '…' },
    bad: { mandate: 'pay for it' },
    check({ error, warning }, { mandates, tokens, context }) {
      if (mandates.length === 0 && tokens.length === 0) error(context.document, 'contains no known mandate or receipt')
      for (const mandate of mandates) {
        if (isOfV01(mandate)) warning(mandate.claims, 'is a mandate of version 0.1, which was replaced by 0.2', { expected: 'version 0.2' })
      }
    },
  },
  'AP2-002': {
    severity: 'error',
    why: 'Types are compared as a whole, including the number at the end.',
    spec: ap2Spec('specification', 'Mandate Versioning'),
    hint: 'Send mandate.payment.1, mandate.payment.open.1, mandate.checkout.1 or mandate.checkout.open.1.',
    good: { vct: 'mandate.payment.1' },
    bad: { vct: 'mandate.payment' },
    check({ error }, { mandates, disclosed }) {
      for (const { type, claims } of mandates) {
        const vct = claims.get('vct')
        const expected = expectedVct(type)
        if (expected === null && !vct.present) continue
        if (!vct.present ? disclosed.hides(claims) : vct.redacted || vct.text() === expected) continue
        error(vct, vct.present ? 'is not exactly a type of version 0.2' : 'is missing', { expected: expected ?? 'a type of version 0.2' })
      }
    },
  },
  'AP2-003': {
    severity: 'error',
    why: 'What is inside an encoded token is not looked at here.',
    spec: ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs'),
    hint: 'Decode the token, and send its claims with signatures left out or redacted.',
    good: { mandate: { vct: 'mandate.payment.1' } },
    bad: { mandate: 'eyJhbGciOiJFUzI1NiJ9.eyJ2Y3QiOiJtYW5kYXRlLnBheW1lbnQuMSJ9.AAAA~' },
    check({ error }, { tokens, mandates }) {
      // A token next to its decoded claims is harmless; a token in a list replaces a mandate.
      const missing = mandates.length === 0 ? tokens : tokens.filter(({ parent }) => parent?.kind === 'array')
      for (const token of missing) error(token, 'is an encoded token', { expected: 'an object of decoded claims' })
    },
  },
  'AP2-034': {
    severity: 'warning',
    types: CURRENT,
    why: 'A constraint that is not disclosed is not evaluated, so that nothing was violated proves nothing.',
    spec: ISSUE_BUDGET,
    hint: 'Disclose every constraint of the open mandate before you rely on it.',
    good: { constraints: [{ type: 'payment.amount_range' }] },
    bad: { constraints: [{ '...': '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU' }] },
    check({ warning }, { disclosed }) {
      for (const cursor of disclosed.undisclosed()) {
        const vct = cursor.text('vct')
        // The credential of the user may hide what it likes.
        if (vct === null || vct.startsWith('mandate.'))
          warning(cursor, cursor.has('...') ? 'is not disclosed' : 'has members that are not disclosed')
      }
    },
  },
  'AP2-035': {
    severity: 'error',
    types: CURRENT,
    why: 'Every hash of the mandate is computed with it.',
    spec: rfc(9901, 'Hash Function Claim'),
    hint: 'Send sha-256, or leave it out.',
    good: { _sd_alg: 'sha-256' },
    bad: { _sd_alg: 'SHA256' },
    check({ error }, { disclosed }) {
      const expected = `one of ${Object.keys(DIGEST_CHARS).join(', ')}`
      for (const cursor of disclosed.algorithms) {
        const isKnown = Object.hasOwn(DIGEST_CHARS, cursor.text() ?? '')
        if (!isKnown && !cursor.redacted) error(cursor, 'is not a supported hash algorithm', { expected })
      }
    },
  },
  'AP2-036': {
    severity: 'warning',
    types: ['checkout_mandate', 'payment_mandate', 'mandates'],
    why: 'Without them a closed mandate can be cut from its chain and shown to another verifier.',
    spec: ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs'),
    hint: 'Bind the token to the open mandate by sd_hash, and to its verifier by aud and nonce.',
    good: { typ: 'kb+sd-jwt', sd_hash: '…', aud: 'merchant', nonce: '…' },
    bad: { typ: 'kb+sd-jwt', aud: 'merchant' },
    check({ warning }, { mandates, disclosed }) {
      const reported = new Set<unknown>()
      for (const mandate of mandates) {
        const { type, claims, envelope } = mandate
        if ((type !== 'checkout_mandate' && type !== 'payment_mandate') || !isDelegated(mandate)) continue
        const holder = envelope?.payload ?? claims
        if (reported.has(holder.value) || disclosed.hides(holder)) continue
        reported.add(holder.value)
        for (const name of BINDING)
          if (!holder.has(name) && !claims.has(name)) warning(holder.get(name), 'is missing in a delegated mandate')
      }
    },
  },
  'AP2-045': {
    severity: 'error',
    why: 'Only the signature makes a mandate evidence; a verifier who shares the secret could have made it.',
    spec: ap2Spec('agent_authorization', 'Mandates using SD-JWT VCs'),
    hint: 'Sign the token with a private key, such as with ES256, and name the algorithm in alg of its header.',
    good: { header: { alg: 'ES256', typ: 'kb+sd-jwt' } },
    bad: { header: { alg: 'none' } },
    check({ error }, { mandates }) {
      const reported = new Set<unknown>()
      for (const { envelope } of mandates) {
        const header = envelope?.header
        if (header?.kind !== 'object' || reported.has(header.value)) continue
        reported.add(header.value)
        const alg = header.get('alg')
        if (expectText(error, alg) !== null && isWeakAlgorithm(alg.value))
          error(alg, 'is not an algorithm with a public key', { expected: 'an algorithm such as ES256' })
      }
    },
  },
}

const BINDING = ['sd_hash', 'aud', 'nonce']

/** Returns whether the token states that it continues another one. */
function isDelegated({ claims, envelope }: Ap2Mandate): boolean {
  const holders: JsonCursor[] = envelope === null ? [claims] : [claims, envelope.payload]
  const typ = envelope?.header.text('typ') ?? ''
  return typ.startsWith('kb') || holders.some((holder) => BINDING.some((name) => holder.has(name)))
}

function expectedVct(type: Ap2Mandate['type']): string | null {
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

/** Clocks of two parties differ by less. */
const SKEW_S = 300n
/** Seconds stay below it for three thousand years. */
const MOST_SECONDS = 100_000_000_000n
const DAY_S = 86_400n
/** A leap year. */
const YEAR_S = 366n * DAY_S

/** AP2-014 and 015: validity of mandates. */
export const TIME_RULES: RuleTable<Ap2View> = {
  'AP2-014': {
    severity: 'both',
    types: CURRENT,
    why: 'A mandate that never ends, or that starts in the future, is refused or misused.',
    spec: rfc(7519, '4.1'),
    hint: 'Send iat and exp in whole seconds since 1970, exp after iat and not yet past.',
    good: { iat: 1795262400, exp: 1795266000 },
    bad: { iat: 1795262400000 },
    check(report, { mandates, disclosed, context }) {
      const reported = new Set<unknown>()
      for (const mandate of mandates.filter(isOfV02)) {
        for (const cursor of ['iat', 'exp'].flatMap((name) => listTimes(mandate, name))) {
          if (reported.has(cursor.parent?.value)) continue
          expectSeconds(report, cursor)
        }
        for (const holder of objectsWithTimes(mandate)) reported.add(holder.value)
        checkValidity(report, mandate, BigInt(context.now_s))
        const exp = findTime(mandate, 'exp')
        if (!exp.present && !disclosed.hides(mandate.claims)) report.warning(exp, 'is missing, so the mandate never ends')
      }
    },
  },
  'AP2-015': {
    severity: 'warning',
    types: CURRENT,
    why: 'The longer a mandate holds, the more can be done with a stolen one.',
    spec: ap2Spec('specification', 'Autonomous (Human Not Present)'),
    hint: 'Let a closed mandate end within a day, and an open one when its task is done.',
    good: { vct: 'mandate.payment.1', iat: 1795262400, exp: 1795263300 },
    bad: { vct: 'mandate.payment.1', iat: 1795262400, exp: 1798000000 },
    check({ warning }, { mandates }) {
      for (const mandate of mandates.filter(isOfV02)) {
        const [iat, exp] = [readSeconds(mandate, 'iat'), readSeconds(mandate, 'exp')]
        const isOpen = mandate.type === 'open_checkout_mandate' || mandate.type === 'open_payment_mandate'
        if (iat === null || exp === null || exp - iat <= (isOpen ? YEAR_S : DAY_S)) continue
        warning(findTime(mandate, 'exp'), `is more than ${isOpen ? 'a year' : 'a day'} after iat`)
      }
    },
  },
}

function isOfV02({ type }: Ap2Mandate): boolean {
  return type in VCT
}

/** Objects with iat and exp: the claims, and the payload of the token that carries them. */
function objectsWithTimes({ claims, envelope }: Ap2Mandate): JsonCursor[] {
  return envelope === null || envelope.payload.value === claims.value ? [claims] : [claims, envelope.payload]
}

function listTimes(mandate: Ap2Mandate, name: string): JsonCursor[] {
  return objectsWithTimes(mandate)
    .map((holder) => holder.get(name))
    .filter(({ present }) => present)
}

/** The claims come first. */
function findTime(mandate: Ap2Mandate, name: string): JsonCursor {
  return listTimes(mandate, name)[0] ?? mandate.claims.get(name)
}

/** Seconds; null if they cannot be read. */
function readSeconds(mandate: Ap2Mandate, name: string): bigint | null {
  const value = findTime(mandate, name).integer()
  return value === null || value < 0n || value > MOST_SECONDS ? null : value
}

function expectSeconds({ error }: FindingReporter, cursor: JsonCursor): void {
  const value = expectInteger(error, cursor, { min: 0n })
  if (value !== null && value > MOST_SECONDS) error(cursor, 'is not in seconds', { expected: 'seconds since 1970, not milliseconds' })
}

function checkValidity({ error, warning }: FindingReporter, mandate: Ap2Mandate, now_s: bigint): void {
  const [iat, exp] = [readSeconds(mandate, 'iat'), readSeconds(mandate, 'exp')]
  const [issued, ends] = [findTime(mandate, 'iat'), findTime(mandate, 'exp')]
  if (iat !== null && iat > now_s + SKEW_S) error(issued, 'is in the future')
  if (iat !== null && exp !== null && exp <= iat) error(ends, 'is not after iat')
  else if (exp !== null && exp < now_s) warning(ends, 'is past')
}
