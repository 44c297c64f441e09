import { RetryableError } from "../../../src/lib/failure.ts";
import { openDataDir } from "../../../src/runtime/data-dir.ts";

// Locks the directory until the process is killed, or prints why it cannot. The handle is dropped on purpose: the lock
// must last without a reference to it.
const [dir = "", startMs = "0"] = process.argv.slice(2);
while (Date.now() < Number(startMs));
try {
  openDataDir(dir);
  Bun.gc(true);
  process.stdout.write("holds\n");
  setInterval(() => Bun.gc(true), 20);
} catch (fault) {
  if (!(fault instanceof RetryableError)) throw fault;
  process.stdout.write(`locked out: ${fault.message}\n`);
}
