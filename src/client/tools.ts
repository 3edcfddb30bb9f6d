// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { AbaRoutingCheckInput, AbaRoutingCheckOutput } from './tools/bank/aba-routing-check.ts'
import type { IbanCheckInput, IbanCheckOutput } from './tools/bank/iban-check.ts'
import type { IfscCheckInput, IfscCheckOutput } from './tools/bank/ifsc-check.ts'
import type { Iso4217CurrencyCheckInput, Iso4217CurrencyCheckOutput } from './tools/bank/iso4217-currency-check.ts'
import type { LuhnCheckInput, LuhnCheckOutput } from './tools/bank/luhn-check.ts'
import type { SwiftBicCheckInput, SwiftBicCheckOutput } from './tools/bank/swift-bic-check.ts'
import type { UpiVpaCheckInput, UpiVpaCheckOutput } from './tools/bank/upi-vpa-check.ts'
import type { AbnCheckInput, AbnCheckOutput } from './tools/company/abn-check.ts'
import type { CompanyNumberFormatInput, CompanyNumberFormatOutput } from './tools/company/company-number-format.ts'
import type { JapanCorpCheckInput, JapanCorpCheckOutput } from './tools/company/japan-corp-check.ts'
import type { LeiCheckInput, LeiCheckOutput } from './tools/company/lei-check.ts'
import type { OfacSdnCheckInput, OfacSdnCheckOutput } from './tools/company/ofac-sdn-check.ts'
import type { UsccCheckInput, UsccCheckOutput } from './tools/company/uscc-check.ts'
import type { CnpjCheckInput, CnpjCheckOutput } from './tools/tax/cnpj-check.ts'
import type { EinFormatCheckInput, EinFormatCheckOutput } from './tools/tax/ein-format-check.ts'
import type { GstinCheckInput, GstinCheckOutput } from './tools/tax/gstin-check.ts'
import type { KraPinCheckInput, KraPinCheckOutput } from './tools/tax/kra-pin-check.ts'
import type { PanFormatCheckInput, PanFormatCheckOutput } from './tools/tax/pan-format-check.ts'
import type { RfcCheckInput, RfcCheckOutput } from './tools/tax/rfc-check.ts'
import type { UaeTrnCheckInput, UaeTrnCheckOutput } from './tools/tax/uae-trn-check.ts'
import type { VatMod97CheckInput, VatMod97CheckOutput } from './tools/tax/vat-mod97-check.ts'
import type { IsinCheckInput, IsinCheckOutput } from './tools/securities/isin-check.ts'
import type { SedolCheckInput, SedolCheckOutput } from './tools/securities/sedol-check.ts'
import type { E164CheckInput, E164CheckOutput } from './tools/contact/e164-check.ts'
import type { Ean13CheckInput, Ean13CheckOutput } from './tools/goods/ean13-check.ts'
import type { IsbnCheckInput, IsbnCheckOutput } from './tools/goods/isbn-check.ts'
import type { CleanMarkdownScraperInput, CleanMarkdownScraperOutput } from './tools/text/clean-markdown-scraper.ts'
import type { ContextDistillInput, ContextDistillOutput } from './tools/text/context-distill.ts'
import type { InstantJsonSchemaVerifierInput, InstantJsonSchemaVerifierOutput } from './tools/text/instant-json-schema-verifier.ts'
import type { Iso20022ToX402IntentInput, Iso20022ToX402IntentOutput } from './tools/messages/iso20022-to-x402-intent.ts'
import type { Iso20022ValidateInput, Iso20022ValidateOutput } from './tools/messages/iso20022-validate.ts'
import type { ReconcileInput, ReconcileOutput } from './tools/messages/reconcile.ts'
import type { BalanceCheckInput, BalanceCheckOutput } from './tools/chain/balance-check.ts'
import type { BlockInfoInput, BlockInfoOutput } from './tools/chain/block-info.ts'
import type { Erc20BalanceInput, Erc20BalanceOutput } from './tools/chain/erc20-balance.ts'
import type { SettlementHistoryCheckInput, SettlementHistoryCheckOutput } from './tools/chain/settlement-history-check.ts'
import type { TokenContractRiskInput, TokenContractRiskOutput } from './tools/chain/token-contract-risk.ts'
import type { TxActivityInput, TxActivityOutput } from './tools/chain/tx-activity.ts'
import type { CalculateFxSavingsInput, CalculateFxSavingsOutput } from './tools/market/calculate-fx-savings.ts'
import type { CryptoTickerInput, CryptoTickerOutput } from './tools/market/crypto-ticker.ts'
import type { FxSpotPriceOracleInput, FxSpotPriceOracleOutput } from './tools/market/fx-spot-price-oracle.ts'
import type { ReceiptVerifyInput, ReceiptVerifyOutput } from './tools/proof/receipt-verify.ts'
import type { AciTrustLookupInput, AciTrustLookupOutput } from './tools/trust/aci-trust-lookup.ts'
import type { AssuredCreateInput, AssuredCreateOutput } from './tools/trust/assured-create.ts'
import type { AssuredQuoteInput, AssuredQuoteOutput } from './tools/trust/assured-quote.ts'
import type { CspCommitmentCreateInput, CspCommitmentCreateOutput } from './tools/trust/csp-commitment-create.ts'
import type { DipFileDisputeInput, DipFileDisputeOutput } from './tools/trust/dip-file-dispute.ts'
import type { PodVerifyDeliveryInput, PodVerifyDeliveryOutput } from './tools/trust/pod-verify-delivery.ts'
import type { SimulateSpendSentinelInput, SimulateSpendSentinelOutput } from './tools/trust/simulate-spend-sentinel.ts'
import type { CreateAp2PilotInput, CreateAp2PilotOutput } from './tools/invoices/create-ap2-pilot.ts'
import type { CreateB2bInvoiceInput, CreateB2bInvoiceOutput } from './tools/invoices/create-b2b-invoice.ts'
import type { GetB2bInvoiceInput, GetB2bInvoiceOutput } from './tools/invoices/get-b2b-invoice.ts'
import type { BindInsurancePolicyInput, BindInsurancePolicyOutput } from './tools/insurance/bind-insurance-policy.ts'
import type { ListApprovedInsurersInput, ListApprovedInsurersOutput } from './tools/insurance/list-approved-insurers.ts'
import type { Quote3rdPartyInsuranceInput, Quote3rdPartyInsuranceOutput } from './tools/insurance/quote-3rd-party-insurance.ts'
import type { AfricaSupplierCheckInput, AfricaSupplierCheckOutput } from './tools/packs/africa-supplier-check.ts'
import type { BatchValidateInput, BatchValidateOutput } from './tools/packs/batch-validate.ts'
import type { ChinaSupplierCheckInput, ChinaSupplierCheckOutput } from './tools/packs/china-supplier-check.ts'
import type { GulfSupplierCheckInput, GulfSupplierCheckOutput } from './tools/packs/gulf-supplier-check.ts'
import type { IndiaSupplierCheckInput, IndiaSupplierCheckOutput } from './tools/packs/india-supplier-check.ts'
import type { JapanSupplierCheckInput, JapanSupplierCheckOutput } from './tools/packs/japan-supplier-check.ts'
import type { LatamSupplierCheckInput, LatamSupplierCheckOutput } from './tools/packs/latam-supplier-check.ts'
import type { PreDisbursementGuardInput, PreDisbursementGuardOutput } from './tools/packs/pre-disbursement-guard.ts'
import type { RentDepositGuardInput, RentDepositGuardOutput } from './tools/packs/rent-deposit-guard.ts'
import type { RentalListingRiskInput, RentalListingRiskOutput } from './tools/packs/rental-listing-risk.ts'
import type { RentalVerdictInput, RentalVerdictOutput } from './tools/packs/rental-verdict.ts'
import type { VendorOnboardingPackInput, VendorOnboardingPackOutput } from './tools/packs/vendor-onboarding-pack.ts'

/** What each tool takes, by its id. */
export interface ToolInputs {
  'aba-routing-check': AbaRoutingCheckInput
  'iban-check': IbanCheckInput
  'ifsc-check': IfscCheckInput
  'iso4217-currency-check': Iso4217CurrencyCheckInput
  'luhn-check': LuhnCheckInput
  'swift-bic-check': SwiftBicCheckInput
  'upi-vpa-check': UpiVpaCheckInput
  'abn-check': AbnCheckInput
  'company-number-format': CompanyNumberFormatInput
  'japan-corp-check': JapanCorpCheckInput
  'lei-check': LeiCheckInput
  'ofac-sdn-check': OfacSdnCheckInput
  'uscc-check': UsccCheckInput
  'cnpj-check': CnpjCheckInput
  'ein-format-check': EinFormatCheckInput
  'gstin-check': GstinCheckInput
  'kra-pin-check': KraPinCheckInput
  'pan-format-check': PanFormatCheckInput
  'rfc-check': RfcCheckInput
  'uae-trn-check': UaeTrnCheckInput
  'vat-mod97-check': VatMod97CheckInput
  'isin-check': IsinCheckInput
  'sedol-check': SedolCheckInput
  'e164-check': E164CheckInput
  'ean13-check': Ean13CheckInput
  'isbn-check': IsbnCheckInput
  'clean-markdown-scraper': CleanMarkdownScraperInput
  'context-distill': ContextDistillInput
  'instant-json-schema-verifier': InstantJsonSchemaVerifierInput
  'iso20022-to-x402-intent': Iso20022ToX402IntentInput
  'iso20022-validate': Iso20022ValidateInput
  reconcile: ReconcileInput
  'balance-check': BalanceCheckInput
  'block-info': BlockInfoInput
  'erc20-balance': Erc20BalanceInput
  'settlement-history-check': SettlementHistoryCheckInput
  'token-contract-risk': TokenContractRiskInput
  'tx-activity': TxActivityInput
  'calculate-fx-savings': CalculateFxSavingsInput
  'crypto-ticker': CryptoTickerInput
  'fx-spot-price-oracle': FxSpotPriceOracleInput
  'receipt-verify': ReceiptVerifyInput
  'aci-trust-lookup': AciTrustLookupInput
  'assured-create': AssuredCreateInput
  'assured-quote': AssuredQuoteInput
  'csp-commitment-create': CspCommitmentCreateInput
  'dip-file-dispute': DipFileDisputeInput
  'pod-verify-delivery': PodVerifyDeliveryInput
  'simulate-spend-sentinel': SimulateSpendSentinelInput
  'create-ap2-pilot': CreateAp2PilotInput
  'create-b2b-invoice': CreateB2bInvoiceInput
  'get-b2b-invoice': GetB2bInvoiceInput
  'bind-insurance-policy': BindInsurancePolicyInput
  'list-approved-insurers': ListApprovedInsurersInput
  'quote-3rd-party-insurance': Quote3rdPartyInsuranceInput
  'africa-supplier-check': AfricaSupplierCheckInput
  'batch-validate': BatchValidateInput
  'china-supplier-check': ChinaSupplierCheckInput
  'gulf-supplier-check': GulfSupplierCheckInput
  'india-supplier-check': IndiaSupplierCheckInput
  'japan-supplier-check': JapanSupplierCheckInput
  'latam-supplier-check': LatamSupplierCheckInput
  'pre-disbursement-guard': PreDisbursementGuardInput
  'rent-deposit-guard': RentDepositGuardInput
  'rental-listing-risk': RentalListingRiskInput
  'rental-verdict': RentalVerdictInput
  'vendor-onboarding-pack': VendorOnboardingPackInput
}

/** What each tool answers with, by its id. */
export interface ToolOutputs {
  'aba-routing-check': AbaRoutingCheckOutput
  'iban-check': IbanCheckOutput
  'ifsc-check': IfscCheckOutput
  'iso4217-currency-check': Iso4217CurrencyCheckOutput
  'luhn-check': LuhnCheckOutput
  'swift-bic-check': SwiftBicCheckOutput
  'upi-vpa-check': UpiVpaCheckOutput
  'abn-check': AbnCheckOutput
  'company-number-format': CompanyNumberFormatOutput
  'japan-corp-check': JapanCorpCheckOutput
  'lei-check': LeiCheckOutput
  'ofac-sdn-check': OfacSdnCheckOutput
  'uscc-check': UsccCheckOutput
  'cnpj-check': CnpjCheckOutput
  'ein-format-check': EinFormatCheckOutput
  'gstin-check': GstinCheckOutput
  'kra-pin-check': KraPinCheckOutput
  'pan-format-check': PanFormatCheckOutput
  'rfc-check': RfcCheckOutput
  'uae-trn-check': UaeTrnCheckOutput
  'vat-mod97-check': VatMod97CheckOutput
  'isin-check': IsinCheckOutput
  'sedol-check': SedolCheckOutput
  'e164-check': E164CheckOutput
  'ean13-check': Ean13CheckOutput
  'isbn-check': IsbnCheckOutput
  'clean-markdown-scraper': CleanMarkdownScraperOutput
  'context-distill': ContextDistillOutput
  'instant-json-schema-verifier': InstantJsonSchemaVerifierOutput
  'iso20022-to-x402-intent': Iso20022ToX402IntentOutput
  'iso20022-validate': Iso20022ValidateOutput
  reconcile: ReconcileOutput
  'balance-check': BalanceCheckOutput
  'block-info': BlockInfoOutput
  'erc20-balance': Erc20BalanceOutput
  'settlement-history-check': SettlementHistoryCheckOutput
  'token-contract-risk': TokenContractRiskOutput
  'tx-activity': TxActivityOutput
  'calculate-fx-savings': CalculateFxSavingsOutput
  'crypto-ticker': CryptoTickerOutput
  'fx-spot-price-oracle': FxSpotPriceOracleOutput
  'receipt-verify': ReceiptVerifyOutput
  'aci-trust-lookup': AciTrustLookupOutput
  'assured-create': AssuredCreateOutput
  'assured-quote': AssuredQuoteOutput
  'csp-commitment-create': CspCommitmentCreateOutput
  'dip-file-dispute': DipFileDisputeOutput
  'pod-verify-delivery': PodVerifyDeliveryOutput
  'simulate-spend-sentinel': SimulateSpendSentinelOutput
  'create-ap2-pilot': CreateAp2PilotOutput
  'create-b2b-invoice': CreateB2bInvoiceOutput
  'get-b2b-invoice': GetB2bInvoiceOutput
  'bind-insurance-policy': BindInsurancePolicyOutput
  'list-approved-insurers': ListApprovedInsurersOutput
  'quote-3rd-party-insurance': Quote3rdPartyInsuranceOutput
  'africa-supplier-check': AfricaSupplierCheckOutput
  'batch-validate': BatchValidateOutput
  'china-supplier-check': ChinaSupplierCheckOutput
  'gulf-supplier-check': GulfSupplierCheckOutput
  'india-supplier-check': IndiaSupplierCheckOutput
  'japan-supplier-check': JapanSupplierCheckOutput
  'latam-supplier-check': LatamSupplierCheckOutput
  'pre-disbursement-guard': PreDisbursementGuardOutput
  'rent-deposit-guard': RentDepositGuardOutput
  'rental-listing-risk': RentalListingRiskOutput
  'rental-verdict': RentalVerdictOutput
  'vendor-onboarding-pack': VendorOnboardingPackOutput
}

/** Id of a tool. */
export type ToolId = keyof ToolInputs
