import type { Socket } from "bun";

/** A way to a PostgreSQL server that tests can cut, freeze and listen at. */
export interface PostgresProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Connections since the start. */
  readonly accepted: number;
  /**
   * Lets a statement reach the server and be committed, and loses its response: at the next completed command with this tag
   * (`INSERT 0 1`, `COMMIT`), the connection is cut after the commit. Resolves when that has happened.
   */
  loseAnswer(tag: RegExp): Promise<void>;
  /** Closes all connections and refuses new ones. */
  cut(): void;
  /** Passes no more bytes in either direction, and accepts connections without ever responding. */
  freeze(): void;
  /** Passes all bytes this much later, in each direction. */
  slow(delayMs: number): void;
  /** Passes everything again, including what was held. */
  heal(): void;
}

const COMMAND_COMPLETE = 0x43;
const READY_FOR_QUERY = 0x5a;

interface Link {
  readonly client: Socket;
  server: Socket | undefined;
  readonly toServer: Outbox;
  readonly toClient: Outbox;
  readonly messages: MessageReader;
  isLosing: boolean;
}

/** Starts a proxy on a free port of the loopback address. */
export function startProxy(serverPort: number): PostgresProxy {
  const links = new Map<Socket, Link>();
  let mode: "pass" | "cut" | "frozen" = "pass";
  let delayMs = 0;
  let accepted = 0;
  let lost: { readonly tag: RegExp; readonly happened: () => void } | undefined;

  /** What arrived first is passed first, because each wait is as long. */
  const later = (work: () => void) => (delayMs === 0 ? work() : void setTimeout(work, delayMs));
  const flush = (link: Link) => {
    if (mode !== "pass") return;
    if (link.server) link.toServer.flush(link.server);
    link.toClient.flush(link.client);
  };
  const end = (link: Link) => {
    links.delete(link.client);
    link.client.terminate();
    link.server?.terminate();
  };

  function fromServer(link: Link, bytes: Uint8Array): void {
    let isOver = false;
    link.messages.read(bytes, (type, body) => {
      if (type === COMMAND_COMPLETE && lost?.tag.test(body.replace(/\0$/, ""))) link.isLosing = true;
      if (type === READY_FOR_QUERY && link.isLosing) isOver = true;
    });
    if (isOver) {
      lost?.happened();
      lost = undefined;
      end(link);
    } else if (!link.isLosing) {
      later(() => {
        link.toClient.push(bytes);
        flush(link);
      });
    }
  }

  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async open(client) {
        if (mode === "cut") return void client.terminate();
        accepted += 1;
        const link: Link = {
          client,
          server: undefined,
          toServer: new Outbox(),
          toClient: new Outbox(),
          messages: new MessageReader(),
          isLosing: false,
        };
        links.set(client, link);
        try {
          link.server = await Bun.connect({
            hostname: "127.0.0.1",
            port: serverPort,
            socket: {
              data: (_, bytes) => fromServer(link, new Uint8Array(bytes)),
              drain: () => flush(link),
              close: () => end(link),
              error: () => end(link),
            },
          });
        } catch {
          end(link);
        }
        flush(link);
      },
      data(client, bytes) {
        const link = links.get(client);
        if (!link) return;
        const received = new Uint8Array(bytes);
        later(() => {
          link.toServer.push(received);
          flush(link);
        });
      },
      drain(client) {
        const link = links.get(client);
        if (link) flush(link);
      },
      close(client) {
        const link = links.get(client);
        if (link) end(link);
      },
      error(client) {
        const link = links.get(client);
        if (link) end(link);
      },
    },
  });

  return {
    port: listener.port,
    get open() {
      return links.size;
    },
    get accepted() {
      return accepted;
    },
    loseAnswer: (tag) =>
      new Promise((happened) => {
        lost = { tag, happened };
      }),
    cut() {
      mode = "cut";
      for (const link of links.values()) end(link);
    },
    freeze() {
      mode = "frozen";
    },
    slow(ms) {
      delayMs = ms;
    },
    heal() {
      mode = "pass";
      delayMs = 0;
      for (const link of links.values()) flush(link);
    },
    async [Symbol.asyncDispose]() {
      listener.stop(true);
      for (const link of links.values()) end(link);
    },
  };
}

/** Bytes that wait: for a connection, for a reader, or while the proxy is frozen. */
class Outbox {
  readonly #waiting: Uint8Array[] = [];

  push(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
  }

  flush(socket: Socket): void {
    for (let bytes = this.#waiting.shift(); bytes; bytes = this.#waiting.shift()) {
      const written = Math.max(socket.write(bytes), 0);
      if (written === bytes.length) continue;
      this.#waiting.unshift(bytes.subarray(written));
      return;
    }
  }
}

/** Finds the messages in the bytes of a server: a type, a length that includes itself, a body. */
class MessageReader {
  #pending = new Uint8Array();

  read(bytes: Uint8Array, take: (type: number, body: string) => void): void {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    while (this.#pending.length >= 5) {
      const length = new DataView(this.#pending.buffer, this.#pending.byteOffset).getUint32(1);
      if (this.#pending.length < 1 + length) return;
      take(this.#pending[0] ?? 0, Buffer.from(this.#pending.subarray(5, 1 + length)).toString("latin1"));
      this.#pending = this.#pending.subarray(1 + length);
    }
  }
}
