import type { TypeTable } from './schema.ts'

/**
 * Types below the elements that rules look at: tax, mandates, regulatory reporting, where remittance is sent, garnishment. They are named as
 * in the message definitions, where a changed type gets another number, so that one table serves all versions. See `schema.ts`.
 */

const DETAIL_TYPES: TypeTable = {
  AdviceType1: 'CdtAdvc?=AdviceType1Choice DbtAdvc?=AdviceType1Choice',
  AdviceType1Choice: 'Cd=AdviceKind|Prtry=t35',
  CreditTransferMandateData1:
    'MndtId?=t35 Tp?=MandateTypeInformation2 DtOfSgntr?=date DtOfVrfctn?=dateTime ElctrncSgntr?=base64 FrstPmtDt?=date ' +
    'FnlPmtDt?=date Frqcy?=Frequency36Choice Rsn?=MandateSetupReason1Choice',
  CryptographicKey1Choice: 'ILPV4=hex|Sgntr=sha256',
  DatePeriod2: 'FrDt=date ToDt=date',
  DatePeriodDetails: 'FrDt=date ToDt=date',
  Frequency36Choice: 'Tp=Frequency6Code|Prd=FrequencyPeriod1|PtInTm=FrequencyAndMoment1',
  FrequencyAndMoment1: 'Tp=Frequency6Code PtInTm=digits2',
  FrequencyPeriod1: 'Tp=Frequency6Code CntPerPrd=sum',
  Garnishment3:
    'Tp=GarnishmentType1 Grnshee?=Party GrnshmtAdmstr?=Party RefNb?=t140 Dt?=date RmtdAmt?=amount FmlyMdclInsrncInd?=boolean ' +
    'MplyeeTermntnInd?=boolean',
  Garnishment4:
    'Tp=GarnishmentType1 Grnshee?=Party GrnshmtAdmstr?=Party RefNb?=t140 Dt?=date RmtdAmt?=amount FmlyMdclInsrncInd?=boolean ' +
    'MplyeeTermntnInd?=boolean',
  GarnishmentType1: 'CdOrPrtry=GarnishmentType1Choice Issr?=t35',
  GarnishmentType1Choice: 'Cd=e4|Prtry=t35',
  MandateClassification1Choice: 'Cd=MandateClassification1Code|Prtry=t35',
  MandateSetupReason1Choice: 'Cd=e4|Prtry=t70',
  MandateTypeInformation2: 'SvcLvl?=Choice4 LclInstrm?=Choice35 CtgyPurp?=Choice4 Clssfctn?=MandateClassification1Choice',
  RegulatoryAuthority2: 'Nm?=t140 Ctry?=country',
  RegulatoryReporting3: 'DbtCdtRptgInd?=DebitCredit Authrty?=RegulatoryAuthority2 Dtls*=StructuredRegulatoryReporting3',
  RemittanceLocation2: 'RmtId?=t35 RmtLctnMtd?=RemittanceLocationMethod2Code RmtLctnElctrncAdr?=t2048 RmtLctnPstlAdr?=NameAndAddress',
  RemittanceLocation7: 'RmtId?=t35 RmtLctnDtls*=RemittanceLocationData1',
  RemittanceLocation8: 'RmtId?=t35 RmtLctnDtls*=RemittanceLocationData2',
  RemittanceLocationData1: 'Mtd=RemittanceLocationMethod2Code ElctrncAdr?=t2048 PstlAdr?=NameAndAddress',
  RemittanceLocationData2: 'Mtd=RemittanceLocationMethod2Code ElctrncAdr?=t2048 PstlAdr?=NameAndAddress',
  StructuredRegulatoryReporting3: 'Tp?=t35 Dt?=date Ctry?=country Cd?=t10 Amt?=amount Inf*=t35',
  SupplementaryData1: 'PlcAndNm?=t350 Envlp=any',
  TaxAmount1: 'Rate?=rate TaxblBaseAmt?=amount TtlAmt?=amount Dtls*=TaxRecordDetails1',
  TaxAmount2: 'Rate?=rate TaxblBaseAmt?=amount TtlAmt?=amount Dtls*=TaxRecordDetails2',
  TaxAmount3: 'Rate?=rate TaxblBaseAmt?=amount TtlAmt?=amount Dtls*=TaxRecordDetails3',
  TaxAuthorisation1: 'Titl?=t35 Nm?=t140',
  TaxData1:
    'Cdtr?=TaxParty1 Dbtr?=TaxParty2 UltmtDbtr?=TaxParty2 AdmstnZone?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount ' +
    'TtlTaxAmt?=amount Dt?=date SeqNb?=number Rcrd*=TaxRecord3',
  TaxInformation10:
    'Cdtr?=TaxParty1 Dbtr?=TaxParty2 AdmstnZone?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount TtlTaxAmt?=amount Dt?=date ' +
    'SeqNb?=number Rcrd*=TaxRecord3',
  TaxInformation3:
    'Cdtr?=TaxParty1 Dbtr?=TaxParty2 AdmstnZn?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount TtlTaxAmt?=amount Dt?=date ' +
    'SeqNb?=number Rcrd*=TaxRecord1',
  TaxInformation7:
    'Cdtr?=TaxParty1 Dbtr?=TaxParty2 UltmtDbtr?=TaxParty2 AdmstnZone?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount ' +
    'TtlTaxAmt?=amount Dt?=date SeqNb?=number Rcrd*=TaxRecord2',
  TaxInformation8:
    'Cdtr?=TaxParty1 Dbtr?=TaxParty2 AdmstnZone?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount TtlTaxAmt?=amount Dt?=date ' +
    'SeqNb?=number Rcrd*=TaxRecord2',
  TaxParty1: 'TaxId?=t35 RegnId?=t35 TaxTp?=t35',
  TaxParty2: 'TaxId?=t35 RegnId?=t35 TaxTp?=t35 Authstn?=TaxAuthorisation1',
  TaxPeriod1: 'Yr?=date Tp?=TaxRecordPeriod1Code FrToDt?=DatePeriodDetails',
  TaxPeriod2: 'Yr?=date Tp?=TaxRecordPeriod1Code FrToDt?=DatePeriod2',
  TaxPeriod3: 'Yr?=year Tp?=TaxRecordPeriod1Code FrToDt?=DatePeriod2',
  TaxRecord1: 'Tp?=t35 Ctgy?=t35 CtgyDtls?=t35 DbtrSts?=t35 CertId?=t35 FrmsCd?=t35 Prd?=TaxPeriod1 TaxAmt?=TaxAmount1 AddtlInf?=t140',
  TaxRecord2: 'Tp?=t35 Ctgy?=t35 CtgyDtls?=t35 DbtrSts?=t35 CertId?=t35 FrmsCd?=t35 Prd?=TaxPeriod2 TaxAmt?=TaxAmount2 AddtlInf?=t140',
  TaxRecord3: 'Tp?=t35 Ctgy?=t35 CtgyDtls?=t35 DbtrSts?=t35 CertId?=t35 FrmsCd?=t35 Prd?=TaxPeriod3 TaxAmt?=TaxAmount3 AddtlInf?=t140',
  TaxRecordDetails1: 'Prd?=TaxPeriod1 Amt=amount',
  TaxRecordDetails2: 'Prd?=TaxPeriod2 Amt=amount',
  TaxRecordDetails3: 'Prd?=TaxPeriod3 Amt=amount',
}

/** The types that the messages share: parties, accounts, banks, addresses, remittance. See `schema.ts` for how they are written. */

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
