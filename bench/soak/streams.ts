import { Client, credentials } from "@grpc/grpc-js";
import type { Tally } from "./tally.ts";

/** Streams that a client follows until `signal` is aborted. A stream that ends earlier counts as a fault. */

/** Follows the event stream over server-sent events, then disconnects. */
export async function overEvents(url: string, signal: AbortSignal, tally: Tally): Promise<void> {
  try {
    const response = await fetch(`${url}/v2/svc/stream?kinds=cast.created`, { signal });
    if (!response.ok) throw new Error(`the stream responded ${response.status}`);
    for await (const _ of response.body ?? []) tally.done("frames");
    throw new Error("the node ended the stream");
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
  tally.done("event streams");
}

/** Does the same over a WebSocket, which it closes or cuts. */
export async function overWebSocket(
  url: string,
  signal: AbortSignal,
  isCut: boolean,
  tally: Tally,
): Promise<void> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v2/svc/stream`);
  const hangUp = () => (isCut ? socket.terminate() : socket.close());
  signal.addEventListener("abort", hangUp);
  await new Promise<void>((resolve, reject) => {
    socket.onmessage = () => tally.done("frames");
    socket.onclose = ({ code }) => {
      if (signal.aborted) resolve();
      else reject(new Error(`the node closed the WebSocket with ${code}`));
    };
  });
  tally.done("WebSockets");
}

/** Subscribes to hub events. */
export async function overGrpc(address: string, signal: AbortSignal, tally: Tally): Promise<void> {
  const client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  const same = (bytes: Buffer) => bytes;
  const stream = client.makeServerStreamRequest("/HubService/Subscribe", same, same, Buffer.alloc(0));
  signal.addEventListener("abort", () => stream.cancel());
  try {
    await new Promise<void>((resolve, reject) => {
      stream.on("data", () => tally.done("hub events"));
      stream.on("error", (cause) => (signal.aborted ? resolve() : reject(cause)));
      stream.on("end", () => reject(new Error("the node ended the subscription")));
    });
  } finally {
    client.close();
  }
  tally.done("subscriptions");
}
