/**
 * Types below the elements that rules look at: tax, mandates, regulatory reporting, where remittance is sent, garnishment. They are named as
 * in the message definitions, where a changed type gets another number, so that one table serves all versions. See `schema.ts`.
 */
import type { TypeTable } from './schema.ts'

export const DETAIL_TYPES: TypeTable = {
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
