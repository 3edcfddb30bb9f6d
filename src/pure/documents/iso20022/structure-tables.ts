import type { TypeTable } from './structure.ts'

/**
 * Structure tables of pain.001, pacs.008 and camt.053, in the grammar that `structure.ts` describes. Source: the message definitions of ISO
 * 20022, read in November 2026. Types with the same content share one row, under the name of the first.
 */

/**
 * Types of all messages: codes, parties, accounts, banks, addresses, remittance. The ID of an account is optional from CashAccount40 on,
 * which came with version 10 of pacs.008 and camt.053 and 11 of pain.001.
 */
const COMMON_TYPES: TypeTable = parseTable(`
  Choice4: Cd=e4|Prtry=t35
  Choice35: Cd=e35|Prtry=t35
  DateOrTime: Dt=date|DtTm=dateTime
  Party: Nm?=t140 PstlAdr?=Address Id?=PartyChoice CtryOfRes?=country CtctDtls?=Contact
  PartyChoice: OrgId=Organisation|PrvtId=Person
  Organisation: BICOrBEI?=bic@-9 AnyBIC?=bic@13- LEI?=lei@19- Othr*=OtherIdentification
  Person: DtAndPlcOfBirth?=Birth Othr*=OtherIdentification
  Birth: BirthDt=date PrvcOfBirth?=t35 CityOfBirth=t35 CtryOfBirth=country
  OtherIdentification: Id=t35@-19 Id=t256@23- SchmeNm?=Choice4 Issr?=t35
  Contact: NmPrfx?=OldNamePrefix@-13 NmPrfx?=NamePrefix@19- Nm?=t140 PhneNb?=phone MobNb?=phone FaxNb?=phone URLAdr?=t2048@23-
    EmailAdr?=t2048@-19 EmailAdr?=t256@23- EmailPurp?=t35@19- JobTitl?=t35@19- Rspnsblty?=t35@19- Dept?=t70@19- Othr?=t35@-13
    Othr*=OtherContact@19- PrefrdMtd?=OldPreferredContact@19 PrefrdMtd?=PreferredContact@23-
  OtherContact: ChanlTp=t4 Id?=t128
  Address: AdrTp?=AddressType@-13 AdrTp?=AddressTypeChoice@19- CareOf?=t140@23- Dept?=t70 SubDept?=t70 StrtNm?=t70@-19 StrtNm?=t140@23-
    BldgNb?=t16 BldgNm?=t35@19 BldgNm?=t140@23- Flr?=t70@19- UnitNb?=t16@23- PstBx?=t16@19- Room?=t70@19- PstCd?=t16 TwnNm?=t35@-19
    TwnNm?=t140@23- TwnLctnNm?=t35@19 TwnLctnNm?=t140@23- DstrctNm?=t35@19 DstrctNm?=t140@23- CtrySubDvsn?=t35 Ctry?=country AdrLine*7=t70
  AddressTypeChoice: Cd=AddressType|Prtry=Generic
  Generic: Id=four Issr=t35 SchmeNm?=t35
  NameAndAddress: Nm=t140 Adr=Address
  Agent: FinInstnId=Institution BrnchId?=Branch
  Institution: BIC?=bic@-9 BICFI?=bic@13- ClrSysMmbId?=Member LEI?=lei@19- Nm?=t140 PstlAdr?=Address Othr?=OtherInstitution
  Member: ClrSysId?=ClearingSystem MmbId=t35
  ClearingSystem: Cd=e5|Prtry=t35
  OtherInstitution: Id=t35 SchmeNm?=Choice4 Issr?=t35
  Branch: Id?=t35 LEI?=lei@19- Nm?=t140 PstlAdr?=Address
  Account: Id=AccountChoice#-9 Id?=AccountChoice#10- Tp?=AccountType Ccy?=currency Nm?=t70 Prxy?=Proxy@19-
  AccountChoice: IBAN=iban|Othr=OtherAccount
  OtherAccount: Id=t34 SchmeNm?=Choice4 Issr?=t35
  AccountType: Cd=CashAccount|Prtry=t35@-9 Cd=e4|Prtry=t35@13-
  Proxy: Tp?=Choice4 Id=t2048
  Remittance: Ustrd*=t140 Strd*=Structured
  Structured: RfrdDocInf*=Document RfrdDocAmt?=DocumentAmount CdtrRefInf?=CreditorReference Invcr?=Party Invcee?=Party
    TaxRmt?=TaxInformation7@19#-9 TaxRmt?=TaxData1#10- GrnshmtRmt?=Garnishment3@19 GrnshmtRmt?=Garnishment3@23- AddtlRmtInf*3=t140
  Document: Tp?=DocumentType Nb?=t35 RltdDt?=date@-19 RltdDt?=DatedType@23- LineDtls*=Line@19-
  DocumentType: CdOrPrtry=DocumentCode Issr?=t35
  DocumentCode: Cd=OldDocumentKind|Prtry=t35@-13 Cd=DocumentKind|Prtry=t35@19 Cd=e4|Prtry=t35@23-
  DatedType: Tp=Choice4 Dt=date
  CodeOrProprietary: CdOrPrtry=Choice4 Issr?=t35
  Line: Id+=LineIdentification Desc?=t2048 Amt?=DocumentAmount
  LineIdentification: Tp?=CodeOrProprietary Nb?=t35 RltdDt?=date
  DocumentAmount: DuePyblAmt?=amount@-19 DscntApldAmt?=amount@-9 DscntApldAmt*=TypedAmount@13-19 CdtNoteAmt?=amount@-19 TaxAmt?=amount@-9
    TaxAmt*=TypedAmount@13-19 AdjstmntAmtAndRsn*=Adjustment@-19 RmtdAmt?=amount@-19 RmtAmtAndTp*=TypedAmount@23-
    AdjstmntAmtAndRsn*=Adjustment@23-
  TypedAmount: Tp?=Choice4@-19 Tp=Choice4@23- Amt=amount
  Adjustment: Amt=amount CdtDbtInd?=CreditDebit Rsn?=t4 AddtlInf?=t140
  CreditorReference: Tp?=ReferenceType Ref?=t35
  ReferenceType: CdOrPrtry=ReferenceCode Issr?=t35
  ReferenceCode: Cd=ReferenceKind|Prtry=t35@-19 Cd=e4|Prtry=t35@23-
`)

function parseTable(text: string): TypeTable {
  const lines = text
    .trim()
    .replaceAll(/(?<=\|)\n {4}/g, '')
    .replaceAll(/\n {4}/g, ' ')
    .split('\n')
  return Object.fromEntries(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 2)]),
  )
}

/** Types of all messages that no rule reads: tax, mandates, regulatory reporting, garnishment. Named as in ISO 20022. */
const DETAIL_TYPES: TypeTable = parseTable(`
  AdviceType1: CdtAdvc?=AdviceType1Choice DbtAdvc?=AdviceType1Choice
  AdviceType1Choice: Cd=AdviceKind|Prtry=t35
  CreditTransferMandateData1: MndtId?=t35 Tp?=MandateTypeInformation2 DtOfSgntr?=date DtOfVrfctn?=dateTime ElctrncSgntr?=base64
    FrstPmtDt?=date FnlPmtDt?=date Frqcy?=Frequency36Choice Rsn?=MandateSetupReason1Choice
  CryptographicKey1Choice: ILPV4=hex|Sgntr=sha256
  DatePeriod2: FrDt=date ToDt=date
  Frequency36Choice: Tp=Frequency6Code|Prd=FrequencyPeriod1|PtInTm=FrequencyAndMoment1
  FrequencyAndMoment1: Tp=Frequency6Code PtInTm=digits2
  FrequencyPeriod1: Tp=Frequency6Code CntPerPrd=sum
  Garnishment3: Tp=CodeOrProprietary Grnshee?=Party GrnshmtAdmstr?=Party RefNb?=t140 Dt?=date RmtdAmt?=amount FmlyMdclInsrncInd?=boolean
    MplyeeTermntnInd?=boolean
  MandateClassification1Choice: Cd=MandateClassification1Code|Prtry=t35
  MandateSetupReason1Choice: Cd=e4|Prtry=t70
  MandateTypeInformation2: SvcLvl?=Choice4 LclInstrm?=Choice35 CtgyPurp?=Choice4 Clssfctn?=MandateClassification1Choice
  RegulatoryAuthority2: Nm?=t140 Ctry?=country
  RegulatoryReporting3: DbtCdtRptgInd?=DebitCredit Authrty?=RegulatoryAuthority2 Dtls*=StructuredRegulatoryReporting3
  RemittanceLocation2: RmtId?=t35 RmtLctnMtd?=RemittanceLocationMethod2Code RmtLctnElctrncAdr?=t2048 RmtLctnPstlAdr?=NameAndAddress
  RemittanceLocation7: RmtId?=t35 RmtLctnDtls*=RemittanceLocationData1
  RemittanceLocationData1: Mtd=RemittanceLocationMethod2Code ElctrncAdr?=t2048 PstlAdr?=NameAndAddress
  StructuredRegulatoryReporting3: Tp?=t35 Dt?=date Ctry?=country Cd?=t10 Amt?=amount Inf*=t35
  SupplementaryData1: PlcAndNm?=t350 Envlp=any
  TaxAmount1: Rate?=rate TaxblBaseAmt?=amount TtlAmt?=amount Dtls*=TaxRecordDetails1
  TaxAmount3: Rate?=rate TaxblBaseAmt?=amount TtlAmt?=amount Dtls*=TaxRecordDetails3
  TaxAuthorisation1: Titl?=t35 Nm?=t140
  TaxData1: Cdtr?=TaxParty1 Dbtr?=TaxParty2 UltmtDbtr?=TaxParty2 AdmstnZone?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount
    TtlTaxAmt?=amount Dt?=date SeqNb?=number Rcrd*=TaxRecord3
  TaxInformation10: Cdtr?=TaxParty1 Dbtr?=TaxParty2 AdmstnZone?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount TtlTaxAmt?=amount
    Dt?=date SeqNb?=number Rcrd*=TaxRecord3
  TaxInformation3: Cdtr?=TaxParty1 Dbtr?=TaxParty2 AdmstnZn?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount TtlTaxAmt?=amount Dt?=date
    SeqNb?=number Rcrd*=TaxRecord1
  TaxInformation7: Cdtr?=TaxParty1 Dbtr?=TaxParty2 UltmtDbtr?=TaxParty2 AdmstnZone?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount
    TtlTaxAmt?=amount Dt?=date SeqNb?=number Rcrd*=TaxRecord1
  TaxInformation8: Cdtr?=TaxParty1 Dbtr?=TaxParty2 AdmstnZone?=t35 RefNb?=t140 Mtd?=t35 TtlTaxblBaseAmt?=amount TtlTaxAmt?=amount Dt?=date
    SeqNb?=number Rcrd*=TaxRecord1
  TaxParty1: TaxId?=t35 RegnId?=t35 TaxTp?=t35
  TaxParty2: TaxId?=t35 RegnId?=t35 TaxTp?=t35 Authstn?=TaxAuthorisation1
  TaxPeriod1: Yr?=date Tp?=TaxRecordPeriod1Code FrToDt?=DatePeriod2
  TaxPeriod3: Yr?=year Tp?=TaxRecordPeriod1Code FrToDt?=DatePeriod2
  TaxRecord1: Tp?=t35 Ctgy?=t35 CtgyDtls?=t35 DbtrSts?=t35 CertId?=t35 FrmsCd?=t35 Prd?=TaxPeriod1 TaxAmt?=TaxAmount1 AddtlInf?=t140
  TaxRecord3: Tp?=t35 Ctgy?=t35 CtgyDtls?=t35 DbtrSts?=t35 CertId?=t35 FrmsCd?=t35 Prd?=TaxPeriod3 TaxAmt?=TaxAmount3 AddtlInf?=t140
  TaxRecordDetails1: Prd?=TaxPeriod1 Amt=amount
  TaxRecordDetails3: Prd?=TaxPeriod3 Amt=amount
`)

/** pain.001, versions 03, 09, 11 and 12. */
export const PAIN001_TYPES: TypeTable = {
  ...COMMON_TYPES,
  ...DETAIL_TYPES,
  ...parseTable(`
  Root: GrpHdr=Header PmtInf+=Payment SplmtryData*=SupplementaryData1#9-
  Header: MsgId=id35 CreDtTm=dateTime Authstn*2=Authority NbOfTxs=count CtrlSum?=sum InitgPty=Party FwdgAgt?=Agent InitnSrc?=Source#11-
  Authority: Cd=Authorisation|Prtry=t128
  Source: Nm=t140 Prvdr?=t35 Vrsn?=t35
  Payment: PmtInfId=id35 PmtMtd=PaymentMethod ReqdAdvcTp?=AdviceType1#11- BtchBookg?=boolean NbOfTxs?=count CtrlSum?=sum
    PmtTpInf?=TypeInformation ReqdExctnDt=date#-3 ReqdExctnDt=DateOrTime#9- PoolgAdjstmntDt?=date Dbtr=Party DbtrAcct=Account
    DbtrAgt=Agent DbtrAgtAcct?=Account InstrForDbtrAgt?=t140#9- UltmtDbtr?=Party ChrgBr?=ChargeBearer ChrgsAcct?=Account
    ChrgsAcctAgt?=Agent CdtTrfTxInf+=Transaction
  TypeInformation: InstrPrty?=Priority SvcLvl?=Choice4#-3 SvcLvl*=Choice4#9- LclInstrm?=Choice35 CtgyPurp?=Choice4
  Transaction: PmtId=Identification PmtTpInf?=TypeInformation Amt=Amount XchgRateInf?=Exchange ChrgBr?=ChargeBearer
    MndtRltdInf?=CreditTransferMandateData1#11- ChqInstr?=Cheque UltmtDbtr?=Party IntrmyAgt1?=Agent IntrmyAgt1Acct?=Account
    IntrmyAgt2?=Agent IntrmyAgt2Acct?=Account IntrmyAgt3?=Agent IntrmyAgt3Acct?=Account CdtrAgt?=Agent CdtrAgtAcct?=Account Cdtr?=Party
    CdtrAcct?=Account UltmtCdtr?=Party InstrForCdtrAgt*=CreditorInstructions InstrForDbtrAgt?=t140#-9
    InstrForDbtrAgt?=DebtorInstruction#11- Purp?=Choice4 RgltryRptg*10=RegulatoryReporting3 Tax?=TaxInformation3#-3 Tax?=TaxInformation8#9
    Tax?=TaxInformation10#11 Tax?=TaxData1#12- RltdRmtInf*10=RemittanceLocation2#-3 RltdRmtInf*10=RemittanceLocation7#9-
    RmtInf?=Remittance SplmtryData*=SupplementaryData1#9-
  Identification: InstrId?=id35 EndToEndId=id35 UETR?=uetr#9-
  Amount: InstdAmt=amount|EqvtAmt=Equivalent
  Equivalent: Amt=amount CcyOfTrf=currency
  Exchange: UnitCcy?=currency#9- XchgRate?=rate RateTp?=RateType CtrctId?=t35
  CreditorInstructions: Cd?=Instruction#-9 Cd?=e4#11- InstrInf?=t140
  DebtorInstruction: Cd?=e4 InstrInf?=t140
  Cheque: ChqTp?=ChequeType ChqNb?=t35 ChqFr?=NameAndAddress DlvryMtd?=Delivery DlvrTo?=NameAndAddress InstrPrty?=Priority
    ChqMtrtyDt?=date FrmsCd?=t35 MemoFld*2=t35 RgnlClrZone?=t35 PrtLctn?=t35 Sgntr*5=t70#9-
  Delivery: Cd=ChequeDelivery|Prtry=t35
`),
}

/** pacs.008, versions 02, 08, 10, 12 and 13. `TxId` of version 02 is optional here because the rule C_TXID_MISSING requires it. */
export const PACS008_TYPES: TypeTable = {
  ...COMMON_TYPES,
  ...DETAIL_TYPES,
  ...parseTable(`
  Root: GrpHdr=Header CdtTrfTxInf+=Transaction SplmtryData*=SupplementaryData1#8-
  Header: MsgId=id35 CreDtTm=dateTime XpryDtTm?=dateTime#13- BtchBookg?=boolean NbOfTxs=count CtrlSum?=sum TtlIntrBkSttlmAmt?=amount
    IntrBkSttlmDt?=date SttlmInf=Settlement PmtTpInf?=TypeInformation InstgAgt?=Agent InstdAgt?=Agent
  Settlement: SttlmMtd=SettlementMethod SttlmAcct?=Account ClrSys?=Clearing InstgRmbrsmntAgt?=Agent InstgRmbrsmntAgtAcct?=Account
    InstdRmbrsmntAgt?=Agent InstdRmbrsmntAgtAcct?=Account ThrdRmbrsmntAgt?=Agent ThrdRmbrsmntAgtAcct?=Account
  Clearing: Cd=e3|Prtry=t35
  TypeInformation: InstrPrty?=Priority ClrChanl?=ClearingChannel SvcLvl?=Choice4#-2 SvcLvl*=Choice4#8- LclInstrm?=Choice35
    CtgyPurp?=Choice4
  Transaction: PmtId=Identification PmtTpInf?=TypeInformation IntrBkSttlmAmt=amount IntrBkSttlmDt?=date SttlmPrty?=SettlementPriority
    SttlmTmIndctn?=SettlementTime SttlmTmReq?=SettlementRequest AddtlDtTm?=AdditionalTimes#13- AccptncDtTm?=dateTime#-12
    PoolgAdjstmntDt?=date#-12 InstdAmt?=amount XchgRate?=rate AgrdRate?=AgreedRate#13- ChrgBr=ChargeBearer ChrgsInf*=Charges
    MndtRltdInf?=CreditTransferMandateData1#10- PmtSgntr?=CryptographicKey1Choice#13- PrvsInstgAgt?=Agent#-2 PrvsInstgAgtAcct?=Account#-2
    PrvsInstgAgt1?=Agent#8- PrvsInstgAgt1Acct?=Account#8- PrvsInstgAgt2?=Agent#8- PrvsInstgAgt2Acct?=Account#8- PrvsInstgAgt3?=Agent#8-
    PrvsInstgAgt3Acct?=Account#8- InstgAgt?=Agent InstdAgt?=Agent IntrmyAgt1?=Agent IntrmyAgt1Acct?=Account IntrmyAgt2?=Agent
    IntrmyAgt2Acct?=Account IntrmyAgt3?=Agent IntrmyAgt3Acct?=Account UltmtDbtr?=Party InitgPty?=Party Dbtr=Party DbtrAcct?=Account
    DbtrAgt=Agent DbtrAgtAcct?=Account CdtrAgt=Agent CdtrAgtAcct?=Account Cdtr=Party CdtrAcct?=Account UltmtCdtr?=Party
    InstrForCdtrAgt*=CreditorInstructions InstrForNxtAgt*=NextInstructions Purp?=Choice4 RgltryRptg*10=RegulatoryReporting3
    Tax?=TaxInformation8#8 Tax?=TaxInformation10#10 Tax?=TaxData1#12- RltdRmtInf*10=RemittanceLocation2#-2
    RltdRmtInf*10=RemittanceLocation7#8- RmtInf?=Remittance SplmtryData*=SupplementaryData1#8-
  Identification: InstrId?=id35 EndToEndId=id35 TxId?=id35 UETR?=uetr#8- ClrSysRef?=t35
  SettlementTime: DbtDtTm?=dateTime CdtDtTm?=dateTime
  SettlementRequest: CLSTm?=time TillTm?=time FrTm?=time RjctTm?=time
  AdditionalTimes: AccptncDtTm?=dateTime PoolgAdjstmntDt?=date XpryDtTm?=dateTime
  AgreedRate: UnitCcy?=currency QtdCcy?=currency PreAgrdXchgRate=rate QtnDtTm?=dateTime QtId?=uuid FXAgt?=Agent
  Charges: Amt=amount Pty=Agent#-2 Agt=Agent#8- Tp?=ChargeType#12-
  ChargeType: Cd=e4|Prtry=Issued
  Issued: Id=t35 Issr?=t35
  CreditorInstructions: Cd?=Instruction#-8 Cd?=e4#10- InstrInf?=t140
  NextInstructions: Cd?=InstructionNext InstrInf?=t140
`),
}

/** Types of camt.053 that no rule reads: interest, cards, securities, prices and dates. Named as in ISO 20022. */
const CAMT053_DETAIL_TYPES: TypeTable = parseTable(`
  AccountInterest2: Tp?=InterestType1Choice Rate*=Rate3 FrToDt?=DateTimePeriod1 Rsn?=t35
  AccountInterest4: Tp?=InterestType1Choice Rate*=Rate3 FrToDt?=DateTimePeriod1 Rsn?=t35 Tax?=TaxCharges2
  ActiveOrHistoricCurrencyAndAmountRange2: Amt=ImpliedCurrencyAmountRange1Choice CdtDbtInd?=CreditDebit Ccy=currency
  AlternateSecurityIdentification2: Tp=t35 Id=t35
  AmountRangeBoundary1: BdryAmt=bareAmount Incl=boolean
  CardAggregated1: AddtlSvc?=CardPaymentServiceType2Code TxCtgy?=e4 SaleRcncltnId?=t35 SeqNbRg?=CardSequenceNumberRange1
    TxDtRg?=DateOrDateTimePeriod1Choice
  CardEntry1: Card?=PaymentCard4 POI?=PointOfInteraction1 AggtdNtry?=CardAggregated1
  CardEntry4: Card?=PaymentCard4 POI?=PointOfInteraction1 AggtdNtry?=CardAggregated1 PrePdAcct?=Account
  CardIndividualTransaction1: AddtlSvc?=CardPaymentServiceType2Code TxCtgy?=e4 SaleRcncltnId?=t35 SaleRefNb?=t35 SeqNb?=t35
    TxId?=TransactionIdentifier1 Pdct?=Product2 VldtnDt?=date VldtnSeqNb?=t35
  CardIndividualTransaction2: ICCRltdData?=t1025 PmtCntxt?=PaymentContext3 AddtlSvc?=CardPaymentServiceType2Code TxCtgy?=e4
    SaleRcncltnId?=t35 SaleRefNb?=t35 RePresntmntRsn?=e4 SeqNb?=t35 TxId?=TransactionIdentifier1 Pdct?=Product2 VldtnDt?=date
    VldtnSeqNb?=t35
  CardSecurityInformation1: CSCMgmt=CSCManagement1Code CSCVal?=digits3to4
  CardSequenceNumberRange1: FrstTx?=t35 LastTx?=t35
  CardTransaction1: Card?=PaymentCard4 POI?=PointOfInteraction1 Tx?=CardTransaction1Choice
  CardTransaction17: Card?=PaymentCard4 POI?=PointOfInteraction1 Tx?=CardTransaction3Choice PrePdAcct?=Account
  CardTransaction1Choice: Aggtd=CardAggregated1|Indv=CardIndividualTransaction1
  CardTransaction3Choice: Aggtd=CardAggregated1|Indv=CardIndividualTransaction2
  CardholderAuthentication2: AuthntcnMtd=AuthenticationMethod1Code AuthntcnNtty=AuthenticationEntity1Code
  CashAvailability1: Dt=CashAvailabilityDate1Choice Amt=amount CdtDbtInd=CreditDebit
  CashAvailabilityDate1Choice: NbOfDays=signedCount|ActlDt=date
  CashDeposit1: NoteDnmtn=amount NbOfNotes=count Amt=amount
  ChargeType2Choice: Cd=ChargeType1Code|Prtry=GenericIdentification3
  ChargeType3Choice: Cd=e4|Prtry=GenericIdentification3
  CorporateAction1: Cd?=t35 Nb?=t35 Prtry?=t35
  CorporateAction82: EvtTp=CorporateActionEventType104Choice CorpActnEvtId=t35 OffclCorpActnEvtId?=t35
  CorporateAction9: EvtTp=t35 EvtId=t35
  CorporateActionEventType104Choice: Cd=e4|Prtry=Generic
  CreditLine2: Incl=boolean Amt?=amount
  CreditLine3: Incl=boolean Tp?=Choice4 Amt?=amount Dt?=DateOrTime
  DateOrDateTimePeriod1Choice: Dt=DatePeriod2|DtTm=DateTimePeriod1
  DateTimePeriod1: FrDtTm=dateTime ToDtTm=dateTime
  DisplayCapabilities1: DispTp=UserInterface2Code NbOfLines=digits1to3 LineWidth=digits1to3
  FinancialInstrumentQuantity1Choice: Unit=sum|FaceAmt=bareAmount|AmtsdVal=bareAmount
  FinancialInstrumentQuantity33Choice: Unit=sum|FaceAmt=bareAmount|AmtsdVal=bareAmount|DgtlTknUnit=longDecimal
  FromToAmountRange: FrAmt=AmountRangeBoundary1 ToAmt=AmountRangeBoundary1
  GenericIdentification1: Id=t35 SchmeNm?=t35 Issr?=t35
  GenericIdentification3: Id=t35 Issr?=t35
  GenericIdentification32: Id=t35 Tp?=PartyType3Code Issr?=PartyType4Code ShrtNm?=t35
  ImpliedCurrencyAmountRange1Choice:
    FrAmt=AmountRangeBoundary1|ToAmt=AmountRangeBoundary1|FrToAmt=FromToAmountRange|EQAmt=bareAmount|NEQAmt=bareAmount
  InterestRecord1: Amt=amount CdtDbtInd=CreditDebit Tp?=InterestType1Choice Rate?=Rate3 FrToDt?=DateTimePeriod1 Rsn?=t35 Tax?=TaxCharges2
  InterestType1Choice: Cd=InterestType1Code|Prtry=t35
  MessageIdentification2: MsgNmId?=t35 MsgId?=t35
  OriginalAndCurrentQuantities1: FaceAmt=bareAmount AmtsdVal=bareAmount
  OriginalBusinessQuery1: MsgId=t35 MsgNmId?=t35 CreDtTm?=dateTime
  OtherIdentification1: Id=t35 Sfx?=t16 Tp=Choice4
  PaymentCard4: PlainCardData?=PlainCardData1 CardCtryCd?=digits3 CardBrnd?=GenericIdentification1 AddtlCardData?=t70
  PaymentContext3: CardPres?=boolean CrdhldrPres?=boolean OnLineCntxt?=boolean AttndncCntxt?=AttendanceContext1Code
    TxEnvt?=TransactionEnvironment1Code TxChanl?=TransactionChannel1Code AttndntMsgCpbl?=boolean AttndntLang?=language
    CardDataNtryMd=CardDataReading1Code FllbckInd?=boolean AuthntcnMtd?=CardholderAuthentication2
  PaymentTypeInformation27: InstrPrty?=Priority ClrChanl?=ClearingChannel SvcLvl*=Choice4 LclInstrm?=Choice35 SeqTp?=SequenceType3Code
    CtgyPurp?=Choice4
  PlainCardData1: PAN=digits8to28 CardSeqNb?=digits2to3 FctvDt?=yearMonth XpryDt=yearMonth SvcCd?=digits3 TrckData*=TrackData1
    CardSctyCd?=CardSecurityInformation1
  PointOfInteraction1: Id=GenericIdentification32 SysNm?=t70 GrpId?=t35 Cpblties?=PointOfInteractionCapabilities1
    Cmpnt*=PointOfInteractionComponent1
  PointOfInteractionCapabilities1: CardRdngCpblties*=CardDataReading1Code CrdhldrVrfctnCpblties*=CardholderVerificationCapability1Code
    OnLineCpblties?=OnLineCapability1Code DispCpblties*=DisplayCapabilities1 PrtLineWidth?=digits1to3
  PointOfInteractionComponent1: POICmpntTp=POIComponentType1Code ManfctrId?=t35 Mdl?=t35 VrsnNb?=t16 SrlNb?=t35 ApprvlNb*=t70
  Price2: Tp=YieldedOrValueType1Choice Val=PriceRateOrAmount3Choice
  PriceRateOrAmount3Choice: Rate=rate|Amt=price
  Product2: PdctCd=t70 UnitOfMeasr?=UnitOfMeasure1Code PdctQty?=sum UnitPric?=bareAmount PdctAmt?=bareAmount TaxTp?=t35 AddtlPdctInf?=t35
  ProprietaryAgent2: Tp=t35 Agt=Agent
  ProprietaryDate2: Tp=t35 Dt=DateOrTime
  ProprietaryParty2: Tp=t35 Pty=Party
  ProprietaryParty5: Tp=t35 Pty=AnyParty
  ProprietaryPrice2: Tp=t35 Pric=amount
  ProprietaryQuantity1: Tp=t35 Qty=t35
  Rate3: Tp=RateType4Choice VldtyRg?=ActiveOrHistoricCurrencyAndAmountRange2
  RateType4Choice: Pctg=rate|Othr=t35
  References74Choice:
    SctiesSttlmTxId=t35|IntraPosMvmntId=t35|IntraBalMvmntId=t35|AcctSvcrTxId=t35|MktInfrstrctrTxId=t35|CtrPtyMktInfrstrctrTxId?=t35|
    PoolId=t35|CmonId=t35|TradId=t52|OthrTxId=t35
  SecuritiesAccount13: Id=t35 Tp?=Generic Nm?=t70
  SecurityIdentification14: ISIN?=isin OthrId*=OtherIdentification1 Desc?=t140
  SecurityIdentification19: ISIN?=isin2015 OthrId*=OtherIdentification1 Desc?=t140
  SecurityIdentification4Choice: ISIN=isin|Prtry=AlternateSecurityIdentification2
  SequenceRange1: FrSeq=t35 ToSeq=t35
  SequenceRange1Choice: FrSeq=t35|ToSeq=t35|FrToSeq+=SequenceRange1|EQSeq+=t35|NEQSeq+=t35
  TaxCharges2: Id?=t35 Rate?=rate Amt?=amount
  TrackData1: TrckNb?=digits1 TrckVal=t140
  TransactionAllocation1: Amt=amount CdtDbtInd=CreditDebit Acct=Account Purp=Choice4 Ref=t35 RltdRefs*=References74Choice
  TransactionDates2: AccptncDtTm?=dateTime TradActvtyCtrctlSttlmDt?=date TradDt?=date IntrBkSttlmDt?=date StartDt?=date EndDt?=date
    TxDtTm?=dateTime Prtry*=ProprietaryDate2
  TransactionIdentifier1: TxDtTm=dateTime TxRef=t35
  TransactionInterest2: Amt=amount CdtDbtInd=CreditDebit Tp?=InterestType1Choice Rate*=Rate3 FrToDt?=DateTimePeriod1 Rsn?=t35
  TransactionInterest3: TtlIntrstAndTaxAmt?=amount Rcrd*=InterestRecord1
  TransactionPrice2Choice: DealPric=amount|Prtry+=ProprietaryPrice2
  TransactionPrice3Choice: DealPric=Price2|Prtry+=ProprietaryPrice2
  TransactionQuantities1Choice: Qty=FinancialInstrumentQuantity1Choice|Prtry=ProprietaryQuantity1
  TransactionQuantities2Choice:
    Qty=FinancialInstrumentQuantity1Choice|OrgnlAndCurFaceAmt=OriginalAndCurrentQuantities1|Prtry=ProprietaryQuantity1
  TransactionQuantities4Choice:
    Qty=FinancialInstrumentQuantity33Choice|OrgnlAndCurFaceAmt=OriginalAndCurrentQuantities1|Prtry=ProprietaryQuantity1
  YieldedOrValueType1Choice: Yldd=boolean|ValTp=PriceValueType1Code
`)

/**
 * camt.053, versions 02, 04, 08, 10 and 13. Two required elements are optional here because rules require them: the bank transaction code
 * of an entry (S_BKTXCD_MISSING), and the account identification from version 08 on (S_ACCT_ID).
 */
export const CAMT053_TYPES: TypeTable = {
  ...COMMON_TYPES,
  ...DETAIL_TYPES,
  ...CAMT053_DETAIL_TYPES,
  ...parseTable(`
  Root: GrpHdr=Header Stmt+=Statement SplmtryData*=SupplementaryData1#4-
  Header: MsgId=id35 CreDtTm=dateTime MsgRcpt?=Party MsgPgntn?=Pagination OrgnlBizQry?=OriginalBusinessQuery1#4- AddtlInf?=t500
  Pagination: PgNb=page LastPgInd=boolean
  Statement: Id=id35 StmtPgntn?=Pagination#4- ElctrncSeqNb?=number RptgSeq?=SequenceRange1Choice#8- LglSeqNb?=number CreDtTm=dateTime#-4
    CreDtTm?=dateTime#8- FrToDt?=DateTimePeriod1 CpyDplctInd?=CopyDuplicate RptgSrc?=Choice4 Acct=OwnAccount RltdAcct?=Account
    Intrst*=AccountInterest2#-4 Intrst*=AccountInterest4#8- Bal+=Balance TxsSummry?=Summary Ntry*=Entry AddtlStmtInf?=t500
  OwnAccount: Id=AccountChoice#-4 Id?=AccountChoice#8- Tp?=AccountType Ccy?=currency Nm?=t70 Prxy?=Proxy@19- Ownr?=Party Svcr?=Agent
  Balance: Tp=BalanceKind CdtLine?=CreditLine2#-4 CdtLine*=CreditLine3#8- Amt=amount CdtDbtInd=CreditDebit Dt=DateOrTime
    Avlbty*=CashAvailability1
  BalanceKind: CdOrPrtry=BalanceChoice SubTp?=Choice4
  BalanceChoice: Cd=BalanceType|Prtry=t35#-4 Cd=e4|Prtry=t35#8-
  Summary: TtlNtries?=TotalEntries TtlCdtNtries?=Total TtlDbtNtries?=Total TtlNtriesPerBkTxCd*=CodeTotal
  TotalEntries: NbOfNtries?=count Sum?=sum TtlNetNtryAmt?=sum#-2 CdtDbtInd?=CreditDebit#-2 TtlNetNtry?=Net#4-
  Net: Amt=positiveSum CdtDbtInd=CreditDebit
  Total: NbOfNtries?=count Sum?=sum
  CodeTotal: NbOfNtries?=count Sum?=sum TtlNetNtryAmt?=sum#-2 CdtDbtInd?=CreditDebit#-2 TtlNetNtry?=Net#4- CdtNtries?=Total#8-
    DbtNtries?=Total#8- FcstInd?=boolean BkTxCd=TransactionCode Avlbty*=CashAvailability1 Dt?=DateOrTime#8-
  Entry: NtryRef?=t35 Amt=amount CdtDbtInd=CreditDebit RvslInd?=boolean Sts=EntryStatus#-4 Sts=Choice4#8- BookgDt?=DateOrTime
    ValDt?=DateOrTime AcctSvcrRef?=t35 Avlbty*=CashAvailability1 BkTxCd?=TransactionCode ComssnWvrInd?=boolean
    AddtlInfInd?=MessageIdentification2 AmtDtls?=Amounts Chrgs*=OldCharges#-2 Chrgs?=Charges#4- TechInptChanl?=Choice4
    Intrst*=TransactionInterest2#-2 Intrst?=TransactionInterest3#4- CardTx?=CardEntry1#4 CardTx?=CardEntry4#8- NtryDtls*=Details
    AddtlNtryInf?=t500
  TransactionCode: Domn?=Domain Prtry?=Proprietary
  Domain: Cd=e4 Fmly=Family
  Family: Cd=e4 SubFmlyCd=e4
  Proprietary: Cd=t35 Issr?=t35
  Amounts: InstdAmt?=AmountDetail TxAmt?=AmountDetail CntrValAmt?=AmountDetail AnncdPstngAmt?=AmountDetail PrtryAmt*=ProprietaryAmount
  AmountDetail: Amt=amount CcyXchg?=CurrencyExchange
  ProprietaryAmount: Tp=t35 Amt=amount CcyXchg?=CurrencyExchange
  CurrencyExchange: SrcCcy=currency TrgtCcy?=currency UnitCcy?=currency XchgRate=rate CtrctId?=t35 QtnDt?=dateTime
    XchgRateBase?=positiveNumber#13-
  OldCharges: TtlChrgsAndTaxAmt?=amount Amt=amount CdtDbtInd?=CreditDebit Tp?=ChargeType2Choice Rate?=rate Br?=ChargeBearer Pty?=Agent
    Tax?=TaxCharges2
  Charges: TtlChrgsAndTaxAmt?=amount Rcrd*=ChargeRecord
  ChargeRecord: Amt=amount CdtDbtInd?=CreditDebit ChrgInclInd?=boolean Tp?=ChargeType3Choice Rate?=rate Br?=ChargeBearer Agt?=Agent
    Tax?=TaxCharges2
  Details: Btch?=Batch TxDtls*=TransactionDetails
  Batch: MsgId?=t35 PmtInfId?=t35 NbOfTxs?=count TtlAmt?=amount CdtDbtInd?=CreditDebit
  TransactionDetails: Refs?=References Amt=amount#4 CdtDbtInd=CreditDebit#4 Amt?=amount#8- CdtDbtInd?=CreditDebit#8- AmtDtls?=Amounts
    Avlbty*=CashAvailability1 BkTxCd?=TransactionCode Chrgs*=OldCharges#-2 Chrgs?=Charges#4- Intrst*=TransactionInterest2#-2
    Intrst?=TransactionInterest3#4- RltdPties?=Parties RltdAgts?=Agents LclInstrm?=Choice35#8- PmtTpInf?=PaymentTypeInformation27#10-
    Purp?=Choice4 RltdRmtInf*10=RemittanceLocation2#-4 RltdRmtInf*10=RemittanceLocation7#8- RmtInf?=Remittance RltdDts?=TransactionDates2
    RltdPric?=TransactionPrice2Choice#-2 RltdPric?=TransactionPrice3Choice#4- RltdQties*=TransactionQuantities1Choice#-2
    RltdQties*=TransactionQuantities2Choice#4-10 RltdQties*=TransactionQuantities4Choice#13- FinInstrmId?=SecurityIdentification4Choice#-2
    FinInstrmId?=SecurityIdentification14#4 FinInstrmId?=SecurityIdentification19#8- Tax?=TaxInformation3#-4 Tax?=TaxInformation8#8
    Tax?=TaxInformation10#10 Tax?=TaxData1#13- RtrInf?=Return CorpActn?=CorporateAction1#-2 CorpActn?=CorporateAction9#4-10
    RltdCorpActn?=CorporateAction82#13- SfkpgAcct?=Account#-2 SfkpgAcct?=SecuritiesAccount13#4- UndrlygAllcn*=TransactionAllocation1#13-
    CshDpst*=CashDeposit1#4- CardTx?=CardTransaction1#4 CardTx?=CardTransaction17#8- InstrCpy?=t20000#13- AddtlTxInf?=t500
    SplmtryData*=SupplementaryData1#4-
  References: MsgId?=t35 AcctSvcrRef?=t35 PmtInfId?=t35 InstrId?=t35 EndToEndId?=t35 UETR?=uetr#8- TxId?=t35 MndtId?=t35 ChqNb?=t35
    ClrSysRef?=t35 AcctOwnrTxId?=t35#4- AcctSvcrTxId?=t35#4- MktInfrstrctrTxId?=t35#4- PrcgId?=t35#4- Prtry?=Reference#-2
    Prtry*=Reference#4-
  Reference: Tp=t35 Ref=t35
  Parties: InitgPty?=Party#-4 Dbtr?=Party#-4 InitgPty?=AnyParty#8- Dbtr?=AnyParty#8- DbtrAcct?=Account UltmtDbtr?=Party#-4
    UltmtDbtr?=AnyParty#8- Cdtr?=Party#-4 Cdtr?=AnyParty#8- CdtrAcct?=Account UltmtCdtr?=Party#-4 UltmtCdtr?=AnyParty#8-
    TradgPty?=Party#-4 TradgPty?=AnyParty#8- Prtry*=ProprietaryParty2#-4 Prtry*=ProprietaryParty5#8-
  AnyParty: Pty=Party|Agt=Agent
  Agents: InstgAgt?=Agent#8- InstdAgt?=Agent#8- DbtrAgt?=Agent CdtrAgt?=Agent IntrmyAgt1?=Agent IntrmyAgt2?=Agent IntrmyAgt3?=Agent
    RcvgAgt?=Agent DlvrgAgt?=Agent IssgAgt?=Agent SttlmPlc?=Agent Prtry*=ProprietaryAgent2
  Return: OrgnlBkTxCd?=TransactionCode Orgtr?=Party Rsn?=Choice4 AddtlInf*=t105
`),
}
