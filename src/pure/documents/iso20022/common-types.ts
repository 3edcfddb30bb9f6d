/** The types that the messages share: parties, accounts, banks, addresses, remittance. See `schema.ts` for how they are written. */
import { DETAIL_TYPES } from './detail-types.ts'
import type { TypeTable } from './schema.ts'

const PARTIES: TypeTable = {
  Party: 'Nm?=t140 PstlAdr?=Address Id?=PartyChoice CtryOfRes?=country CtctDtls?=Contact',
  PartyChoice: 'OrgId=Organisation|PrvtId=Person',
  Organisation: 'BICOrBEI?=bic@-9 AnyBIC?=bic@13- LEI?=lei@19- Othr*=OtherIdentification',
  Person: 'DtAndPlcOfBirth?=Birth Othr*=OtherIdentification',
  Birth: 'BirthDt=date PrvcOfBirth?=t35 CityOfBirth=t35 CtryOfBirth=country',
  OtherIdentification: 'Id=t35@-19 Id=t256@23- SchmeNm?=Scheme Issr?=t35',
  Scheme: 'Cd=e4|Prtry=t35',
  Contact:
    'NmPrfx?=OldNamePrefix@-13 NmPrfx?=NamePrefix@19- Nm?=t140 PhneNb?=phone MobNb?=phone FaxNb?=phone URLAdr?=t2048@23- ' +
    'EmailAdr?=t2048@-19 EmailAdr?=t256@23- EmailPurp?=t35@19- ' +
    'JobTitl?=t35@19- Rspnsblty?=t35@19- Dept?=t70@19- Othr?=t35@-13 Othr*=OtherContact@19- PrefrdMtd?=OldPreferredContact@19 ' +
    'PrefrdMtd?=PreferredContact@23-',
  OtherContact: 'ChanlTp=t4 Id?=t128',
  Address:
    'AdrTp?=AddressType@-13 AdrTp?=AddressTypeChoice@19- CareOf?=t140@23- Dept?=t70 SubDept?=t70 StrtNm?=t70@-19 StrtNm?=t140@23- ' +
    'BldgNb?=t16 BldgNm?=t35@19 BldgNm?=t140@23- Flr?=t70@19- UnitNb?=t16@23- PstBx?=t16@19- Room?=t70@19- PstCd?=t16 TwnNm?=t35@-19 ' +
    'TwnNm?=t140@23- TwnLctnNm?=t35@19 TwnLctnNm?=t140@23- DstrctNm?=t35@19 DstrctNm?=t140@23- CtrySubDvsn?=t35 Ctry?=country ' +
    'AdrLine*7=t70',
  AddressTypeChoice: 'Cd=AddressType|Prtry=Generic',
  Generic: 'Id=four Issr=t35 SchmeNm?=t35',
  NameAndAddress: 'Nm=t140 Adr=Address',
}

const BANKS: TypeTable = {
  Agent: 'FinInstnId=Institution BrnchId?=Branch',
  Institution: 'BIC?=bic@-9 BICFI?=bic@13- ClrSysMmbId?=Member LEI?=lei@19- Nm?=t140 PstlAdr?=Address Othr?=OtherInstitution',
  Member: 'ClrSysId?=ClearingSystem MmbId=t35',
  ClearingSystem: 'Cd=e5|Prtry=t35',
  OtherInstitution: 'Id=t35 SchmeNm?=Scheme Issr?=t35',
  Branch: 'Id?=t35 LEI?=lei@19- Nm?=t140 PstlAdr?=Address',
  // Optional from CashAccount40 on, which came with version 10 of pacs.008 and camt.053 and 11 of pain.001.
  Account: 'Id=AccountChoice#-9 Id?=AccountChoice#10- Tp?=AccountType Ccy?=currency Nm?=t70 Prxy?=Proxy@19-',
  AccountChoice: 'IBAN=iban|Othr=OtherAccount',
  OtherAccount: 'Id=t34 SchmeNm?=Scheme Issr?=t35',
  AccountType: 'Cd=CashAccount|Prtry=t35@-9 Cd=e4|Prtry=t35@13-',
  Proxy: 'Tp?=Scheme Id=t2048',
}

const REMITTANCE: TypeTable = {
  Remittance: 'Ustrd*=t140 Strd*=Structured',
  Structured:
    'RfrdDocInf*=Document RfrdDocAmt?=DocumentAmount CdtrRefInf?=CreditorReference Invcr?=Party Invcee?=Party ' +
    'TaxRmt?=TaxInformation7@19#-9 TaxRmt?=TaxData1#10- GrnshmtRmt?=Garnishment3@19 GrnshmtRmt?=Garnishment4@23- AddtlRmtInf*3=t140',
  Document: 'Tp?=DocumentType Nb?=t35 RltdDt?=date@-19 RltdDt?=DatedType@23- LineDtls*=Line@19-',
  DocumentType: 'CdOrPrtry=DocumentCode Issr?=t35',
  DocumentCode: 'Cd=OldDocumentKind|Prtry=t35@-13 Cd=DocumentKind|Prtry=t35@19 Cd=e4|Prtry=t35@23-',
  DatedType: 'Tp=Scheme Dt=date',
  CodeOrProprietary: 'CdOrPrtry=Scheme Issr?=t35',
  Line: 'Id+=LineIdentification Desc?=t2048 Amt?=DocumentAmount',
  LineIdentification: 'Tp?=CodeOrProprietary Nb?=t35 RltdDt?=date',
  DocumentAmount:
    'DuePyblAmt?=amount@-19 DscntApldAmt?=amount@-9 DscntApldAmt*=TypedAmount@13-19 CdtNoteAmt?=amount@-19 TaxAmt?=amount@-9 ' +
    'TaxAmt*=TypedAmount@13-19 AdjstmntAmtAndRsn*=Adjustment@-19 RmtdAmt?=amount@-19 RmtAmtAndTp*=TypedAmount@23- ' +
    'AdjstmntAmtAndRsn*=Adjustment@23-',
  TypedAmount: 'Tp?=Choice4@-19 Tp=Choice4@23- Amt=amount',
  Adjustment: 'Amt=amount CdtDbtInd?=CreditDebit Rsn?=t4 AddtlInf?=t140',
  CreditorReference: 'Tp?=ReferenceType Ref?=t35',
  ReferenceType: 'CdOrPrtry=ReferenceCode Issr?=t35',
  ReferenceCode: 'Cd=ReferenceKind|Prtry=t35@-19 Cd=e4|Prtry=t35@23-',
}

const OTHERS: TypeTable = {
  Choice4: 'Cd=e4|Prtry=t35',
  Choice35: 'Cd=e35|Prtry=t35',
  DateOrTime: 'Dt=date|DtTm=dateTime',
  Instructions: 'Cd?=Instruction@-19 Cd?=e4@23- InstrInf?=t140',
}

export const COMMON_TYPES: TypeTable = { ...DETAIL_TYPES, ...PARTIES, ...BANKS, ...REMITTANCE, ...OTHERS }
