/** A closed port of the loopback address, which the system does not assign as a free port. */
export const CLOSED_PORT = 1;

/**
 * A loopback address that only this process uses. A listener on it can close and reopen on the same port: processes
 * that bind a free port of 127.0.0.1 meanwhile do not get it.
 */
export const OWN_LOOPBACK = `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
