import { reportSecrets } from './kit/expect.ts'
import type { JsonCursor } from './json-cursor.ts'
import type { NearName } from './kit/near-names.ts'
import { listRules, type ProtocolRule, type ReportFinding } from './protocol.ts'
import type { DetectedSecret } from './secrets.ts'

/** Parts of any document that the common rules read. */
export interface CommonView {
  document: JsonCursor
  /** Title of the protocol that recognises the document, if it is not the chosen one. */
  other_protocol: string | null
  /** Version that the document declares, where the caller states another one. */
  other_declared: string | null
  first_redacted: JsonCursor | null
  redacted_count: number
  /** Empty if the protocol has its own rule about secrets. */
  secrets: readonly DetectedSecret[]
  /** Numbers whose nearest double lies beyond 2^53 - 1, or that are written with an exponent. */
  imprecise_numbers: readonly JsonCursor[]
  /** The JSON-RPC message around the document; null if there is none or the protocol has its own rules about it. */
  message: JsonCursor | null
  /** Facts about a document whose shape is not known; null for every other document. */
  unknown: UnknownShape | null
  /** The document, if the caller expects a payee and no rule compared it; null otherwise. */
  uncompared: JsonCursor | null
}

/** A document of a shape without rules. */
export interface UnknownShape {
  /** The document, or the part of it that was expected to be known. */
  cursor: JsonCursor
  /** A known document directly below it, with the title of its protocol. */
  inner: { cursor: JsonCursor; title: string } | null
  near: NearName | null
  /** Members by which documents of the protocol are known. */
  members: readonly string[]
}

const RFC_8259 = { url: 'https://www.rfc-editor.org/rfc/rfc8259', section: '6' }
/** A path under the origin of this service. */
const OWN = { url: '/v1/protocols/rules?protocol=common', section: 'Rules for every protocol' }

export const COMMON_RULES: readonly ProtocolRule<CommonView>[] = listRules<CommonView>({
  'PRE-001': {
    why: 'The rules of the chosen protocol do not apply to this document.',
    spec: OWN,
    hint: 'Send the document again with the protocol that it belongs to.',
    good: { protocol: 'x402', document: { x402Version: 2, accepts: [] } },
    bad: { protocol: 'ucp', document: { x402Version: 2, accepts: [] } },
    check({ error }, { document, other_protocol }) {
      if (other_protocol !== null) error(document, `is a document of another protocol: ${other_protocol}`, { expected: other_protocol })
    },
  },
  'PRE-002': {
    severity: 'warning',
    why: 'Redacted values cannot be checked, so the absence of findings about them proves nothing.',
    spec: OWN,
    hint: 'Nothing to correct: redacted values count as present. Check them yourself before you rely on the document.',
    good: { signature: '0x…' },
    bad: { signature: '[REDACTED]' },
    check({ warning }, { first_redacted, redacted_count }) {
      const others = redacted_count > 1 ? `, and so are ${redacted_count - 1} further values` : ''
      if (first_redacted !== null) warning(first_redacted, `is redacted and was not checked${others}`)
    },
  },
  'PRE-003': {
    severity: 'warning',
    why: 'A secret that was sent to a third party is compromised.',
    spec: OWN,
    hint: 'Replace the value with [REDACTED], and rotate the secret if it was real.',
    good: { token: '[REDACTED]' },
    bad: { token: 'Bearer …' },
    check({ warning }, { secrets }) {
      reportSecrets(warning, secrets)
    },
  },
  'PRE-004': {
    severity: 'warning',
    why: 'JSON readers store numbers as doubles; such a number is rounded, and readers differ in how.',
    spec: RFC_8259,
    hint: 'Write a plain integer up to 2^53 - 1, or a string of digits where the protocol has one.',
    good: { amount: 1999 },
    bad: { amount: 12_345_678_901_234_567_890n.toString() },
    check({ warning }, { imprecise_numbers: odd_numbers }) {
      for (const cursor of odd_numbers) warning(cursor, 'is a number that readers round, or has an exponent')
    },
  },
  'PRE-005': {
    why: 'Receivers drop a message that is not marked as JSON-RPC 2.0, or that they cannot match with a request.',
    spec: { url: 'https://www.jsonrpc.org/specification', section: '5' },
    hint: 'Put "jsonrpc": "2.0" and the id of the request into the message, and either result or error.',
    good: { jsonrpc: '2.0', id: 1, result: {} },
    bad: { jsonrpc: 2, result: {} },
    check({ error }, { message }) {
      if (message !== null) checkMessage(error, message)
    },
  },
  'PRE-006': {
    severity: 'warning',
    why: 'Readers go by the version that the document declares, and may refuse what the stated one allows.',
    spec: OWN,
    hint: 'State the version that the document declares, or leave the version out.',
    good: { version: '2026-04-08', document: { ucp: { version: '2026-04-08' } } },
    bad: { version: '2026-01-23', document: { ucp: { version: '2026-04-08' } } },
    check({ warning }, { document, other_declared }) {
      if (other_declared !== null)
        warning(document, 'declares another version than the stated one; the rules of the stated version were used', {
          expected: other_declared,
        })
    },
  },
  'PRE-007': {
    severity: 'warning',
    why: 'No rules apply to a shape that is not known, so nothing was checked but redactions, secrets and numbers.',
    spec: OWN,
    hint: 'Send one document of the protocol by itself, or state its document_type to see what it lacks.',
    good: { protocol: 'x402', document: { x402Version: 2, accepts: [] } },
    bad: { protocol: 'x402', document: { name: 'My API', endpoints: [] } },
    check({ warning }, { unknown }) {
      if (unknown !== null) reportUnknown(warning, unknown)
    },
  },
  'PRE-008': {
    severity: 'warning',
    why: 'No rule compares payees in such a document, so it may ask to pay anybody.',
    spec: OWN,
    hint: 'Compare the payee yourself, or send the document that names it.',
    good: { expected_payee: '0x2096…287C', document: { payTo: '0x2096…287C' } },
    bad: { expected_payee: '0x2096…287C', document: { kind: 'task' } },
    check({ warning }, { uncompared }) {
      if (uncompared !== null) warning(uncompared, 'names no payee that could be compared with the expected one')
    },
  },
})

function reportUnknown(warning: ReportFinding, { cursor, inner, near, members }: UnknownShape): void {
  if (inner !== null) {
    const hint = 'Send this part by itself.'
    warning(inner.cursor, `is a document of ${inner.title} inside another one, and was not checked`, { expected: inner.title, hint })
    return
  }
  const hint = near === null ? {} : { hint: `Rename ${near.found} to ${near.wanted}.` }
  warning(cursor, 'is not a document type that is known here', { expected: `an object with ${members.join(', ')} or others`, ...hint })
}

function checkMessage(error: ReportFinding, message: JsonCursor): void {
  const [version, id] = [message.get('jsonrpc'), message.get('id')]
  if (version.text() !== '2.0' && !version.redacted) error(version, 'is not "2.0"', { expected: 'the string "2.0"' })
  const isKnown = ['string', 'redacted'].includes(id.kind) || id.integer() !== null
  // Documents travel in requests too, such as messages of A2A; notifications have no id.
  if (message.has('method')) {
    if (id.present && !isKnown) error(id, 'is neither a string nor an integer')
    return
  }
  const [has_result, has_error] = [message.has('result'), message.has('error')]
  if (!id.present) error(id, 'is missing', { expected: 'the id of the request' })
  // The id of a request that could not be read is null.
  else if (!isKnown && !(has_error && id.kind === 'null')) error(id, 'is neither a string nor an integer')
  if (has_result && has_error) error(message, 'has both result and error')
  if (!has_result && !has_error) error(message, 'has neither result nor error')
}
