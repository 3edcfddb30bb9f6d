import type { TypeTable } from '../schema.ts'
import { COMMON_TYPES } from '../common-types.ts'

/** Types of camt.053 below the elements that rules look at: interest, cards, securities, prices and dates. See `../detail-types.ts`. */

const CAMT_DETAIL_TYPES: TypeTable = {
  AccountInterest2: 'Tp?=InterestType1Choice Rate*=Rate3 FrToDt?=DateTimePeriodDetails Rsn?=t35',
  AccountInterest4: 'Tp?=InterestType1Choice Rate*=Rate4 FrToDt?=DateTimePeriod1 Rsn?=t35 Tax?=TaxCharges2',
  ActiveOrHistoricCurrencyAndAmountRange2: 'Amt=ImpliedCurrencyAmountRange1Choice CdtDbtInd?=CreditDebit Ccy=currency',
  AlternateSecurityIdentification2: 'Tp=t35 Id=t35',
  AmountRangeBoundary1: 'BdryAmt=bareAmount Incl=boolean',
  CardAggregated1:
    'AddtlSvc?=CardPaymentServiceType2Code TxCtgy?=e4 SaleRcncltnId?=t35 SeqNbRg?=CardSequenceNumberRange1 ' +
    'TxDtRg?=DateOrDateTimePeriodChoice',
  CardAggregated2:
    'AddtlSvc?=CardPaymentServiceType2Code TxCtgy?=e4 SaleRcncltnId?=t35 SeqNbRg?=CardSequenceNumberRange1 ' +
    'TxDtRg?=DateOrDateTimePeriod1Choice',
  CardEntry1: 'Card?=PaymentCard4 POI?=PointOfInteraction1 AggtdNtry?=CardAggregated1',
  CardEntry4: 'Card?=PaymentCard4 POI?=PointOfInteraction1 AggtdNtry?=CardAggregated2 PrePdAcct?=Account',
  CardEntry5: 'Card?=PaymentCard4 POI?=PointOfInteraction1 AggtdNtry?=CardAggregated2 PrePdAcct?=Account',
  CardIndividualTransaction1:
    'AddtlSvc?=CardPaymentServiceType2Code TxCtgy?=e4 SaleRcncltnId?=t35 SaleRefNb?=t35 SeqNb?=t35 TxId?=TransactionIdentifier1 ' +
    'Pdct?=Product2 VldtnDt?=date VldtnSeqNb?=t35',
  CardIndividualTransaction2:
    'ICCRltdData?=t1025 PmtCntxt?=PaymentContext3 AddtlSvc?=CardPaymentServiceType2Code TxCtgy?=e4 SaleRcncltnId?=t35 ' +
    'SaleRefNb?=t35 RePresntmntRsn?=e4 SeqNb?=t35 TxId?=TransactionIdentifier1 Pdct?=Product2 VldtnDt?=date VldtnSeqNb?=t35',
  CardSecurityInformation1: 'CSCMgmt=CSCManagement1Code CSCVal?=digits3to4',
  CardSequenceNumberRange1: 'FrstTx?=t35 LastTx?=t35',
  CardTransaction1: 'Card?=PaymentCard4 POI?=PointOfInteraction1 Tx?=CardTransaction1Choice',
  CardTransaction17: 'Card?=PaymentCard4 POI?=PointOfInteraction1 Tx?=CardTransaction3Choice PrePdAcct?=Account',
  CardTransaction18: 'Card?=PaymentCard4 POI?=PointOfInteraction1 Tx?=CardTransaction3Choice PrePdAcct?=Account',
  CardTransaction1Choice: 'Aggtd=CardAggregated1|Indv=CardIndividualTransaction1',
  CardTransaction3Choice: 'Aggtd=CardAggregated2|Indv=CardIndividualTransaction2',
  CardholderAuthentication2: 'AuthntcnMtd=AuthenticationMethod1Code AuthntcnNtty=AuthenticationEntity1Code',
  CashAvailability1: 'Dt=CashAvailabilityDate1Choice Amt=amount CdtDbtInd=CreditDebit',
  CashAvailabilityDate1Choice: 'NbOfDays=signedCount|ActlDt=date',
  CashBalanceAvailability2: 'Dt=CashBalanceAvailabilityDate1 Amt=amount CdtDbtInd=CreditDebit',
  CashBalanceAvailabilityDate1: 'NbOfDays=signedCount|ActlDt=date',
  CashDeposit1: 'NoteDnmtn=amount NbOfNotes=count Amt=amount',
  CategoryPurpose1Choice: 'Cd=e4|Prtry=t35',
  ChargeType2Choice: 'Cd=ChargeType1Code|Prtry=GenericIdentification3',
  ChargeType3Choice: 'Cd=e4|Prtry=GenericIdentification3',
  CorporateAction1: 'Cd?=t35 Nb?=t35 Prtry?=t35',
  CorporateAction82: 'EvtTp=CorporateActionEventType104Choice CorpActnEvtId=t35 OffclCorpActnEvtId?=t35',
  CorporateAction9: 'EvtTp=t35 EvtId=t35',
  CorporateActionEventType104Choice: 'Cd=e4|Prtry=Generic',
  CreditLine2: 'Incl=boolean Amt?=amount',
  CreditLine3: 'Incl=boolean Tp?=CreditLineType1Choice Amt?=amount Dt?=DateOrTime',
  CreditLineType1Choice: 'Cd=e4|Prtry=t35',
  CurrencyAndAmountRange2: 'Amt=ImpliedCurrencyAmountRangeChoice CdtDbtInd?=CreditDebit Ccy=currency',
  DateOrDateTimePeriod1Choice: 'Dt=DatePeriod2|DtTm=DateTimePeriod1',
  DateOrDateTimePeriodChoice: 'Dt=DatePeriodDetails|DtTm=DateTimePeriodDetails',
  DateTimePeriod1: 'FrDtTm=dateTime ToDtTm=dateTime',
  DateTimePeriodDetails: 'FrDtTm=dateTime ToDtTm=dateTime',
  DisplayCapabilities1: 'DispTp=UserInterface2Code NbOfLines=digits1to3 LineWidth=digits1to3',
  FinancialInstrumentQuantity1Choice: 'Unit=sum|FaceAmt=bareAmount|AmtsdVal=bareAmount',
  FinancialInstrumentQuantity33Choice: 'Unit=sum|FaceAmt=bareAmount|AmtsdVal=bareAmount|DgtlTknUnit=longDecimal',
  FinancialInstrumentQuantityChoice: 'Unit=sum|FaceAmt=bareAmount|AmtsdVal=bareAmount',
  FromToAmountRange: 'FrAmt=AmountRangeBoundary1 ToAmt=AmountRangeBoundary1',
  FromToAmountRange1: 'FrAmt=AmountRangeBoundary1 ToAmt=AmountRangeBoundary1',
  GenericIdentification1: 'Id=t35 SchmeNm?=t35 Issr?=t35',
  GenericIdentification20: 'Id=four Issr=t35 SchmeNm?=t35',
  GenericIdentification3: 'Id=t35 Issr?=t35',
  GenericIdentification32: 'Id=t35 Tp?=PartyType3Code Issr?=PartyType4Code ShrtNm?=t35',
  IdentificationSource3Choice: 'Cd=e4|Prtry=t35',
  ImpliedCurrencyAmountRange1Choice:
    'FrAmt=AmountRangeBoundary1|ToAmt=AmountRangeBoundary1|FrToAmt=FromToAmountRange1|EQAmt=bareAmount|NEQAmt=bareAmount',
  ImpliedCurrencyAmountRangeChoice:
    'FrAmt=AmountRangeBoundary1|ToAmt=AmountRangeBoundary1|FrToAmt=FromToAmountRange|EQAmt=bareAmount|NEQAmt=bareAmount',
  InterestRecord1:
    'Amt=amount CdtDbtInd=CreditDebit Tp?=InterestType1Choice Rate?=Rate3 FrToDt?=DateTimePeriodDetails Rsn?=t35 Tax?=TaxCharges2',
  InterestRecord2: 'Amt=amount CdtDbtInd=CreditDebit Tp?=InterestType1Choice Rate?=Rate4 FrToDt?=DateTimePeriod1 Rsn?=t35 Tax?=TaxCharges2',
  InterestType1Choice: 'Cd=InterestType1Code|Prtry=t35',
  MessageIdentification2: 'MsgNmId?=t35 MsgId?=t35',
  OriginalAndCurrentQuantities1: 'FaceAmt=bareAmount AmtsdVal=bareAmount',
  OriginalBusinessQuery1: 'MsgId=t35 MsgNmId?=t35 CreDtTm?=dateTime',
  OtherIdentification1: 'Id=t35 Sfx?=t16 Tp=IdentificationSource3Choice',
  PaymentCard4: 'PlainCardData?=PlainCardData1 CardCtryCd?=digits3 CardBrnd?=GenericIdentification1 AddtlCardData?=t70',
  PaymentContext3:
    'CardPres?=boolean CrdhldrPres?=boolean OnLineCntxt?=boolean AttndncCntxt?=AttendanceContext1Code ' +
    'TxEnvt?=TransactionEnvironment1Code TxChanl?=TransactionChannel1Code AttndntMsgCpbl?=boolean AttndntLang?=language ' +
    'CardDataNtryMd=CardDataReading1Code FllbckInd?=boolean AuthntcnMtd?=CardholderAuthentication2',
  PaymentTypeInformation27:
    'InstrPrty?=Priority ClrChanl?=ClearingChannel SvcLvl*=ServiceLevel8Choice LclInstrm?=Choice35 SeqTp?=SequenceType3Code ' +
    'CtgyPurp?=CategoryPurpose1Choice',
  PlainCardData1:
    'PAN=digits8to28 CardSeqNb?=digits2to3 FctvDt?=yearMonth XpryDt=yearMonth SvcCd?=digits3 TrckData*=TrackData1 ' +
    'CardSctyCd?=CardSecurityInformation1',
  PointOfInteraction1:
    'Id=GenericIdentification32 SysNm?=t70 GrpId?=t35 Cpblties?=PointOfInteractionCapabilities1 Cmpnt*=PointOfInteractionComponent1',
  PointOfInteractionCapabilities1:
    'CardRdngCpblties*=CardDataReading1Code CrdhldrVrfctnCpblties*=CardholderVerificationCapability1Code ' +
    'OnLineCpblties?=OnLineCapability1Code DispCpblties*=DisplayCapabilities1 PrtLineWidth?=digits1to3',
  PointOfInteractionComponent1: 'POICmpntTp=POIComponentType1Code ManfctrId?=t35 Mdl?=t35 VrsnNb?=t16 SrlNb?=t35 ApprvlNb*=t70',
  Price2: 'Tp=YieldedOrValueType1Choice Val=PriceRateOrAmountChoice',
  Price7: 'Tp=YieldedOrValueType1Choice Val=PriceRateOrAmount3Choice',
  PriceRateOrAmount3Choice: 'Rate=rate|Amt=price',
  PriceRateOrAmountChoice: 'Rate=rate|Amt=price',
  Product2: 'PdctCd=t70 UnitOfMeasr?=UnitOfMeasure1Code PdctQty?=sum UnitPric?=bareAmount PdctAmt?=bareAmount TaxTp?=t35 AddtlPdctInf?=t35',
  ProprietaryAgent2: 'Tp=t35 Agt=Agent',
  ProprietaryAgent3: 'Tp=t35 Agt=Agent',
  ProprietaryAgent4: 'Tp=t35 Agt=Agent',
  ProprietaryAgent5: 'Tp=t35 Agt=Agent',
  ProprietaryDate2: 'Tp=t35 Dt=DateOrTime',
  ProprietaryDate3: 'Tp=t35 Dt=DateOrTime',
  ProprietaryParty2: 'Tp=t35 Pty=Party',
  ProprietaryParty3: 'Tp=t35 Pty=Party',
  ProprietaryParty5: 'Tp=t35 Pty=AnyParty',
  ProprietaryParty6: 'Tp=t35 Pty=AnyParty',
  ProprietaryPrice2: 'Tp=t35 Pric=amount',
  ProprietaryQuantity1: 'Tp=t35 Qty=t35',
  Rate3: 'Tp=RateType4Choice VldtyRg?=CurrencyAndAmountRange2',
  Rate4: 'Tp=RateType4Choice VldtyRg?=ActiveOrHistoricCurrencyAndAmountRange2',
  RateType4Choice: 'Pctg=rate|Othr=t35',
  References74Choice:
    'SctiesSttlmTxId=t35|IntraPosMvmntId=t35|IntraBalMvmntId=t35|AcctSvcrTxId=t35|MktInfrstrctrTxId=t35|' +
    'CtrPtyMktInfrstrctrTxId?=t35|PoolId=t35|CmonId=t35|TradId=t52|OthrTxId=t35',
  SecuritiesAccount13: 'Id=t35 Tp?=GenericIdentification20 Nm?=t70',
  SecuritiesAccount19: 'Id=t35 Tp?=Generic Nm?=t70',
  SecurityIdentification14: 'ISIN?=isin OthrId*=OtherIdentification1 Desc?=t140',
  SecurityIdentification19: 'ISIN?=isin2015 OthrId*=OtherIdentification1 Desc?=t140',
  SecurityIdentification4Choice: 'ISIN=isin|Prtry=AlternateSecurityIdentification2',
  SequenceRange1: 'FrSeq=t35 ToSeq=t35',
  SequenceRange1Choice: 'FrSeq=t35|ToSeq=t35|FrToSeq+=SequenceRange1|EQSeq+=t35|NEQSeq+=t35',
  ServiceLevel8Choice: 'Cd=e4|Prtry=t35',
  TaxCharges2: 'Id?=t35 Rate?=rate Amt?=amount',
  TrackData1: 'TrckNb?=digits1 TrckVal=t140',
  TransactionAllocation1: 'Amt=amount CdtDbtInd=CreditDebit Acct=Account Purp=Choice4 Ref=t35 RltdRefs*=References74Choice',
  TransactionDates2:
    'AccptncDtTm?=dateTime TradActvtyCtrctlSttlmDt?=date TradDt?=date IntrBkSttlmDt?=date StartDt?=date EndDt?=date ' +
    'TxDtTm?=dateTime Prtry*=ProprietaryDate2',
  TransactionDates3:
    'AccptncDtTm?=dateTime TradActvtyCtrctlSttlmDt?=date TradDt?=date IntrBkSttlmDt?=date StartDt?=date EndDt?=date ' +
    'TxDtTm?=dateTime Prtry*=ProprietaryDate3',
  TransactionIdentifier1: 'TxDtTm=dateTime TxRef=t35',
  TransactionInterest2: 'Amt=amount CdtDbtInd=CreditDebit Tp?=InterestType1Choice Rate*=Rate3 FrToDt?=DateTimePeriodDetails Rsn?=t35',
  TransactionInterest3: 'TtlIntrstAndTaxAmt?=amount Rcrd*=InterestRecord1',
  TransactionInterest4: 'TtlIntrstAndTaxAmt?=amount Rcrd*=InterestRecord2',
  TransactionPrice2Choice: 'DealPric=amount|Prtry+=ProprietaryPrice2',
  TransactionPrice3Choice: 'DealPric=Price2|Prtry+=ProprietaryPrice2',
  TransactionPrice4Choice: 'DealPric=Price7|Prtry+=ProprietaryPrice2',
  TransactionQuantities1Choice: 'Qty=FinancialInstrumentQuantityChoice|Prtry=ProprietaryQuantity1',
  TransactionQuantities2Choice:
    'Qty=FinancialInstrumentQuantityChoice|OrgnlAndCurFaceAmt=OriginalAndCurrentQuantities1|Prtry=ProprietaryQuantity1',
  TransactionQuantities3Choice:
    'Qty=FinancialInstrumentQuantity1Choice|OrgnlAndCurFaceAmt=OriginalAndCurrentQuantities1|Prtry=ProprietaryQuantity1',
  TransactionQuantities4Choice:
    'Qty=FinancialInstrumentQuantity33Choice|OrgnlAndCurFaceAmt=OriginalAndCurrentQuantities1|Prtry=ProprietaryQuantity1',
  YieldedOrValueType1Choice: 'Yldd=boolean|ValTp=PriceValueType1Code',
}

/**
 * The structure of camt.053 in its versions 02, 04, 08, 10 and 13, after the message definitions of 2009, 2013, 2019, 2022 and 2024, read in
 * November 2026. Two elements are written as optional though the definitions demand them, since rules of their own ask for them: the bank
 * transaction code of an entry, and the account's identification in version 08.
 */

const STATEMENT: TypeTable = {
  Root: 'GrpHdr=Header Stmt+=Statement SplmtryData*=SupplementaryData1#4-',
  Header: 'MsgId=id35 CreDtTm=dateTime MsgRcpt?=Party MsgPgntn?=Pagination OrgnlBizQry?=OriginalBusinessQuery1#4- AddtlInf?=t500',
  Pagination: 'PgNb=page LastPgInd=boolean',
  Statement:
    'Id=id35 StmtPgntn?=Pagination#4- ElctrncSeqNb?=number RptgSeq?=SequenceRange1Choice#8- LglSeqNb?=number CreDtTm=dateTime#-4 ' +
    'CreDtTm?=dateTime#8- ' +
    'FrToDt?=Period CpyDplctInd?=CopyDuplicate RptgSrc?=Choice4 Acct=OwnAccount RltdAcct?=Account Intrst*=AccountInterest2#-4 ' +
    'Intrst*=AccountInterest4#8- Bal+=Balance ' +
    'TxsSummry?=Summary Ntry*=Entry AddtlStmtInf?=t500',
  Period: 'FrDtTm=dateTime ToDtTm=dateTime',
  OwnAccount: 'Id=AccountChoice#-4 Id?=AccountChoice#8- Tp?=AccountType Ccy?=currency Nm?=t70 Prxy?=Proxy@19- Ownr?=Party Svcr?=Agent',
  Balance:
    'Tp=BalanceKind CdtLine?=CreditLine2#-4 CdtLine*=CreditLine3#8- Amt=amount CdtDbtInd=CreditDebit Dt=DateOrTime ' +
    'Avlbty*=CashBalanceAvailability2#-4 Avlbty*=CashAvailability1#8-',
  BalanceKind: 'CdOrPrtry=BalanceChoice SubTp?=Choice4',
  BalanceChoice: 'Cd=BalanceType|Prtry=t35#-4 Cd=e4|Prtry=t35#8-',
  Summary: 'TtlNtries?=TotalEntries TtlCdtNtries?=Total TtlDbtNtries?=Total TtlNtriesPerBkTxCd*=CodeTotal',
  TotalEntries: 'NbOfNtries?=count Sum?=sum TtlNetNtryAmt?=sum#-2 CdtDbtInd?=CreditDebit#-2 TtlNetNtry?=Net#4-',
  Net: 'Amt=positiveSum CdtDbtInd=CreditDebit',
  Total: 'NbOfNtries?=count Sum?=sum',
  CodeTotal:
    'NbOfNtries?=count Sum?=sum TtlNetNtryAmt?=sum#-2 CdtDbtInd?=CreditDebit#-2 TtlNetNtry?=Net#4- CdtNtries?=Total#8- ' +
    'DbtNtries?=Total#8- ' +
    'FcstInd?=boolean BkTxCd=TransactionCode Avlbty*=CashBalanceAvailability2#-4 Avlbty*=CashAvailability1#8- Dt?=DateOrTime#8-',
}

const ENTRY: TypeTable = {
  Entry:
    'NtryRef?=t35 Amt=amount CdtDbtInd=CreditDebit RvslInd?=boolean Sts=EntryStatus#-4 Sts=Status#8- BookgDt?=DateOrTime ' +
    'ValDt?=DateOrTime ' +
    'AcctSvcrRef?=t35 Avlbty*=CashBalanceAvailability2#-4 Avlbty*=CashAvailability1#8- BkTxCd?=TransactionCode ComssnWvrInd?=boolean ' +
    'AddtlInfInd?=MessageIdentification2 AmtDtls?=Amounts Chrgs*=OldCharges#-2 ' +
    'Chrgs?=Charges#4- TechInptChanl?=Choice4 Intrst*=TransactionInterest2#-2 Intrst?=TransactionInterest3#4 ' +
    'Intrst?=TransactionInterest4#8- CardTx?=CardEntry1#4 CardTx?=CardEntry4#8 CardTx?=CardEntry5#10- NtryDtls*=Details ' +
    'AddtlNtryInf?=t500',
  Status: 'Cd=e4|Prtry=t35',
  TransactionCode: 'Domn?=Domain Prtry?=Proprietary',
  Domain: 'Cd=e4 Fmly=Family',
  Family: 'Cd=e4 SubFmlyCd=e4',
  Proprietary: 'Cd=t35 Issr?=t35',
  Amounts: 'InstdAmt?=AmountDetail TxAmt?=AmountDetail CntrValAmt?=AmountDetail AnncdPstngAmt?=AmountDetail PrtryAmt*=ProprietaryAmount',
  AmountDetail: 'Amt=amount CcyXchg?=CurrencyExchange',
  ProprietaryAmount: 'Tp=t35 Amt=amount CcyXchg?=CurrencyExchange',
  CurrencyExchange:
    'SrcCcy=currency TrgtCcy?=currency UnitCcy?=currency XchgRate=rate CtrctId?=t35 QtnDt?=dateTime XchgRateBase?=positiveNumber#13-',
  OldCharges:
    'TtlChrgsAndTaxAmt?=amount Amt=amount CdtDbtInd?=CreditDebit Tp?=ChargeType2Choice Rate?=rate Br?=ChargeBearer Pty?=Agent ' +
    'Tax?=TaxCharges2',
  Charges: 'TtlChrgsAndTaxAmt?=amount Rcrd*=ChargeRecord',
  ChargeRecord:
    'Amt=amount CdtDbtInd?=CreditDebit ChrgInclInd?=boolean Tp?=ChargeType3Choice Rate?=rate Br?=ChargeBearer Agt?=Agent Tax?=TaxCharges2',
}

const DETAILS: TypeTable = {
  Details: 'Btch?=Batch TxDtls*=TransactionDetails',
  Batch: 'MsgId?=t35 PmtInfId?=t35 NbOfTxs?=count TtlAmt?=amount CdtDbtInd?=CreditDebit',
  TransactionDetails:
    'Refs?=References Amt=amount#4 CdtDbtInd=CreditDebit#4 Amt?=amount#8- CdtDbtInd?=CreditDebit#8- AmtDtls?=Amounts ' +
    'Avlbty*=CashBalanceAvailability2#-4 Avlbty*=CashAvailability1#8- ' +
    'BkTxCd?=TransactionCode Chrgs*=OldCharges#-2 Chrgs?=Charges#4- Intrst*=TransactionInterest2#-2 Intrst?=TransactionInterest3#4 ' +
    'Intrst?=TransactionInterest4#8- RltdPties?=Parties RltdAgts?=Agents ' +
    'LclInstrm?=Choice35#8- PmtTpInf?=PaymentTypeInformation27#10- Purp?=Choice4 RltdRmtInf*10=RemittanceLocation2#-4 ' +
    'RltdRmtInf*10=RemittanceLocation7#8-10 RltdRmtInf*10=RemittanceLocation8#13- RmtInf?=Remittance RltdDts?=TransactionDates2#-4 ' +
    'RltdDts?=TransactionDates3#8- RltdPric?=TransactionPrice2Choice#-2 RltdPric?=TransactionPrice3Choice#4 ' +
    'RltdPric?=TransactionPrice4Choice#8- RltdQties*=TransactionQuantities1Choice#-2 RltdQties*=TransactionQuantities2Choice#4 ' +
    'RltdQties*=TransactionQuantities3Choice#8-10 RltdQties*=TransactionQuantities4Choice#13- ' +
    'FinInstrmId?=SecurityIdentification4Choice#-2 FinInstrmId?=SecurityIdentification14#4 FinInstrmId?=SecurityIdentification19#8- ' +
    'Tax?=TaxInformation3#-4 Tax?=TaxInformation8#8 Tax?=TaxInformation10#10 Tax?=TaxData1#13- RtrInf?=Return ' +
    'CorpActn?=CorporateAction1#-2 CorpActn?=CorporateAction9#4-10 RltdCorpActn?=CorporateAction82#13- SfkpgAcct?=Account#-2 ' +
    'SfkpgAcct?=SecuritiesAccount13#4 SfkpgAcct?=SecuritiesAccount19#8- UndrlygAllcn*=TransactionAllocation1#13- ' +
    'CshDpst*=CashDeposit1#4- ' +
    'CardTx?=CardTransaction1#4 CardTx?=CardTransaction17#8 CardTx?=CardTransaction18#10- InstrCpy?=t20000#13- AddtlTxInf?=t500 ' +
    'SplmtryData*=SupplementaryData1#4-',
  References:
    'MsgId?=t35 AcctSvcrRef?=t35 PmtInfId?=t35 InstrId?=t35 EndToEndId?=t35 UETR?=uetr#8- TxId?=t35 MndtId?=t35 ChqNb?=t35 ' +
    'ClrSysRef?=t35 ' +
    'AcctOwnrTxId?=t35#4- AcctSvcrTxId?=t35#4- MktInfrstrctrTxId?=t35#4- PrcgId?=t35#4- Prtry?=Reference#-2 Prtry*=Reference#4-',
  Reference: 'Tp=t35 Ref=t35',
  Parties:
    'InitgPty?=Party#-4 Dbtr?=Party#-4 InitgPty?=AnyParty#8- Dbtr?=AnyParty#8- DbtrAcct?=Account UltmtDbtr?=Party#-4 ' +
    'UltmtDbtr?=AnyParty#8- ' +
    'Cdtr?=Party#-4 Cdtr?=AnyParty#8- CdtrAcct?=Account UltmtCdtr?=Party#-4 UltmtCdtr?=AnyParty#8- TradgPty?=Party#-4 ' +
    'TradgPty?=AnyParty#8- ' +
    'Prtry*=ProprietaryParty2#-2 Prtry*=ProprietaryParty3#4 Prtry*=ProprietaryParty5#8-10 Prtry*=ProprietaryParty6#13-',
  AnyParty: 'Pty=Party|Agt=Agent',
  Agents:
    'InstgAgt?=Agent#8- InstdAgt?=Agent#8- DbtrAgt?=Agent CdtrAgt?=Agent IntrmyAgt1?=Agent IntrmyAgt2?=Agent IntrmyAgt3?=Agent ' +
    'RcvgAgt?=Agent ' +
    'DlvrgAgt?=Agent IssgAgt?=Agent SttlmPlc?=Agent Prtry*=ProprietaryAgent2#-2 Prtry*=ProprietaryAgent3#4 ' +
    'Prtry*=ProprietaryAgent4#8-10 Prtry*=ProprietaryAgent5#13-',
  Return: 'OrgnlBkTxCd?=TransactionCode Orgtr?=Party Rsn?=Choice4 AddtlInf*=t105',
}

export const CAMT_TYPES: TypeTable = { ...COMMON_TYPES, ...CAMT_DETAIL_TYPES, ...STATEMENT, ...ENTRY, ...DETAILS }
