import rdap from '../../../data/rdap-bootstrap.json' with { type: 'json' }
import suffixes from '../../../data/public-suffixes.json' with { type: 'json' }
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'
import free_mail from '../../../data/free-mail-domains.json' with { type: 'json' }
import { once } from '../once.ts'
import type { Snapshot } from '../datasets/definition.ts'
import { datesOf, referenceTable, rowOf } from '../datasets/table.ts'

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

/** Rule of the Public Suffix List in ASCII form: `co.uk`, `*.ck` (any label in place of the star) or `!www.ck` (an exception to that). */
interface SuffixRule {
  rule: string
  /** `icann`: below it a registry registers names. `private`: below it the holder of a domain gives names to others. */
  section: string
}

const RULE = /^(?:\*\.|!(?=[^.]{1,63}\.))?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?){0,6}$/

export const PUBLIC_SUFFIXES = referenceTable(
  {
    id: 'public_suffixes',
    source_urls: ['https://publicsuffix.org/list/public_suffix_list.dat'],
    licence: 'Mozilla Public License 2.0 (https://mozilla.org/MPL/2.0/)',
    limit_days: 200,
    rows_min: 8_000,
    rows_max: 60_000,
    present: ['com', 'net', 'org', 'de', 'uk', 'co.uk', 'com.br', 'co.jp', '*.ck', '!www.ck', 'github.io'],
    isRow: rowOf<SuffixRule>({ rule: RULE, section: /^(?:icann|private)$/ }),
    key: ({ rule }) => rule,
  },
  () => suffixes,
  ({ rows }) => once((): ReadonlyMap<string, string> => new Map(rows.map(({ rule, section }) => [rule, section]))),
)

interface SplitDomain {
  suffix: string
  /** Section of the rule; null if no rule is about the host. */
  section: string | null
  /** The suffix and the label in front of it; null if the host is a suffix itself. */
  registrable: string | null
}

/**
 * Splits a host in ASCII form by the algorithm of publicsuffix.org: an exception prevails, else the longest rule; without a rule the suffix is the last
 * label. `icann_only` ignores the private section.
 */
export function splitDomain(host: string, icann_only: boolean): SplitDomain {
  const rules = PUBLIC_SUFFIXES.view()
  const labels = host.split('.')
  const ends = labels.map((_, index) => labels.slice(index).join('.'))
  const sectionOf = (rule: string) => {
    const section = rules.get(rule)
    return section === undefined || (icann_only && section !== 'icann') ? null : section
  }
  const split = (index: number, section: string | null): SplitDomain => ({
    suffix: ends[index] ?? host,
    section,
    registrable: ends[index - 1] ?? null,
  })
  for (const [index, end] of ends.entries()) {
    const section = sectionOf(`!${end}`)
    if (section !== null) return split(index + 1, section)
  }
  for (const [index, end] of ends.entries()) {
    const section = sectionOf(end) ?? sectionOf(`*.${ends[index + 1] ?? ''}`)
    if (section !== null) return split(index, section)
  }
  return split(ends.length - 1, null)
}

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
  const { registrable, suffix: public_suffix } = splitDomain(host, true)
  if (registrable === null) return null
  const whole = splitDomain(host, false)
  const shared_platform = whole.section === 'private' && whole.registrable !== null ? whole.suffix : null
  return { host, registrable, public_suffix, shared_platform, mailbox }
}

/** Most domains that are read from one field. */
export const DOMAINS_MAX = 4

/**
 * Reads one domain, or each of several that commas, semicolons or line breaks set apart: "billing@acme.example, Acme <cc@acme.example>". Null is given for
 * a part without a domain, and for parts beyond the fourth.
 */
export function readVendorDomains(text: string): (VendorDomain | null)[] {
  const parts = text
    .replace(/"[^"]{0,320}"/g, '')
    .split(/[,;\n]/)
    .filter((part) => part.trim() !== '')
  const several = parts.filter((part) => part.includes('@')).length > 1
  const one = several ? null : readVendorDomain(text)
  if (one !== null || parts.length < 2) return [one]
  const read = parts.slice(0, DOMAINS_MAX).map(readVendorDomain)
  const distinct = read.filter((domain, index) => domain === null || read.findIndex((other) => other?.host === domain.host) === index)
  return parts.length > DOMAINS_MAX ? [...distinct, null] : distinct
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

/** Label of a host name (RFC 1123, 2.1), or of a service (RFC 2782), which has underscores. */
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

/** ASCII form of a host name of two labels or more; null for an IP address and other text. A last label of digits is read as an address (WHATWG URL). */
function asciiHost(name: string): string | null {
  const host = URL.parse(`http://${name}/`)?.hostname.replace(/\.$/, '') ?? ''
  const labels = host.split('.')
  return labels.length > 1 && labels.every((label) => LABEL.test(label)) && !/^[0-9]+$/.test(labels.at(-1) ?? '') ? host : null
}

interface MailDomain {
  domain: string
}

const isMailDomain = rowOf<MailDomain>({ domain: /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){1,8}$/ })

/** Set of the domains of a snapshot, made on first use, because the list is long and few calls need it. */
const domainSet = ({ rows }: Snapshot<MailDomain>) => once((): ReadonlySet<string> => new Set(rows.map(({ domain }) => domain)))

const bundledDisposable = once((): Snapshot<MailDomain> => {
  const rows = Array.from(disposableEmailBlocklistSet(), (domain) => ({ domain }))
  return {
    schema: 'assay/disposable-domains/1',
    source: 'disposable-email-domains, by way of the npm package disposable-email-domains-js 1.26.0',
    source_version: '1.26.0',
    published_at: '2026-09-21',
    retrieved_at: '2026-11-21',
    count: rows.length,
    rows,
  }
})

export const DISPOSABLE_DOMAINS = referenceTable(
  {
    id: 'disposable_domains',
    source_urls: [
      'https://raw.githubusercontent.com/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf',
    ],
    licence: 'CC0 1.0 (disposable-email-domains)',
    undated: true,
    rows_min: 2_000,
    rows_max: 400_000,
    present: ['mailinator.com', 'yopmail.com'],
    absent: ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com', 'proton.me'],
    isRow: isMailDomain,
    key: ({ domain }) => domain,
  },
  bundledDisposable,
  domainSet,
)

/** Compiled by hand from the pages of the providers, so a newer one comes by an import only. */
export const FREE_MAIL_DOMAINS = referenceTable(
  {
    id: 'free_mail_domains',
    source_urls: [],
    licence: 'Facts',
    rows_min: 50,
    rows_max: 20_000,
    removed_share_max: 0.2,
    present: ['gmail.com', 'outlook.com', 'yahoo.com', 'qq.com', 'gmx.de'],
    isRow: isMailDomain,
    key: ({ domain }) => domain,
  },
  () => free_mail,
  domainSet,
)

interface RdapServer {
  tld: string
  url: string
  origin: string
}

export const RDAP_BOOTSTRAP = referenceTable(
  {
    id: 'rdap_bootstrap',
    source_urls: ['https://data.iana.org/rdap/dns.json'],
    licence: 'IANA registry, no restrictions (https://www.iana.org/help/licensing-terms)',
    limit_days: 200,
    rows_min: 60,
    rows_max: 5_000,
    // Under contract with ICANN since 2019 to answer RDAP, or in the file for years.
    present: ['com', 'net', 'org', 'info', 'uk', 'fr', 'nl', 'no', 'br'],
    isRow: rowOf<RdapServer>({
      tld: /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,3}$/,
      url: (value) => typeof value === 'string' && isServer(value),
      origin: /^(?:iana|override)$/,
    }),
    key: ({ tld }) => tld,
  },
  () => rdap,
  ({ rows }): ReadonlyMap<string, string> => new Map(rows.map(({ tld, url }) => [tld, url])),
)

/** An https server on its usual port, with a path that ends in a slash. */
function isServer(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && url.protocol === 'https:' && url.port === '' && url.username === '' && url.pathname.endsWith('/')
}

/** Dates of the tables that an answer about a domain is read from. */
export const DOMAIN_DATA_AS_OF = datesOf([DISPOSABLE_DOMAINS, FREE_MAIL_DOMAINS, PUBLIC_SUFFIXES, RDAP_BOOTSTRAP])

/**
 * Base URL of the RDAP server for a domain, by the longest suffix in IANA's bootstrap file (RFC 9224, March 2022) and the overrides of the table; null
 * when none is known. Ends in a slash.
 */
export function rdapServer(domain: string): string | null {
  let suffix = domain
  while (suffix !== '') {
    const server = RDAP_BOOTSTRAP.view.get(suffix)
    if (server !== undefined) return server
    const dot = suffix.indexOf('.')
    suffix = dot < 0 ? '' : suffix.slice(dot + 1)
  }
  return null
}
