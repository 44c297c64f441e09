import { expect, test } from "bun:test";
import { join } from "node:path";
import { indexPath, openIndexInMemory, openIndexWriter } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { seededRandom } from "../../src/demo/random.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { decodeRecord } from "../../src/ingest/record.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { ANCHOR_SECS, demoRecords } from "../demo/records.ts";
import { ManualClock } from "../support/clock.ts";
import { dumpIndex } from "../support/dump.ts";
import { useAsForeign } from "../support/foreign-process.ts";
import { IS_LONG } from "../support/long.ts";
import { tempDir } from "../support/program.ts";

const IMPORT = join(import.meta.dir, "processes", "import.ts");

test("an import that is killed at random moments ends as one row by row without a kill", async () => {
  using dir = tempDir();
  const path = `${dir.path}/records`;
  const records = demoRecords().slice(0, 2500);
  await writeRecords(path, records);
  using expected = openIndexInMemory();
  claimNetwork(expected, "mainnet");
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const engine = createIngestEngine({ db: expected, network, clock: new ManualClock(ANCHOR_SECS), onFault });
  const decoded = records.flatMap((record) => {
    const result = decodeRecord(record);
    return result.ok ? [result.value] : [];
  });
  engine.applyResumable(decoded, [], { isHistory: true });
  const random = seededRandom(`kills ${Date.now()}`);
  for (let kills = 0, run = 0; kills < (IS_LONG ? 30 : 3); run++) {
    const index = indexPath(`${dir.path}/${run}`);
    await Bun.write(`${dir.path}/${run}/mark`, "");
    for (let isDone = false; !isDone; ) {
      const child = Bun.spawn(["bun", IMPORT, index, path], { stdout: "pipe", stderr: "inherit" });
      const output = child.stdout.getReader();
      for (let left = random.below(50); left >= 0 && !(await output.read()).done; left--);
      // Another program that looks must neither move nor delete the log of the import.
      expect(useAsForeign(index, ["read"])).toEqual([""]);
      child.kill("SIGKILL");
      await child.exited;
      isDone = child.signalCode === null;
      expect(isDone ? child.exitCode : 0).toBe(0);
      if (!isDone) kills++;
    }
    using db = openIndexWriter(index);
    expect(dumpIndex(db)).toBe(dumpIndex(expected));
    expect(verifyIndex(index)).toEqual([]);
  }
}, 180_000);
