import { ofacAddresses } from './ofac-addresses.ts'

/** Datasets that can be replaced while the service runs; all other tables come with the release. */
export const DATASETS = { ofac_addresses: ofacAddresses } as const

export type DatasetId = keyof typeof DATASETS

export const DATASET_IDS = Object.keys(DATASETS) as DatasetId[]
