import rdap from '../../../data/rdap-bootstrap.json' with { type: 'json' }
import { parse } from 'tldts'
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'
import free_mail from '../../../data/free-mail-domains.json' with { type: 'json' }
import { once } from '../once.ts'
import { dataDate } from '../data-date.ts'

/** A domain, or the domain of an e-mail address. */
export interface VendorDomain {
  /** The whole host in ASCII form, lower case. */
  host: string
  /** The registered domain: one label below a public suffix. */
  registrable: string
  public_suffix: string
  /** Platform, such as `github.io`, that gives names to any user; the age of its domain says nothing about the user. */
  shared_platform: string | null
  /** True for the domain of an e-mail address. */
  mailbox: boolean
}

/** The public suffix list as tldts 7.4.9 carries it. */
export const PUBLIC_SUFFIXES_AS_OF = 'tldts 7.4.9'

/** DNS: a name of at most 253 characters. */
const HOST_CHARS = 253

/**
 * Reads a domain, an e-mail address as mail programs write it ("Acme <billing@acme.example>"), or an http(s) address. International names
 * are brought to their ASCII form (as the WHATWG URL standard does it), so `bücher.example` and its xn-- form are one. Null for IP addresses,
 * single labels, public suffixes, addresses with a user name before the host, several addresses and everything else.
 */
export function readVendorDomain(text: string): VendorDomain | null {
  const address = bareAddress(text)
  const mailbox = /^[^\s@/]{1,64}@[^\s@/]+$/.test(address)
  const named = mailbox ? address.slice(address.lastIndexOf('@') + 1) : address.replace(/^https?:\/\/([^/?#\s]+).*$/i, '$1')
  const bare = named.replace(/:[0-9]{1,5}$/, '')
  if (/[\s@/\\?#:%[\]]/.test(bare)) return null
  const host = asciiHost(bare)
  if (host === null || host.length > HOST_CHARS) return null
  const { domain, publicSuffix, isIp } = parse(host, { allowPrivateDomains: false })
  if (isIp === true || domain === null || publicSuffix === null) return null
  const privately = parse(host, { allowPrivateDomains: true })
  const shared_platform = privately.isPrivate === true && privately.domain !== null ? privately.publicSuffix : null
  return { host, registrable: domain, public_suffix: publicSuffix, shared_platform, mailbox }
}

/** Without a display name, a comment behind, `mailto:` and the punctuation of a sentence or list (RFC 5322, 3.4; RFC 6068). */
function bareAddress(text: string): string {
  const plain = text.trim()
  const named = /<([^<>]{1,320})>[\s,;.]{0,16}$/.exec(plain)?.[1] ?? plain.replace(/\([^()]{0,200}\)$/, '')
  return named
    .trim()
    .replace(/^mailto:/i, '')
    .replace(/[,;>]{1,16}$/, '')
    .replace(/^[<"']{1,4}|["']{1,4}$/g, '')
    .trim()
}

function asciiHost(name: string): string | null {
  const url = URL.canParse(`http://${name}/`) ? new URL(`http://${name}/`) : null
  const host = url?.hostname.replace(/\.$/, '') ?? ''
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host) ? host : null
}

export const MAIL_DOMAINS_AS_OF = {
  disposable_domains: 'disposable-email-domains-js 1.26.0, 2026-09-21',
  free_mail_domains: dataDate(free_mail),
} as const

/** Built on first use, because the list is long and few calls need it. */
const disposable = once((): ReadonlySet<string> => disposableEmailBlocklistSet())
const FREE_MAIL: ReadonlySet<string> = new Set(free_mail.rows.map(({ domain }) => domain))

/**
 * Returns the listed domain of disposable mailboxes: the domain itself or one of its parents, never a substring. Null when
 * there is none. Errs towards null: new ones appear daily.
 */
export function disposableDomain(domain: string): string | null {
  return ancestor(domain, disposable())
}

/** Returns the listed domain of a provider of free mailboxes, or null. */
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

export const RDAP_SERVERS_AS_OF = dataDate(rdap)

const SERVERS: ReadonlyMap<string, string> = new Map(rdap.rows.map(({ tld, url }) => [tld, url]))

/**
 * Base URL of the RDAP server for a domain, by the longest suffix in IANA's bootstrap file (RFC 9224, March 2022) and the overrides of the table; null
 * when none is known. Ends in a slash.
 */
export function rdapServer(domain: string): string | null {
  let suffix = domain
  while (suffix !== '') {
    const server = SERVERS.get(suffix)
    if (server !== undefined) return server
    const dot = suffix.indexOf('.')
    suffix = dot < 0 ? '' : suffix.slice(dot + 1)
  }
  return null
}
