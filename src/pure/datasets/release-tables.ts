import { COMPANY_PREFIXES } from '../checks/company-number.ts'
import { EIN_PREFIXES } from '../checks/ein.ts'
import { GST_STATES } from '../checks/gstin.ts'
import { ISIN_PREFIX_TABLE } from '../checks/isin.ts'
import { PLACE_TABLES } from '../checks/prohibited-places.ts'
import { CHINA_PROVINCES, USCC_AUTHORITIES } from '../checks/uscc.ts'
import { VAT_FORMATS } from '../checks/vat/formats-table.ts'
import { ISO20022_RULES } from '../documents/iso20022/rules-table.ts'
import { CRYPTO_SYMBOL_TABLE } from '../market/crypto-symbols.ts'
import { CHAINLINK_FEEDS, UNISWAP_POOLS } from '../market/fx-tables.ts'
import type { ReleaseTable } from './release-table.ts'

/** Tables that answers name and that change with releases only. Those of `TABLES` can be replaced while the service runs. */
export const RELEASE_TABLES: readonly ReleaseTable[] = [
  CHAINLINK_FEEDS,
  CHINA_PROVINCES,
  COMPANY_PREFIXES,
  CRYPTO_SYMBOL_TABLE,
  EIN_PREFIXES,
  GST_STATES,
  ISIN_PREFIX_TABLE,
  ISO20022_RULES,
  ...PLACE_TABLES,
  UNISWAP_POOLS,
  USCC_AUTHORITIES,
  VAT_FORMATS,
]
