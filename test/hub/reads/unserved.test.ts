import { expect, test } from "bun:test";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { UNSERVED } from "../../../src/hub/reads/unserved.ts";
import { startTestApi } from "../../support/api.ts";
import { startTestHub } from "../../support/hub.ts";
import { temporaryIndex } from "../../support/temporary-index.ts";

/** Methods of services and releases of hubs that this node does not have at all. */
const UNKNOWN = [
  "/HubService/GetSyncStatus",
  "/HubService/GetAllSyncIdsByPrefix",
  "/HubService/GetFidByName",
  "/HubService/SubscribeBlocks",
  "/HubService/GetChannel",
  "/ReplicationService/GetShardTransactions",
];

test("what a node of its own cannot have is UNIMPLEMENTED, with the reason where a hub of today has it", async () => {
  using index = temporaryIndex();
  await using hub = await startTestHub(index.path);
  const client = new Client(hub.address, credentials.createInsecure());
  const unchanged = (bytes: Buffer) => bytes;
  const errorOf = (path: string) =>
    new Promise<ServiceError | null>((resolve) =>
      client.makeUnaryRequest(path, unchanged, unchanged, Buffer.alloc(0), (cause) => resolve(cause)),
    );
  for (const [method, reason] of Object.entries(UNSERVED)) {
    const error = await errorOf(`/HubService/${method}`);
    expect([method, error?.code, error?.details]).toEqual([method, status.UNIMPLEMENTED, reason]);
  }
  for (const path of UNKNOWN)
    expect([path, (await errorOf(path))?.code]).toEqual([path, status.UNIMPLEMENTED]);
  client.close();
});

test("under /v1 they are 501 with the reason, and what no hub has is 404", async () => {
  await using api = await startTestApi();
  for (const path of ["mesh", "mesh/ui"]) {
    const response = await fetch(`${api.url}/v1/${path}`);
    const body = (await response.json()) as { errCode: string; details: string };
    expect([path, response.status, body.errCode]).toEqual([path, 501, "unimplemented"]);
    expect(body.details).toMatch(/^this node /);
  }
  const unknown = await fetch(`${api.url}/v1/nothing`);
  expect([unknown.status, ((await unknown.json()) as { errCode: string }).errCode]).toEqual([
    404,
    "not_found",
  ]);
});
