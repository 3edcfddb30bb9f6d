import { MerchantDesk } from '../components/merchant-desk.ts'
import { hydrateIsland } from '../components/island.ts'

/** Script of the page for merchants. */

hydrateIsland('merchant', MerchantDesk)
