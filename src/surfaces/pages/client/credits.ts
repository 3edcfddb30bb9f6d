import { hydrateIsland } from '../html.ts'
import { BoughtCode, BuyCredit, CreditBalance } from '../components/credits-desk.ts'

/** Script of the credit pages. Card data is entered at Stripe only. */

if (document.getElementById('buying-desk') !== null) hydrateIsland('buying-desk', BuyCredit)
if (document.getElementById('balance-desk') !== null) hydrateIsland('balance-desk', CreditBalance)
if (document.getElementById('bought-desk') !== null) hydrateIsland('bought-desk', BoughtCode)
