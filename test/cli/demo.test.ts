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
  expect(JSON.parse(found.out).authAddress).toBeNull();
  const missing = await run(["demo", "keys", "--fid", "100000"]);
  expect(missing.exitCode).toBe(1);
  expect(missing.errors).toContain("no fid 100000");
});

test("demo keys prints the key of an auth address, and says which fids have none", async () => {
  const { authAddress } = JSON.parse((await run(["demo", "keys", "--fid", "4"])).out);
  expect(privateKeyToAccount(authAddress.privateKey).address.toLowerCase()).toBe(authAddress.address);
  const only = await run(["demo", "keys", "--fid", "4", "--auth-address"]);
  expect(only.out).toBe(`${authAddress.privateKey}\n`);
  const none = await run(["demo", "keys", "--fid", "3", "--auth-address"]);
  expect(none).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining("fid 3 of the demo network has no"),
  });
  expect((await run(["demo", "keys", "--fid", "4", "--auth-address", "--custody"])).exitCode).toBe(1);
});
