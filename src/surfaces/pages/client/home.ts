import { hydrateOnUse } from './hydrate-on-use.ts'

/** The first page: its form and its search are loaded when they are used. */

hydrateOnUse('desk', () => import('./home-desk.ts'))
hydrateOnUse('finder', () => import('./home-search.ts'))
// The browser may have restored what was typed before a reload.
const field = document.getElementById('search')
if (field instanceof HTMLInputElement && field.value !== field.defaultValue) void import('./home-search.ts')
