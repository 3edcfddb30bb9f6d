/** Owner and permission bits of a file, as stat(2) has them. */
export interface FileAccess {
  mode: number
  uid: number
}

/**
 * Why a file must not be used as a secret; null when only the service can read and change it. Root may own it: orchestrators mount secrets as
 * files of root, which the group of a service that is not root may then read, since it has no other way to.
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
