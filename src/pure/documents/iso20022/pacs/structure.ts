/** The structure of pacs.008 in its versions 02, 08, 10, 12 and 13. Source: the message definitions, read in November 2026. */
import { COMMON_TYPES } from '../common-types.ts'
import type { TypeTable } from '../schema.ts'

const AGENTS_PASSED =
  'PrvsInstgAgt?=Agent#-2 PrvsInstgAgtAcct?=Account#-2 PrvsInstgAgt1?=Agent#8- PrvsInstgAgt1Acct?=Account#8- PrvsInstgAgt2?=Agent#8- ' +
  'PrvsInstgAgt2Acct?=Account#8- PrvsInstgAgt3?=Agent#8- PrvsInstgAgt3Acct?=Account#8- InstgAgt?=Agent InstdAgt?=Agent IntrmyAgt1?=Agent ' +
  'IntrmyAgt1Acct?=Account IntrmyAgt2?=Agent IntrmyAgt2Acct?=Account IntrmyAgt3?=Agent IntrmyAgt3Acct?=Account'

/** Version 13 gathers acceptance, pooling and expiry in one element; each had none or its own before. */
const TRANSFER: TypeTable = {
  Transaction:
    'PmtId=Identification PmtTpInf?=TypeInformation IntrBkSttlmAmt=amount IntrBkSttlmDt?=date SttlmPrty?=SettlementPriority ' +
    'SttlmTmIndctn?=SettlementTime SttlmTmReq?=SettlementRequest AddtlDtTm?=AdditionalTimes#13- AccptncDtTm?=dateTime#-12 ' +
    `PoolgAdjstmntDt?=date#-12 InstdAmt?=amount XchgRate?=rate AgrdRate?=AgreedRate#13- ChrgBr=ChargeBearer ChrgsInf*=Charges ` +
    `MndtRltdInf?=CreditTransferMandateData1#10- PmtSgntr?=CryptographicKey1Choice#13- ${AGENTS_PASSED} UltmtDbtr?=Party InitgPty?=Party Dbtr=Party DbtrAcct?=Account DbtrAgt=Agent ` +
    'DbtrAgtAcct?=Account CdtrAgt=Agent CdtrAgtAcct?=Account Cdtr=Party CdtrAcct?=Account UltmtCdtr?=Party ' +
    'InstrForCdtrAgt*=CreditorInstructions InstrForNxtAgt*=NextInstructions Purp?=Choice4 RgltryRptg*10=RegulatoryReporting3 ' +
    'Tax?=TaxInformation8#8 Tax?=TaxInformation10#10 Tax?=TaxData1#12- RltdRmtInf*10=RemittanceLocation2#-2 ' +
    'RltdRmtInf*10=RemittanceLocation7#8-10 RltdRmtInf*10=RemittanceLocation8#12- ' +
    'RmtInf?=Remittance SplmtryData*=SupplementaryData1#8-',
  // Version 02 demands TxId; a rule of its own says so.
  Identification: 'InstrId?=id35 EndToEndId=id35 TxId?=id35 UETR?=uetr#8- ClrSysRef?=t35',
  SettlementTime: 'DbtDtTm?=dateTime CdtDtTm?=dateTime',
  SettlementRequest: 'CLSTm?=time TillTm?=time FrTm?=time RjctTm?=time',
  AdditionalTimes: 'AccptncDtTm?=dateTime PoolgAdjstmntDt?=date XpryDtTm?=dateTime',
  AgreedRate: 'UnitCcy?=currency QtdCcy?=currency PreAgrdXchgRate=rate QtnDtTm?=dateTime QtId?=uuid FXAgt?=Agent',
  Charges: 'Amt=amount Pty=Agent#-2 Agt=Agent#8- Tp?=ChargeType#12-',
  ChargeType: 'Cd=e4|Prtry=Issued',
  Issued: 'Id=t35 Issr?=t35',
  CreditorInstructions: 'Cd?=Instruction#-8 Cd?=e4#10- InstrInf?=t140',
  NextInstructions: 'Cd?=InstructionNext InstrInf?=t140',
}

export const PACS_TYPES: TypeTable = {
  ...COMMON_TYPES,
  Root: 'GrpHdr=Header CdtTrfTxInf+=Transaction SplmtryData*=SupplementaryData1#8-',
  Header:
    'MsgId=id35 CreDtTm=dateTime XpryDtTm?=dateTime#13- BtchBookg?=boolean NbOfTxs=count CtrlSum?=sum TtlIntrBkSttlmAmt?=amount ' +
    'IntrBkSttlmDt?=date SttlmInf=Settlement PmtTpInf?=TypeInformation InstgAgt?=Agent InstdAgt?=Agent',
  Settlement:
    'SttlmMtd=SettlementMethod SttlmAcct?=Account ClrSys?=Clearing InstgRmbrsmntAgt?=Agent InstgRmbrsmntAgtAcct?=Account ' +
    'InstdRmbrsmntAgt?=Agent InstdRmbrsmntAgtAcct?=Account ThrdRmbrsmntAgt?=Agent ThrdRmbrsmntAgtAcct?=Account',
  Clearing: 'Cd=e3|Prtry=t35',
  TypeInformation:
    'InstrPrty?=Priority ClrChanl?=ClearingChannel SvcLvl?=Choice4#-2 SvcLvl*=Choice4#8- LclInstrm?=Choice35 CtgyPurp?=Choice4',
  ...TRANSFER,
}
