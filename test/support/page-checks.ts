import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { barriers, overhang } from './accessible.ts'
import { visit } from './browser.ts'

/** A page in both colour schemes, on a phone and on a wide screen: nothing to complain of, nothing too wide, no barriers. */
export async function assertSound(browser: Browser, url: string, ready: (page: Page) => Promise<unknown>): Promise<void> {
  for (const width of [360, 1280]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const seen = `${url} at ${width} px, ${colorScheme}`
      const { page, complaints, close } = await visit(browser, url, { viewport: { width, height: 900 }, colorScheme })
      await ready(page)
      assert.deepEqual(await barriers(page), [], seen)
      assert.ok((await overhang(page)) <= 0, `${seen} is too wide`)
      assert.deepEqual(complaints, [], seen)
      await close()
    }
  }
}
