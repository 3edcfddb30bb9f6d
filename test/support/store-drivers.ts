import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../src/ports/store.ts'
import { createSealer } from '../../src/adapters/secret/sealer.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import type { SqlDialect } from '../../src/adapters/store/database.ts'
import { CREATE_MIGRATION_TABLE, pendingSteps, POSTGRES_DIALECT, SQLITE_DIALECT } from '../../src/adapters/store/migrations.ts'
import { openPostgres, query } from './postgres.ts'

/** An empty store, and a way to it that goes around the driver. */
export interface FreshStore {
  target: string
  sql(text: string): Promise<Record<string, unknown>[]>
  /** Makes it a store of an earlier schema, as the release that had it did. */
  createSchema(number: number): Promise<void>
}

export interface StoreDriver {
  kind: Store['kind']
  fresh(): Promise<FreshStore>
  stop(): Promise<void>
}

export async function sqliteDriver(): Promise<StoreDriver> {
  const directory = await mkdtemp(join(tmpdir(), 'assay-sqlite-'))
  await chmod(directory, 0o700)
  let made = 0
  return {
    kind: 'sqlite',
    async fresh() {
      made += 1
      const target = join(directory, `new-${made}`, 'store.db')
      return {
        target,
        sql: async (text) => sqliteQuery(target, text),
        async createSchema(number) {
          await mkdir(dirname(target), { mode: 0o700 })
          const database = new DatabaseSync(target)
          database.exec('pragma journal_mode = wal')
          for (const step of schemaSteps(number, SQLITE_DIALECT)) database.exec(step)
          database.close()
          await chmod(target, 0o600)
        },
      }
    },
    stop: () => rm(directory, { recursive: true, force: true }),
  }
}

function sqliteQuery(path: string, text: string): Record<string, unknown>[] {
  const database = new DatabaseSync(path, { timeout: 1_000 })
  try {
    return database.prepare(text).all()
  } finally {
    database.close()
  }
}

export async function postgresDriver(): Promise<StoreDriver> {
  const server = await openPostgres()
  let made = 0
  return {
    kind: 'postgres',
    async fresh() {
      made += 1
      const target = await server.createDatabase(`store_${made}`)
      return {
        target,
        sql: (text) => query(target, text),
        async createSchema(number) {
          for (const step of schemaSteps(number, POSTGRES_DIALECT)) await query(target, step)
        },
      }
    },
    stop: () => server.stop(),
  }
}

function schemaSteps(number: number, dialect: SqlDialect): string[] {
  return [CREATE_MIGRATION_TABLE, ...pendingSteps(0, dialect).slice(0, number)]
}

/** Every store that the contracts of stores run on: SQLite alone where the whole everyday suite runs (scripts/test.ts). */
export const STORE_DRIVERS: readonly (() => Promise<StoreDriver>)[] =
  process.env['TEST_STORES'] === 'sqlite' ? [sqliteDriver] : [sqliteDriver, postgresDriver]

/** Opens a store that seals texts of callers, under one secret for all tests. */
export function openSealed(target: string, options: Parameters<typeof openStore>[1] = {}): ReturnType<typeof openStore> {
  return openStore(target, { ...options, sealer: createSealer(new Uint8Array(32).fill(5)) })
}
