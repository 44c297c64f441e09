/** `bun run bench [name …]`: measures, prints a table for each benchmark, and writes bench/results/<name>.json. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { benchBackfill } from "./backfill.ts";
import { benchCatchUp } from "./catch-up.ts";
import { benchChain } from "./chain.ts";
import { benchCold } from "./cold.ts";
import { benchCores } from "./cores.ts";
import { benchDecisions } from "./decisions.ts";
import { benchDeliveries } from "./deliveries.ts";
import { benchDeliveriesPostgres } from "./deliveries-postgres.ts";
import { benchDensity } from "./density.ts";
import { benchDialects } from "./dialects.ts";
import { benchFollowing } from "./following.ts";
import { benchGrowth } from "./growth.ts";
import { benchHistory } from "./history.ts";
import { benchHub } from "./hub.ts";
import { benchHubEvents } from "./hub-events.ts";
import { benchIdle } from "./idle.ts";
import { benchImport } from "./import.ts";
import { benchIngest } from "./ingest.ts";
import { benchInside } from "./inside.ts";
import { benchLimits } from "./limits.ts";
import { benchMatch } from "./match.ts";
import { benchMigration } from "./migration.ts";
import { benchMixed } from "./mixed.ts";
import { benchNeighbour } from "./neighbour.ts";
import { benchNodeOnPostgres } from "./node-on-postgres.ts";
import { benchPrices } from "./prices.ts";
import { benchReads } from "./reads.ts";
import { benchReadsOfNodes } from "./reads-of-nodes.ts";
import { benchReplication } from "./replication.ts";
import { benchRoots } from "./roots.ts";
import { benchRules } from "./rules.ts";
import { benchScores } from "./scores.ts";
import { benchSend } from "./send.ts";
import { benchSendPostgres } from "./send-postgres.ts";
import { benchSignIn } from "./sign-in.ts";
import { benchSigned } from "./signed.ts";
import { benchSnapshot } from "./snapshot.ts";
import { soakCommand } from "./soak/command.ts";
import { benchStart } from "./start.ts";
import { benchStateCopy } from "./state-copy.ts";
import { benchStream } from "./stream.ts";
import { benchThroughput } from "./throughput.ts";
import { benchVerifications } from "./verifications.ts";
import { benchVerify } from "./verify.ts";
import { benchVersions } from "./versions.ts";
import { benchWhole } from "./whole.ts";
import { benchWrites } from "./writes.ts";

/** One measured figure, with its ratio to a baseline of the same run, if it has one. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The value divided by that of the figure named `of`. */
  readonly ratio?: { readonly of: string; readonly value: number } | undefined;
}

const BENCHMARKS: Readonly<Record<string, () => Promise<Figure[]>>> = {
  start: benchStart,
  idle: benchIdle,
  ingest: benchIngest,
  backfill: benchBackfill,
  replication: benchReplication,
  verifications: benchVerifications,
  verify: benchVerify,
  chain: benchChain,
  following: benchFollowing,
  roots: benchRoots,
  import: benchImport,
  density: benchDensity,
  reads: benchReads,
  inside: benchInside,
  hub: benchHub,
  "hub-events": benchHubEvents,
  stream: benchStream,
  dialects: benchDialects,
  rules: benchRules,
  prices: benchPrices,
  throughput: benchThroughput,
  versions: benchVersions,
  growth: benchGrowth,
  mixed: benchMixed,
  neighbour: benchNeighbour,
  send: benchSend,
  "send-postgres": benchSendPostgres,
  signed: benchSigned,
  "sign-in": benchSignIn,
  limits: benchLimits,
  writes: benchWrites,
  whole: benchWhole,
  migration: benchMigration,
  "catch-up": benchCatchUp,
  cold: benchCold,
  history: benchHistory,
  cores: benchCores,
  match: benchMatch,
  decisions: benchDecisions,
  deliveries: benchDeliveries,
  "deliveries-postgres": benchDeliveriesPostgres,
  "node-on-postgres": benchNodeOnPostgres,
  "reads-of-nodes": benchReadsOfNodes,
  scores: benchScores,
  snapshot: benchSnapshot,
  "state-copy": benchStateCopy,
};

/** Names that stand for several benchmarks. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  cluster: [
    "node-on-postgres",
    "deliveries-postgres",
    "reads-of-nodes",
    "send-postgres",
    "state-copy",
    "snapshot",
  ],
};

if (process.argv[2] === "soak") process.exit(await soakCommand(process.argv.slice(3)));

const selected = process.argv.slice(2).flatMap((name) => TOGETHER[name] ?? [name]);
const unknown = selected.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) {
  process.stderr.write(
    `no such benchmark: ${unknown.join(", ")}; there are ${[...Object.keys(BENCHMARKS), ...Object.keys(TOGETHER)].join(", ")}\n`,
  );
  process.exit(1);
}
const resultsDir = join(import.meta.dir, "results");
mkdirSync(resultsDir, { recursive: true });
for (const [name, bench] of Object.entries(BENCHMARKS)) {
  if (selected.length > 0 && !selected.includes(name)) continue;
  const figures = await bench();
  process.stdout.write(`\n${name}\n${figures.map(row).join("\n")}\n`);
  await Bun.write(join(resultsDir, `${name}.json`), `${JSON.stringify(figures, null, 2)}\n`);
}
// A server that a benchmark started in this process would keep it alive.
process.exit(0);

function row({ what, value, unit, ratio }: Figure): string {
  const shown = value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(value < 10 ? 2 : 1);
  const ratioText = ratio ? `   ${ratio.value.toFixed(2)} of ${ratio.of}` : "";
  return `  ${what.padEnd(46)} ${shown.padStart(10)} ${unit}${ratioText}`;
}
