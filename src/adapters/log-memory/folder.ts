import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogMemory, RememberedHead } from '../../ports/log-memory.ts'
import { bytesToHex, readCheckpoint, readNote } from '../../pure/log/checkpoint.ts'

/** `<key id>-<size>`; the size has 16 digits, so that names sort by it. */
const NAME = /^([0-9a-f]{8})-(\d{16})$/

/**
 * Keeps each head in a file that is named by its size, and then removes files of smaller sizes. No file is ever overwritten, so processes
 * that share the folder cannot replace a higher head by a lower one.
 */
export function logMemory(folder: string): LogMemory {
  const sizesOf = async (key_id: string): Promise<string[]> => {
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    return names.filter((name) => NAME.exec(name)?.[1] === key_id).toSorted()
  }
  return {
    async highest(key_id) {
      const name = (await sizesOf(key_id)).at(-1)
      return name === undefined ? null : readHead(join(folder, name))
    },
    async keep(key_id, head) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const name = nameOf(key_id, head.size)
      await writeOnce(folder, name, head.checkpoint)
      for (const other of await sizesOf(key_id)) if (other < name) await rm(join(folder, other), { force: true })
    },
  }
}

function nameOf(key_id: string, size: number): string {
  return `${key_id}-${String(size).padStart(16, '0')}`
}

async function readHead(path: string): Promise<RememberedHead> {
  const checkpoint = await readFile(path, 'utf8')
  const note = readNote(checkpoint)
  const read = note === null ? null : readCheckpoint(note.text)
  if (read === null)
    throw new Error(`${path} must contain the checkpoint that was published last, and cannot be read; restore it from a backup.`)
  return { size: read.size, root: bytesToHex(read.root), checkpoint }
}

/** Writes a file under a name that no file has; leaves one that another process has written. Durable, with its name. */
async function writeOnce(folder: string, name: string, text: string): Promise<void> {
  // Random: two containers that share a volume may have the same process id.
  const draft = join(folder, `${name}.${randomUUID()}.tmp`)
  try {
    const file = await open(draft, 'w', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(draft, join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(folder)
}

async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder.
  if (process.platform === 'win32') return
  const opened = await open(folder, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
