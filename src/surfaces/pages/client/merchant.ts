import { hydrateIsland } from '../html.ts'
import { MerchantDesk } from '../components/merchant-desk.ts'

/** Script of the page for merchants. */

hydrateIsland('merchant', MerchantDesk)
