import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import type { Resolve } from "../../src/net/resolve.ts";

/**
 * Returns the response to the `nth` query (from 0) for a name's A records; undefined if the name does not exist,
 * "silent" to send no response.
 */
export type DnsScript = (name: string, nth: number) => readonly string[] | undefined | "silent";

export interface DnsServer extends AsyncDisposable {
  /** Queries this server over UDP. */
  readonly resolve: Resolve;
  /** The queried names, in order. */
  readonly queries: readonly string[];
}

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;

/** A name server on a loopback port. Its responses have a TTL of 0 seconds. */
export async function startDnsServer(script: DnsScript): Promise<DnsServer> {
  const queries: string[] = [];
  const responses = new Map<string, readonly string[] | undefined | "silent">();
  const socket = createSocket("udp4");
  socket.on("message", (query, peer) => {
    const { name, type, end } = readQuestion(query);
    if (type === TYPE_A) {
      responses.set(name, script(name, queries.filter((query) => query === name).length));
      queries.push(name);
    }
    const response = responses.get(name);
    if (response === "silent") return;
    const records = (response ?? [])
      .filter((address) => address.includes(":") === (type === TYPE_AAAA))
      .map(record);
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (response === undefined ? NAME_ERROR : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), peer.port, peer.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const resolver = new Resolver({ timeout: 10_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    queries,
    async resolve(name) {
      const ipv4 = await resolver.resolve4(name).catch(noRecords);
      return [...ipv4, ...(await resolver.resolve6(name).catch(noRecords))];
    },
    async [Symbol.asyncDispose]() {
      resolver.cancel();
      socket.close();
    },
  };
}

const noRecords = (): string[] => [];

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = query.readUInt8(at); size > 0; size = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + size));
    at += 1 + size;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** A resource record for the name in the query, to which a pointer refers. */
function record(address: string): Buffer {
  const data = addressBytes(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(data.length === 4 ? TYPE_A : TYPE_AAAA, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** An address in wire form: 4 or 16 bytes. */
export function addressBytes(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  const [left = "", right = ""] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const missing = 8 - groups(left).length - groups(right).length;
  const all = [...groups(left), ...Array.from({ length: missing }, () => "0"), ...groups(right)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
