import { hydrateOnUse } from './hydrate-on-use.ts'

/** The page that verifies receipts: its verifier is loaded with the first use, or when the address has a receipt. Documents never leave the browser. */

const load = () => import('./verify-desk.ts')
hydrateOnUse('desk', load)
if (location.hash.startsWith('#r=')) void load()
addEventListener('hashchange', () => void load())
// The browser may have restored what was typed before a reload.
const field = document.getElementById('given')
if (field instanceof HTMLTextAreaElement && field.value !== '') void load()
