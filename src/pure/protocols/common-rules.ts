import type { Place } from './place.ts'
import { rule, type Rule, type Say } from './rule.ts'
import { SECRET_WORDS, type Secret } from './secrets.ts'

/** What the engine reports of every document, whatever its protocol. */
export interface CommonView {
  document: Place
  /** Title of the protocol whose mark the document bears, when it is not the one that was chosen. */
  other_protocol: string | null
  /** Version that the document declares, where the caller states another one. */
  other_declared: string | null
  first_redacted: Place | null
  redacted_count: number
  /** Empty where the protocol has a rule of its own. */
  secrets: readonly Secret[]
  /** Numbers whose nearest double lies beyond 2^53 - 1, or that are written with an exponent. */
  odd_numbers: readonly Place[]
  /** The JSON-RPC message around the document; null where there is none, or the protocol has rules of its own about it. */
  message: Place | null
}

const RFC_8259 = { url: 'https://www.rfc-editor.org/rfc/rfc8259', section: '6' }
/** An address under the origin of the service. */
const OWN = { url: '/v1/protocols/rules?protocol=common', section: 'Rules for every protocol' }

export const COMMON_RULES: readonly Rule<CommonView>[] = [
  rule<CommonView>(
    {
      code: 'PRE-001',
      severity: 'error',
      why: 'Rules of another protocol would say nothing useful.',
      spec: OWN,
      hint: 'Send the document again with the protocol that it belongs to.',
      good: { protocol: 'x402', document: { x402Version: 2, accepts: [] } },
      bad: { protocol: 'ucp', document: { x402Version: 2, accepts: [] } },
    },
    ({ error }, { document, other_protocol }) => {
      if (other_protocol !== null) error(document, `is a document of another protocol: ${other_protocol}`, { expected: other_protocol })
    },
  ),
  rule<CommonView>(
    {
      code: 'PRE-002',
      severity: 'warning',
      why: 'What was taken out cannot be checked, so no finding about it means nothing.',
      spec: OWN,
      hint: 'Nothing to mend: redacted values count as present. Check them yourself before you rely on the document.',
      good: { signature: '0x…' },
      bad: { signature: '[REDACTED]' },
    },
    ({ warning }, { first_redacted, redacted_count }) => {
      const others = redacted_count > 1 ? `, and so are ${redacted_count - 1} further values` : ''
      if (first_redacted !== null) warning(first_redacted, `is redacted and was not checked${others}`)
    },
  ),
  rule<CommonView>(
    {
      code: 'PRE-003',
      severity: 'warning',
      why: 'A secret that has been sent to a stranger is no secret any more.',
      spec: OWN,
      hint: 'Replace the value by [REDACTED], and change the secret if it was a real one.',
      good: { token: '[REDACTED]' },
      bad: { token: 'Bearer …' },
    },
    ({ warning }, { secrets }) => {
      for (const { place, kind } of secrets) warning(place, `looks like ${SECRET_WORDS[kind]}`)
    },
  ),
  rule<CommonView>(
    {
      code: 'PRE-004',
      severity: 'warning',
      why: 'Readers of JSON keep numbers as doubles; such a number is rounded, and not by all of them alike.',
      spec: RFC_8259,
      hint: 'Write a plain integer within 2^53 - 1, or a text of digits where the protocol has one.',
      good: { amount: 1999 },
      bad: { amount: 12_345_678_901_234_567_890n.toString() },
    },
    ({ warning }, { odd_numbers }) => {
      for (const place of odd_numbers) warning(place, 'is a number that readers round, or one with an exponent')
    },
  ),
  rule<CommonView>(
    {
      code: 'PRE-005',
      severity: 'error',
      why: 'Receivers drop a message that is not marked as JSON-RPC 2.0, or that they cannot match with a request.',
      spec: { url: 'https://www.jsonrpc.org/specification', section: '5' },
      hint: 'Put "jsonrpc": "2.0" and the id of the request into the message, and either result or error.',
      good: { jsonrpc: '2.0', id: 1, result: {} },
      bad: { jsonrpc: 2, result: {} },
    },
    ({ error }, { message }) => {
      if (message !== null) envelope(error, message)
    },
  ),
  rule<CommonView>(
    {
      code: 'PRE-006',
      severity: 'warning',
      why: 'Readers go by the version that the document declares, and may refuse what the stated one allows.',
      spec: OWN,
      hint: 'State the version that the document declares, or leave the version out.',
      good: { version: '2026-04-08', document: { ucp: { version: '2026-04-08' } } },
      bad: { version: '2026-01-23', document: { ucp: { version: '2026-04-08' } } },
    },
    ({ warning }, { document, other_declared }) => {
      if (other_declared !== null)
        warning(document, 'declares another version than the one that was stated, whose rules were used', { expected: other_declared })
    },
  ),
]

function envelope(error: Say, message: Place): void {
  const [version, id] = [message.get('jsonrpc'), message.get('id')]
  if (version.text() !== '2.0' && !version.redacted) error(version, 'is not "2.0"', { expected: 'the text "2.0"' })
  const isKnown = ['string', 'redacted'].includes(id.kind) || id.integer() !== null
  // Documents travel in requests too, such as messages of A2A; notifications have no id.
  if (message.has('method')) {
    if (id.present && !isKnown) error(id, 'is neither a text nor an integer')
    return
  }
  const [has_result, has_error] = [message.has('result'), message.has('error')]
  if (!id.present) error(id, 'is missing', { expected: 'the id of the request' })
  // The id of a request that could not be read is null.
  else if (!isKnown && !(has_error && id.kind === 'null')) error(id, 'is neither a text nor an integer')
  if (has_result && has_error) error(message, 'has both result and error')
  if (!has_result && !has_error) error(message, 'has neither result nor error')
}
