import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ManagementNode, startManagementNode } from "./management-node.ts";

/** Paths, headers and typed data use a configured service name; the compat prefix does not change. */

const NAME = ["--set", "service.name=hypersnap"];

let node: ManagementNode;
beforeAll(async () => {
  node = await startManagementNode(["service.name=hypersnap"]);
}, 180_000);
afterAll(() => node[Symbol.asyncDispose]());

test("serves both prefixes, each in its dialect, and not the default name", async () => {
  const read = async (path: string) => {
    const response = await fetch(`${node.url}/v2/${path}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const spec = await read("hypersnap/user?fid=3");
  expect(spec).toMatchObject({ status: 200, body: { user: { registered_at: expect.any(Number) } } });
  const compat = await read("farcaster/user/bulk/?fids=3");
  expect(compat).toMatchObject({ status: 200, body: { users: [{ registered_at: expect.any(String) }] } });
  expect((await read("svc/user?fid=3")).status).toBe(404);
});

test("accepts a client that signs with the name's headers and domain, and rejects one that signs with the default", async () => {
  const create = ["app", "create", "--name", "Bread club", "--app-url", "https://127.0.0.1"];
  const named = await node.as(3, [...NAME, ...create]);
  expect(named).toMatchObject({ exitCode: 0, errors: "" });
  expect((await node.as(3, create)).exitCode).toBe(1);
});
