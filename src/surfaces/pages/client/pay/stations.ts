import { piece, type Piece } from './pieces.ts'
import { usdc, type PayRecord } from './record.ts'

/** What this browser did for the payment that is under way; the record alone does not know it. Seconds since 1970. */
export interface Trace {
  signed_s: number
  sent_s: number | null
}

interface Station {
  name: string
  /** `here` is where the payment stands now; `ended` is where the invoice ended without being paid. */
  state: 'reached' | 'here' | 'ahead' | 'ended'
  at_s: number | null
  words: string
}

/** The way of a payment as stations on one line, the one it stands at among them. */
export function stationsPiece(record: PayRecord, trace: Trace | null): Piece {
  return piece('ol', { class: 'way' }, ...stationsOf(record, trace).map(stationPiece))
}

function stationsOf(record: PayRecord, trace: Trace | null): Station[] {
  const issued: Station = { name: 'issued', state: 'reached', at_s: record.created_s, words: '' }
  switch (record.status) {
    case 'ISSUED':
      return [issued, ...ahead(trace)]
    case 'PARTIALLY_PAID':
      return [issued, part(record), ...ahead(trace)]
    case 'PROCESSING':
      return record.due_minor > 0n ? [issued, part(record), ...ahead(trace)] : [issued, ...carried(record, trace), deepening(record)]
    case 'SETTLED':
      return [issued, ...carried(record, trace), { name: 'confirmed', state: 'reached', at_s: null, words: depthWords(record) }]
    case 'EXPIRED':
      return [issued, ...parts(record), { name: 'expired', state: 'ended', at_s: record.expires_s, words: '' }]
    case 'VOID':
      return [issued, ...parts(record), { name: 'void', state: 'ended', at_s: record.voided_s, words: 'by the merchant' }]
  }
}

/** Nothing of what is due has been seen in a block yet. */
function ahead(trace: Trace | null): Station[] {
  const signed: Station =
    trace === null
      ? { name: 'signed', state: 'here', at_s: null, words: 'waits for you' }
      : { name: 'signed', state: 'reached', at_s: trace.signed_s, words: '' }
  const sent: Station =
    trace === null
      ? { name: 'sent', state: 'ahead', at_s: null, words: '' }
      : trace.sent_s === null
        ? { name: 'sent', state: 'here', at_s: null, words: 'on its way' }
        : { name: 'sent', state: 'reached', at_s: trace.sent_s, words: '' }
  const seen: Station =
    trace === null || trace.sent_s === null
      ? { name: 'seen in block', state: 'ahead', at_s: null, words: '' }
      : { name: 'seen in block', state: 'here', at_s: null, words: 'next block' }
  return [signed, sent, seen, { name: 'confirmed', state: 'ahead', at_s: null, words: '' }]
}

/** A transfer of the whole was seen. What the payer did before it is known only to the browser that did it. */
function carried({ payments, first_seen_s }: PayRecord, trace: Trace | null): Station[] {
  const block = payments.at(-1)?.block_number
  return [
    { name: 'signed', state: 'reached', at_s: trace?.signed_s ?? null, words: trace === null ? 'by the payer' : '' },
    { name: 'sent', state: 'reached', at_s: trace?.sent_s ?? null, words: '' },
    { name: 'seen in block', state: 'reached', at_s: first_seen_s, words: block === undefined ? '' : `block ${block}` },
  ]
}

function part({ paid_minor, amount_minor, first_seen_s }: PayRecord): Station {
  return { name: 'paid in part', state: 'reached', at_s: first_seen_s, words: `${usdc(paid_minor)} of ${usdc(amount_minor)}` }
}

function parts(record: PayRecord): Station[] {
  return record.paid_minor > 0n ? [part(record)] : []
}

function deepening({ payments }: PayRecord): Station {
  const large = payments.some(({ confirmed, amount_minor }) => !confirmed && amount_minor > LARGE_MINOR)
  return { name: 'confirmed', state: 'here', at_s: null, words: large ? 'when the block is final' : 'when two blocks deep' }
}

function depthWords({ payments }: PayRecord): string {
  return payments.every(({ final }) => final) ? 'final' : '2 blocks deep'
}

/** As in the rules of the service: above 1,000 USDC a block must be final. */
const LARGE_MINOR = 1_000_000_000n

function stationPiece({ name, state, at_s, words }: Station): Piece {
  const here: Readonly<Record<string, string>> = state === 'here' ? { 'aria-current': 'step' } : {}
  const said = { reached: 'done', here: 'now', ahead: 'to come', ended: 'ended here' }[state]
  return piece(
    'li',
    { class: state, ...here },
    piece('b', {}, name, piece('span', { class: 'heard' }, `, ${said}`)),
    at_s === null ? null : timePiece(at_s),
    words === '' ? null : piece('span', {}, words),
  )
}

/** A time of the Coordinated Universal Time, to the second. */
export function timePiece(at_s: number): Piece {
  const [day = '', clock = ''] = new Date(at_s * 1_000).toISOString().split(/[T.]/)
  return piece('time', { datetime: `${day}T${clock}Z` }, `${day} `, piece('span', {}, `${clock} UTC`))
}
