import { openCards } from '../adapters/cards/open.ts'
import { createDerivation } from '../adapters/derivation/hmac.ts'
import { createNonceSource } from '../adapters/random/system.ts'
import { createSealer } from '../adapters/secret/sealer.ts'
import type { CardServer, Cards } from '../ports/cards.ts'
import type { Settings } from '../service/config.ts'
import { createCreditDesk, type CreditDesk } from '../service/credits/desk.ts'
import { releasePilot, type PilotReleased } from '../service/credits/pilot.ts'
import { CREDIT_RULES } from '../service/credits/rules.ts'
import { createRunningUses } from '../service/credits/running.ts'
import { createCreditShop, handOver, type CodeShown, type CreditShop } from '../service/credits/shop.ts'
import { createWrongCodeCounter } from '../service/credits/wrong-codes.ts'
import { creditsJob } from '../service/jobs/credits.ts'
import type { Job } from '../service/jobs/run.ts'
import type { Reach } from '../service/payments/settler.ts'
import type { Deployment } from './deployment.ts'
import { StartError } from './identity.ts'
import type { InvoiceRoom } from './invoices.ts'

/** Everything about credits that is assembled at start. Those that were granted are honoured whatever the settings say later. */
export interface CreditRoom {
  desk: CreditDesk
  /** Null where cards are off. */
  shop: CreditShop | null
  handOver(session_id: string, secret: string, seen: boolean): Promise<CodeShown>
  release(invoice_id: string, signature: string, client: string): Promise<PilotReleased>
  jobs: Job[]
}

/** What credits need of others. */
export interface CreditNeighbours {
  reach: Reach
  /** Null where cards are off. */
  cards: Cards | null
  invoices: InvoiceRoom
}

export function openCreditRoom(deployment: Deployment, { reach, cards, invoices }: CreditNeighbours): CreditRoom {
  const { settings, signing, secret, store, prices, clock, log, origins, reads } = deployment
  const sealer = createSealer(secret)
  const derive = createDerivation(secret)
  const onFault = (error: unknown) => log.error({ error: String(error) }, 'a credit met a fault')
  const shared = { store: store.credits, clock, derive, sealer, randomNonce: createNonceSource(), onFault }
  const desk = createCreditDesk({
    ...shared,
    running: createRunningUses(store.credits, clock),
    prices,
    countWrong: createWrongCodeCounter(store, clock, secret),
    reach,
  })
  const { desk: invoice_desk, contracts } = invoices
  const pilot = { ...shared, invoices: invoice_desk, contracts, reads, crypto: signing.crypto, chain_id: settings.ASSAY_CHAIN_ID }
  const packs_usd = settings.ASSAY_CREDIT_PACKS.map(Number)
  return {
    desk,
    shop: cards === null ? null : createCreditShop({ ...shared, cards, packs_usd, origins, reads }),
    handOver: (session_id, given, seen) => handOver({ store: store.credits, sealer, crypto: signing.crypto }, session_id, given, seen),
    release: (invoice_id, signature, client) => releasePilot(pilot, invoice_id, signature, client),
    jobs: [creditsJob(store)],
  }
}

/** Card payments as the settings have them; null where they are off. Throws a StartError for keys that do not fit. */
export async function cardsOf(settings: Settings, stripe_at: CardServer | null): Promise<Cards | null> {
  const { ASSAY_STRIPE_SECRET_KEY_FILE, ASSAY_STRIPE_WEBHOOK_SECRET_FILE, ASSAY_MODE, ASSAY_CHAIN_ID } = settings
  if (ASSAY_STRIPE_SECRET_KEY_FILE === '') return null
  const opened = await openCards({
    secret_key_file: ASSAY_STRIPE_SECRET_KEY_FILE,
    webhook_secret_file: ASSAY_STRIPE_WEBHOOK_SECRET_FILE,
    real: ASSAY_MODE === 'live' && ASSAY_CHAIN_ID === 8_453,
    tolerance_s: CREDIT_RULES.notice_tolerance_s,
    ...(stripe_at === null ? {} : { at: stripe_at }),
  })
  if (!opened.ok) throw new StartError(opened.message)
  return opened.cards
}
