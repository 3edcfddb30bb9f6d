/** The register of scarce resources, attacked row by row: the table of attacks is complete, and what every request uses is attacked here. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SCARCE_RESOURCES } from '../../../src/service/scarce/register.ts'
import type { RowAttacks } from '../../support/register/attack.ts'
import { MERCHANT_ATTACKS } from '../../support/register/merchants.ts'
import { REQUEST_ATTACKS } from '../../support/register/requests.ts'
import { testAttacks } from '../../support/register/run.ts'
import { SOURCE_ATTACKS } from '../../support/register/sources.ts'

const ATTACKS: RowAttacks = { ...REQUEST_ATTACKS, ...SOURCE_ATTACKS, ...MERCHANT_ATTACKS }

test('each row of the register has one attack, and each attack a row', () => {
  const tables = [REQUEST_ATTACKS, SOURCE_ATTACKS, MERCHANT_ATTACKS].flatMap((table) => Object.keys(table))
  assert.deepEqual(tables.toSorted(), SCARCE_RESOURCES.map(({ id }) => id).toSorted())
})

test('a file that attacks a row already names the row', () => {
  for (const [id, attack] of Object.entries(ATTACKS)) {
    if (!('shown_by' in attack)) continue
    assert.ok(existsSync(attack.shown_by), attack.shown_by)
    assert.match(readFileSync(attack.shown_by, 'utf8'), new RegExp(`^// row: (?:.*, )?${id}(?:,|$)`, 'm'), `${attack.shown_by}: ${id}`)
  }
})

// attack: One address, one /24 or 400 /24s use up what every request needs: connections, calls, bodies, threads, tasks
// in: requests
// asset: service of payers, free callers and merchants from elsewhere
// attacker: any client, and one with many networks
// defence: the bounds of src/service/scarce/requests.ts: of a client, its network and its wide network, with a share for payers; the widest gives
//   way, and a refusal says whose limit was reached
testAttacks(REQUEST_ATTACKS)
