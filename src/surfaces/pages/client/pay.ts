import { CheckoutPage } from '../components/checkout.ts'
import { hydrateIsland } from '../components/island.ts'

/** Script of the checkout. */

hydrateIsland('invoice', CheckoutPage)
