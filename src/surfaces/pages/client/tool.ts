import { hydrateOnUse } from './hydrate-on-use.ts'

/** The page of one tool: its form is loaded when it is used. */

hydrateOnUse('desk', () => import('./tool-desk.ts'))
