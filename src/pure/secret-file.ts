/** Owner and permission bits of a file (stat(2)). */
export interface FileAccess {
  mode: number
  uid: number
}

/**
 * Returns the reason why a secret file is not safe; null if only the service can read and change it. Root may own it: orchestrators mount
 * secrets as files of root that the group of the service may read.
 */
export function secretFileFault({ mode, uid }: FileAccess, own_uid: number, file: { setting: string; path: string }): string | null {
  const name = `${file.setting}: the file ${file.path}`
  const bits = (mode & 0o777).toString(8).padStart(4, '0')
  const mounted = uid === 0 && own_uid !== 0
  if (uid !== own_uid && !mounted) {
    const fix = `run "chown ${own_uid} ${file.path} && chmod 600 ${file.path}" as root`
    return `${name} belongs to user ${uid}, and the service runs as user ${own_uid}; ${fix}.`
  }
  if ((mode & (mounted ? 0o037 : 0o077)) === 0) return null
  const fix = mounted
    ? `mount it with mode 0440, or run "chmod 440 ${file.path}" as root`
    : `run "chmod 600 ${file.path}" so that only its owner can read it`
  return `${name} has mode ${bits}, which other users can read or change; ${fix}.`
}
