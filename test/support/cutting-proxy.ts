import { connect, createServer, type Socket } from "node:net";

/** A proxy of TCP connections that breaks them on demand, in the middle of whatever it passes on. */
export interface CuttingProxy extends AsyncDisposable {
  readonly url: string;
  /** The values of the header `Last-Event-ID` that clients have sent, by the path and query of their request, in order. */
  readonly lastEventIds: ReadonlyMap<string, readonly string[]>;
  /** Breaks all connections. */
  cut(): void;
  /** While it is down, connections break at once. */
  setDown(isDown: boolean): void;
}

/** @param rewrite Changes what the node sends; the number of bytes must stay the same. */
export async function startCuttingProxy(
  port: number,
  rewrite: (bytes: Buffer) => Buffer = (bytes) => bytes,
): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  const lastEventIds = new Map<string, string[]>();
  let isDown = false;

  function note(head: string): void {
    const path = head.match(/^GET (\S+) /)?.[1];
    const id = head.match(/^last-event-id: (.+?)\r?$/im)?.[1];
    if (path !== undefined && id !== undefined)
      lastEventIds.set(path, [...(lastEventIds.get(path) ?? []), id]);
  }

  const server = createServer((client) => {
    client.on("error", () => undefined);
    if (isDown) {
      client.destroy();
      return;
    }
    const node = connect(port, "127.0.0.1");
    open.add(client);
    const end = () => {
      client.destroy();
      node.destroy();
      open.delete(client);
    };
    client.on("data", (bytes: Buffer) => {
      note(bytes.toString("latin1"));
      node.write(bytes);
    });
    node.on("data", (bytes: Buffer) => client.write(rewrite(bytes)));
    for (const socket of [client, node]) socket.on("close", end);
    node.on("error", end);
  });
  const cut = () => {
    for (const socket of [...open]) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    lastEventIds,
    cut,
    setDown(down) {
      isDown = down;
      if (down) cut();
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}
