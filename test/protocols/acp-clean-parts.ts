/** Parts of right documents of ACP. */

export const total = (type: string, amount: number) => ({ type, display_text: type.replaceAll('_', ' '), amount })
export const address = {
  name: 'Ada Berg',
  line_one: '12 Harbour Street',
  city: 'Portland',
  state: 'OR',
  country: 'US',
  postal_code: '97201',
}
