import axe from 'axe-core'
import type { Page } from 'playwright-core'

const WEIGHTY = new Set(['serious', 'critical'])

/**
 * Faults that axe-core finds in the page as it is, by its default rules and that of target sizes (WCAG 2.2, 2.5.8): the serious and critical violations, each
 * with a place.
 */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run({ rules: { 'target-size': { enabled: true } } })
    return violations.map(({ id, impact, nodes }) => ({ id, impact, place: nodes[0]?.html ?? '' }))
  })
  return found.filter(({ impact }) => WEIGHTY.has(impact ?? '')).map(({ id, place }) => `${id}: ${place.slice(0, 160)}`)
}

/** How many pixels the page is wider than its window; none for a page that fits. */
export function overhang(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
}
