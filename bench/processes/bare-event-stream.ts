/**
 * The baseline for a replay of hub events, in a separate process: a bare grpc-js stream that sends recorded events from
 * memory (`bun bench/processes/bare-event-stream.ts <file of events in hex, one per line>`).
 */
import { Server, ServerCredentials, type ServerWritableStream } from "@grpc/grpc-js";

const events = (await Bun.file(process.argv[2] ?? "").text())
  .trim()
  .split("\n")
  .map((line) => Buffer.from(line, "hex"));
const unchanged = (bytes: Buffer) => bytes;

const server = new Server();
server.addService(
  {
    subscribe: {
      path: "/HubService/Subscribe",
      requestStream: false,
      responseStream: true,
      requestSerialize: unchanged,
      requestDeserialize: unchanged,
      responseSerialize: unchanged,
      responseDeserialize: unchanged,
    },
  },
  {
    async subscribe(call: ServerWritableStream<Buffer, Buffer>) {
      for (const event of events)
        if (!call.write(event)) await new Promise((resolve) => call.once("drain", resolve));
      call.end();
    },
  },
);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (fault, port) => {
  if (fault) throw fault;
  process.stdout.write(`${port}\n`);
});
