import { RetryableError } from "../../../src/lib/failure.ts";
import { openDataDir } from "../../../src/runtime/data-dir.ts";

// Holds the directory until the process is killed, or says why it is kept out. The handle is let go of on purpose: the
// lock has to last without anybody keeping it.
const [dir = "", startMs = "0"] = process.argv.slice(2);
while (Date.now() < Number(startMs));
try {
  openDataDir(dir);
  Bun.gc(true);
  process.stdout.write("holds\n");
  setInterval(() => Bun.gc(true), 20);
} catch (fault) {
  if (!(fault instanceof RetryableError)) throw fault;
  process.stdout.write(`kept out: ${fault.message}\n`);
}
