/**
 * The baseline of `bench neighbour`: a server that only receives and refuses an attack, over the same transports and with
 * the same number of bytes as the node. It prints the JSON of its addresses.
 */
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";

const MAX_READ_BYTES = 64 * 1024;
const path = "/HubService/GetCastsByFid";
const bytes = (value: Buffer) => value;
const refused = JSON.stringify({ message: "refused" });
/** Number of delayed refusals of large bodies, which are as late as the node's (`src/http/limits/late-refusals.ts`). */
let waiting = 0;

const http = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch({ headers, body }) {
    const closes = Number(headers.get("content-length") ?? 0) > MAX_READ_BYTES;
    if (closes) {
      body?.cancel().catch(() => undefined);
      waiting += 1;
      await Bun.sleep(1_000 + (waiting * 1_000) / 512);
      waiting -= 1;
    }
    return new Response(refused, { status: 429, headers: closes ? { connection: "close" } : {} });
  },
});
const grpc = new Server();
grpc.addService(
  {
    getCastsByFid: {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    },
  },
  {
    getCastsByFid: (_call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) =>
      respond(null, Buffer.alloc(0)),
  },
);
grpc.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (fault, port) => {
  if (fault) throw fault;
  process.stdout.write(
    `${JSON.stringify({ url: http.url.origin, hubAddress: `127.0.0.1:${port}`, pid: process.pid })}\n`,
  );
});
