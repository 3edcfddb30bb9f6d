/**
 * The structure of camt.053 in its versions 02, 04, 08, 10 and 13, after the message definitions of 2009, 2013, 2019, 2022 and 2024, read in
 * November 2026. Two elements are written as optional though the definitions demand them, since rules of their own ask for them: the bank
 * transaction code of an entry, and the account's identification in version 08.
 */
import { COMMON_TYPES } from '../common-types.ts'
import type { TypeTable } from '../schema.ts'
import { CAMT_DETAIL_TYPES } from './detail-types.ts'

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
