import { hydrateOnUse } from './hydrate-on-use.ts'

/** The first page: its form and its search are loaded when they are used. */

hydrateOnUse('desk', async () => {
  const [{ hydrateIsland }, { ToolDesk }] = await Promise.all([import('../html.ts'), import('../components/tool-desk.ts')])
  hydrateIsland('desk', ToolDesk)
})
const search = hydrateOnUse('finder', async () => (await import('../components/catalogue.ts')).hydrateCatalogue())
// The browser may have restored what was typed before a reload.
const field = document.getElementById('search')
if (field instanceof HTMLInputElement && field.value !== field.defaultValue) search()
