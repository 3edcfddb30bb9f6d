import { hydrateOnUse } from './hydrate-on-use.ts'

/** The page that verifies receipts: its verifier is loaded with the first use, or when the address has a receipt. Documents never leave the browser. */

const load = hydrateOnUse('desk', async () => {
  const [{ hydrateIsland }, { VerifyDesk }] = await Promise.all([import('../html.ts'), import('../components/verify-desk.ts')])
  hydrateIsland('desk', VerifyDesk)
})
if (location.hash.startsWith('#r=')) load()
addEventListener('hashchange', load)
// The browser may have restored what was typed before a reload.
const field = document.getElementById('given')
if (field instanceof HTMLTextAreaElement && field.value !== '') load()
