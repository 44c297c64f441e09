/** A reply of the Redis protocol (RESP2): bytes and texts are bulk strings. */
type Reply = number | null | Uint8Array | string | Status | readonly Reply[];

interface Status {
  readonly status: string;
}

interface Entry {
  readonly id: string;
  readonly fields: readonly Uint8Array[];
}

interface Stream {
  entries: Entry[];
  /** How many entries each group has read, and those that it has not acknowledged. */
  readonly groups: Map<string, { read: number; readonly pending: Map<string, Entry> }>;
}

const OK: Status = { status: "OK" };

/** The part of a Redis server that readers of hub events keep their position and queue in: strings, and streams with groups. */
export interface RedisServer extends Disposable {
  readonly url: string;
}

export function startRedis(): RedisServer {
  const strings = new Map<string, Uint8Array>();
  const streams = new Map<string, Stream>();
  let lastId = 0;

  const stream = (key: string): Stream => {
    const found = streams.get(key) ?? { entries: [], groups: new Map() };
    streams.set(key, found);
    return found;
  };
  const group = (key: string, name: string) => {
    const found = stream(key).groups.get(name);
    if (!found) throw new Error("NOGROUP no such group");
    return found;
  };
  const asReply = ({ id, fields }: Entry): Reply => [id, fields];

  function run(command: string, args: readonly Uint8Array[]): Reply {
    const words = args.map((bytes) => Buffer.from(bytes).toString());
    const [first = "", second = "", third = ""] = words;
    switch (command) {
      case "INFO":
        return "redis_version:7.0.0\r\nloading:0\r\n";
      case "GET":
        return strings.get(first) ?? null;
      case "SET":
        strings.set(first, args[1] ?? new Uint8Array());
        return OK;
      case "DEL":
        return strings.delete(first) ? 1 : 0;
      case "XADD": {
        const entry = { id: `${Date.now()}-${lastId++}`, fields: args.slice(2) };
        stream(first).entries.push(entry);
        return entry.id;
      }
      case "XLEN":
        return stream(first).entries.length;
      case "XINFO":
        return [...stream(second).groups.keys()].map((name) => ["name", name]);
      case "XGROUP":
        stream(second).groups.set(third, { read: 0, pending: new Map() });
        return OK;
      case "XREADGROUP": {
        const key = words.at(-2) ?? "";
        const reader = group(key, second);
        const from = reader.read;
        const entries = stream(key).entries.slice(from, from + Number(words[words.indexOf("COUNT") + 1]));
        reader.read += entries.length;
        for (const entry of entries) reader.pending.set(entry.id, entry);
        return entries.length === 0 ? null : [[key, entries.map(asReply)]];
      }
      case "XACK": {
        const { pending } = group(first, second);
        return words.slice(2).filter((id) => pending.delete(id)).length;
      }
      // Nothing waits long enough here to be claimed again or trimmed.
      case "XAUTOCLAIM":
        return ["0-0", [], []];
      case "XTRIM":
        return 0;
      default:
        throw new Error(`ERR unknown command ${command}`);
    }
  }

  const server = Bun.listen<{ unread: Buffer }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { unread: Buffer.alloc(0) };
      },
      data(socket, chunk) {
        const parser = new CommandParser(Buffer.concat([socket.data.unread, chunk]));
        for (let parts = parser.next(); parts; parts = parser.next()) {
          const [name = new Uint8Array(), ...args] = parts;
          try {
            socket.write(encode(run(Buffer.from(name).toString().toUpperCase(), args)));
          } catch (cause) {
            socket.write(`-${cause instanceof Error ? cause.message : cause}\r\n`);
          }
        }
        socket.data.unread = parser.rest();
      },
    },
  });

  return {
    url: `redis://127.0.0.1:${server.port}`,
    [Symbol.dispose]: () => server.stop(true),
  };
}

/** Reads commands: arrays of bulk strings. */
class CommandParser {
  #at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Returns the next command, if it has arrived whole. */
  next(): Uint8Array[] | undefined {
    const start = this.#at;
    const count = this.#number();
    const parts: Uint8Array[] = [];
    for (let part = 0; count !== undefined && part < count; part++) {
      const length = this.#number();
      if (length === undefined || this.#at + length + 2 > this.#bytes.length) break;
      parts.push(this.#bytes.subarray(this.#at, this.#at + length));
      this.#at += length + 2;
    }
    if (count !== undefined && parts.length === count) return parts;
    this.#at = start;
    return undefined;
  }

  rest(): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#at));
  }

  /** Reads a line such as `*3` or `$5`. */
  #number(): number | undefined {
    const end = this.#bytes.indexOf("\r\n", this.#at);
    if (end < 0) return undefined;
    const value = Number(this.#bytes.toString("latin1", this.#at + 1, end));
    this.#at = end + 2;
    return value;
  }
}

function encode(reply: Reply): Buffer {
  if (reply === null) return Buffer.from("$-1\r\n");
  if (typeof reply === "number") return Buffer.from(`:${reply}\r\n`);
  if (typeof reply === "string" || reply instanceof Uint8Array) {
    const bytes = Buffer.from(reply);
    return Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n")]);
  }
  if ("status" in reply) return Buffer.from(`+${reply.status}\r\n`);
  return Buffer.concat([Buffer.from(`*${reply.length}\r\n`), ...reply.map(encode)]);
}
