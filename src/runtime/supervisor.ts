import { dlopen, FFIType, ptr } from "bun:ffi";

type Environment = Readonly<Record<string, string | undefined>>;

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
const FAMILY_BYTES = 2;
/** The size of `sun_path` without the terminating zero. */
const MAX_PATH_BYTES = 107;
const MICROS_PER_MS = 1000;
/** The C libraries that a process on Linux may have. */
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

/**
 * Reports to a service manager that waits for this process: `sd_notify(3)` of systemd. Without a manager nothing is sent. Several threads
 * of a process may report, because the manager only knows the process.
 */
export function createSupervisor(environment: Environment = process.env) {
  const { NOTIFY_SOCKET: socket = "", WATCHDOG_USEC: micros = "", WATCHDOG_PID: pid } = environment;
  const isAsked = process.platform === "linux" && /^[/@]./.test(socket);
  const isWatched =
    isAsked && /^[1-9]\d{0,15}$/.test(micros) && (pid === undefined || Number(pid) === process.pid);
  let timer: ReturnType<typeof setInterval> | undefined;
  const send = (text: string) => {
    if (isAsked) sendDatagram(socket, text);
  };
  return {
    /** Reports that the process responds to `/health` and from then on, twice per watchdog period, that its loop runs. */
    ready(): void {
      send("READY=1");
      if (!isWatched || timer !== undefined) return;
      send("WATCHDOG=1");
      timer = setInterval(() => send("WATCHDOG=1"), Math.max(1, Number(micros) / MICROS_PER_MS / 2));
      timer.unref();
    },
    /** Reports that the process is stopping. */
    stopping: (): void => send("STOPPING=1"),
    /** Stops this thread's watchdog reports. */
    stop(): void {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** Returns the address of a Unix socket: a path or, if it starts with `@`, an abstract name. Undefined if it is too long. */
export function unixAddress(socket: string): Uint8Array<ArrayBuffer> | undefined {
  const path = new TextEncoder().encode(socket);
  if (path.length > MAX_PATH_BYTES) return undefined;
  const isAbstract = socket.startsWith("@");
  if (isAbstract) path[0] = 0;
  const address = new Uint8Array(FAMILY_BYTES + path.length + (isAbstract ? 0 : 1));
  new DataView(address.buffer).setUint16(0, AF_UNIX, true);
  address.set(path, FAMILY_BYTES);
  return address;
}

/** Sends one datagram. If no manager listens, nothing is reported. */
function sendDatagram(socket: string, text: string): void {
  const address = unixAddress(socket);
  if (address === undefined) return;
  const library = openLibrary();
  if (library === undefined) return;
  const bytes = new TextEncoder().encode(text);
  const descriptor = library.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  library.sendto(descriptor, ptr(bytes), bytes.length, MSG_NOSIGNAL, ptr(address), address.length);
  library.close(descriptor);
}

const { i32, u32, u64, ptr: pointer } = FFIType;
const SYMBOLS = {
  socket: { args: [i32, i32, i32], returns: i32 },
  sendto: { args: [i32, pointer, u64, i32, pointer, u32], returns: FFIType.i64 },
  close: { args: [i32], returns: i32 },
} as const;

let opened: ReturnType<typeof dlopen<typeof SYMBOLS>>["symbols"] | undefined;

function openLibrary(): typeof opened {
  for (const name of opened ? [] : LIBRARIES) {
    try {
      opened = dlopen(name, SYMBOLS).symbols;
      break;
    } catch {
      // Another C library has no such function.
    }
  }
  return opened;
}
