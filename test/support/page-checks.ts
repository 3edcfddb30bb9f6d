import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { barriers, overhang } from './accessible.ts'
import { visit } from './browser.ts'
import { runs } from './counts.ts'

/** WCAG 2.2, 1.4.10: words reflow down to 320 px. */
const NARROW = 320

/** A label or a script finds only the first of two elements with one id. */
function doubledIds(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
    return ids.filter((id, at) => ids.indexOf(id) !== at)
  })
}

/** Headings that skip a level: whoever goes by them takes a part to be missing. */
function jumps(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const shown = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter((one) => one.checkVisibility())
    const level = (one: Element | undefined) => Number(one?.tagName.slice(1) ?? 0)
    return shown.flatMap((one, at) => (level(one) > level(shown[at - 1]) + 1 ? [`${one.tagName}: ${one.textContent}`] : []))
  })
}

/** Widths and colour schemes of readers; the first two, which have each of them once, are those of the everyday suite. */
const VIEWS = [
  [NARROW, 'light'],
  [1280, 'dark'],
  [NARROW, 'dark'],
  [1280, 'light'],
] as const

/** A page in both colour schemes, on a phone and on a wide screen: nothing to complain of, nothing too wide, no barriers. */
export async function assertSound(browser: Browser, url: string, ready: (page: Page) => Promise<unknown>): Promise<void> {
  for (const [width, colorScheme] of VIEWS.slice(0, runs(2, VIEWS.length))) {
    const seen = `${url} at ${width} px, ${colorScheme}`
    const { page, complaints, close } = await visit(browser, url, { viewport: { width, height: 900 }, colorScheme })
    await ready(page)
    assert.deepEqual(await barriers(page), [], seen)
    assert.deepEqual(await doubledIds(page), [], seen)
    assert.deepEqual(await jumps(page), [], seen)
    assert.ok((await overhang(page)) <= 0, `${seen} is too wide`)
    assert.deepEqual(complaints, [], seen)
    await close()
  }
}
