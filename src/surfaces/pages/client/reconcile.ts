import { hydrateIsland } from '../html.ts'
import { ReconcileDesk } from '../components/reconcile-desk.ts'

/** Page that reconciles two files. A worker of this browser reads them; they are sent only for a signed answer. */

hydrateIsland('desk', ReconcileDesk)
