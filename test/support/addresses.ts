/** A port of the loopback address on which nobody listens: the system gives it to no listener that asks for any free one. */
export const CLOSED_PORT = 1;

/**
 * A loopback address that only this process uses. A listener on it can go away and come back on the same port: whoever
 * asks for a free port of 127.0.0.1 meanwhile does not take it.
 */
export const OWN_LOOPBACK = `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
