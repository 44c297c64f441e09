import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server, ServerCredentials, type sendUnaryData, status } from "@grpc/grpc-js";
import {
  GetInfoRequest,
  GetInfoResponse,
  HubServiceService,
} from "../../../src/protocol/wire/generated/hub.ts";
import { connectUpstream, isConnected } from "../../../src/upstream/calls/connection.ts";
import { createCertificateAuthority } from "../../support/certificates.ts";
import { tempDir } from "../../support/program.ts";

const PRINT_INFO = `${import.meta.dir}/print-info.ts`;
const authority = createCertificateAuthority();
const dir = tempDir();
const server = new Server();
let plainPort: number;
let tlsPort: number;

beforeAll(async () => {
  const { getInfo } = HubServiceService;
  server.addService(
    { getInfo },
    {
      getInfo: (_: unknown, respond: sendUnaryData<GetInfoResponse>) =>
        respond(null, GetInfoResponse.fromPartial({ version: "9.9.9" })),
    },
  );
  const { cert, key } = authority.issue(["localhost"]);
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
  const listen = (credentials: ServerCredentials) =>
    new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", credentials, (cause, port) => (cause ? reject(cause) : resolve(port)));
    });
  plainPort = await listen(ServerCredentials.createInsecure());
  tlsPort = await listen(ServerCredentials.createSsl(null, [pair]));
  await Bun.write(`${dir.path}/ca.pem`, authority.ca);
});
afterAll(() => {
  server.forceShutdown();
  dir[Symbol.dispose]();
});

/** Calls from a process of its own, because trusted root certificates are read at its start. */
async function printedInfo(url: string, env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn([process.execPath, PRINT_INFO, url], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdout: "pipe",
  });
  return await new Response(child.stdout).text();
}

test("http is plain, https needs a trusted certificate, and proxies of the environment are not used", async () => {
  const trusting = { GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: `${dir.path}/ca.pem` };
  const proxy = { http_proxy: "http://127.0.0.1:1", https_proxy: "http://127.0.0.1:1" };
  const unavailable = `fault ${status.UNAVAILABLE}`;
  expect(
    await Promise.all([
      printedInfo(`http://127.0.0.1:${plainPort}`, proxy),
      printedInfo(`https://localhost:${tlsPort}`, { ...trusting, ...proxy }),
      printedInfo(`https://localhost:${tlsPort}`),
      printedInfo(`http://127.0.0.1:${tlsPort}`),
      printedInfo(`https://localhost:${plainPort}`, trusting),
    ]),
  ).toEqual(["9.9.9", "9.9.9", unavailable, unavailable, unavailable]);
}, 180_000);

test("a connection is open from its first call until the upstream ends it", async () => {
  const ending = new Server();
  ending.addService(
    { getInfo: HubServiceService.getInfo },
    {
      getInfo: (_: unknown, respond: sendUnaryData<GetInfoResponse>) =>
        respond(null, GetInfoResponse.fromPartial({})),
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    ending.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (cause, bound) =>
      cause ? reject(cause) : resolve(bound),
    );
  });
  const connection = connectUpstream(`http://127.0.0.1:${port}`);
  expect(isConnected(connection)).toBe(false);
  const { path, requestSerialize, responseDeserialize } = HubServiceService.getInfo;
  await new Promise<void>((resolve, reject) => {
    connection.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      GetInfoRequest.fromPartial({}),
      (cause) => (cause ? reject(cause) : resolve()),
    );
  });
  expect(isConnected(connection)).toBe(true);
  const changed = new Promise<void>((resolve) => {
    const channel = connection.getChannel();
    channel.watchConnectivityState(channel.getConnectivityState(false), Number.POSITIVE_INFINITY, () =>
      resolve(),
    );
  });
  ending.forceShutdown();
  await changed;
  expect(isConnected(connection)).toBe(false);
  connection.close();
});
