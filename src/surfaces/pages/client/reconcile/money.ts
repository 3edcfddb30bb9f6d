import { el } from '../dom.ts'

/**
 * An amount whose decimal point stands under those above it: what its currency lacks behind the point is filled up, unseen. Thousands are set
 * apart by space that is no character, so that a copy holds the plain number.
 */
export function money(text: string, digits_max: number): HTMLElement {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(text) ?? []
  if (whole === '') return el('span', { class: 'money' }, text)
  const groups = whole.match(/\d{1,3}(?=(?:\d{3})*$)/g) ?? [whole]
  const missing =
    digits_max === 0 ? '' : fraction === '' ? `.${'0'.repeat(digits_max)}` : '0'.repeat(Math.max(0, digits_max + 1 - fraction.length))
  return el(
    'span',
    { class: 'money' },
    sign,
    ...groups.map((group, index) => (index === 0 ? group : el('span', { class: 'thousand' }, group))),
    fraction,
    missing === '' ? null : el('span', { class: 'fill', 'aria-hidden': 'true' }, missing),
  )
}
