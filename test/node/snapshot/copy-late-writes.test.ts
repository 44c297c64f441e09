import { expect, test } from "bun:test";
import { join } from "node:path";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { copyLateWrites } from "../../../src/node/snapshot/copy-late-writes.ts";
import { accountRecords, startTestNode } from "../../support/node.ts";
import { tempDir } from "../../support/program.ts";
import { isDone, writeHalf, writeKeyed } from "./keyed-writes.ts";

test("a copied state gets the writes that its index has, those that wait, and no other", async () => {
  using node = startTestNode();
  using dir = tempDir();
  node.ingestAll(accountRecords(7, 10));
  using state = openState(statePath(node.dir));
  const copies = { state: join(dir.path, "state.db"), index: join(dir.path, "index.db") };
  await writeKeyed(node, state, "before both");
  await writeKeyed(node, state, "ends between", { isMerged: false });
  state.sqlite.run("VACUUM INTO ?", [copies.state]);
  await writeKeyed(node, state, "between");
  await writeKeyed(node, state, "waits", { isMerged: false });
  node.db.sqlite.run("VACUUM INTO ?", [copies.index]);
  await writeKeyed(node, state, "after both");
  await writeKeyed(node, state, "waits later", { isMerged: false });
  await writeHalf(node, state, "half after both");
  state.sqlite.run(
    "UPDATE queued_writes SET state = 'refused' WHERE request = (SELECT request FROM write_calls WHERE idem = 'ends between')",
  );
  state.sqlite.run("UPDATE write_calls SET done = 1 WHERE idem = 'ends between'");

  copyLateWrites(state.file, copies);

  using copy = openState(copies.state);
  const known = [
    "before both",
    "ends between",
    "between",
    "waits",
    "waits later",
    "half after both",
    "after both",
  ];
  expect(await Promise.all(known.map(async (idem) => [idem, await isDone(copy, idem)]))).toEqual([
    ["before both", true],
    ["ends between", true],
    ["between", true],
    ["waits", false],
    ["waits later", false],
    ["half after both", false],
    ["after both", undefined],
  ]);
  const queued = copy.sqlite.query("SELECT count(*) AS n FROM queued_writes WHERE state = 'queued'").get();
  expect(queued).toEqual({ n: 3 });
  // The rows of a write come together: what is unique in the source is unique in the copy.
  expect(copy.sqlite.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
});
