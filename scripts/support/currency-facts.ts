/** Facts about currencies that the ISO 4217 list does not contain in machine-readable form. */

/** Marked as funds in list one (attribute IsFund of the XML file). */
export const FUNDS: readonly string[] = ['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI']
export const METALS: readonly string[] = ['XAG', 'XAU', 'XPD', 'XPT']
/** Units of account and of bond markets, which are not used for payments. */
export const UNITS: readonly string[] = ['XAD', 'XBA', 'XBB', 'XBC', 'XBD', 'XDR', 'XEU', 'XFO', 'XFU', 'XRE', 'XSU', 'XUA']

/** Signs in everyday use that the locale data (CLDR 48, English) do not have. */
export const SYMBOLS: Readonly<Record<string, string>> = { SLE: 'Le', VED: 'Bs.D', VES: 'Bs.S', ZWG: 'ZiG' }

/**
 * The current code that came after a withdrawn one, and how many of the old one made one of the new. Rates to the euro: Council Regulation (EC) 2866/98
 * with its amendments. Others by the laws of the redenominations. Null: exchanged at a market or administered rate.
 */
export const SUCCESSORS: Readonly<Record<string, readonly [code: string, per: string | null]>> = {
  ATS: ['EUR', '13.7603'],
  BEF: ['EUR', '40.3399'],
  BGN: ['EUR', '1.95583'],
  CYP: ['EUR', '0.585274'],
  DEM: ['EUR', '1.95583'],
  EEK: ['EUR', '15.6466'],
  ESP: ['EUR', '166.386'],
  FIM: ['EUR', '5.94573'],
  FRF: ['EUR', '6.55957'],
  GRD: ['EUR', '340.750'],
  HRK: ['EUR', '7.53450'],
  IEP: ['EUR', '0.787564'],
  ITL: ['EUR', '1936.27'],
  LTL: ['EUR', '3.45280'],
  LUF: ['EUR', '40.3399'],
  LVL: ['EUR', '0.702804'],
  MTL: ['EUR', '0.429300'],
  NLG: ['EUR', '2.20371'],
  PTE: ['EUR', '200.482'],
  SIT: ['EUR', '239.640'],
  SKK: ['EUR', '30.1260'],
  XEU: ['EUR', '1'],
  AFA: ['AFN', '1000'],
  ANG: ['XCG', '1'],
  AZM: ['AZN', '5000'],
  BRR: ['BRL', '2750'],
  BYR: ['BYN', '10000'],
  CSD: ['RSD', '1'],
  CUC: ['CUP', null],
  GHC: ['GHS', '10000'],
  // The code that was first given to the new cedi.
  GHP: ['GHS', '1'],
  MGF: ['MGA', '5'],
  MRO: ['MRU', '10'],
  MXP: ['MXN', '1000'],
  MZM: ['MZN', '1000'],
  PLZ: ['PLN', '10000'],
  ROL: ['RON', '10000'],
  RUR: ['RUB', '1000'],
  SDD: ['SDG', '100'],
  SLL: ['SLE', '1000'],
  SRG: ['SRD', '1000'],
  STD: ['STN', '1000'],
  TJR: ['TJS', '1000'],
  TMM: ['TMT', '5000'],
  TRL: ['TRY', '1000000'],
  VEF: ['VES', '100000'],
  ZMK: ['ZMW', '1000'],
  ZWL: ['ZWG', null],
  // Codes whose own successor was withdrawn too: the current code at the end of the chain, with the product of the rates.
  ADP: ['EUR', '166.386'],
  AON: ['AOA', '1000000000'],
  AOR: ['AOA', '1000000'],
  ARA: ['ARS', '10000'],
  ARP: ['ARS', '10000000'],
  BGL: ['EUR', '1955.83'],
  BOP: ['BOB', '1000000'],
  BRE: ['BRL', '2750000'],
  BYB: ['BYN', '10000000'],
  DDM: ['EUR', null],
  ECS: ['USD', '25000'],
  GEK: ['GEL', '1000000'],
  GWP: ['XOF', '65'],
  HRD: ['EUR', '7534.50'],
  ILR: ['ILS', '1000'],
  ISJ: ['ISK', '100'],
  LTT: ['EUR', '345.280'],
  LVR: ['EUR', '140.5608'],
  NIC: ['NIO', '5000000'],
  PEI: ['PEN', '1000000'],
  PES: ['PEN', '1000000000'],
  SDP: ['SDG', '1000'],
  UAK: ['UAH', '100000'],
  UYN: ['UYU', '1000000'],
  UYP: ['UYU', '1000'],
  VEB: ['VES', '100000000'],
  YUM: ['RSD', '1'],
  ZRN: ['CDF', '100000'],
  ZWD: ['ZWG', null],
  ZWN: ['ZWG', null],
  ZWR: ['ZWG', null],
}
