import type { BucketLimit } from "./bucket-table.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** What all clients may hold at once, and what one may. */
export interface BudgetTerms {
  /** As in a refusal: "too many <unit> …". */
  readonly unit: string;
  readonly total: number;
  readonly perClient: number;
  /** A client that holds no more than this has `reserve` beyond `total`, so that a few who take all of it lock out no one else. */
  readonly reservedPerClient?: number;
  /** Default: a quarter of `total`. */
  readonly reserve?: number;
}

/** What all clients may hold, and what a client with little has beyond it. */
type Room = Pick<BudgetTerms, "total" | "reservedPerClient" | "reserve">;

/** Returns what all clients may hold where one of them takes something and then holds `own`. */
export function roomFor(own: number, { total, reservedPerClient = 0, reserve }: Room): number {
  return own <= reservedPerClient ? total + (reserve ?? Math.floor(total / 4)) : total;
}

/** The room of connections that stay open, of which a setting allows `max`: the last fifth is for clients without one. */
export function roomWithin(max: number): Room {
  const reserve = Math.floor(max / 5);
  return { total: max - reserve, reservedPerClient: 1, reserve };
}

/** Whose tasks may run and wait at a time, of all clients and of one. */
export interface TurnTerms {
  readonly unit: string;
  readonly running: number;
  readonly waiting: number;
  readonly perClient: { readonly running: number; readonly waiting: number };
}

/**
 * What clients hold at once, counted over all threads. A client is an API key, an IPv4 address or the /64 network of an IPv6 address. Every
 * budget that a few clients could take whole reserves something for others.
 */
export const BUDGETS = {
  /** Request bodies of HTTP, from the arrival of their bytes to the end of the request. */
  httpBodies: {
    unit: "bytes of request bodies",
    total: 64 * MIB,
    perClient: 16 * MIB,
    reservedPerClient: 128 * KIB,
  },
  /** Responses of HTTP of more than 64 kB, and frames of streams, until the client has taken them. */
  unsentBytes: {
    unit: "bytes of responses",
    total: 256 * MIB,
    perClient: 64 * MIB,
    reservedPerClient: MIB,
  },
  /** Requests of gRPC, from the arrival of their bytes to the end of the call. */
  hubRequests: {
    unit: "bytes of requests",
    total: 64 * MIB,
    perClient: 32 * MIB,
    reservedPerClient: 128 * KIB,
  },
  /** Calls of gRPC until their streams are closed, which a client that takes no response delays by two minutes. */
  hubCalls: { unit: "calls", total: 8192, perClient: 1024, reservedPerClient: 16 },
  /** Responses of unary gRPC calls, lists that are being read included, until the client has taken them. */
  hubResponses: {
    unit: "bytes of responses",
    total: 256 * MIB,
    perClient: 64 * MIB,
    reservedPerClient: 256 * KIB,
  },
  /** Requests whose body has not arrived, each of which takes a connection. Less where the process has few file descriptors. */
  uploads: {
    unit: "requests whose body is arriving",
    total: 4096,
    perClient: 1024,
    reservedPerClient: 16,
  },
  /**
   * Requests whose body has no Content-Length, until it is read. Bun parses what arrives of it before it can be refused, 350 ns for each chunk, and
   * buffers at most 1.25 MiB of each while it waits for a busy thread.
   */
  chunkedBodies: {
    unit: "request bodies without a Content-Length",
    total: 64,
    perClient: 8,
    reservedPerClient: 1,
  },
  /** Refusals that wait before they are sent, each with its connection (`src/http/limits/late-refusals.ts`). Less where the process has few file descriptors. */
  lateRefusals: { unit: "refusals that are sent late", total: 16_384, perClient: 8192 },
  /** Blocks and chunks of the upstream that are passed on, each a call to it. */
  blockRelays: { unit: "block relays", total: 8, perClient: 4, reservedPerClient: 1 },
  /** Checks of contract wallets, each a call of the operator's RPC of Optimism. */
  contractChecks: { unit: "checks of contract wallets", total: 8, perClient: 4, reservedPerClient: 1 },
  /** Channels that are opened or looked for at the upstream relay. A client may open 20 at once. */
  relayCalls: { unit: "calls of the upstream relay", total: 96, perClient: 24, reservedPerClient: 4 },
  /** Manifests that are being fetched, each of up to 1 MB. */
  manifestFetches: { unit: "manifests", total: 8, perClient: 2, reservedPerClient: 1 },
  /** Entries of the lists of open streams. One takes about 300 bytes of the matching thread. */
  streamEntries: { unit: "filter entries", total: 500_000, perClient: 25_000, reservedPerClient: 1_000 },
  /** Regular expressions of open streams, each once for a client. All clients together may have 250 different ones (`src/stream/slots.ts`). */
  streamExpressions: { unit: "regular expressions", total: 4_000, perClient: 10 },
} as const satisfies Readonly<Record<string, BudgetTerms>>;

/**
 * Returns the terms of a process that refuses connections at `descriptorCap` file descriptors: uploads may take half of them, and an eighth
 * more for clients with few, those of one client an eighth; refusals that are sent late a quarter, those of one client an eighth.
 */
export function budgetsWithin(descriptorCap: number): Readonly<Record<BudgetName, BudgetTerms>> {
  const within = (terms: BudgetTerms, descriptors: number): BudgetTerms => {
    const total = Math.min(terms.total, Math.ceil(descriptors));
    return { ...terms, total, perClient: Math.ceil((total * terms.perClient) / terms.total) };
  };
  return {
    ...BUDGETS,
    uploads: within(BUDGETS.uploads, descriptorCap / 2),
    lateRefusals: within(BUDGETS.lateRefusals, descriptorCap / 4),
  };
}

export type BudgetName = keyof typeof BUDGETS;

/** What runs in turns, on each thread by itself. */
export const TURNS = {
  /** Responses of more than 256 kB that are collected to be sent. */
  largeResponses: {
    unit: "large responses",
    running: 4,
    waiting: 256,
    perClient: { running: 2, waiting: 64 },
  },
  /** Lists of the hub, over gRPC and `/v1`. Where other clients wait, a long queue of one gives way to theirs. */
  hubLists: { unit: "lists", running: 16, waiting: 512, perClient: { running: 4, waiting: 512 } },
  /** Pages of snapshots for nodes that fill their index from this one. */
  snapshotPages: {
    unit: "pages of snapshots",
    running: 1,
    waiting: 64,
    perClient: { running: 1, waiting: 16 },
  },
  /** Requests of several messages whose signatures are being checked, a few milliseconds at a time. */
  bulkChecks: { unit: "bulk requests", running: 2, waiting: 512, perClient: { running: 1, waiting: 256 } },
  /** Requests of MCP. */
  mcpRequests: { unit: "requests of MCP", running: 32, waiting: 256, perClient: { running: 4, waiting: 16 } },
  /** Messages that wait for a response of the Ethereum RPC. */
  chainChecks: { unit: "messages", running: 8, waiting: 100, perClient: { running: 4, waiting: 50 } },
} as const satisfies Readonly<Record<string, TurnTerms>>;

/** Requests that wait for their turn on a busy thread, each thread by itself. */
export const WAITING_REQUESTS = {
  unit: "requests",
  total: 4096,
  perClient: 1024,
  reservedPerClient: 16,
} as const satisfies BudgetTerms;

/**
 * Token buckets by client, counted over all threads: the number of clients with a bucket of their own, a power of two. The larger ones are twice the guideline
 * for the largest number of keys and addresses of one day, so that they displace each other seldom.
 */
export const BUCKETS = {
  keys: 65_536,
  addresses: 65_536,
  unknownKeys: 8_192,
  signedReads: 8_192,
  signedChanges: 8_192,
  newSessions: 8_192,
  signIns: 8_192,
  contractChecks: 8_192,
  contractRefusals: 8_192,
  relayPolls: 8_192,
  chainReads: 8_192,
  opens: 8_192,
  manifestChecks: 8_192,
  channels: 8_192,
  discards: 8_192,
  chunks: 8_192,
  refusals: 8_192,
} as const;

export type BucketsName = keyof typeof BUCKETS;

/**
 * What one client may spend where no setting says so. Signed requests count before their signature is verified, by the address that sent
 * them: counted by their fid, strangers could lock an owner out.
 */
export const SHARES = {
  /** API keys that the node does not know. */
  unknownKeys: { perMinute: 20, burst: 20 },
  /** Signed requests that change nothing. A page of the console makes a few at once and repeats them. */
  signedReads: { perMinute: 600, burst: 300 },
  signedChanges: { perMinute: 60, burst: 300 },
  /** Each adds to the audit log, and ends the oldest of 20. */
  newSessions: { perMinute: 20, burst: 60 },
  /** Nonces and messages of sign-ins. Those of an office share an address. */
  signIns: { perMinute: 120, burst: 120 },
  /** Reports that someone has opened a notification. Those of an office share an address. */
  opens: { perMinute: 120, burst: 120 },
  /** Calls of the operator's RPC of Optimism. */
  contractChecks: { perMinute: 10, burst: 10 },
  /** Reads that ask the operator's RPC of Base, without an API key. */
  chainReads: { perMinute: 20, burst: 20 },
  /** Manifests that are fetched for a client. */
  manifestChecks: { perMinute: 6, burst: 6 },
  /** Channels of web sign-in, each a row for ten minutes. */
  channels: { perMinute: 20, burst: 20 },
  /** KiB of refused bodies that are read so that their sender gets the error instead of a reset. */
  discards: { perMinute: 16_384, burst: 4_096 },
  /** KiB of bodies without a Content-Length, at once more than the largest body has. In chunks of one byte each takes 0.36 ms of CPU. */
  chunks: { perMinute: 4_096, burst: 5_120 },
  /** Responses with 429, and refused bodies that are not read, that are sent at once. */
  refusals: { perMinute: 300, burst: 100 },
} as const satisfies Partial<Readonly<Record<BucketsName, BucketLimit>>>;

/** Calls of the operator's RPC that confirmed no sign-in, of all clients: by the address that they name, and together. */
export const CONTRACT_REFUSALS = {
  ofAddress: { perMinute: 30, burst: 30 },
  ofAll: { perMinute: 300, burst: 300 },
} as const;

export type ShareName = keyof typeof SHARES;

/** Seconds after which a refused client may find room. */
export const RETRY_AFTER_SECS = 2;

/** What a refused client reads. */
export function refusalText(unit: string, shortage: "client" | "total"): string {
  return `too many ${unit}${shortage === "client" ? " of this client" : ""} are in flight; try again`;
}
