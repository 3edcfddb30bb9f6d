/** Payments, outside sources and the sandbox, attacked row by row of the register. */
import { testAttacks } from '../../support/register/run.ts'
import { SOURCE_ATTACKS } from '../../support/register/sources.ts'

// attack: One address, one /24 or 400 /24s use up free calls, reads of the chain, failed payments, deposits and test money
// in: sources
// asset: payments of others, and the reads that verify them
// attacker: any client, and one with many networks
// defence: the bounds of src/service/scarce/sources.ts, of which payers draw on none; failures of one client count against it alone
testAttacks(SOURCE_ATTACKS)
