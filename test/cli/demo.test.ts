import { expect, test } from "bun:test";
import { privateKeyToAccount } from "viem/accounts";
import { run } from "./run.ts";

test("demo keys prints the keys of a demo user, and rejects an unknown fid", async () => {
  const found = await run(["demo", "keys", "--fid", "3"]);
  const { custody, signers } = JSON.parse(found.out);
  expect(privateKeyToAccount(custody.privateKey).address.toLowerCase()).toBe(custody.address);
  expect(signers[0].publicKey).toMatch(/^0x[0-9a-f]{64}$/);
  const alone = await run(["demo", "keys", "--fid", "3", "--custody"]);
  expect(alone.out).toBe(`${custody.privateKey}\n`);
  const missing = await run(["demo", "keys", "--fid", "100000"]);
  expect(missing.exitCode).toBe(1);
  expect(missing.errors).toContain("no fid 100000");
});
