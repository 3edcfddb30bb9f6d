import { readFileSync } from 'node:fs'
import type { CardServer, Cards } from '../../ports/cards.ts'

export interface CardSettings {
  secret_key_file: string
  webhook_secret_file: string
  /** Real money moves here. */
  real: boolean
  /** Address of the processor, for tests; by default its public one. */
  at?: CardServer
  tolerance_s: number
}

type Opened = { ok: true; cards: Cards } | { ok: false; message: string }

/** Card payments over Stripe; its library is loaded only here. The message names the file and the fix, and never what is in it. */
export async function openCards({ secret_key_file, webhook_secret_file, real, at, tolerance_s }: CardSettings): Promise<Opened> {
  const key = firstLine(secret_key_file)
  const found = /^(?:sk|rk)_(test|live)_[A-Za-z0-9_]+$/.exec(key ?? '')
  if (key === null || found === null) {
    return { ok: false, message: `ASSAY_STRIPE_SECRET_KEY_FILE: ${secret_key_file} must hold a secret key of Stripe, sk_… or rk_….` }
  }
  if ((found[1] === 'live') !== real) {
    const need = real ? 'a live key' : 'a test key: no real money moves here'
    return { ok: false, message: `ASSAY_STRIPE_SECRET_KEY_FILE: ${secret_key_file} must hold ${need}.` }
  }
  const webhook_secret = firstLine(webhook_secret_file)
  if (webhook_secret === null || !/^whsec_\S+$/.test(webhook_secret)) {
    return {
      ok: false,
      message: `ASSAY_STRIPE_WEBHOOK_SECRET_FILE: ${webhook_secret_file} must hold the signing secret of the webhook, whsec_….`,
    }
  }
  const { stripeCards } = await import('./stripe.ts')
  return { ok: true, cards: stripeCards({ key, webhook_secret, real, tolerance_s, ...(at === undefined ? {} : { at }) }) }
}

/** Null when the file cannot be read. */
function firstLine(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return null
  }
}
