import { MERCHANT_RESOURCES } from './merchants.ts'
import { REQUEST_RESOURCES } from './requests.ts'
import type { ScarceResource } from './resource.ts'
import { SOURCE_RESOURCES } from './sources.ts'

/**
 * Register of scarce resources: everything that the requests of clients can use up. A resource has one row, with its bounds, the share kept
 * for payers and merchants, the party that gives way, the end of an entry, and the problem that says whose limit was reached. The numbers
 * are those that the code uses. `docs/operating/limits.md` and the page of the operator show the rows.
 */
export const SCARCE_RESOURCES: readonly ScarceResource[] = [...REQUEST_RESOURCES, ...SOURCE_RESOURCES, ...MERCHANT_RESOURCES]
