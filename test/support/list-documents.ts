/** Documents in the exact form of the UN, the EU and the UK: some real entries, and invented ones so that the lists have a plausible length. */

export interface ListDocument {
  /** Date of publication, YYYY-MM-DD. */
  day: string
  /** Number of invented entries. */
  others: number
  /** First number of the invented entries. */
  from?: number
  /** Further entries, complete. */
  entries?: readonly string[]
}

const numbers = ({ others, from = 1 }: ListDocument) => Array.from({ length: others }, (_, index) => from + index)

/** Entries QDe.004 and TAe.010 (shortened) and CDi.012 of the list of 2026-02-27. */
const UN_ENTITIES = [
  `<ENTITY><DATAID>6908440</DATAID><VERSIONNUM>1</VERSIONNUM><FIRST_NAME>AL-QAIDA</FIRST_NAME><UN_LIST_TYPE>Al-Qaida</UN_LIST_TYPE>
      <REFERENCE_NUMBER>QDe.004</REFERENCE_NUMBER><LISTED_ON>2001-10-06</LISTED_ON><NAME_ORIGINAL_SCRIPT>القاعدة</NAME_ORIGINAL_SCRIPT>
      <ENTITY_ALIAS><QUALITY>a.k.a.</QUALITY><ALIAS_NAME>“The Base”</ALIAS_NAME></ENTITY_ALIAS><ENTITY_ADDRESS/><SORT_KEY/></ENTITY>`,
  `<ENTITY><DATAID>6908570</DATAID><FIRST_NAME>HAJI KHAIRULLAH HAJI SATTAR MONEY EXCHANGE</FIRST_NAME><UN_LIST_TYPE>Taliban</UN_LIST_TYPE>
      <REFERENCE_NUMBER>TAe.010</REFERENCE_NUMBER><LISTED_ON>2012-06-29</LISTED_ON>
      <ENTITY_ALIAS><QUALITY>a.k.a.</QUALITY><ALIAS_NAME>Haji Alim Hawala</ALIAS_NAME></ENTITY_ALIAS>
      <ENTITY_ADDRESS><COUNTRY>Pakistan</COUNTRY></ENTITY_ADDRESS></ENTITY>`,
]
const UN_PERSON = `<INDIVIDUAL><DATAID>6908003</DATAID><VERSIONNUM>1</VERSIONNUM><FIRST_NAME>SYLVESTRE</FIRST_NAME><SECOND_NAME>MUDACUMURA</SECOND_NAME>
      <UN_LIST_TYPE>DRC</UN_LIST_TYPE><REFERENCE_NUMBER>CDi.012</REFERENCE_NUMBER><LISTED_ON>2005-11-01</LISTED_ON><GENDER>Male</GENDER>
      <DESIGNATION><VALUE>FDLR-FOCA Commander </VALUE></DESIGNATION><NATIONALITY><VALUE>Rwanda</VALUE></NATIONALITY>
      <INDIVIDUAL_ALIAS><QUALITY>Low</QUALITY><ALIAS_NAME>Pharaoh</ALIAS_NAME></INDIVIDUAL_ALIAS>
      <INDIVIDUAL_ALIAS><QUALITY>Good</QUALITY><ALIAS_NAME>Mupenzi Bernard</ALIAS_NAME></INDIVIDUAL_ALIAS>
      <INDIVIDUAL_ADDRESS><STATE_PROVINCE>North Kivu Province</STATE_PROVINCE><COUNTRY>Democratic Republic of the Congo</COUNTRY></INDIVIDUAL_ADDRESS>
      <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><YEAR>1954</YEAR></INDIVIDUAL_DATE_OF_BIRTH></INDIVIDUAL>`

export function unDocument(given: ListDocument): string {
  const persons = numbers(given).map(
    (number) =>
      `<INDIVIDUAL><DATAID>${number}</DATAID><FIRST_NAME>INVENTED</FIRST_NAME><SECOND_NAME>PERSON ${number}</SECOND_NAME>` +
      `<REFERENCE_NUMBER>XXi.${number}</REFERENCE_NUMBER><INDIVIDUAL_ALIAS><QUALITY/><ALIAS_NAME/></INDIVIDUAL_ALIAS></INDIVIDUAL>`,
  )
  return [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
    `<CONSOLIDATED_LIST xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="https://www.un.org/sc/resources/sc-sanctions.xsd" dateGenerated="${given.day}T00:00:09.554Z">`,
    '<INDIVIDUALS>',
    UN_PERSON,
    ...(given.entries ?? []),
    ...persons,
    '</INDIVIDUALS><ENTITIES>',
    ...UN_ENTITIES,
    '</ENTITIES>',
    '</CONSOLIDATED_LIST>',
  ].join('\n')
}

/** Entry EU.27.28, shortened. */
const EU_ENTRY = `<sanctionEntity designationDetails="" unitedNationId="" euReferenceNumber="EU.27.28" logicalId="13">
    <remark>UNSC RESOLUTION 1483</remark>
    <regulation regulationType="amendment" organisationType="commission" publicationDate="2003-07-08" entryIntoForceDate="2003-07-07" numberTitle="1210/2003 (OJ L169)" programme="IRQ" logicalId="348"><publicationUrl>http://eur-lex.europa.eu/</publicationUrl></regulation>
    <subjectType code="person" classificationCode="P"/>
    <nameAlias firstName="Saddam" middleName="" lastName="Hussein Al-Tikriti" wholeName="Saddam Hussein Al-Tikriti" function="" gender="M" title="" nameLanguage="" strong="true" regulationLanguage="en" logicalId="17"/>
    <nameAlias firstName="" middleName="" lastName="" wholeName="Abu Ali" function="" gender="M" title="" nameLanguage="" strong="false" regulationLanguage="en" logicalId="19"/>
    <citizenship region="" countryIso2Code="IQ" countryDescription="IRAQ" regulationLanguage="en" logicalId="1"/>
    <birthdate circa="false" calendarType="GREGORIAN" city="al-Awja, near Tikrit" zipCode="" birthdate="1937-04-28" dayOfMonth="28" monthOfYear="4" year="1937" region="" place="" countryIso2Code="IQ" countryDescription="IRAQ" regulationLanguage="en" logicalId="14"/>
  </sanctionEntity>`

export function euDocument(given: ListDocument): string {
  const others = numbers(given).map(
    (number) =>
      `<sanctionEntity euReferenceNumber="EU.X.${number}" logicalId="${number}"><subjectType code="enterprise" classificationCode="E"/>` +
      `<nameAlias firstName="" lastName="" wholeName="Invented &amp; Company ${number}" strong="true"/></sanctionEntity>`,
  )
  return [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
    `<export xmlns="http://eu.europa.ec/fpi/fsd/export" generationDate="${given.day}T15:51:25.849+02:00" globalFileId="1">`,
    EU_ENTRY,
    ...(given.entries ?? []),
    ...others,
    '</export>',
  ].join('\n')
}

/** Entry AFG0001, shortened, and a person in the same form. */
const UK_ENTRIES = [
  `<Designation><LastUpdated>16/04/2026</LastUpdated><DateDesignated>29/06/2012</DateDesignated><UniqueID>AFG0001</UniqueID><OFSIGroupID>12703</OFSIGroupID>
    <UNReferenceNumber>TAe.010</UNReferenceNumber><Names><Name><Name6>HAJI KHAIRULLAH HAJI SATTAR MONEY EXCHANGE</Name6><NameType>Primary Name</NameType></Name>
    <Name><Name6>Haji Alim Hawala</Name6><NameType>Alias</NameType><AliasStrength>Good quality a.k.a</AliasStrength></Name></Names>
    <NonLatinNames><NonLatinName><NameNonLatinScript>حاجی خيرالله</NameNonLatinScript></NonLatinName></NonLatinNames>
    <RegimeName>The Afghanistan (Sanctions) (EU Exit) Regulations 2020</RegimeName><IndividualEntityShip>Entity</IndividualEntityShip>
    <Addresses><Address><AddressLine1>Branch Office 1</AddressLine1><AddressCountry>Pakistan</AddressCountry></Address></Addresses></Designation>`,
  `<Designation><UniqueID>XXX0001</UniqueID><Names><Name><Name1>Lex</Name1><Name2>Invented</Name2><Name6>EXAMPLE</Name6><NameType>Primary Name</NameType></Name>
    <Name><Name6>The Fox</Name6><NameType>Alias</NameType><AliasStrength>Low quality a.k.a</AliasStrength></Name></Names><RegimeName>Examples</RegimeName>
    <IndividualEntityShip>Individual</IndividualEntityShip><IndividualDetails><Individual><DOBs><DOB>17/02/1960</DOB><DOB>dd/mm/1961</DOB></DOBs>
    <Nationalities><Nationality>Syria</Nationality></Nationalities></Individual></IndividualDetails></Designation>`,
]

export function ukDocument(given: ListDocument): string {
  const others = numbers(given).map(
    (number) =>
      `<Designation><UniqueID>INV${number}</UniqueID><Names><Name><Name1>Invented</Name1><Name6>PERSON ${number}</Name6>` +
      '<NameType>Primary Name</NameType></Name></Names><IndividualEntityShip>Individual</IndividualEntityShip></Designation>',
  )
  const [year, month, day] = given.day.split('-')
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<Designations>',
    `<DateGenerated>${day}/${month}/${year}</DateGenerated>`,
    ...UK_ENTRIES,
    ...(given.entries ?? []),
    ...others,
    '</Designations>',
  ].join('\n')
}
