/** The Public Suffix List: the vectors of publicsuffix.org, and tldts with the same rules over every rule and over generated hosts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'tldts'
import { PUBLIC_SUFFIXES, readVendorDomain, splitDomain } from '../../src/pure/checks/domains.ts'

/** From test_psl.txt of the project (public domain), with the international names of its rules in ASCII form. */
const VECTORS: readonly [host: string, registrable: string | null][] = [
  ['com', null],
  ['example.com', 'example.com'],
  ['www.example.com', 'example.com'],
  ['example', null],
  ['example.example', 'example.example'],
  ['a.b.example.example', 'example.example'],
  ['biz', null],
  ['domain.biz', 'domain.biz'],
  ['a.b.domain.biz', 'domain.biz'],
  ['uk.com', null],
  ['example.uk.com', 'example.uk.com'],
  ['a.b.example.uk.com', 'example.uk.com'],
  ['test.ac', 'test.ac'],
  ['jp', null],
  ['test.jp', 'test.jp'],
  ['www.test.jp', 'test.jp'],
  ['ac.jp', null],
  ['test.ac.jp', 'test.ac.jp'],
  ['kyoto.jp', null],
  ['test.kyoto.jp', 'test.kyoto.jp'],
  ['ide.kyoto.jp', null],
  ['a.b.ide.kyoto.jp', 'b.ide.kyoto.jp'],
  ['c.kobe.jp', null],
  ['a.b.c.kobe.jp', 'b.c.kobe.jp'],
  ['city.kobe.jp', 'city.kobe.jp'],
  ['www.city.kobe.jp', 'city.kobe.jp'],
  ['ck', null],
  ['test.ck', null],
  ['a.b.test.ck', 'b.test.ck'],
  ['www.ck', 'www.ck'],
  ['www.www.ck', 'www.ck'],
  ['us', null],
  ['test.us', 'test.us'],
  ['ak.us', null],
  ['www.test.ak.us', 'test.ak.us'],
  ['k12.ak.us', null],
  ['www.test.k12.ak.us', 'test.k12.ak.us'],
  ['xn--85x722f.com.cn', 'xn--85x722f.com.cn'],
  ['xn--85x722f.xn--55qx5d.cn', 'xn--85x722f.xn--55qx5d.cn'],
  ['www.xn--85x722f.xn--55qx5d.cn', 'xn--85x722f.xn--55qx5d.cn'],
  ['xn--55qx5d.cn', null],
  ['www.xn--85x722f.xn--fiqs8s', 'xn--85x722f.xn--fiqs8s'],
  ['xn--fiqs8s', null],
]

test('vectors of publicsuffix.org', () => {
  for (const [host, registrable] of VECTORS) assert.equal(splitDomain(host, false).registrable, registrable, host)
})

const rules = (PUBLIC_SUFFIXES.bundled().rows as { rule: string }[]).map(({ rule }) => rule.replace('!', '').replace('*', 'any'))

/** The answer of tldts, which has its own copy of the rules of this release. */
function byTldts(host: string, icann_only: boolean) {
  const { domain, publicSuffix, isIcann, isPrivate } = parse(host, { allowPrivateDomains: !icann_only })
  const listed = isPrivate === true ? 'private' : isIcann === true ? 'icann' : null
  return { suffix: publicSuffix, section: listed, registrable: domain }
}

test('tldts agrees about every rule, with no, one and two labels in front of it', () => {
  for (const rule of rules) {
    for (const host of [rule, `b.${rule}`, `a.b.${rule}`, `a.b.${rule.slice(rule.indexOf('.') + 1)}`]) {
      for (const icann_only of [true, false]) assert.deepEqual(splitDomain(host, icann_only), byTldts(host, icann_only), host)
    }
  }
})

/** Results of the check with tldts in release 0.5.0. */
function vendorDomainByTldts(host: string) {
  const { domain, publicSuffix, isIp } = parse(host, { allowPrivateDomains: false })
  if (isIp === true || domain === null || publicSuffix === null) return null
  const whole = parse(host, { allowPrivateDomains: true })
  return {
    registrable: domain,
    public_suffix: publicSuffix,
    shared_platform: whole.isPrivate === true && whole.domain !== null ? whole.publicSuffix : null,
  }
}

test('tldts agrees about generated hosts: labels of rules, hyphens, underscores, long labels and addresses', () => {
  const label = fc.oneof(
    fc.constantFrom(...new Set(rules.slice(0, 2_000).flatMap((rule) => rule.split('.')))),
    fc.constantFrom('a', '-a', 'a-', '_dmarc', 'a_', '1', '127', '0x7f', 'xn--p1ai', 'x'.repeat(63), 'x'.repeat(64)),
    fc.stringMatching(/^[a-z0-9_-]{1,8}$/),
  )
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 6 }), (labels) => {
      const host = URL.parse(`http://${labels.join('.')}/`)?.hostname
      if (host === undefined || host.length > 253 || !host.includes('.')) return
      const found = readVendorDomain(host)
      const expected = vendorDomainByTldts(host)
      const { registrable, public_suffix, shared_platform } = found ?? {}
      assert.deepEqual(found === null ? null : { registrable, public_suffix, shared_platform }, expected, host)
    }),
    { numRuns: 20_000 },
  )
})
