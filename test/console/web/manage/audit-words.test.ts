import { expect, test } from "bun:test";
import { join } from "node:path";
import { AUDIT_WORDS, auditWords } from "../../../../src/console/web/manage/audit-words.ts";

const SRC = join(import.meta.dir, "../../../../src");
/** Operations that are not in the audit log by their name: sends and drafts are not, what signs a message is a write. */
const OTHERWISE = ["address.verify", "app.draft", "app.send", "channel.follow", "signer.cast"];
/** An acknowledged incident is not a change of its channel. */
const NAMED: Readonly<Record<string, string>> = { "notice_channel.acknowledge": "incident.ack" };

test("the audit log says in words what each operation of an owner did", async () => {
  const paths = ["api/operations/**/*.ts", "moderation/moderation-service.ts"].flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync(SRC),
  ]);
  const sources = await Promise.all(paths.map((path) => Bun.file(join(SRC, path)).text()));
  const named = sources.flatMap(
    (source) => source.match(/(?<=\bop: "|action: .*")[a-z_]+\.[a-z_]+(?=")/g) ?? [],
  );
  const actions = [...new Set(named)].filter((op) => !op.endsWith(".read") && !OTHERWISE.includes(op));
  expect(actions.length).toBeGreaterThan(25);
  expect(actions.filter((op) => !((NAMED[op] ?? op) in AUDIT_WORDS))).toEqual([]);
  expect(auditWords("write.cast_add")).toContain("cast add");
});
