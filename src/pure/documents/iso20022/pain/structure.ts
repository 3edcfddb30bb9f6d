/** The structure of pain.001 in its versions 03, 09, 11 and 12. */
import { COMMON_TYPES } from '../common-types.ts'
import type { TypeTable } from '../schema.ts'

export const PAIN_TYPES: TypeTable = {
  ...COMMON_TYPES,
  Root: 'GrpHdr=Header PmtInf+=Payment SplmtryData*=SupplementaryData1#9-',
  Header: 'MsgId=id35 CreDtTm=dateTime Authstn*2=Authority NbOfTxs=count CtrlSum?=sum InitgPty=Party FwdgAgt?=Agent InitnSrc?=Source#11-',
  Authority: 'Cd=Authorisation|Prtry=t128',
  Source: 'Nm=t140 Prvdr?=t35 Vrsn?=t35',
  Payment:
    'PmtInfId=id35 PmtMtd=PaymentMethod ReqdAdvcTp?=AdviceType1#11- BtchBookg?=boolean NbOfTxs?=count CtrlSum?=sum ' +
    'PmtTpInf?=TypeInformation ' +
    'ReqdExctnDt=date#-3 ReqdExctnDt=DateOrTime#9- PoolgAdjstmntDt?=date Dbtr=Party DbtrAcct=Account DbtrAgt=Agent DbtrAgtAcct?=Account ' +
    'InstrForDbtrAgt?=t140#9- UltmtDbtr?=Party ChrgBr?=ChargeBearer ChrgsAcct?=Account ChrgsAcctAgt?=Agent CdtTrfTxInf+=Transaction',
  TypeInformation: 'InstrPrty?=Priority SvcLvl?=Choice4#-3 SvcLvl*=Choice4#9- LclInstrm?=Choice35 CtgyPurp?=Choice4',
  Transaction:
    'PmtId=Identification PmtTpInf?=TypeInformation Amt=Amount XchgRateInf?=Exchange ChrgBr?=ChargeBearer ' +
    'MndtRltdInf?=CreditTransferMandateData1#11- ChqInstr?=Cheque ' +
    'UltmtDbtr?=Party IntrmyAgt1?=Agent IntrmyAgt1Acct?=Account IntrmyAgt2?=Agent IntrmyAgt2Acct?=Account IntrmyAgt3?=Agent ' +
    'IntrmyAgt3Acct?=Account CdtrAgt?=Agent CdtrAgtAcct?=Account Cdtr?=Party CdtrAcct?=Account UltmtCdtr?=Party ' +
    'InstrForCdtrAgt*=CreditorInstructions InstrForDbtrAgt?=t140#-9 InstrForDbtrAgt?=DebtorInstruction#11- Purp?=Choice4 ' +
    'RgltryRptg*10=RegulatoryReporting3 ' +
    'Tax?=TaxInformation3#-3 Tax?=TaxInformation8#9 Tax?=TaxInformation10#11 Tax?=TaxData1#12- RltdRmtInf*10=RemittanceLocation2#-3 ' +
    'RltdRmtInf*10=RemittanceLocation7#9-11 RltdRmtInf*10=RemittanceLocation8#12- RmtInf?=Remittance SplmtryData*=SupplementaryData1#9-',
  Identification: 'InstrId?=id35 EndToEndId=id35 UETR?=uetr#9-',
  Amount: 'InstdAmt=amount|EqvtAmt=Equivalent',
  Equivalent: 'Amt=amount CcyOfTrf=currency',
  Exchange: 'UnitCcy?=currency#9- XchgRate?=rate RateTp?=RateType CtrctId?=t35',
  CreditorInstructions: 'Cd?=Instruction#-9 Cd?=e4#11- InstrInf?=t140',
  DebtorInstruction: 'Cd?=e4 InstrInf?=t140',
  Cheque:
    'ChqTp?=ChequeType ChqNb?=t35 ChqFr?=NameAndAddress DlvryMtd?=Delivery DlvrTo?=NameAndAddress InstrPrty?=Priority ChqMtrtyDt?=date ' +
    'FrmsCd?=t35 MemoFld*2=t35 RgnlClrZone?=t35 PrtLctn?=t35 Sgntr*5=t70#9-',
  Delivery: 'Cd=ChequeDelivery|Prtry=t35',
}
