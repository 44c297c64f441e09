import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compileInto, DIST, startNode } from "../../test/support/program.ts";
import { verdictSection } from "./docs-section.ts";
import { drawSoak } from "./plot.ts";
import { runSoak } from "./run.ts";
import { readSampleFile } from "./samples.ts";
import { evaluate, verdictTable } from "./verdict.ts";

const ROOT = join(import.meta.dir, "../..");
const RESULTS = join(import.meta.dir, "../results");
const USAGE = `usage: bun run bench soak --hours H | --minutes M   runs, then evaluates and plots
       bun run bench soak --plot FILE                evaluates and plots samples, also of a run that goes on
  --file FILE     where the samples of a run go, instead of bench/results/soak.jsonl
  --binary FILE   the program, instead of a new build of it
  --docs          also puts plot and figures into the documents
`;

/** Runs `bun run bench soak …`. Returns the exit code: 1 unless the verdict is passed. */
export async function soakCommand(
  args: readonly string[],
  print: (text: string) => void = (text) => process.stdout.write(text),
): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      hours: { type: "string" },
      minutes: { type: "string" },
      plot: { type: "string" },
      file: { type: "string" },
      binary: { type: "string" },
      docs: { type: "boolean" },
    },
  });
  const hours = values.hours ? Number(values.hours) : Number(values.minutes) / 60;
  if (values.plot === undefined && !(hours > 0)) {
    process.stderr.write(USAGE);
    return 2;
  }
  mkdirSync(RESULTS, { recursive: true });
  const file = values.plot ?? values.file ?? join(RESULTS, "soak.jsonl");
  if (values.plot === undefined) {
    const binary = values.binary === undefined ? await compileInto(DIST) : resolve(values.binary);
    await runSoak({
      hours,
      file,
      start: (dataDir, args) => startNode({ command: [binary], dataDir, demo: true, args }),
    });
  }
  const run = readSampleFile(file);
  const verdict = evaluate(run);
  const base = values.plot === undefined ? join(RESULTS, "soak") : join(dirname(file), "soak");
  const svg = drawSoak(run, verdict);
  writeFileSync(`${base}.svg`, svg);
  writeFileSync(`${base}.json`, `${JSON.stringify(verdict, null, 2)}\n`);
  print(`${verdictTable(verdict)}\n${base}.svg\n${base}.json\n`);
  if (values.docs) {
    writeFileSync(join(ROOT, "docs/images/soak.svg"), svg);
    const page = join(ROOT, "docs/operate/capacity.md");
    writeFileSync(page, verdictSection(readFileSync(page, "utf8"), verdict));
  }
  return verdict.passed ? 0 : 1;
}
