/** The browser and the PostgreSQL that all files of a run share: each file has a context or databases of its own. */
import { launchBrowserServer, SHARED_BROWSER } from './browser.ts'
import { SHARED_POSTGRES, startPostgres } from './postgres.ts'

const stops: (() => Promise<void>)[] = []

/** Only the full suite tests that commits are durable; every day, PostgreSQL need not wait for the disk. */
export async function globalSetup(full: boolean): Promise<void> {
  const [browser, postgres] = await Promise.all([launchBrowserServer(), startPostgres({ waits_for_disk: full })])
  stops.push(() => browser.close(), postgres.stop)
  process.env[SHARED_BROWSER] = browser.wsEndpoint()
  process.env[SHARED_POSTGRES] = postgres.url
}

export async function globalTeardown(): Promise<void> {
  await Promise.all(stops.map((stop) => stop()))
}
