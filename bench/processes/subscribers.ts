/**
 * Subscribers of hub events in a separate process, each with a separate connection, that discard what they get
 * (`bun bench/processes/subscribers.ts <address> <count>`). Prints a line when all are open.
 */
import { Client, credentials } from "@grpc/grpc-js";

const [address = "", count = "0"] = process.argv.slice(2);
const unchanged = (bytes: Buffer) => bytes;

const opened = Array.from({ length: Number(count) }, () => {
  const client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  const stream = client.makeServerStreamRequest(
    "/HubService/Subscribe",
    unchanged,
    unchanged,
    Buffer.alloc(0),
  );
  stream.on("data", () => undefined);
  return new Promise<void>((resolve, reject) => {
    stream.on("metadata", () => resolve());
    stream.on("error", reject);
  });
});
await Promise.all(opened);
process.stdout.write("open\n");
