import { integer } from '../kit/money.ts'
import type { Place } from '../place.ts'
import { rule, type Report } from '../rule.ts'
import { isCurrent, type Mandate } from './mandates.ts'
import { ap2Spec, rfc } from './spec.ts'
import { CURRENT, type Ap2View } from './view.ts'

/** Clocks of two parties differ by less. */
const SKEW_S = 300n
/** Seconds stay below it for three thousand years. */
const MOST_SECONDS = 100_000_000_000n
const DAY_S = 86_400n
/** A leap year. */
const YEAR_S = 366n * DAY_S

/** AP2-014 and 015: how long a mandate holds. */
export const TIME_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-014',
      severity: 'both',
      types: CURRENT,
      why: 'A mandate that never ends, or that starts in the future, is refused or misused.',
      spec: rfc(7519, '4.1'),
      hint: 'Send iat and exp in whole seconds since 1970, exp after iat and not yet past.',
      good: { iat: 1795262400, exp: 1795266000 },
      bad: { iat: 1795262400000 },
    },
    (report, { mandates, disclosed, context }) => {
      const told = new Set<unknown>()
      for (const mandate of mandates.filter(isCurrent)) {
        for (const place of ['iat', 'exp'].flatMap((name) => timesOf(mandate, name))) {
          if (told.has(place.parent?.value)) continue
          seconds(report, place)
        }
        for (const holder of holdersOf(mandate)) told.add(holder.value)
        validity(report, mandate, BigInt(context.now_s))
        const exp = timeOf(mandate, 'exp')
        if (!exp.present && !disclosed.hides(mandate.claims)) report.warning(exp, 'is missing, so the mandate never ends')
      }
    },
  ),
  rule<Ap2View>(
    {
      code: 'AP2-015',
      severity: 'warning',
      types: CURRENT,
      why: 'The longer a mandate holds, the more can be done with a stolen one.',
      spec: ap2Spec('specification', 'Autonomous (Human Not Present)'),
      hint: 'Let a closed mandate end within a day, and an open one when its task is done.',
      good: { vct: 'mandate.payment.1', iat: 1795262400, exp: 1795263300 },
      bad: { vct: 'mandate.payment.1', iat: 1795262400, exp: 1798000000 },
    },
    ({ warning }, { mandates }) => {
      for (const mandate of mandates.filter(isCurrent)) {
        const [iat, exp] = [valueOf(mandate, 'iat'), valueOf(mandate, 'exp')]
        const isOpen = mandate.type === 'open_checkout_mandate' || mandate.type === 'open_payment_mandate'
        if (iat === null || exp === null || exp - iat <= (isOpen ? YEAR_S : DAY_S)) continue
        warning(timeOf(mandate, 'exp'), `is more than ${isOpen ? 'a year' : 'a day'} after iat`)
      }
    },
  ),
]

/** Where times may stand: among the claims, or in the token that carries them. */
function holdersOf({ claims, envelope }: Mandate): Place[] {
  return envelope === null || envelope.payload.value === claims.value ? [claims] : [claims, envelope.payload]
}

function timesOf(mandate: Mandate, name: string): Place[] {
  return holdersOf(mandate)
    .map((holder) => holder.get(name))
    .filter(({ present }) => present)
}

/** The claims come first. */
function timeOf(mandate: Mandate, name: string): Place {
  return timesOf(mandate, name)[0] ?? mandate.claims.get(name)
}

/** Seconds; null where they cannot be told. */
function valueOf(mandate: Mandate, name: string): bigint | null {
  const value = timeOf(mandate, name).integer()
  return value === null || value < 0n || value > MOST_SECONDS ? null : value
}

function seconds({ error }: Report, place: Place): void {
  const value = integer(error, place, { min: 0n })
  if (value !== null && value > MOST_SECONDS) error(place, 'is not in seconds', { expected: 'seconds since 1970, not milliseconds' })
}

function validity({ error, warning }: Report, mandate: Mandate, now_s: bigint): void {
  const [iat, exp] = [valueOf(mandate, 'iat'), valueOf(mandate, 'exp')]
  const [issued, ends] = [timeOf(mandate, 'iat'), timeOf(mandate, 'exp')]
  if (iat !== null && iat > now_s + SKEW_S) error(issued, 'is in the future')
  if (iat !== null && exp !== null && exp <= iat) error(ends, 'is not after iat')
  else if (exp !== null && exp < now_s) warning(ends, 'is past')
}
