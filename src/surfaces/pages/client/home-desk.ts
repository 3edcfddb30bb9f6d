import { hydrateIsland } from '../html.ts'
import { ToolDesk } from '../components/tool-desk.ts'

/** The form of the first page, loaded when it is used. */

hydrateIsland('desk', ToolDesk)
