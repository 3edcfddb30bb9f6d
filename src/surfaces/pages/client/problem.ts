import { el } from './dom.ts'
import { isMembers, listOf, textOf, type Members } from './shapes.ts'

/** A refused call: what happened, what it cost, what to do. */
export function problemView(problem: Members): HTMLElement {
  const code = textOf(problem['code']) ?? 'UNKNOWN'
  const cost = problem['charged'] === false ? 'Nothing was counted or charged.' : ''
  const again = problem['retryable'] === true ? 'The same call may succeed later.' : ''
  return el(
    'div',
    { class: 'problem', role: 'alert' },
    el('h2', {}, textOf(problem['title']) ?? 'The call was refused'),
    el('p', {}, textOf(problem['detail']) ?? ''),
    list(listOf(problem['errors'])),
    el('p', { class: 'hint' }, `${cost} ${again}`.trim()),
    el(
      'p',
      { class: 'hint' },
      el('a', { href: `/problems/${encodeURIComponent(code)}` }, el('code', {}, code)),
      ` request ${textOf(problem['request_id']) ?? 'unknown'}`,
    ),
  )
}

function list(errors: readonly Members[]): HTMLElement | null {
  const lines = errors.map(({ pointer, message }) =>
    el('li', {}, el('code', {}, textOf(pointer) || 'the body'), ` ${textOf(message) ?? ''}`),
  )
  return lines.length === 0 ? null : el('ul', { class: 'remarks' }, ...lines)
}

/** The free calls of the day are used up: a line from the calls that were made to the hour that brings new ones. */
export function paymentView(problem: Members, wait_s: number | null, ways: HTMLElement | null): HTMLElement {
  const allowance = isMembers(problem['allowance']) ? problem['allowance'] : {}
  const resets = (textOf(allowance['resets_at']) ?? '').replace('T', ' ').replace(/(:\d\d):\d\dZ$/, '$1 UTC')
  return el(
    'div',
    { class: 'problem', role: 'alert' },
    el('h2', {}, 'The free calls of today are used up'),
    el(
      'ol',
      { class: 'stations' },
      station('reached', `${String(allowance['limit'])} free call${allowance['limit'] === 1 ? '' : 's'}`, 'used today'),
      station('here', 'waiting', wait_s === null ? '' : `for ${durationText(wait_s)}`),
      station('ahead', 'new free calls', resets),
    ),
    priceLine(listOf(problem['accepts'])[0]),
    ways === null ? null : el('div', { class: 'ways' }, ...[...ways.childNodes].map((child) => child.cloneNode(true))),
    el(
      'p',
      { class: 'hint' },
      'Nothing was charged, and your input was not run. ',
      el('a', { href: '/problems/PAYMENT_REQUIRED' }, el('code', {}, 'PAYMENT_REQUIRED')),
    ),
  )
}

/** The price of this call as its terms ask for it, in minor units of six decimals. */
function priceLine(terms: Members | undefined): HTMLElement | null {
  const minor = textOf(terms?.['maxAmountRequired']) ?? ''
  if (!/^\d{1,20}$/.test(minor)) return null
  const digits = minor.padStart(7, '0')
  const usdc = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/0+$/, '')
  return el('p', {}, 'This call costs ', el('b', {}, `${usdc} USDC`), ' now, for programs that carry a wallet.')
}

function station(state: string, name: string, words: string): HTMLElement {
  return el('li', { class: state }, el('b', {}, name), el('span', {}, words))
}

function durationText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The service could not be reached, or what came back was no answer of its own. */
export function unreachableView(words: string): HTMLElement {
  return el(
    'div',
    { class: 'problem', role: 'alert' },
    el('h2', {}, 'No answer'),
    el('p', {}, words),
    el('p', { class: 'hint' }, 'Your input is still in the form; send it again when you like.'),
  )
}
