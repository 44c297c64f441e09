/**
 * A migration of an index, in a separate process. Arguments: the checkout whose code migrates, the path of the index, and
 * optionally the stage before which it stops. Prints a JSON object with what each stage took.
 */
import { join } from "node:path";
import { costs, costsSince, type StageCosts } from "./stage-costs.ts";

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

const stages: Record<string, StageCosts> = {};
let since = costs();
let current = "";
const stopped = new Error("stopped");

function enter(stage: string): void {
  if (stage === current) return;
  const now = costs();
  if (current !== "") stages[current] = costsSince(since);
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
