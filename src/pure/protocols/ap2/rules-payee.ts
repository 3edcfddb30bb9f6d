import { sameAccount } from '../kit/addresses.ts'
import { hostOf, isWithin } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule } from '../rule.ts'
import type { Disclosed } from './disclosed.ts'
import { ap2Spec } from './spec.ts'
import type { Ap2View } from './view.ts'

/** AP2-044: who is paid. */
export const PAYEE_RULES = [
  rule<Ap2View>(
    {
      code: 'AP2-044',
      severity: 'both',
      why: 'A mandate for somebody else looks just like one for the merchant who is meant to be paid.',
      spec: ap2Spec('payment_mandate', 'Allowed Payees'),
      hint: 'Compare the payee with whom you meant to pay before anything is signed.',
      good: { payee: { id: 'the expected payee', name: 'Demo Merchant' } },
      bad: { payee: { id: 'somebody else', name: 'Demo Merchant' } },
    },
    ({ error, warning }, view) => {
      const expected = view.context.expected_payee
      if (expected === null) return
      const answers = [...partyAnswers(view, expected), ...listAnswers(view, expected)]
      for (const { place, is, words } of answers) if (is === 'other') error(place, words)
      if (!answers.some(({ is }) => is !== 'unknown'))
        warning(view.context.document, 'holds nothing that the expected payee could be compared with')
    },
  ),
]

type Is = 'expected' | 'other' | 'unknown'

interface Answer {
  place: Place
  is: Is
  words: string
}

/** Payees and merchants that the document names, one at a time. */
function partyAnswers(view: Ap2View, expected: string): Answer[] {
  const { mandates, checkouts, disclosed } = view
  const words = 'is not the expected payee'
  const answers: Answer[] = []
  for (const { type, claims } of mandates) {
    const payee = disclosed.get(claims, 'payee')
    const isPayment = type === 'payment_mandate' || type === 'open_payment_mandate'
    if (isPayment && payee.present) answers.push({ place: payee, is: partyIs(payee, expected, disclosed), words })
    const named =
      type === 'cart_mandate' ? claims.down('contents', 'merchant_name') : claims.down('payment_mandate_contents', 'merchant_agent')
    if ((type === 'cart_mandate' || type === 'legacy_payment_mandate') && named.present)
      answers.push({ place: named, is: nameIs(named.text(), expected), words })
  }
  for (const { body, embedded, mandate } of checkouts) {
    const merchant = body.get('merchant')
    const place = embedded || mandate === null ? merchant : disclosed.get(mandate.claims, 'checkout_jwt')
    const is = partyIs(merchant, expected, disclosed)
    if (merchant.kind === 'object') answers.push({ place, is, words: embedded ? words : 'is of another merchant than the expected payee' })
  }
  return answers
}

/** Lists of those who may be paid: each must have the expected one. */
function listAnswers({ open, mandates, disclosed }: Ap2View, expected: string): Answer[] {
  const words = 'do not have the expected payee'
  const lists = open.flatMap(({ constraints }) =>
    constraints
      .filter(({ type }) => type === 'payment.allowed_payees' || type === 'checkout.allowed_merchants')
      .map(({ place }) => disclosed.get(place, 'allowed')),
  )
  const answers = lists.map((place) => ({
    place,
    is: anyIs(disclosed.items(place).map((item) => partyIs(item, expected, disclosed))),
    words,
  }))
  for (const { type, claims } of mandates) {
    const merchants = claims.get('merchants')
    if (type !== 'intent_mandate' || merchants.items().length === 0) continue
    answers.push({ place: merchants, is: anyIs(merchants.items().map((item) => nameIs(item.text(), expected))), words })
  }
  return answers
}

function anyIs(answers: readonly Is[]): Is {
  if (answers.includes('expected')) return 'expected'
  return answers.length === 0 || answers.includes('unknown') ? 'unknown' : 'other'
}

/** By id, by the host of the website, or by name: the caller chose which of them to tell. */
function partyIs(party: Place, expected: string, disclosed: Disclosed): Is {
  if (party.kind !== 'object') return 'unknown'
  const [id, name, website] = ['id', 'name', 'website'].map((member) => disclosed.get(party, member))
  const answers = [id, name, website].map((place) => nameIs(place?.text() ?? null, expected))
  if (answers.includes('expected')) return 'expected'
  const isHidden = disclosed.hides(party) || [id, name, website].some((place) => place?.redacted === true)
  return isHidden || !answers.includes('other') ? 'unknown' : 'other'
}

function nameIs(text: string | null, expected: string): Is {
  if (text === null || text.trim() === '') return 'unknown'
  if (sameAccount(text, expected) || text.trim().toLowerCase() === expected.trim().toLowerCase()) return 'expected'
  const [own, wanted] = [hostIn(text), hostIn(expected)]
  return own !== null && wanted !== null && isWithin(own, wanted) ? 'expected' : 'other'
}

/** The host of a URL, or of a domain name that stands alone. */
function hostIn(text: string): string | null {
  const url = hostOf(text)
  if (url !== null) return url
  return /^(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}$/i.test(text) ? hostOf(`https://${text}`) : null
}
