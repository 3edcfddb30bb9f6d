import tables from '../../../../data/iso20022/types.json' with { type: 'json' }
import { Schema } from './structure.ts'

/** The structure of all messages. Half a megabyte: only modules that are loaded on first use may import it. */
export const STRUCTURE = new Schema(tables)

/** Elements inside Document, of all messages. */
export const MESSAGE_ROOTS: ReadonlySet<string> = new Set(Object.values(tables.messages).map((row) => row.slice(0, row.indexOf('='))))
