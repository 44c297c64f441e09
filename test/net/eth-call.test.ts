import { afterAll, expect, test } from "bun:test";
import { createEthBlockNumber, createEthCall, createEthCode } from "../../src/net/eth-call.ts";

let response: unknown;
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json(response) });
afterAll(() => server.stop(true));
const rpcUrl = `http://127.0.0.1:${server.port}/`;
const call = createEthCall(rpcUrl);

test.each<[what: string, response: unknown, outcome: string]>([
  ["hex", { result: "0x00ff" }, "0x00ff"],
  ["an empty result", { result: "0x" }, "0x"],
  ["another text", { result: "ok" }, "unavailable"],
  ["half a byte", { result: "0x0" }, "unavailable"],
  ["a number", { result: 5 }, "unavailable"],
  ["code 3", { error: { code: 3, message: "no" } }, "reverted"],
  ["a text of a revert", { error: { code: -32_000, message: "execution Reverted" } }, "reverted"],
  ["another error", { error: { code: -32_000, message: "out of gas" } }, "unavailable"],
  ["an error without a message", { error: { code: 4 } }, "unavailable"],
  ["an error that is a text", { error: "reverted" }, "unavailable"],
  ["nothing", {}, "unavailable"],
  ["null", null, "unavailable"],
  ["more than the limit", { result: `0x${"00".repeat(40_000)}` }, "unavailable"],
])("a call of a contract to which the RPC responds %s", async (_, body, outcome) => {
  response = body;
  expect(await call({ to: "0x00", data: "0x" })).toBe(outcome as "reverted");
});

test("the code of an address and the newest block are what the RPC says, or not known", async () => {
  const [code, number] = [createEthCode(rpcUrl), createEthBlockNumber(rpcUrl)];
  response = { result: "0x60" };
  expect([await code("0x00"), await number()]).toEqual(["0x60", 96]);
  response = { error: { code: 3 } };
  expect([await code("0x00"), await number()]).toEqual(["unavailable", undefined]);
  response = { result: "0xffffffffffffffff" };
  expect(await number()).toBeUndefined();
});
