import { dlopen, FFIType, ptr } from "bun:ffi";

/** Whether the kernel considers the clock of the machine synchronised, by the reports of a time daemon. */
export type Synchronised = "yes" | "no" | "unknown";

const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
/** `struct timex` has 208 bytes on 64-bit Linux; its first field, 0, asks for a change of nothing. */
const TIMEX_BYTES = 256;
const STATUS_OFFSET = 40;
const STA_UNSYNC = 0x40;

/**
 * Asks by adjtimex(2), which needs neither systemd nor a program, and no rights. Containers share the clock of their machine, and
 * its answer.
 */
export function kernelClock(): Synchronised {
  if (process.platform !== "linux") return "unknown";
  for (const library of LIBRARIES) {
    try {
      const { symbols, close } = dlopen(library, { adjtimex: { args: [FFIType.ptr], returns: FFIType.i32 } });
      const timex = new Uint8Array(TIMEX_BYTES);
      const state = symbols.adjtimex(ptr(timex));
      close();
      if (state < 0) return "unknown";
      const status = new DataView(timex.buffer).getInt32(STATUS_OFFSET, true);
      return (status & STA_UNSYNC) === 0 ? "yes" : "no";
    } catch {
      // Another C library.
    }
  }
  return "unknown";
}
