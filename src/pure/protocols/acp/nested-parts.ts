import { known, closed, each, list, number, text, within } from '../kit/shape.ts'

/** Parts of documents of ACP that stand in sessions and in orders; see nested-shapes.ts. */

/** An integer may be as little. */
export const LEAST = -(2n ** 53n)

export const ADDRESS = within(
  closed({}, { ...each(known, 'name', 'line_one', 'city', 'state', 'country', 'postal_code'), ...each(text, 'line_two', 'company') }),
)

export const TOTAL = within(
  closed(
    {},
    {
      ...each(known, 'type', 'display_text', 'amount', 'presentment_amount'),
      description: text,
      breakdown: list(closed({ jurisdiction: text, rate: number, amount: known })),
    },
  ),
)
export const TOTALS = within(list(TOTAL))
