import { hydrateIsland } from '../html.ts'
import { copyOnClick } from './copy.ts'
import { CheckoutPage } from '../components/checkout.ts'

/** Script of the checkout. */

copyOnClick()
hydrateIsland('invoice', CheckoutPage)
