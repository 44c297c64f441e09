/**
 * The baseline for the hub's reads, in a separate process: a bare grpc-js server that sends the bytes that the node returns
 * for a request (`bun bench/processes/bare-grpc-server.ts <file of { method path, request in hex: response in hex }>`).
 */
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";

const recorded: Record<string, string> = await Bun.file(process.argv[2] ?? "").json();
const path = "/HubService/GetCastsByFid";
const responses = new Map(
  Object.entries(recorded).map(([request, response]) => [request, Buffer.from(response, "hex")]),
);
const unchanged = (bytes: Buffer) => bytes;

const server = new Server();
server.addService(
  {
    getCastsByFid: {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: unchanged,
      requestDeserialize: unchanged,
      responseSerialize: unchanged,
      responseDeserialize: unchanged,
    },
  },
  {
    getCastsByFid(call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) {
      callback(null, responses.get(call.request.toString("hex")) ?? Buffer.alloc(0));
    },
  },
);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (fault, port) => {
  if (fault) throw fault;
  process.stdout.write(`${port}\n`);
});
