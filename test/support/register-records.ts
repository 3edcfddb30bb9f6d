/** Answers of live registers in the forms of their publishers. Names and addresses are made up where they are not examples of the publishers. */

export const LEI = '5493001KJTIIGC8Y1R12'
export const VAT = { country: 'BE', number: '0428759497' }
export const COMPANY = 'SC045551'

/** Record of the GLEIF API 1.0 (JSON:API), with every group of attributes that it sends. */
export function leiRecord(lei = LEI, changes: { entity?: object; registration?: object } = {}) {
  return {
    meta: { goldenCopy: { publishDate: '2026-11-26T08:00:00Z' } },
    data: {
      type: 'lei-records',
      id: lei,
      attributes: {
        lei,
        entity: {
          legalName: { name: 'Bloomberg Finance L.P.', language: 'en' },
          otherNames: [],
          transliteratedOtherNames: [],
          legalAddress: {
            language: 'en',
            addressLines: ['C/O The Corporation Trust Company', 'Corporation Trust Center 1209 Orange St'],
            addressNumber: null,
            addressNumberWithinBuilding: null,
            mailRouting: null,
            city: 'Wilmington',
            region: 'US-DE',
            country: 'US',
            postalCode: '19801',
          },
          headquartersAddress: {
            language: 'en',
            addressLines: ['731 Lexington Avenue'],
            city: 'New York',
            region: 'US-NY',
            country: 'US',
            postalCode: '10022',
          },
          registeredAt: { id: 'RA000602', other: null },
          registeredAs: '4347493',
          jurisdiction: 'US-DE',
          category: 'GENERAL',
          legalForm: { id: 'T91T', other: null },
          associatedEntity: { lei: null, name: null },
          status: 'ACTIVE',
          expiration: { date: null, reason: null },
          successorEntity: { lei: null, name: null },
          creationDate: '2007-05-09T00:00:00Z',
          ...changes.entity,
        },
        registration: {
          initialRegistrationDate: '2012-06-06T15:53:00Z',
          lastUpdateDate: '2026-04-14T13:52:23Z',
          status: 'ISSUED',
          nextRenewalDate: '2027-05-28T15:53:00Z',
          managingLou: '5493001KJTIIGC8Y1R12',
          corroborationLevel: 'FULLY_CORROBORATED',
          validatedAt: { id: 'RA000602', other: null },
          validatedAs: '4347493',
          ...changes.registration,
        },
        bic: null,
        conformityFlag: 'CONFORMING',
      },
      relationships: { 'managing-lou': { links: { related: `https://api.gleif.org/api/v1/lei-records/${lei}/managing-lou` } } },
      links: { self: `https://api.gleif.org/api/v1/lei-records/${lei}` },
    },
  }
}

export const NO_LEI = { errors: [{ status: '404', title: 'Not Found', detail: 'Resource not found' }] }

/** Answer of `GET ms/{country}/vat/{number}` of VIES. */
export function viesAnswer(changes: object = {}, number = VAT.number) {
  return {
    isValid: true,
    requestDate: '2026-11-26T19:00:00.123Z',
    userError: 'VALID',
    name: 'NV EXAMPLE',
    address: 'Voorbeeldstraat 1\n1000 Brussel',
    requestIdentifier: '',
    originalVatNumber: number,
    vatNumber: number,
    viesApproximate: {
      name: '---',
      street: '---',
      postalCode: '---',
      city: '---',
      companyType: '---',
      matchName: 3,
      matchStreet: 3,
      matchPostalCode: 3,
      matchCity: 3,
      matchCompanyType: 3,
    },
    ...changes,
  }
}

/** Failure of VIES in its newer form. */
export const viesFailure = (error: string) => ({ actionSucceed: false, errorWrappers: [{ error }] })

/** Company profile of the Companies House Public Data API. */
export function companyProfile(changes: object = {}, number = COMPANY) {
  return {
    company_name: 'EXAMPLE HOLDINGS PLC',
    company_number: number,
    company_status: 'active',
    type: 'plc',
    jurisdiction: 'scotland',
    date_of_creation: '1968-04-10',
    etag: '0b8d7a1c',
    has_charges: true,
    has_insolvency_history: false,
    registered_office_address: {
      address_line_1: '36 St Andrew Square',
      country: 'Scotland',
      locality: 'Edinburgh',
      postal_code: 'EH2 2YB',
    },
    sic_codes: ['64205'],
    links: { self: `/company/${number}` },
    can_file: true,
    ...changes,
  }
}

export const NO_COMPANY = { errors: [{ type: 'ch:service', error: 'company-profile-not-found' }] }
