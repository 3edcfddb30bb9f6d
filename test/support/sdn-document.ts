import addresses from '../../data/ofac-addresses.json' with { type: 'json' }

/**
 * SDN_ENHANCED.XML in the form of OFAC's Sanctions List Service: the listed addresses of the release, one entity each, and further entities, so that
 * the list has a plausible length and the entries that are on every list.
 */
export function sdnDocument({
  day,
  rows = addresses.rows,
  others = 10_000,
}: {
  day: string
  rows?: { address: string; entity: string }[]
  others?: number
}): string {
  const listed = rows.map(({ address, entity }, index) => entityXml(100_000 + index, entity, [address]))
  const ids = [...Array.from({ length: others }, (_, index) => index + 1), 27_307]
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<sanctionsData xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ENHANCED_XML">',
    `<publicationInfo><dataAsOf>${day}T00:00:00</dataAsOf></publicationInfo><entities>`,
    ...listed,
    ...ids.map(otherEntityXml),
    '</entities></sanctionsData>',
  ].join('\n')
}

function otherEntityXml(id: number): string {
  return (
    `<entity id="${id}"><generalInfo><entityType refId="601">Entity</entityType></generalInfo><names><name><isPrimary>true</isPrimary><translations>` +
    `<translation><formattedFullName>OTHER PARTY ${id}</formattedFullName></translation></translations></name></names></entity>`
  )
}

function entityXml(id: number, name: string, found: readonly string[]): string {
  const features = found.map(
    (address) =>
      `<feature id="${id}"><type featureTypeId="345">Digital Currency Address - ETH</type><versionId>1</versionId><value>${address}</value></feature>`,
  )
  return (
    `<entity id="${id}"><generalInfo><entityType refId="600">Individual</entityType></generalInfo>` +
    '<sanctionsPrograms><sanctionsProgram refId="1" id="1">CYBER2</sanctionsProgram></sanctionsPrograms>' +
    `<names><name id="${id}"><isPrimary>true</isPrimary><translations><translation><formattedFullName>${xmlText(name)}</formattedFullName>` +
    `</translation></translations></name></names><features>${features.join('')}</features></entity>`
  )
}

function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
