import { hydrateOnUse } from './hydrate-on-use.ts'

/** The page of the preflight: its form is loaded when it is used. */

hydrateOnUse('desk', () => import('./preflight-desk.ts'))
// The browser may have restored what was typed before a reload.
const field = document.getElementById('document')
if (field instanceof HTMLTextAreaElement && field.value !== '') void import('./preflight-desk.ts')
