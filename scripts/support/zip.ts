import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'

/** Writes the files of a folder as a zip archive (APPNOTE.TXT 6.3.10): deflated, names in UTF-8, without times, so that the same files give the same bytes. */
export async function writeZip(folder: string, archive: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
  const file = await open(archive, 'w')
  const directory: Buffer[] = []
  let offset = 0
  try {
    for (const path of paths.toSorted()) {
      const name = Buffer.from(path.replaceAll('\\', '/'))
      const bytes = await readFile(join(folder, path))
      const packed = deflateRawSync(bytes)
      const fields = commonFields(bytes, packed, name)
      const local = Buffer.concat([signature(0x04034b50), fields, name, packed])
      directory.push(Buffer.concat([signature(0x02014b50), shorts(20), fields, directoryFields(offset), name]))
      await file.write(local)
      offset += local.length
    }
    const central = Buffer.concat(directory)
    const end = Buffer.concat([signature(0x06054b50), shorts(0, 0, paths.length, paths.length), longs(central.length, offset), shorts(0)])
    await file.write(Buffer.concat([central, end]))
  } finally {
    await file.close()
  }
}

const UTF8 = 0x0800
const DEFLATE = 8
/** 1 January 1980, the first date of the format. */
const FIRST_DAY = 0x21

/** Version needed, flags, method, time, date, checksum, sizes, and lengths of name and extra field. */
function commonFields(bytes: Buffer, packed: Buffer, name: Buffer): Buffer {
  const sizes = longs(crc32(bytes), packed.length, bytes.length)
  return Buffer.concat([shorts(20, UTF8, DEFLATE, 0, FIRST_DAY), sizes, shorts(name.length, 0)])
}

/** Length of the comment, disk, attributes, and place of the local header. */
function directoryFields(offset: number): Buffer {
  return Buffer.concat([shorts(0, 0, 0), longs(0, offset)])
}

function signature(value: number): Buffer {
  return longs(value)
}

function shorts(...values: number[]): Buffer {
  const buffer = Buffer.alloc(2 * values.length)
  values.forEach((value, index) => buffer.writeUInt16LE(value, 2 * index))
  return buffer
}

function longs(...values: number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length)
  values.forEach((value, index) => buffer.writeUInt32LE(value, 4 * index))
  return buffer
}
