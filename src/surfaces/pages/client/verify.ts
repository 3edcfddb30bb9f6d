import { hydrateIsland } from '../components/island.ts'
import { VerifyDesk } from '../components/verify-desk.ts'

/** The page that verifies receipts. Documents never leave the browser; once loaded, the page works offline. */

hydrateIsland('desk', VerifyDesk)
