import { hydrateIsland } from '../html.ts'
import { VerifyDesk } from '../components/verify-desk.ts'

/** The form of the page that verifies receipts, with the verifier; once loaded, it works offline. */

hydrateIsland('desk', VerifyDesk)
