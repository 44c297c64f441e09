import { afterAll, expect, test } from "bun:test";
import { Server, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { GetInfoResponse, HubServiceService } from "../../../src/protocol/wire/generated/hub.ts";
import { createCertificateAuthority } from "../../support/certificates.ts";
import { tempDir } from "../../support/program.ts";
import { startReceiver } from "../../support/receiver.ts";

const CALL = `${import.meta.dir}/call-over-tls.ts`;
const authority = createCertificateAuthority();
const { cert, key } = authority.issue(["localhost", "127.0.0.1"]);
const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

async function startGrpcServer() {
  const server = new Server();
  const getInfo = (_: unknown, response: sendUnaryData<GetInfoResponse>) =>
    response(null, GetInfoResponse.fromPartial({ version: "9.9.9" }));
  server.addService({ getInfo: HubServiceService.getInfo }, { getInfo });
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createSsl(null, [pair]), (cause, bound) =>
      cause ? reject(cause) : resolve(bound),
    );
  });
  return { port, [Symbol.dispose]: () => server.forceShutdown() };
}

test("no environment variable makes an outgoing TLS connection accept an untrusted certificate", async () => {
  await using receiver = startReceiver({
    tls: { cert, key },
    respond: () => Response.json({ apps: [] }),
  });
  using grpc = await startGrpcServer();
  const outcomes = async (env: Record<string, string>) => {
    const urls = [`https://127.0.0.1:${receiver.port}/`, `https://localhost:${grpc.port}`];
    const child = Bun.spawn([process.execPath, CALL, ...urls], {
      env: { PATH: process.env.PATH ?? "", ...env },
      stdout: "pipe",
      stderr: "pipe",
    });
    return JSON.parse(await new Response(child.stdout).text());
  };
  const ways = ["receiver", "endpoint", "probe", "management", "upstream"];
  const all = (outcome: string) => Object.fromEntries(ways.map((way) => [way, outcome]));
  const careless = { NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_NO_WARNINGS: "1" };
  expect(await outcomes(careless)).toEqual(all("refused"));
  expect(receiver.requests).toEqual([]);
  // The same calls succeed when the authority is trusted.
  await Bun.write(`${dir.path}/ca.pem`, authority.ca);
  const trusting = {
    NODE_EXTRA_CA_CERTS: `${dir.path}/ca.pem`,
    GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: `${dir.path}/ca.pem`,
  };
  expect(await outcomes(trusting)).toEqual(all("response"));
}, 180_000);
