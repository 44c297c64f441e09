import { expect, test } from "bun:test";
import { join } from "node:path";
import { getSystemErrorMap } from "node:util";
import { RULES } from "../../../../src/console/web/text/de/settings/rules.ts";
import { DOCTOR } from "../../../../src/console/web/text/de/tools/doctor.ts";
import { STEPS } from "../../../../src/console/web/text/de/tools/steps.ts";
import { saidWith } from "../../../../src/console/web/text/format.ts";
import { textsIn } from "../../../support/source-texts.ts";

const SRC = join(import.meta.dir, "../../../../src");
const valuesOf = (text: string) => text.match(/\{\}/g)?.length ?? 0;

/** Where a step of the set-up reads what it costs, and why it failed. */
const STEP_FILES = [
  "cli/init/{set-up,ask-upstream,write-files}.ts",
  "cli/database/records/estimate-text.ts",
  "cli/doctor/place.ts",
  "config/files/{small,fid}-file.ts",
  "upstream/calls/{peer,check-peer,pages}.ts",
  "upstream/verify/estimate-upstream.ts",
];
/** Texts of these files that only a terminal, a log or the written file has. */
const NOT_OF_A_STEP = [
  "Asking {}",
  "Sampling fids for the estimate",
  "Fid {} and {}",
  "its one follower",
  "its {} followers",
  "all casts",
  "the newest {} casts",
  "The {} authors of {} in the channel {}",
  "the upstream {}",
  "shard {}: blocks {} to {} are not available",
  "the check ended with {}",
];
/** What the terminal gets after it. */
const FOR_TERMINALS = /; --force replaces it.*/;
const said = { ...STEPS, ...DOCTOR, ...RULES };

test("what a step of the set-up says it costs, and why it failed, has a German text", async () => {
  const paths = STEP_FILES.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(SRC)]);
  expect(paths).toHaveLength(11);
  const sources = await Promise.all(paths.map((path) => Bun.file(join(SRC, path)).text()));
  const init = await Bun.file(join(SRC, "cli/init/run-init.ts")).text();
  const [cost = ""] = /export async function costText[\s\S]*?\n}\n/.exec(init) ?? [];
  const [demo = ""] = /const DEMO_COST = .*/.exec(init) ?? [];
  const texts = [...sources, cost, demo].flatMap((source) => textsIn(source.replaceAll(/^import .*$/gm, "")));
  const sentences = texts
    .map((text) => text.trimEnd().replace(FOR_TERMINALS, ""))
    .filter((text) => /[a-z]{3,} /.test(text) && !NOT_OF_A_STEP.includes(text));
  expect(sentences.length).toBeGreaterThan(50);
  expect(sentences.filter((text) => !(text in said))).toEqual([]);
  for (const [form, german] of Object.entries(STEPS))
    expect([form, valuesOf(german)]).toEqual([form, valuesOf(form)]);
});

test("an error of the system that the program knows by its code is German within a finding", async () => {
  const sources = await Promise.all(
    ["lib/failure.ts", "cli/to-exit.ts", "net/listen-address.ts", "config/files/settings-file.ts"].map(
      (path) => Bun.file(join(SRC, path)).text(),
    ),
  );
  const known = new Set(sources.join().match(/(?<=")E[A-Z]{3,}(?=")/g));
  const ofSystem = [...getSystemErrorMap().values()].filter(([code]) => known.has(code));
  expect(ofSystem.length).toBeGreaterThan(10);
  for (const [code, text] of ofSystem)
    expect(saidWith(said, `/data cannot be written: ${code}: ${text}, open '/data/x'`)).toMatch(
      new RegExp(`^/data ist nicht beschreibbar: ${code}: (?!${text}).+, open '/data/x'$`),
    );
});

test.each([
  [
    "12,000 messages of 300 fids, estimated from 900 messages of 40 fids",
    "12,000 Nachrichten von 300 fids, geschätzt aus 900 Nachrichten von 40 fids",
  ],
  [
    "time: about 3h 5m on 2 cores, every signature verified",
    "Zeit: etwa 3h 5m auf 2 Kernen, jede Signatur wird geprüft",
  ],
  ["free: 40 MB for /data, which is TOO LITTLE", "frei: 40 MB für /data, das ist ZU WENIG"],
  [
    "/etc/svc/svc.toml cannot be written: ENOSPC: no space left on device, write",
    "/etc/svc/svc.toml ist nicht beschreibbar: ENOSPC: kein Platz mehr auf der Festplatte, write",
  ],
  [
    "the upstream http://127.0.0.1:1 cannot be queried: connect ECONNREFUSED 127.0.0.1:1",
    "Der Knoten http://127.0.0.1:1 lässt sich nicht abfragen: keine Verbindung zu 127.0.0.1:1 (ECONNREFUSED)",
  ],
  [
    '  backup.at: must be empty or a time of day in UTC such as "03:15", got "x" (/etc/svc.toml)',
    '  backup.at: muss leer oder eine Uhrzeit in UTC wie "03:15" sein, war "x" (/etc/svc.toml)',
  ],
])("a step's “%s” is German on a German page", (english, german) => {
  expect(saidWith(said, english)).toBe(german);
});
