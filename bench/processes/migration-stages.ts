/**
 * A migration of an index, in a separate process. Arguments: the checkout whose code migrates, the path of the index, and
 * optionally the stage before which it stops. Prints a JSON object with what each stage took.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What a stage took. */
export interface StageCosts {
  readonly cpuUs: number;
  /** Bytes read from the disk, not from the system's cache. */
  readonly readBytes: number;
  readonly writtenBytes: number;
}

export interface MigrationResult {
  readonly messages: number;
  /** Size of the new file; 0 if the migration was stopped. */
  readonly bytes: number;
  readonly stages: Readonly<Record<string, StageCosts>>;
}

const [checkout = "", path = "", before] = process.argv.slice(2);
const load = (file: string) => import(join(checkout, file));
await load("test/support/older-index.ts");
const { OlderIndex } = await load("src/db/index/upgrade/older-index.ts");
const { upgradeIndex } = await load("src/db/index/upgrade/upgrade-index.ts");

function costs(): StageCosts {
  const io = readFileSync("/proc/self/io", "utf8");
  const bytes = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(io)?.[1]);
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, readBytes: bytes("read_bytes"), writtenBytes: bytes("write_bytes") };
}

const stages: Record<string, StageCosts> = {};
let since = costs();
let current = "";
const stopped = new Error("stopped");

function enter(stage: string): void {
  if (stage === current) return;
  const now = costs();
  if (current !== "")
    stages[current] = {
      cpuUs: now.cpuUs - since.cpuUs,
      readBytes: now.readBytes - since.readBytes,
      writtenBytes: now.writtenBytes - since.writtenBytes,
    };
  since = now;
  current = stage;
  if (stage === before) throw stopped;
}

using older = OlderIndex.open(path);
const { messages } = older;
const report = await upgradeIndex({
  older,
  network: "mainnet",
  signal: new AbortController().signal,
  onProgress: ({ stage }: { stage: string }) => enter(stage),
}).catch((cause: unknown) => {
  if (cause !== stopped) throw cause;
  return { messages, bytes: 0 };
});
if (report.bytes > 0) enter("done");
const result: MigrationResult = { messages: report.messages, bytes: report.bytes, stages };
process.stdout.write(`${JSON.stringify(result)}\n`);
