/** Invoices, webhooks and the directory of underwriters, attacked row by row of the register. */
import { MERCHANT_ATTACKS } from '../../support/register/merchants.ts'
import { testAttacks } from '../../support/register/run.ts'

// attack: One address, one /24 or 400 /24s use up invoices, event streams, webhook subscriptions and the directory of underwriters
// in: merchants
// asset: invoices of honest merchants, and the places of their subscriptions
// attacker: any client, and one with many networks and free keys
// defence: the bounds of src/service/scarce/merchants.ts; merchants that were paid have a separate share, and the widest network gives way
testAttacks(MERCHANT_ATTACKS)
