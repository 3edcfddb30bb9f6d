/** The ids that the service specifies, in the order of its catalogue. A registered tool is one of them. */
export const TOOL_IDS: readonly string[] = [
  'receipt-verify', 'simulate-spend-sentinel', 'create-ap2-pilot', 'iban-check', 'assured-quote', 'assured-create', 'reconcile',
  'lei-check', 'vat-mod97-check', 'company-number-format', 'rent-deposit-guard', 'rental-listing-risk', 'rental-verdict',
  'batch-validate', 'swift-bic-check', 'aba-routing-check', 'ein-format-check', 'ifsc-check', 'abn-check', 'luhn-check', 'isbn-check',
  'e164-check', 'sedol-check', 'cnpj-check', 'uscc-check', 'japan-corp-check', 'kra-pin-check', 'rfc-check', 'iso4217-currency-check',
  'pre-disbursement-guard', 'vendor-onboarding-pack', 'india-supplier-check', 'china-supplier-check', 'japan-supplier-check',
  'latam-supplier-check', 'gulf-supplier-check', 'africa-supplier-check', 'settlement-history-check', 'balance-check', 'erc20-balance',
  'tx-activity', 'block-info', 'isin-check', 'ean13-check', 'gstin-check', 'crypto-ticker', 'context-distill',
  'instant-json-schema-verifier', 'clean-markdown-scraper', 'fx-spot-price-oracle', 'create-b2b-invoice', 'get-b2b-invoice',
  'calculate-fx-savings', 'aci-trust-lookup', 'dip-file-dispute', 'pod-verify-delivery', 'csp-commitment-create', 'iso20022-validate',
  'iso20022-to-x402-intent', 'list-approved-insurers', 'quote-3rd-party-insurance', 'bind-insurance-policy', 'upi-vpa-check',
  'pan-format-check', 'uae-trn-check', 'ofac-sdn-check', 'token-contract-risk',
]

/** The checks that may be items of batch-validate. */
export const ITEM_TOOL_IDS: readonly string[] = [
  'iban-check', 'lei-check', 'vat-mod97-check', 'company-number-format', 'swift-bic-check', 'aba-routing-check', 'ein-format-check',
  'ifsc-check', 'abn-check', 'luhn-check', 'isbn-check', 'e164-check', 'sedol-check', 'isin-check', 'ean13-check', 'gstin-check',
  'context-distill',
]
