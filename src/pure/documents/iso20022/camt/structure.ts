/**
 * The structure of camt.053 in its versions 02, 04, 08, 10 and 13, after the message definitions of 2009, 2013, 2019, 2022 and 2024, read in
 * November 2026. Two elements are written as optional though the definitions demand them, since rules of their own ask for them: the bank
 * transaction code of an entry, and the account's identification in version 08.
 */
import { COMMON_TYPES } from '../common-types.ts'
import type { TypeTable } from '../schema.ts'

const STATEMENT: TypeTable = {
  Root: 'GrpHdr=Header Stmt+=Statement SplmtryData*=any#4-',
  Header: 'MsgId=id35 CreDtTm=dateTime MsgRcpt?=Party MsgPgntn?=Pagination OrgnlBizQry?=any#4- AddtlInf?=t500',
  Pagination: 'PgNb=page LastPgInd=boolean',
  Statement:
    'Id=id35 StmtPgntn?=Pagination#4- ElctrncSeqNb?=number RptgSeq?=any#8- LglSeqNb?=number CreDtTm=dateTime#-4 CreDtTm?=dateTime#8- ' +
    'FrToDt?=Period CpyDplctInd?=CopyDuplicate RptgSrc?=Choice4 Acct=OwnAccount RltdAcct?=Account Intrst*=any Bal+=Balance ' +
    'TxsSummry?=Summary Ntry*=Entry AddtlStmtInf?=t500',
  Period: 'FrDtTm=dateTime ToDtTm=dateTime',
  OwnAccount: 'Id=AccountChoice#-4 Id?=AccountChoice#8- Tp?=AccountType Ccy?=currency Nm?=t70 Prxy?=Proxy@19- Ownr?=Party Svcr?=Agent',
  Balance: 'Tp=BalanceKind CdtLine?=any#-4 CdtLine*=any#8- Amt=amount CdtDbtInd=CreditDebit Dt=DateOrTime Avlbty*=any',
  BalanceKind: 'CdOrPrtry=BalanceChoice SubTp?=Choice4',
  BalanceChoice: 'Cd=BalanceType|Prtry=t35#-4 Cd=e4|Prtry=t35#8-',
  Summary: 'TtlNtries?=TotalEntries TtlCdtNtries?=Total TtlDbtNtries?=Total TtlNtriesPerBkTxCd*=CodeTotal',
  TotalEntries: 'NbOfNtries?=count Sum?=sum TtlNetNtryAmt?=sum#-2 CdtDbtInd?=CreditDebit#-2 TtlNetNtry?=Net#4-',
  Net: 'Amt=sum CdtDbtInd=CreditDebit',
  Total: 'NbOfNtries?=count Sum?=sum',
  CodeTotal:
    'NbOfNtries?=count Sum?=sum TtlNetNtryAmt?=sum#-2 CdtDbtInd?=CreditDebit#-2 TtlNetNtry?=Net#4- CdtNtries?=Total#8- DbtNtries?=Total#8- ' +
    'FcstInd?=boolean BkTxCd=TransactionCode Avlbty*=any Dt?=any#8-',
}

const ENTRY: TypeTable = {
  Entry:
    'NtryRef?=t35 Amt=amount CdtDbtInd=CreditDebit RvslInd?=boolean Sts=EntryStatus#-4 Sts=Status#8- BookgDt?=DateOrTime ValDt?=DateOrTime ' +
    'AcctSvcrRef?=t35 Avlbty*=any BkTxCd?=TransactionCode ComssnWvrInd?=boolean AddtlInfInd?=any AmtDtls?=Amounts Chrgs*=OldCharges#-2 ' +
    'Chrgs?=Charges#4- TechInptChanl?=Choice4 Intrst*=any#-2 Intrst?=any#4- CardTx?=any#4- NtryDtls*=Details AddtlNtryInf?=t500',
  Status: 'Cd=e4|Prtry=t35',
  TransactionCode: 'Domn?=Domain Prtry?=Proprietary',
  Domain: 'Cd=e4 Fmly=Family',
  Family: 'Cd=e4 SubFmlyCd=e4',
  Proprietary: 'Cd=t35 Issr?=t35',
  Amounts: 'InstdAmt?=AmountDetail TxAmt?=AmountDetail CntrValAmt?=AmountDetail AnncdPstngAmt?=AmountDetail PrtryAmt*=ProprietaryAmount',
  AmountDetail: 'Amt=amount CcyXchg?=CurrencyExchange',
  ProprietaryAmount: 'Tp=t35 Amt=amount CcyXchg?=CurrencyExchange',
  CurrencyExchange: 'SrcCcy=currency TrgtCcy?=currency UnitCcy?=currency XchgRate=rate CtrctId?=t35 QtnDt?=dateTime XchgRateBase?=rate#13-',
  OldCharges: 'TtlChrgsAndTaxAmt?=amount Amt=amount CdtDbtInd?=CreditDebit Tp?=any Rate?=rate Br?=ChargeBearer Pty?=Agent Tax?=any',
  Charges: 'TtlChrgsAndTaxAmt?=amount Rcrd*=ChargeRecord',
  ChargeRecord: 'Amt=amount CdtDbtInd?=CreditDebit ChrgInclInd?=boolean Tp?=any Rate?=rate Br?=ChargeBearer Agt?=Agent Tax?=any',
}

const DETAILS: TypeTable = {
  Details: 'Btch?=Batch TxDtls*=TransactionDetails',
  Batch: 'MsgId?=t35 PmtInfId?=t35 NbOfTxs?=count TtlAmt?=amount CdtDbtInd?=CreditDebit',
  TransactionDetails:
    'Refs?=References Amt=amount#4 CdtDbtInd=CreditDebit#4 Amt?=amount#8- CdtDbtInd?=CreditDebit#8- AmtDtls?=Amounts Avlbty*=any ' +
    'BkTxCd?=TransactionCode Chrgs*=OldCharges#-2 Chrgs?=Charges#4- Intrst*=any#-2 Intrst?=any#4- RltdPties?=Parties RltdAgts?=Agents ' +
    'LclInstrm?=Choice35#8- PmtTpInf?=any#10- Purp?=Choice4 RltdRmtInf*10=any RmtInf?=Remittance RltdDts?=any RltdPric?=any RltdQties*=any ' +
    'FinInstrmId?=any Tax?=any RtrInf?=Return CorpActn?=any#-10 RltdCorpActn?=any#13- SfkpgAcct?=any UndrlygAllcn*=any#13- CshDpst*=any#4- ' +
    'CardTx?=any#4- InstrCpy?=t20000#13- AddtlTxInf?=t500 SplmtryData*=any#4-',
  References:
    'MsgId?=t35 AcctSvcrRef?=t35 PmtInfId?=t35 InstrId?=t35 EndToEndId?=t35 UETR?=uetr#8- TxId?=t35 MndtId?=t35 ChqNb?=t35 ClrSysRef?=t35 ' +
    'AcctOwnrTxId?=t35#4- AcctSvcrTxId?=t35#4- MktInfrstrctrTxId?=t35#4- PrcgId?=t35#4- Prtry?=Reference#-2 Prtry*=Reference#4-',
  Reference: 'Tp=t35 Ref=t35',
  Parties:
    'InitgPty?=Party#-4 Dbtr?=Party#-4 InitgPty?=AnyParty#8- Dbtr?=AnyParty#8- DbtrAcct?=Account UltmtDbtr?=Party#-4 UltmtDbtr?=AnyParty#8- ' +
    'Cdtr?=Party#-4 Cdtr?=AnyParty#8- CdtrAcct?=Account UltmtCdtr?=Party#-4 UltmtCdtr?=AnyParty#8- TradgPty?=Party#-4 TradgPty?=AnyParty#8- ' +
    'Prtry*=any',
  AnyParty: 'Pty=Party|Agt=Agent',
  Agents:
    'InstgAgt?=Agent#8- InstdAgt?=Agent#8- DbtrAgt?=Agent CdtrAgt?=Agent IntrmyAgt1?=Agent IntrmyAgt2?=Agent IntrmyAgt3?=Agent RcvgAgt?=Agent ' +
    'DlvrgAgt?=Agent IssgAgt?=Agent SttlmPlc?=Agent Prtry*=any',
  Return: 'OrgnlBkTxCd?=TransactionCode Orgtr?=Party Rsn?=Choice4 AddtlInf*=t105',
}

export const CAMT_TYPES: TypeTable = { ...COMMON_TYPES, ...STATEMENT, ...ENTRY, ...DETAILS }
