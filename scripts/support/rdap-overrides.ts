/**
 * Registries that answer RDAP and are not in IANA's bootstrap file, known from the operators of RDAP clients (caarlos0/domain_exporter
 * issue 409, icann-rdap issues 105 and 115, whoisit). They yield to IANA as soon as it has the domain.
 */
export const RDAP_OVERRIDES: Readonly<Record<string, string>> = {
  ac: 'https://rdap.identitydigital.services/rdap/',
  ag: 'https://rdap.identitydigital.services/rdap/',
  bz: 'https://rdap.identitydigital.services/rdap/',
  ch: 'https://rdap.nic.ch/',
  de: 'https://rdap.denic.de/',
  io: 'https://rdap.identitydigital.services/rdap/',
  lc: 'https://rdap.identitydigital.services/rdap/',
  li: 'https://rdap.nic.li/',
  me: 'https://rdap.identitydigital.services/rdap/',
  mn: 'https://rdap.identitydigital.services/rdap/',
  sc: 'https://rdap.identitydigital.services/rdap/',
  sh: 'https://rdap.identitydigital.services/rdap/',
  vc: 'https://rdap.identitydigital.services/rdap/',
}
