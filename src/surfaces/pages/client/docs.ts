import { hydrateOnUse } from './hydrate-on-use.ts'

/** The page of one operation: the form that sends it is loaded when it is used. */

hydrateOnUse('try-request', async () => {
  const [{ hydrateIsland }, { TryRequest }] = await Promise.all([import('../html.ts'), import('../components/try-request.ts')])
  hydrateIsland('try-request', TryRequest)
})
