import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'
import table from '../../../data/free-mail-domains.json' with { type: 'json' }
import { once } from '../once.ts'
import { dataDate } from '../data-date.ts'

export const MAIL_DOMAINS_AS_OF = {
  disposable_domains: 'disposable-email-domains-js 1.26.0, 2026-09-21',
  free_mail_domains: dataDate(table),
} as const

/** Read at the first question: the list is long, and few ask. */
const disposable = once((): ReadonlySet<string> => disposableEmailBlocklistSet())
const FREE_MAIL: ReadonlySet<string> = new Set(table.rows.map(({ domain }) => domain))

/**
 * The listed domain under which mailboxes are handed out for minutes: the domain itself or one of its parents, never a substring. Null when
 * there is none. Errs towards null: new ones appear daily.
 */
export function disposableDomain(domain: string): string | null {
  return ancestor(domain, disposable())
}

/** The same for providers at which anybody may open a mailbox. */
export function freeMailDomain(domain: string): string | null {
  return ancestor(domain, FREE_MAIL)
}

function ancestor(domain: string, listed: ReadonlySet<string>): string | null {
  let rest = domain
  while (rest.includes('.')) {
    if (listed.has(rest)) return rest
    rest = rest.slice(rest.indexOf('.') + 1)
  }
  return null
}
